import type { ValueOf } from '../../../contract/catalogue.ts';
import type { PartAttributes } from '../../../contract/resources/part.ts';
import { metalGradients } from './case.ts';
import { type METALS, type Metal, metalOf, STRAPS } from './colors.ts';
import { arcLettering, lettering } from './lettering.ts';
import { scene } from './scene.ts';
import {
  at,
  circle,
  ellipse,
  group,
  linear,
  MIDDLE,
  n,
  type Point,
  pair,
  path,
  polygon,
  rect,
  rotated,
  silhouette,
  spokes,
  toothed,
} from './shapes.ts';

/** What a part is made of and looks like, beside its category. */
export type PartLook = { metal: keyof typeof METALS; color: string };

const CENTER: Point = [MIDDLE, MIDDLE];
type Draw = (part: PartAttributes, look: PartLook, metal: Metal) => string;

/** A spare part on a neutral ground, as an SVG document. */
export function drawPart(part: PartAttributes, look: PartLook): string {
  const metal = metalOf(String(look.metal));
  const defs =
    metalGradients('metal', metal) +
    metalGradients('brass', metalOf('yellow_gold')) +
    linear(
      'glass',
      [
        [0, '#ffffff', 0.95],
        [0.35, '#dfe9f1', 0.5],
        [0.6, '#ffffff', 0.85],
        [1, '#b7c6d2', 0.7],
      ],
      50,
    ) +
    linear(
      'tint',
      [
        [0, '#fff', 0.22],
        [0.5, '#fff', 0],
        [1, '#000', 0.25],
      ],
      60,
    );
  const thing = group(
    DRAWINGS[part.category](part, look, metal),
    `translate(${MIDDLE} ${MIDDLE}) scale(1.16) translate(-${MIDDLE} -${MIDDLE})`,
  );
  const outline = silhouette(thing);
  const shadow = [10, 18, 26, 34]
    .map((away) => group(outline, `translate(${away * 0.75} ${away})`, 'opacity="0.07"'))
    .join('');
  return scene(part, defs, shadow + thing);
}

const DRAWINGS: Record<ValueOf<'part_category'>, Draw> = {
  bezel: (_part, look, metal) => ring(metal) + inlay(look.color),
  insert: (_part, look) => inlay(look.color, 340, 250),
  bracelet: (_part, _look, metal) => bracelet(metal, 9),
  bracelet_link: (_part, _look, metal) => bracelet(metal, 3),
  buckle: (_part, _look, metal) => buckle(metal),
  case: (_part, _look, metal) => caseBody(metal),
  crown: (_part, _look, metal) => crown(metal),
  crystal: () => crystal(),
  dial: (part, look) => dial(part, look.color),
  hands: (_part, look, metal) => hands(metal, look.color),
  movement: (part) => movement(part),
  movement_part: (part) => wheels(part),
  pusher: (_part, _look, metal) => pusher(metal),
  strap: (_part, look) => strap(look.color),
  gasket: (_part, look) => gaskets(look.color),
  box: (part, look) => box(part, look.color),
  papers: (part) => papers(part),
  tool: (_part, look) => tool(look.color),
  other: (_part, _look, metal) => springBars(metal),
};

function ring(metal: Metal): string {
  const hole = `M${MIDDLE - 244} ${MIDDLE}a244 244 0 1 0 488 0a244 244 0 1 0 -488 0Z`;
  const rim = `M${toothed(60, 372, 358).map(pair).join('L')}Z`;
  return path(rim + hole, { fill: 'url(#metal)', stroke: metal.dark, width: 2, extra: 'fill-rule="evenodd"' });
}

/** Minutes of a dive around a coloured ring. */
function inlay(color: string, outer = 344, inner = 254): string {
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

function bracelet(metal: Metal, rows: number): string {
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

function buckle(metal: Metal): string {
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

function caseBody(metal: Metal): string {
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

function crown(metal: Metal): string {
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

function crystal(): string {
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

function dial(part: PartAttributes, color: string): string {
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

function hands(metal: Metal, lume: string): string {
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

function movement(part: PartAttributes): string {
  const [caliber] = part.compatibility.map((fit) => fit.caliber ?? '').filter(Boolean);
  const stripes = Array.from(
    { length: 24 },
    (_, index) => `M${MIDDLE - 520 + index * 46} ${MIDDLE - 340}l270 680`,
  ).join('');
  const wheel = (center: Point, r: number, teeth: number) =>
    polygon(toothed(teeth, r, r * 0.92, center), { fill: 'url(#brass)', stroke: '#7a5a1c', width: 2 }) +
    circle(center, r * 0.66, { stroke: '#7a5a1c', width: 2 }) +
    jewel(center, 15);
  const balance = at(230, 190);
  return (
    `<defs><clipPath id="plate-clip"><circle cx="${MIDDLE}" cy="${MIDDLE}" r="340"/></clipPath></defs>` +
    circle(CENTER, 346, { fill: '#7c8187' }) +
    circle(CENTER, 340, { fill: 'url(#metal)' }) +
    `<g clip-path="url(#plate-clip)">${path(stripes, { stroke: '#000', width: 20, opacity: 0.07 })}</g>` +
    wheel(at(60, 190), 128, 64) +
    wheel(at(340, 210), 96, 48) +
    wheel(at(120, 225), 76, 40) +
    circle(balance, 118, { fill: '#2d3034' }) +
    circle(balance, 98, { stroke: '#d8b566', width: 18 }) +
    rotated(rect(balance[0] - 98, balance[1] - 7, 196, 14, 0, { fill: '#d8b566' }), 30, balance) +
    [58, 42, 27].map((r) => circle(balance, r, { stroke: '#5a7fc4', width: 3 })).join('') +
    jewel(balance, 16) +
    [
      [15, 130],
      [180, 170],
      [200, 290],
      [280, 120],
      [160, 290],
      [300, 290],
    ]
      .map(([angle = 0, r = 0]) => screw(at(angle, r)))
      .join('') +
    jewel(CENTER, 18) +
    arcLettering(
      `${part.brand ?? ''} ${caliber ?? ''}`,
      0,
      318,
      { height: 19, color: '#3d4045', weight: 0.14, spacing: 1.4 },
      CENTER,
    )
  );
}

function jewel(center: Point, r: number): string {
  return (
    circle(center, r * 1.5, { fill: '#dcb968', stroke: '#8d6a26', width: 2 }) +
    circle(center, r, { fill: '#b3203b' }) +
    circle([center[0] - r * 0.3, center[1] - r * 0.3], r * 0.32, { fill: '#f0a0ac' })
  );
}

function screw(center: Point): string {
  return (
    circle(center, 17, { fill: '#3659a8', stroke: '#1b2f60', width: 2 }) +
    rotated(rect(center[0] - 15, center[1] - 2.5, 30, 5, 1, { fill: '#101d3d' }), center[0] % 180, center)
  );
}

function wheels(part: PartAttributes): string {
  const isSpring = /spring/i.test(part.part_number ?? '') || /SPR/.test(part.part_number ?? '');
  if (isSpring) {
    const turns = Array.from({ length: 220 }, (_, index) => at(index * 13, 40 + index * 1.35));
    return (
      path(`M${turns.map(pair).join('L')}`, { stroke: '#5a6672', width: 9, cap: 'round' }) +
      path(`M${turns.map(pair).join('L')}`, { stroke: '#c9d2da', width: 3, cap: 'round' })
    );
  }
  const wheel = (center: Point, r: number, teeth: number) => {
    const arms = [0, 45, 90, 135]
      .map((angle) =>
        rotated(
          rect(center[0] - r * 0.8, center[1] - r * 0.06, r * 1.6, r * 0.12, 2, { fill: 'url(#brass)' }),
          angle,
          center,
        ),
      )
      .join('');
    const tooth = polygon(toothed(teeth, r, r * 0.9, center), { fill: 'url(#brass)', stroke: '#7a5a1c', width: 2.5 });
    return (
      tooth +
      circle(center, r * 0.74, { fill: '#ece9e3', stroke: '#7a5a1c', width: 2 }) +
      arms +
      circle(center, r * 0.2, { fill: 'url(#metal)', stroke: '#5d6167', width: 2 }) +
      circle(center, r * 0.07, { fill: '#2d3034' })
    );
  };
  return (
    wheel([MIDDLE - 110, MIDDLE - 90], 250, 72) +
    wheel([MIDDLE + 210, MIDDLE + 170], 165, 48) +
    wheel([MIDDLE - 190, MIDDLE + 260], 100, 30)
  );
}

function pusher(metal: Metal): string {
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

function strap(color: string): string {
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

function gaskets(color: string): string {
  const one = (center: Point, r: number, width: number) =>
    circle(center, r, { stroke: color, width }) +
    circle([center[0] - 2, center[1] - 3], r, { stroke: '#ffffff', width: width * 0.22, opacity: 0.35 });
  return (
    one([MIDDLE - 20, MIDDLE - 10], 320, 26) +
    one([MIDDLE - 60, MIDDLE + 30], 210, 20) +
    one([MIDDLE + 30, MIDDLE - 30], 118, 17) +
    one([MIDDLE - 90, MIDDLE + 60], 56, 14)
  );
}

function box(part: PartAttributes, color: string): string {
  const lid = polygon(
    [
      [270, 420],
      [930, 420],
      [1010, 640],
      [190, 640],
    ],
    { fill: color, stroke: '#00000066', width: 3 },
  );
  const front =
    rect(190, 640, 820, 250, 16, { fill: color, stroke: '#00000066', width: 3 }) +
    rect(190, 640, 820, 250, 16, { fill: 'url(#tint)' });
  const pillow =
    polygon(
      [
        [330, 465],
        [870, 465],
        [915, 600],
        [285, 600],
      ],
      { fill: '#efe6d4', stroke: '#00000033', width: 2 },
    ) + ellipse([MIDDLE, 520], 170, 56, { fill: '#fbf5e8', stroke: '#d9cbb0', width: 3 });
  const plate =
    rect(MIDDLE - 130, 720, 260, 80, 10, { fill: 'url(#brass)', stroke: '#7a5a1c', width: 2 }) +
    lettering(part.brand ?? '', MIDDLE, 760, { height: 24, color: '#4a3610', weight: 0.16, spacing: 1.2 });
  const back =
    polygon(
      [
        [270, 420],
        [930, 420],
        [960, 250],
        [240, 250],
      ],
      { fill: color, stroke: '#00000066', width: 3 },
    ) +
    polygon(
      [
        [300, 404],
        [900, 404],
        [926, 270],
        [274, 270],
      ],
      { fill: '#efe6d4', stroke: '#00000033', width: 2 },
    ) +
    lettering(part.brand ?? '', MIDDLE, 336, { height: 36, color: '#7a6136', weight: 0.14, spacing: 1.3 });
  return back + lid + pillow + front + plate;
}

function papers(part: PartAttributes): string {
  const sheet = (x: number, y: number, turn: number, fill: string) =>
    rotated(rect(x, y, 470, 620, 10, { fill, stroke: '#00000030', width: 2 }), turn);
  const lines = Array.from(
    { length: 9 },
    (_, index) => `M${MIDDLE - 190} ${MIDDLE - 60 + index * 36}h${index % 3 === 2 ? 240 : 380}`,
  ).join('');
  const text =
    lettering(part.brand ?? '', MIDDLE, MIDDLE - 220, { height: 36, color: '#2f4a3a', weight: 0.14, spacing: 1.4 }) +
    lettering('GUARANTEE', MIDDLE, MIDDLE - 150, { height: 22, color: '#8a7440', weight: 0.13, spacing: 1.8 }) +
    path(lines, { stroke: '#9aa0a6', width: 4 }) +
    circle([MIDDLE + 140, MIDDLE + 240], 52, { fill: '#9e2b33' }) +
    polygon(toothed(24, 58, 50, [MIDDLE + 140, MIDDLE + 240]), { fill: '#b5353e' }) +
    circle([MIDDLE + 140, MIDDLE + 240], 36, { stroke: '#e6b9a8', width: 3 });
  return (
    sheet(MIDDLE - 170, MIDDLE - 330, 12, '#dfe6df') +
    sheet(MIDDLE - 300, MIDDLE - 330, -10, '#f0ead9') +
    rotated(
      rect(MIDDLE - 240, MIDDLE - 320, 480, 640, 10, { fill: '#fdfcf7', stroke: '#00000030', width: 2 }) + text,
      -2,
    )
  );
}

function tool(color: string): string {
  const grip =
    rect(-44, 40, 88, 360, 30, { fill: color, stroke: '#00000077', width: 3 }) +
    rect(-44, 40, 88, 360, 30, { fill: 'url(#tint)' }) +
    path(Array.from({ length: 11 }, (_, index) => `M-44 ${84 + index * 26}h88`).join(''), {
      stroke: '#00000066',
      width: 5,
    });
  const shaft =
    rect(-17, -250, 34, 300, 4, { fill: 'url(#metal)', stroke: '#5d6167', width: 2 }) +
    polygon(
      [
        [-17, -250],
        [17, -250],
        [6, -380],
        [-6, -380],
      ],
      { fill: 'url(#metal-across)', stroke: '#5d6167', width: 2 },
    );
  const cap = circle([0, 412], 40, { fill: 'url(#brass)', stroke: '#7a5a1c', width: 3 });
  return (
    group(shaft + grip + cap, `translate(${MIDDLE - 90} ${MIDDLE - 20}) rotate(-26)`) +
    group(shaft + grip + cap, `translate(${MIDDLE + 130} ${MIDDLE + 20}) rotate(-26) scale(0.78)`)
  );
}

function springBars(metal: Metal): string {
  const bar =
    rect(-300, -24, 600, 48, 10, { fill: 'url(#metal)', stroke: metal.dark, width: 3 }) +
    rect(-350, -11, 52, 22, 6, { fill: 'url(#metal-across)', stroke: metal.dark, width: 2 }) +
    rect(298, -11, 52, 22, 6, { fill: 'url(#metal-across)', stroke: metal.dark, width: 2 }) +
    rect(-272, -32, 22, 64, 5, { fill: metal.base, stroke: metal.dark, width: 2 }) +
    rect(250, -32, 22, 64, 5, { fill: metal.base, stroke: metal.dark, width: 2 });
  return [-170, -55, 60, 175]
    .map((y, index) =>
      group(bar, `translate(${MIDDLE + (index % 2 ? 26 : -26)} ${MIDDLE + y}) rotate(${-18 + index * 3})`),
    )
    .join('');
}
