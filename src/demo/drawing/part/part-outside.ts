import type { PartAttributes } from '../../../contract/resources/part.ts';
import { type Metal, STRAPS } from '../colors.ts';
import { lettering } from '../lettering.ts';
import {
  at,
  circle,
  ellipse,
  group,
  MIDDLE,
  n,
  type Point,
  pair,
  path,
  polygon,
  rect,
  rotated,
  spokes,
  toothed,
} from '../shapes.ts';

/** What is seen of a watch: case, bezel, crystal, dial, hands, crown and band. */
const CENTER: Point = [MIDDLE, MIDDLE];

export function ring(metal: Metal): string {
  const hole = `M${MIDDLE - 244} ${MIDDLE}a244 244 0 1 0 488 0a244 244 0 1 0 -488 0Z`;
  const rim = `M${toothed(60, 372, 358).map(pair).join('L')}Z`;
  return path(rim + hole, { fill: 'url(#metal)', stroke: metal.dark, width: 2, extra: 'fill-rule="evenodd"' });
}

/** Facets all around, each with a bright and a dark side. */
export function flutes(metal: Metal): string {
  const facet = (color: string, opacity: number) => spokes(80, 252, 362, { stroke: color, width: 6, opacity });
  return (
    facet(metal.dark, 0.55) +
    rotated(facet(metal.glint, 0.85), 1.9) +
    circle(CENTER, 248, { stroke: metal.dark, width: 6 })
  );
}

/** Minutes of a dive around a coloured ring. */
export function inlay(color: string, outer = 344, inner = 254): string {
  const middle = (outer + inner) / 2;
  const print = '#f6f6f2';
  const figures = ['10', '20', '30', '40', '50']
    .map((value, index) =>
      rotated(lettering(value, MIDDLE, MIDDLE - middle, { height: 46, color: print, weight: 0.15 }), (index + 1) * 60),
    )
    .join('');
  const bars = Array.from({ length: 6 }, (_, index) =>
    rotated(rect(MIDDLE - 7, MIDDLE - middle - 26, 14, 52, 3, { fill: print }), 30 + index * 60),
  ).join('');
  const tip =
    polygon([at(-5, outer - 10), at(5, outer - 10), at(0, inner + 14)], { fill: print }) +
    circle(at(0, middle + 10), 9, { fill: '#dfe8c8' });
  return (
    circle(CENTER, middle, { stroke: color, width: outer - inner }) +
    circle(CENTER, middle, { stroke: 'url(#tint)', width: outer - inner }) +
    circle(CENTER, outer, { stroke: '#00000055', width: 2 }) +
    circle(CENTER, inner, { stroke: '#00000055', width: 2 }) +
    figures +
    bars +
    tip
  );
}

export function bracelet(metal: Metal, rows: number): string {
  const rowPx = rows > 4 ? 96 : 150;
  const width = rows > 4 ? 360 : 480;
  const top = MIDDLE - (rows * rowPx) / 2;
  const link = (share: number, wide: number, y: number, fill: string) =>
    rect(MIDDLE + width * share + 3, y + 3, width * wide - 6, rowPx - 6, 16, { fill, stroke: metal.dark, width: 2 });
  let content = '';
  for (let row = 0; row < rows; row++) {
    const y = top + row * rowPx;
    if (row < rows - 1) content += link(-0.2, 0.4, y + rowPx / 2, 'url(#metal)');
    content += link(-0.5, 0.3, y, 'url(#metal-across)') + link(0.2, 0.3, y, 'url(#metal-across)');
  }
  return rotated(content, rows > 4 ? 24 : 12);
}

export function buckle(metal: Metal): string {
  const paint = { fill: 'url(#metal)', stroke: metal.dark, width: 2.5 };
  const blade =
    rect(MIDDLE - 210, MIDDLE - 300, 420, 190, 26, { fill: 'url(#metal-across)', stroke: metal.dark, width: 2.5 }) +
    rect(MIDDLE - 130, MIDDLE - 260, 260, 110, 16, { fill: metal.base, stroke: metal.dark, width: 2 });
  const cover =
    rect(MIDDLE - 240, MIDDLE - 120, 480, 400, 34, paint) +
    rect(MIDDLE - 205, MIDDLE - 85, 410, 330, 20, { fill: 'url(#metal-across)' }) +
    circle(CENTER, 66, { stroke: metal.dark, width: 5 }) +
    polygon(toothed(12, 46, 30), { fill: metal.dark, opacity: 0.8 });
  const lock = rect(MIDDLE - 120, MIDDLE + 250, 240, 70, 20, paint);
  return rotated(blade + lock + cover, -14);
}

export function caseBody(metal: Metal): string {
  const paint = { fill: 'url(#metal)', stroke: metal.dark, width: 2.5 };
  const lug = path(
    `M${MIDDLE + 150} ${MIDDLE - 300}L${MIDDLE + 176} ${MIDDLE - 430}Q${MIDDLE + 230} ${MIDDLE - 440} ${MIDDLE + 250} ${MIDDLE - 400}L${MIDDLE + 330} ${MIDDLE - 160}Z`,
    paint,
  );
  const both = lug + group(lug, `translate(${MIDDLE * 2} 0) scale(-1 1)`);
  const four = both + group(both, `translate(0 ${MIDDLE * 2}) scale(1 -1)`);
  const tube = rect(MIDDLE + 330, MIDDLE - 26, 44, 52, 6, { fill: 'url(#metal-across)', stroke: metal.dark, width: 2 });
  return (
    four +
    tube +
    circle(CENTER, 322, { stroke: 'url(#metal)', width: 46 }) +
    circle(CENTER, 284, { stroke: 'url(#metal-across)', width: 36 }) +
    [345, 300, 268].map((r) => circle(CENTER, r, { stroke: metal.dark, width: 2.5 })).join('')
  );
}

export function crown(metal: Metal): string {
  const body = rect(MIDDLE - 200, MIDDLE - 190, 210, 380, 34, {
    fill: 'url(#metal-across)',
    stroke: metal.dark,
    width: 3,
  });
  const ribs = path(
    Array.from({ length: 19 }, (_, index) => `M${MIDDLE - 192} ${n(MIDDLE - 170 + index * 19)}h194`).join(''),
    { stroke: metal.dark, width: 6, opacity: 0.6 },
  );
  const face = rect(MIDDLE - 232, MIDDLE - 150, 44, 300, 20, { fill: 'url(#metal)', stroke: metal.dark, width: 3 });
  const tube = rect(MIDDLE + 8, MIDDLE - 112, 116, 224, 8, { fill: 'url(#metal)', stroke: metal.dark, width: 3 });
  const rings = [26, 58, 90].map((x) => rect(MIDDLE + x, MIDDLE - 120, 14, 240, 6, { fill: '#26282b' })).join('');
  const stem =
    rect(MIDDLE + 122, MIDDLE - 20, 190, 40, 6, { fill: 'url(#brass)', stroke: '#7a5a1c', width: 2 }) +
    path(Array.from({ length: 12 }, (_, index) => `M${MIDDLE + 200 + index * 9} ${MIDDLE - 20}l6 40`).join(''), {
      stroke: '#7a5a1c',
      width: 2.5,
    });
  return rotated(stem + tube + rings + body + ribs + face, -18);
}

export function crystal(): string {
  return (
    circle(CENTER, 340, { fill: 'url(#glass)', stroke: '#8fa0ad', width: 5 }) +
    circle(CENTER, 322, { stroke: '#ffffff', width: 7, opacity: 0.9 }) +
    circle(CENTER, 306, { stroke: '#9fb0bd', width: 2, opacity: 0.6 }) +
    path(
      `M${MIDDLE - 240} ${MIDDLE - 40}A250 250 0 0 1 ${MIDDLE - 20} ${MIDDLE - 246}A300 300 0 0 0 ${MIDDLE - 240} ${MIDDLE - 40}Z`,
      { fill: '#ffffff', opacity: 0.8 },
    ) +
    ellipse([MIDDLE + 205, MIDDLE], 52, 34, { fill: '#ffffff', stroke: '#9fb0bd', width: 3, opacity: 0.75 })
  );
}

export function dial(part: PartAttributes, color: string): string {
  const bars = Array.from({ length: 12 }, (_, hour) =>
    rotated(
      hour % 3 === 0
        ? rect(MIDDLE - 15, MIDDLE - 305, 30, 78, 4, { fill: '#eef3df', stroke: '#d8dbdf', width: 6 })
        : circle([MIDDLE, MIDDLE - 272], 24, { fill: '#eef3df', stroke: '#d8dbdf', width: 6 }),
      hour * 30,
    ),
  ).join('');
  return (
    circle(CENTER, 345, { fill: color, stroke: '#00000066', width: 3 }) +
    circle(CENTER, 345, { fill: 'url(#tint)' }) +
    spokes(60, 318, 336, { stroke: '#f4f4f0', width: 3 }) +
    bars +
    lettering(part.brand ?? '', MIDDLE, MIDDLE - 130, { height: 34, color: '#f4f4f0', weight: 0.15, spacing: 1.4 }) +
    lettering('SWISS MADE', MIDDLE, MIDDLE + 320, { height: 11, color: '#f4f4f0', weight: 0.13, spacing: 1.5 }) +
    circle(CENTER, 15, { fill: '#efece7', stroke: '#00000088', width: 3 }) +
    rect(MIDDLE + 196, MIDDLE - 26, 66, 52, 5, { fill: '#efece7', stroke: '#d8dbdf', width: 5 })
  );
}

export function hands(metal: Metal, lume: string): string {
  const paint = { fill: 'url(#metal)', stroke: metal.dark, width: 2.5 };
  const sword = (length: number, wide: number) =>
    polygon(
      [
        [0, -length],
        [wide, -length * 0.72],
        [wide * 0.55, 0],
        [-wide * 0.55, 0],
        [-wide, -length * 0.72],
      ],
      paint,
    ) +
    polygon(
      [
        [0, -length + 26],
        [wide * 0.62, -length * 0.71],
        [wide * 0.3, -60],
        [-wide * 0.3, -60],
        [-wide * 0.62, -length * 0.71],
      ],
      { fill: lume },
    ) +
    circle([0, 8], 34, paint) +
    circle([0, 8], 14, { fill: '#efece7', stroke: metal.dark, width: 2 });
  const thin =
    rect(-5, -520, 10, 660, 3, paint) +
    circle([0, -330], 22, { fill: lume, stroke: metal.base, width: 7 }) +
    circle([0, 0], 22, paint) +
    rect(-15, 60, 30, 80, 10, paint);
  return (
    group(sword(360, 42), `translate(${MIDDLE - 200} ${MIDDLE + 200}) rotate(-12)`) +
    group(sword(520, 32), `translate(${MIDDLE} ${MIDDLE + 280}) rotate(4)`) +
    group(thin, `translate(${MIDDLE + 200} ${MIDDLE + 200}) rotate(14)`)
  );
}

export function pusher(metal: Metal): string {
  const one =
    rect(-60, -250, 120, 120, 26, { fill: 'url(#metal)', stroke: metal.dark, width: 3 }) +
    rect(-44, -136, 88, 150, 6, { fill: 'url(#metal-across)', stroke: metal.dark, width: 3 }) +
    rect(-78, 10, 156, 60, 12, { fill: 'url(#metal)', stroke: metal.dark, width: 3 }) +
    rect(-30, 68, 60, 170, 6, { fill: 'url(#metal-across)', stroke: metal.dark, width: 3 }) +
    path(Array.from({ length: 9 }, (_, index) => `M-34 ${86 + index * 16}l68 10`).join(''), {
      stroke: metal.dark,
      width: 6,
    }) +
    rect(-40, -20, 80, 18, 8, { fill: '#26282b' });
  return (
    group(one, `translate(${MIDDLE - 170} ${MIDDLE}) rotate(-14)`) +
    group(one, `translate(${MIDDLE + 170} ${MIDDLE + 20}) rotate(16)`)
  );
}

export function strap(color: string): string {
  const shade = STRAPS[color as keyof typeof STRAPS] ?? STRAPS.brown;
  const piece = (length: number, hasHoles: boolean) => {
    const outline = `M-105 0L-88 ${length - 60}Q-86 ${length} 0 ${length}Q86 ${length} 88 ${length - 60}L105 0Z`;
    const stitch = `M-84 14L-70 ${length - 66}Q-66 ${length - 20} 0 ${length - 20}Q66 ${length - 20} 70 ${length - 66}L84 14`;
    const rows = Array.from(
      { length: Math.floor(length / 62) },
      (_, index) =>
        `M-60 ${40 + index * 62}q60 14 120 0M-84 ${30 + index * 62}q12 6 24 0M60 ${30 + index * 62}q12 6 24 0`,
    ).join('');
    const holes = hasHoles
      ? Array.from({ length: 6 }, (_, index) =>
          ellipse([0, length - 110 - index * 58], 9, 12, { fill: '#00000099' }),
        ).join('')
      : '';
    return (
      path(outline, { fill: shade.base, stroke: shade.dark, width: 4 }) +
      path(rows, { stroke: shade.dark, width: 5, opacity: 0.6 }) +
      path(outline, { fill: 'url(#tint)' }) +
      path(stitch, { stroke: shade.stitch, width: 5, cap: 'round', extra: 'stroke-dasharray="17 12"' }) +
      holes
    );
  };
  return (
    group(piece(760, true), `translate(${MIDDLE - 150} ${MIDDLE - 370}) rotate(7)`) +
    group(piece(560, false), `translate(${MIDDLE + 190} ${MIDDLE - 300}) rotate(-7)`)
  );
}
