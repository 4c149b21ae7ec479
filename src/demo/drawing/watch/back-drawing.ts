import type { WatchAttributes } from '../../../contract/resources/listing.ts';
import { metalOf } from '../colors.ts';
import { arcLettering, lettering } from '../lettering.ts';
import { type Look, lookOf } from '../look.ts';
import { scene } from '../scene.ts';
import {
  at,
  circle,
  linear,
  MIDDLE,
  type Point,
  path,
  polygon,
  radial,
  rect,
  rotated,
  spokes,
  toothed,
} from '../shapes.ts';
import { drawBand } from './band.ts';
import { frameOf, lugs, metalGradients } from './case.ts';
import { shadow } from './watch-drawing.ts';

const CENTER: Point = [MIDDLE, MIDDLE];

/** A watch from behind: engraved steel, or a window with the movement in it. */
export function drawBack(watch: WatchAttributes, given: Partial<Look> = {}): string {
  const look: Look = { ...lookOf(watch, given), shape: 'round' };
  const frame = frameOf(watch, look);
  const metal = metalOf(watch.case_material);
  const band = drawBand(watch, look, { width: frame.band, start: frame.outer * 0.72 });
  const hasWindow = watch.additional_details.includes('display_caseback');
  const r = frame.outer;
  const engraving = hasWindow ? r * 0.83 : r * 0.74;
  const text = { height: r * 0.062, color: deepened(metal.dark), weight: 0.15, spacing: 1.5 };
  const upper = [watch.brand, watch.model].join(' · ');
  const lower = [watch.reference_number ?? '', `${watch.water_resistance_m ?? 30} M`, 'SWISS MADE']
    .filter(Boolean)
    .join(' · ');
  const ring =
    circle(CENTER, r, { fill: 'url(#case)', stroke: metal.dark, width: 2 }) +
    polygon(toothed(60, r * 0.95, r * 0.925), { fill: 'url(#case-across)', stroke: metal.dark, width: 1.5 }) +
    circle(CENTER, r * 0.9, { fill: 'url(#case)', stroke: metal.dark, width: 1.5 }) +
    notches(r, metal.dark) +
    arcLettering(cut(upper, 42), 0, engraving, text, CENTER) +
    arcLettering(cut(lower, 42), 180, engraving, text, CENTER);
  const middle = hasWindow ? movement(watch, r * 0.72) : medallion(watch, r * 0.6, metal.dark);
  const defs =
    band.defs +
    metalGradients('case', metal) +
    metalGradients('trim', metalOf('steel')) +
    linear(
      'rotor',
      [
        [0, '#c9a24e'],
        [0.4, '#f3dc9c'],
        [0.6, '#e0bd6c'],
        [1, '#8d6a26'],
      ],
      30,
    ) +
    linear(
      'plate',
      [
        [0, '#d9dce0'],
        [0.5, '#f4f5f6'],
        [1, '#9ea3a9'],
      ],
      60,
    ) +
    radial('drop', [
      [0, '#000', 0.5],
      [0.55, '#000', 0.26],
      [1, '#000', 0],
    ]) +
    linear('drop-band', [
      [0, '#000', 0.3],
      [0.7, '#000', 0.3],
      [1, '#000', 0],
    ]);
  return scene(
    [watch.brand, watch.model, 'back'],
    defs,
    shadow(look, frame) + band.content + lugs(look, frame, metal) + ring + middle,
  );
}

function notches(r: number, dark: string): string {
  return Array.from({ length: 6 }, (_, index) => {
    const [x, y] = at(30 + index * 60, r * 0.935);
    return rotated(rect(x - 16, y - 9, 32, 18, 5, { fill: dark, opacity: 0.55 }), 30 + index * 60, [x, y]);
  }).join('');
}

function medallion(watch: WatchAttributes, r: number, dark: string): string {
  const initials = watch.brand
    .split(/[\s.&-]+/)
    .filter(Boolean)
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 3);
  return (
    circle(CENTER, r, { fill: 'url(#case-across)', stroke: dark, width: 2 }) +
    spokes(120, r * 0.84, r * 0.97, { stroke: dark, width: 1.6, opacity: 0.5 }) +
    circle(CENTER, r * 0.82, { stroke: dark, width: 3, opacity: 0.7 }) +
    circle(CENTER, r * 0.76, { stroke: dark, width: 1.5, opacity: 0.5 }) +
    lettering(initials, MIDDLE, MIDDLE - r * 0.1, { height: r * 0.46, color: dark, weight: 0.16, spacing: 1.2 }) +
    lettering(watch.caliber ?? '', MIDDLE, MIDDLE + r * 0.4, {
      height: r * 0.11,
      color: dark,
      weight: 0.14,
      spacing: 1.6,
    })
  );
}

/** Plates with stripes, jewels, a balance, and the winding weight of an automatic movement. */
function movement(watch: WatchAttributes, r: number): string {
  const isAutomatic = watch.movement === 'automatic' || watch.movement === 'spring_drive';
  const balance = at(225, r * 0.56);
  const jewels: [angle: number, share: number][] = [
    [20, 0.6],
    [60, 0.36],
    [105, 0.7],
    [140, 0.42],
    [300, 0.62],
    [335, 0.3],
    [270, 0.36],
  ];
  const stripes = Array.from({ length: 22 }, (_, index) => {
    const x = MIDDLE - r * 1.5 + index * r * 0.14;
    return `M${x} ${MIDDLE - r}l${r * 0.8} ${r * 2}`;
  }).join('');
  const weight = isAutomatic
    ? path(
        `M${MIDDLE - r * 0.93} ${MIDDLE}A${r * 0.93} ${r * 0.93} 0 0 1 ${MIDDLE + r * 0.93} ${MIDDLE}L${MIDDLE + r * 0.16} ${MIDDLE + r * 0.05}A${r * 0.17} ${r * 0.17} 0 0 1 ${MIDDLE - r * 0.16} ${MIDDLE + r * 0.05}Z`,
        { fill: 'url(#rotor)', stroke: '#7a5a1c', width: 2 },
      ) +
      path(
        `M${MIDDLE - r * 0.72} ${MIDDLE - r * 0.03}A${r * 0.72} ${r * 0.72} 0 0 1 ${MIDDLE + r * 0.72} ${MIDDLE - r * 0.03}`,
        { stroke: '#7a5a1c', width: 3, opacity: 0.7 },
      ) +
      arcLettering(
        cut(`${watch.brand} ${watch.caliber ?? ''}`, 30),
        0,
        r * 0.82,
        { height: r * 0.085, color: '#6b4d15', weight: 0.15, spacing: 1.3 },
        CENTER,
      ) +
      circle(CENTER, r * 0.12, { fill: 'url(#plate)', stroke: '#5d6167', width: 2 }) +
      circle(CENTER, r * 0.055, { fill: '#b3263a', stroke: '#e9d9a5', width: 3 })
    : '';
  const clip = `<defs><clipPath id="window"><circle cx="${MIDDLE}" cy="${MIDDLE}" r="${r}"/></clipPath></defs>`;
  const plate =
    circle(CENTER, r, { fill: '#3a3d42' }) +
    circle(CENTER, r * 0.98, { fill: 'url(#plate)' }) +
    path(stripes, { stroke: '#000', width: r * 0.06, opacity: 0.09 }) +
    path(
      `M${MIDDLE - r} ${MIDDLE + r * 0.1}C${MIDDLE - r * 0.3} ${MIDDLE - r * 0.1} ${MIDDLE - r * 0.1} ${MIDDLE + r * 0.5} ${MIDDLE + r * 0.1} ${MIDDLE + r}`,
      { stroke: '#4c5056', width: 7 },
    ) +
    path(
      `M${MIDDLE + r} ${MIDDLE - r * 0.2}C${MIDDLE + r * 0.4} ${MIDDLE - r * 0.1} ${MIDDLE + r * 0.3} ${MIDDLE - r * 0.6} ${MIDDLE} ${MIDDLE - r}`,
      { stroke: '#4c5056', width: 6 },
    );
  const wheel =
    circle(balance, r * 0.3, { fill: '#2a2d31' }) +
    circle(balance, r * 0.25, { stroke: '#d8b566', width: r * 0.05 }) +
    rotated(rect(balance[0] - r * 0.25, balance[1] - 5, r * 0.5, 10, 0, { fill: '#d8b566' }), 25, balance) +
    [0.15, 0.11, 0.07].map((share) => circle(balance, r * share, { stroke: '#5a7fc4', width: 2.5 })).join('') +
    jewel(balance, r * 0.045);
  const train =
    polygon(toothed(70, r * 0.33, r * 0.305, at(75, r * 0.5)), { fill: '#d3b064', stroke: '#8d6a26', width: 1.5 }) +
    circle(at(75, r * 0.5), r * 0.22, { stroke: '#8d6a26', width: 2 }) +
    polygon(toothed(50, r * 0.22, r * 0.2, at(320, r * 0.62)), { fill: '#c9cdd2', stroke: '#777c82', width: 1.5 });
  const stones = jewels.map(([angle, share]) => jewel(at(angle, r * share), r * 0.036)).join('');
  return `${clip}<g clip-path="url(#window)">${plate}${train}${wheel}${stones}${weight}</g>${circle(CENTER, r, { stroke: 'url(#case-across)', width: 12 })}`;
}

function jewel(center: Point, r: number): string {
  return (
    circle(center, r * 1.5, { fill: '#dcb968', stroke: '#8d6a26', width: 1.5 }) +
    circle(center, r, { fill: '#b3203b' }) +
    circle([center[0] - r * 0.3, center[1] - r * 0.3], r * 0.3, { fill: '#f0a0ac' })
  );
}

/** Engraving is darker than any shade of the metal around it. */
function deepened(color: string): string {
  return `#${(color.match(/[0-9a-f]{2}/gi) ?? [])
    .map((part) =>
      Math.round(Number.parseInt(part, 16) * 0.6)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).trimEnd();
}
