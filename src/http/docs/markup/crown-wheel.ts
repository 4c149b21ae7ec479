import { type Html, html } from './html.ts';

/**
 * Drawings of the wheel that the product is named for, computed like the real thing: two wheels of one module mesh,
 * whatever their numbers of teeth.
 */
export function crownWheelMark(): Html {
  return html`<svg class="mark" viewBox="-16 -16 32 32" aria-hidden="true">${wheelShapes()}</svg>`;
}

export function crownWheelIcon(): string {
  const drawing = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 -16 32 32"><g fill="none" stroke="#4a78b8" stroke-width="1.5">${wheelShapes()}</g></svg>`;
  return drawing.markup;
}

/** The crown wheel, turning the ratchet wheel of the barrel. */
export function windingDrawing(): Html {
  const crown = { teeth: 22, module: 4.6 };
  const ratchet = { teeth: 36, module: 4.6 };
  const distance = ((crown.teeth + ratchet.teeth) * crown.module) / 2;
  const angle = (152 * Math.PI) / 180;
  const [x, y] = [distance * Math.cos(angle), distance * Math.sin(angle)];
  // A tooth of one wheel lies in a gap of the other on the line between their centres.
  const crownTurn = angle;
  const ratchetTurn = angle + Math.PI + Math.PI / ratchet.teeth;
  return html`<svg class="drawing" viewBox="-208 -58 266 211" aria-hidden="true">
<g><path d="${gearPath(crown.teeth, crown.module, crownTurn)}"/>
<circle r="36"/><circle r="33"/><circle r="14"/><path d="M-9.9 -9.9L9.9 9.9"/>
<circle class="fine" r="30"/><circle class="fine" r="26"/><circle class="fine" r="22"/><circle class="fine" r="18"/></g>
<g transform="translate(${x.toFixed(2)} ${y.toFixed(2)})"><path d="${gearPath(ratchet.teeth, ratchet.module, ratchetTurn)}"/>
<circle r="66"/><circle r="63"/><circle r="24"/><path d="M-9 -9H9V9H-9Z"/>
<circle class="fine" r="58"/><circle class="fine" r="53"/><circle class="fine" r="48"/><circle class="fine" r="43"/><circle class="fine" r="38"/><circle class="fine" r="33"/></g>
</svg>`;
}

function wheelShapes(): Html {
  return html`<path d="${gearPath(16, 1.6, 0)}"/><circle r="6.5"/><path d="M-4.6 -4.6L4.6 4.6"/>`;
}

/** The outline of a wheel. Module is diameter over teeth, as horologists count it; a tooth stands one module high. */
function gearPath(teeth: number, module: number, turn: number): string {
  const pitch = (teeth * module) / 2;
  const [root, tip] = [pitch - 1.15 * module, pitch + 0.9 * module];
  const step = (2 * Math.PI) / teeth;
  // Half widths of a tooth at its foot, on the pitch circle and at its tip, as shares of the step.
  const profile = [
    [root, -0.29],
    [pitch, -0.2],
    [tip, -0.08],
    [tip, 0.08],
    [pitch, 0.2],
    [root, 0.29],
  ] as const;
  const points: string[] = [];
  for (let tooth = 0; tooth < teeth; tooth++) {
    for (const [radius, share] of profile) {
      const angle = turn + (tooth + share) * step;
      points.push(`${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`);
    }
  }
  return `M${points.join('L')}Z`;
}
