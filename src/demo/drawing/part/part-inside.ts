import type { PartAttributes } from '../../../contract/resources/part.ts';
import type { Metal } from '../colors.ts';
import { arcLettering, lettering } from '../lettering.ts';
import {
  at,
  circle,
  ellipse,
  group,
  MIDDLE,
  type Point,
  pair,
  path,
  polygon,
  rect,
  rotated,
  toothed,
} from '../shapes.ts';

/** What is not seen of a watch, and what comes with it: movements, gaskets, boxes, papers, tools. */
const CENTER: Point = [MIDDLE, MIDDLE];

export function movement(part: PartAttributes): string {
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

export function wheels(part: PartAttributes): string {
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

export function gaskets(color: string): string {
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

export function box(part: PartAttributes, color: string): string {
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

export function papers(part: PartAttributes): string {
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

export function tool(color: string): string {
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

export function springBars(metal: Metal): string {
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
