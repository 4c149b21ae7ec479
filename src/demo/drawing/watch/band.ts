import type { WatchAttributes } from '../../../contract/resources/listing.ts';
import { type Metal, metalOf, STRAPS } from '../colors.ts';
import type { Look } from '../look.ts';
import { group, linear, MIDDLE, n, path, rect } from '../shapes.ts';

export type BandFrame = {
  /** Width at the case, and how far from the middle the band begins. */
  width: number;
  start: number;
};

/** How much narrower a band is at the edge of the picture than at the case. */
const TAPER = 0.86;

/** The band above and below the case, up to the edges of the picture. */
export function drawBand(watch: WatchAttributes, look: Look, frame: BandFrame): { defs: string; content: string } {
  const metal = isMetal(look.band) ? bandMetal(watch) : null;
  const { defs, half } =
    metal === null ? strapHalf(watch, look, frame) : linksHalf(look, frame, metal, accentOf(watch));
  const clip = `<clipPath id="band">${path(outline(frame), { fill: '#000' })}</clipPath>`;
  const side = group(half, '', 'clip-path="url(#band)"');
  return {
    defs: `${defs}${clip}`,
    content: side + group(side, `rotate(180 ${MIDDLE} ${MIDDLE})`),
  };
}

function isMetal(band: Look['band']): boolean {
  return ['oyster', 'jubilee', 'president', 'integrated', 'mesh', 'beads'].includes(band);
}

function bandMetal(watch: WatchAttributes): Metal {
  return metalOf(watch.bracelet_material);
}

/** The links in the middle of a two-tone bracelet. */
function accentOf(watch: WatchAttributes): Metal | null {
  if (watch.bracelet_material !== 'gold_steel') return null;
  return metalOf(watch.bezel_material === 'rose_gold' ? 'rose_gold' : 'yellow_gold');
}

/** The upper half, narrowing towards the edge. */
function outline({ width, start }: BandFrame): string {
  const near = width / 2;
  const far = (width * TAPER) / 2;
  const bottom = MIDDLE - start;
  return `M${n(MIDDLE - near)} ${n(bottom)}L${n(MIDDLE - far)} -10H${n(MIDDLE + far)}L${n(MIDDLE + near)} ${n(bottom)}Z`;
}

/** Rows of links; each column is a share of the width, raised or brushed. */
const LINKS: Record<string, { rowPx: number; columns: { share: number; isMiddle: boolean }[] }> = {
  oyster: { rowPx: 58, columns: columns([0.3, 0.4, 0.3], [1]) },
  president: { rowPx: 44, columns: columns([0.3, 0.4, 0.3], [1]) },
  jubilee: { rowPx: 36, columns: columns([0.26, 0.16, 0.16, 0.16, 0.26], [1, 2, 3]) },
  beads: { rowPx: 34, columns: columns([0.2, 0.15, 0.3, 0.15, 0.2], [1, 3]) },
  integrated: { rowPx: 62, columns: columns([0.22, 0.56, 0.22], [1]) },
  mesh: {
    rowPx: 12,
    columns: columns(
      Array.from({ length: 16 }, () => 1 / 16),
      [],
    ),
  },
};

function columns(shares: number[], middle: number[]) {
  return shares.map((share, index) => ({ share, isMiddle: middle.includes(index) }));
}

function linksHalf(look: Look, frame: BandFrame, metal: Metal, accent: Metal | null) {
  const { rowPx, columns: cells } = LINKS[look.band] ?? { rowPx: 58, columns: [] };
  const inner = accent ?? metal;
  const defs =
    linear('link', [
      [0, metal.dark],
      [0.18, metal.base],
      [0.5, metal.light],
      [0.82, metal.base],
      [1, metal.dark],
    ]) +
    linear('link-middle', [
      [0, inner.base],
      [0.3, inner.light],
      [0.5, inner.glint],
      [0.7, inner.light],
      [1, inner.base],
    ]) +
    linear(
      'link-round',
      [
        [0, '#000', 0.42],
        [0.25, '#000', 0],
        [0.6, '#fff', 0.18],
        [1, '#000', 0.42],
      ],
      90,
    );
  const left = MIDDLE - frame.width / 2;
  const bottom = MIDDLE - frame.start;
  let content = rect(left, -10, frame.width, bottom + 10, 0, { fill: metal.dark });
  for (let row = 0; bottom - row * rowPx > -rowPx; row++) {
    let x = left;
    for (const [index, { share, isMiddle }] of cells.entries()) {
      const width = frame.width * share;
      // Rows of neighbouring columns interlock.
      const shift = look.band === 'mesh' ? (index % 2) * (rowPx / 2) : isMiddle ? rowPx / 2 : 0;
      const y = bottom - (row + 1) * rowPx + shift;
      const corner = look.band === 'mesh' ? 5 : isMiddle && look.band !== 'integrated' ? 9 : 5;
      content += rect(x + 1, y + 1, width - 2, rowPx - 2.5, corner, {
        fill: `url(#${isMiddle ? 'link-middle' : 'link'})`,
      });
      content += rect(x + 1, y + 1, width - 2, rowPx - 2.5, corner, { fill: 'url(#link-round)' });
      x += width;
    }
  }
  return { defs, half: content };
}

function strapHalf(watch: WatchAttributes, look: Look, frame: BandFrame) {
  const color = STRAPS[watch.bracelet_color ?? 'black'];
  const defs =
    linear('strap', [
      [0, color.dark],
      [0.14, color.base],
      [0.5, color.base],
      [0.86, color.base],
      [1, color.dark],
    ]) +
    linear(
      'strap-light',
      [
        [0, '#fff', 0.16],
        [0.5, '#fff', 0],
        [1, '#000', 0.28],
      ],
      90,
    );
  const left = MIDDLE - frame.width / 2;
  const bottom = MIDDLE - frame.start;
  const height = bottom + 10;
  let content = rect(left, -10, frame.width, height, 0, { fill: 'url(#strap)' });
  if (look.band === 'alligator') content += scales(frame, bottom, color.dark);
  if (look.band === 'rubber') content += grooves(frame, bottom, color.dark);
  if (look.band === 'textile') content += weave(frame, bottom, color.dark, color.stitch);
  content += rect(left, -10, frame.width, height, 0, { fill: 'url(#strap-light)' });
  if (look.band === 'alligator' || look.band === 'leather') content += stitches(frame, bottom, color.stitch);
  return { defs, half: content };
}

/** Large and nearly square in the middle, small towards the edges. */
function scales({ width }: BandFrame, bottom: number, dark: string): string {
  let data = '';
  const left = MIDDLE - width / 2;
  const middle = width * 0.52;
  for (let y = bottom - 6, row = 0; y > -60; y -= 52, row++) {
    data += `M${n(MIDDLE - middle / 2)} ${n(y)}q${n(middle / 2)} ${row % 2 ? 9 : 5} ${n(middle)} 0`;
    for (let index = 0; index < 2; index++) {
      const sideY = y - index * 26;
      data += `M${n(left)} ${n(sideY)}q${n((width - middle) / 4)} 7 ${n((width - middle) / 2)} 0`;
      data += `M${n(MIDDLE + middle / 2)} ${n(sideY)}q${n((width - middle) / 4)} 7 ${n((width - middle) / 2)} 0`;
    }
  }
  data += `M${n(MIDDLE - middle / 2)} ${n(bottom)}V-10M${n(MIDDLE + middle / 2)} ${n(bottom)}V-10`;
  return path(data, { stroke: dark, width: 4.5, opacity: 0.75 });
}

function grooves({ width }: BandFrame, bottom: number, dark: string): string {
  const data = [-0.2, 0, 0.2].map((share) => `M${n(MIDDLE + width * share)} ${n(bottom - 26)}V-10`).join('');
  return path(data, { stroke: dark, width: 9, opacity: 0.7 });
}

function weave({ width }: BandFrame, bottom: number, dark: string, light: string): string {
  const left = MIDDLE - width / 2;
  let data = '';
  for (let y = bottom; y > -20; y -= 9) data += `M${n(left)} ${n(y)}h${n(width)}`;
  let upright = '';
  for (let x = left + 5; x < left + width; x += 9) upright += `M${n(x)} ${n(bottom)}V-10`;
  return (
    path(data, { stroke: dark, width: 2.5, opacity: 0.6 }) + path(upright, { stroke: light, width: 1.2, opacity: 0.22 })
  );
}

function stitches({ width }: BandFrame, bottom: number, color: string): string {
  const inset = 17;
  const far = (width * TAPER) / 2 - inset;
  const near = width / 2 - inset;
  const data = `M${n(MIDDLE - near)} ${n(bottom)}L${n(MIDDLE - far)} -10M${n(MIDDLE + near)} ${n(bottom)}L${n(MIDDLE + far)} -10`;
  return path(data, { stroke: color, width: 4, cap: 'round', extra: 'stroke-dasharray="15 11"' });
}
