import type { WatchAttributes } from '../../contract/resources/listing.ts';
import type { DialColor } from './colors.ts';
import type { Look } from './look.ts';
import { at, circle, group, line, MIDDLE, n, pair, path, polygon, rect, rotated, toothed } from './shapes.ts';
import type { Frame } from './watch/case.ts';

/** What the surface of a dial does with the light. */
export function drawTexture(
  watch: WatchAttributes,
  look: Look,
  frame: Frame,
  color: DialColor,
): { defs: string; content: string } {
  const r = frame.dial;
  switch (watch.dial_color === 'skeleton' ? 'open' : look.texture) {
    case 'sunburst':
      return { defs: '', content: sunburst(r * 1.4, color) };
    case 'grid':
      return grid(r, color);
    case 'waves':
      return { defs: '', content: waves(r, color) };
    case 'stripes':
      return { defs: '', content: stripes(r, color) };
    case 'guilloche':
      return { defs: '', content: guilloche(r, color) };
    case 'grain':
      return { defs: '', content: grain(r, color, watch.dial_color === 'meteorite') };
    case 'open':
      return { defs: '', content: openWorks(r) };
    default:
      return { defs: '', content: '' };
  }
}

/** Two bright and two dark fans, as brushed metal shows them. */
function sunburst(r: number, color: DialColor): string {
  const fan = (angle: number, spread: number, fill: string, opacity: number) =>
    polygon(
      [
        [MIDDLE, MIDDLE],
        at(angle - spread, r),
        at(angle - spread / 3, r),
        at(angle + spread / 3, r),
        at(angle + spread, r),
      ],
      { fill, opacity },
    );
  const strength = color.isDark ? 0.06 : 0.16;
  return (
    [30, 210].flatMap((angle) => [38, 26, 15, 7].map((spread) => fan(angle, spread, '#ffffff', strength))).join('') +
    [120, 300].flatMap((angle) => [34, 20, 9].map((spread) => fan(angle, spread, '#000000', 0.07))).join('')
  );
}

/** Small raised squares. */
function grid(r: number, color: DialColor): { defs: string; content: string } {
  const size = 19;
  const light = color.isDark ? 0.2 : 0.5;
  const tile =
    rect(1.5, 1.5, size - 5, size - 5, 1, { fill: '#ffffff', opacity: light * 0.45 }) +
    path(`M1.5 ${size - 3.5}V1.5H${size - 3.5}`, { stroke: '#ffffff', width: 1.4, opacity: light }) +
    path(`M1.5 ${size - 3.5}H${size - 3.5}V1.5`, { stroke: '#000000', width: 1.6, opacity: 0.45 });
  return {
    defs: `<pattern id="tiles" width="${size}" height="${size}" patternUnits="userSpaceOnUse">${tile}</pattern>`,
    content: circle([MIDDLE, MIDDLE], r - 22, { fill: 'url(#tiles)' }),
  };
}

function waves(r: number, color: DialColor): string {
  let data = '';
  for (let y = MIDDLE - r; y < MIDDLE + r; y += 22) {
    data += `M${n(MIDDLE - r)} ${n(y)}`;
    for (let x = -r; x < r; x += 64) data += 'q16 -12 32 0t32 0';
  }
  return (
    path(data, { stroke: color.isDark ? '#ffffff' : '#000000', width: 7, opacity: 0.09 }) +
    group(path(data, { stroke: '#000000', width: 3, opacity: 0.22 }), 'translate(0 5)')
  );
}

function stripes(r: number, color: DialColor): string {
  let data = '';
  for (let y = MIDDLE - r; y < MIDDLE + r; y += 15) data += `M${n(MIDDLE - r)} ${n(y)}h${n(r * 2)}`;
  return sunburst(r * 1.4, color) + path(data, { stroke: '#000000', width: 4, opacity: color.isDark ? 0.4 : 0.16 });
}

/** Rosettes turned by hand: rings of many small arcs, each ring a little further on. */
function guilloche(r: number, color: DialColor): string {
  let data = '';
  for (let radius = r * 0.12, ring = 0; radius < r * 0.64; radius += 9, ring++) {
    const points = toothed(48, radius + 5, radius);
    const turned = rotatedPoints(points, (ring % 2) * 3.75);
    data += `M${turned.map(pair).join('L')}Z`;
  }
  return path(data, { stroke: color.print, width: 1.3, opacity: 0.4 });
}

function rotatedPoints(points: readonly (readonly [number, number])[], angle: number) {
  const radians = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return points.map(([x, y]) => {
    const [dx, dy] = [x - MIDDLE, y - MIDDLE];
    return [MIDDLE + dx * cos - dy * sin, MIDDLE + dx * sin + dy * cos] as const;
  });
}

/** Short strokes by a fixed sequence: lacquer, frost, or the crystals of a meteorite. */
function grain(r: number, color: DialColor, isMeteorite: boolean): string {
  let state = 7;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  let [light, dark] = ['', ''];
  for (let index = 0; index < (isMeteorite ? 150 : 260); index++) {
    const x = MIDDLE + (next() * 2 - 1) * r;
    const y = MIDDLE + (next() * 2 - 1) * r;
    const length = isMeteorite ? 30 + next() * 90 : 4 + next() * 8;
    const angle = (isMeteorite ? Math.floor(next() * 3) * 60 + 15 : next() * 180) * (Math.PI / 180);
    const stroke = `M${n(x)} ${n(y)}l${n(Math.cos(angle) * length)} ${n(Math.sin(angle) * length)}`;
    if (index % 2) light += stroke;
    else dark += stroke;
  }
  const width = isMeteorite ? 5 : 2;
  return (
    path(light, { stroke: '#ffffff', width, opacity: color.isDark ? 0.09 : 0.34 }) +
    path(dark, { stroke: '#000000', width, opacity: 0.13 })
  );
}

/** Bridges and wheels that show through a dial that is cut out. */
function openWorks(r: number): string {
  const wheel = (angle: number, away: number, radius: number, teeth: number, fill: string) => {
    const center = at(angle, away);
    const spokesOf = [0, 60, 120]
      .map((turn) =>
        rotated(
          line([center[0], center[1] - radius * 0.8], [center[0], center[1] + radius * 0.8], {
            stroke: fill,
            width: radius * 0.13,
          }),
          turn,
          center,
        ),
      )
      .join('');
    return (
      polygon(toothed(teeth, radius, radius * 0.9, center), { fill }) +
      circle(center, radius * 0.76, { fill: '#2b2e33' }) +
      spokesOf +
      circle(center, radius * 0.17, { fill: '#b3263a', stroke: '#e9d9a5', width: 3 })
    );
  };
  const ground = circle([MIDDLE, MIDDLE], r, { fill: '#25282c' });
  const bridge = (angle: number) =>
    rotated(
      rect(MIDDLE - 20, MIDDLE - r * 0.86, 40, r * 0.86, 18, { fill: '#9499a0', stroke: '#dfe2e6', width: 2.5 }),
      angle,
    );
  return (
    ground +
    wheel(205, r * 0.44, r * 0.36, 56, '#c6a35a') +
    wheel(130, r * 0.48, r * 0.3, 44, '#b9bec5') +
    wheel(320, r * 0.46, r * 0.34, 60, '#c6a35a') +
    bridge(75) +
    bridge(255) +
    bridge(165) +
    wheel(20, r * 0.5, r * 0.24, 40, '#d8b56a') +
    circle([MIDDLE, MIDDLE], r * 0.99, { stroke: '#c9cdd2', width: r * 0.13 })
  );
}
