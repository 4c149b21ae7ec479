import type { WatchAttributes } from '../../../contract/resources/listing.ts';
import { isDark, type Metal, metalOf } from '../colors.ts';
import { arcLettering, lettering } from '../lettering.ts';
import type { Look } from '../look.ts';
import {
  at,
  circle,
  group,
  linear,
  MIDDLE,
  n,
  pair,
  path,
  polygon,
  rect,
  rotated,
  spokes,
  toothed,
} from '../shapes.ts';

/** The measures of a watch in the picture, all from the middle. */
export type Frame = {
  /** Of the case at its widest; of the bezel's outer edge; of the dial. */
  outer: number;
  bezel: number;
  dial: number;
  /** Half width and half height of a rectangular case; a round one has its radius in both. */
  halfWidth: number;
  halfHeight: number;
  /** Between the lugs. */
  band: number;
};

export function frameOf(watch: WatchAttributes, look: Look): Frame {
  const diameter = watch.case_diameter_mm ?? 40;
  const outer = 196 + diameter * 3.9;
  const band = Math.min(outer * 1.3, (2 * outer * (watch.lug_width_mm ?? 20)) / diameter);
  if (look.shape === 'rectangle') {
    const halfWidth = outer * 0.68;
    return { outer, bezel: outer, dial: halfWidth * 0.84, halfWidth, halfHeight: outer * 0.98, band: halfWidth * 1.5 };
  }
  const hasInlay = ['diver', 'gmt', 'tachymeter'].includes(look.bezel);
  const isShaped = look.shape !== 'round';
  const bezel = outer * (look.shape === 'octagon' ? 0.94 : isShaped ? 0.9 : 0.965);
  const share = look.shape === 'octagon' ? 0.78 : hasInlay ? 0.79 : look.bezel === 'smooth' ? 0.9 : 0.85;
  return { outer, bezel, dial: bezel * share, halfWidth: outer, halfHeight: outer, band };
}

export function metalGradients(id: string, metal: Metal): string {
  const { dark, base, light, glint } = metal;
  return (
    linear(
      id,
      [
        [0, light],
        [0.22, base],
        [0.42, glint],
        [0.58, light],
        [0.8, base],
        [1, dark],
      ],
      52,
    ) +
    linear(
      `${id}-across`,
      [
        [0, dark],
        [0.25, base],
        [0.5, light],
        [0.75, base],
        [1, dark],
      ],
      142,
    )
  );
}

export function drawCase(watch: WatchAttributes, look: Look, frame: Frame): { defs: string; content: string } {
  const metal = metalOf(watch.case_material);
  const defs = metalGradients('case', metal) + metalGradients('bezel', bezelMetal(watch));
  const content =
    lugs(look, frame, metal) + crown(watch, look, frame) + body(look, frame, metal) + bezel(look, frame, watch);
  return { defs, content };
}

function bezelMetal(watch: WatchAttributes): Metal {
  const isInlay = watch.bezel_material === 'ceramic' || watch.bezel_material === 'aluminium';
  const isPlain = watch.bezel_material === 'none' || watch.bezel_material === 'sapphire' || isInlay;
  return metalOf(isPlain && watch.case_material !== 'ceramic' ? watch.case_material : watch.bezel_material);
}

/** The case seen from the front, under the bezel. */
function body(look: Look, frame: Frame, metal: Metal): string {
  const edge = { fill: 'url(#case)', stroke: metal.dark, width: 2 };
  const { outer, halfWidth, halfHeight } = frame;
  switch (look.shape) {
    case 'rectangle':
      return rect(MIDDLE - halfWidth, MIDDLE - halfHeight, halfWidth * 2, halfHeight * 2, 26, edge);
    case 'cushion':
      return path(squircle(outer, 0.62), edge);
    case 'tonneau':
    case 'porthole':
      return path(squircle(outer, 0.5), edge);
    case 'octagon':
      return path(squircle(outer, 0.3), edge);
    case 'round':
      return circle([MIDDLE, MIDDLE], outer, edge);
  }
}

/** Between a circle and a square: the larger the bend, the squarer. */
function squircle(radius: number, bend: number): string {
  const c = radius * (0.5523 + (1 - 0.5523) * bend);
  const m = MIDDLE;
  const r = radius;
  return `M${n(m)} ${n(m - r)}C${n(m + c)} ${n(m - r)} ${n(m + r)} ${n(m - c)} ${n(m + r)} ${n(m)}C${n(m + r)} ${n(m + c)} ${n(m + c)} ${n(m + r)} ${n(m)} ${n(m + r)}C${n(m - c)} ${n(m + r)} ${n(m - r)} ${n(m + c)} ${n(m - r)} ${n(m)}C${n(m - r)} ${n(m - c)} ${n(m - c)} ${n(m - r)} ${n(m)} ${n(m - r)}Z`;
}

/** What holds the band, above and below. */
export function lugs(look: Look, frame: Frame, metal: Metal): string {
  const { outer, band, halfWidth, halfHeight } = frame;
  if (look.shape === 'rectangle') {
    const bar = (x: number) =>
      rect(x, MIDDLE - halfHeight - 46, 34, halfHeight * 2 + 92, 15, {
        fill: 'url(#case-across)',
        stroke: metal.dark,
        width: 1.5,
      });
    return bar(MIDDLE - halfWidth) + bar(MIDDLE + halfWidth - 34);
  }
  const inner = band / 2;
  if (look.band === 'integrated') {
    const shoulder = `M${n(MIDDLE - outer * 0.86)} ${n(MIDDLE - outer * 0.42)}L${n(MIDDLE - inner)} ${n(MIDDLE - outer * 1.12)}H${n(MIDDLE + inner)}L${n(MIDDLE + outer * 0.86)} ${n(MIDDLE - outer * 0.42)}Z`;
    const top = path(shoulder, { fill: 'url(#case-across)', stroke: metal.dark, width: 2 });
    return top + group(top, `rotate(180 ${MIDDLE} ${MIDDLE})`);
  }
  const tip = outer * 1.13;
  const reach = inner + outer * 0.17;
  const right = `M${n(MIDDLE + outer * 0.97)} ${n(MIDDLE - outer * 0.3)}C${n(MIDDLE + outer * 0.93)} ${n(MIDDLE - outer * 0.72)} ${n(MIDDLE + reach + 8)} ${n(MIDDLE - outer * 0.95)} ${n(MIDDLE + reach - 6)} ${n(MIDDLE - tip)}Q${n(MIDDLE + reach - 10)} ${n(MIDDLE - tip - 12)} ${n(MIDDLE + reach - 22)} ${n(MIDDLE - tip - 10)}L${n(MIDDLE + inner + 8)} ${n(MIDDLE - tip - 4)}Q${n(MIDDLE + inner + 1)} ${n(MIDDLE - tip)} ${n(MIDDLE + inner + 1)} ${n(MIDDLE - tip + 12)}L${n(MIDDLE + inner - 6)} ${n(MIDDLE - outer * 0.7)}Z`;
  const one = path(right, { fill: 'url(#case)', stroke: metal.dark, width: 2 });
  const mirrored = group(one, `translate(${MIDDLE * 2} 0) scale(-1 1)`);
  const pairUp = one + mirrored;
  return pairUp + group(pairUp, `translate(0 ${MIDDLE * 2}) scale(1 -1)`);
}

/** At three o'clock, with pushers beside it on a chronograph. */
function crown(watch: WatchAttributes, look: Look, frame: Frame): string {
  const edge = MIDDLE + frame.halfWidth;
  const { dark } = metalOf(watch.case_material);
  const paint = { fill: 'url(#case-across)', stroke: dark, width: 2 };
  const ribs = Array.from({ length: 8 }, (_, index) => `M${n(edge + 8)} ${n(MIDDLE - 26 + index * 7.4)}h26`).join('');
  const knob =
    rect(edge - 14, MIDDLE - 22, 24, 44, 3, paint) +
    rect(edge + 4, MIDDLE - 32, 34, 64, 9, paint) +
    path(ribs, { stroke: dark, width: 2, opacity: 0.7 });
  const hasPushers = watch.complications.includes('chronograph');
  const pusher = rect(edge - 22, MIDDLE - 17, 26, 34, 3, paint) + rect(edge - 2, MIDDLE - 24, 22, 48, 7, paint);
  const pushers = hasPushers ? rotated(pusher, -30) + rotated(pusher, 30) : '';
  // A guard on each side of the crown, as tool watches have it.
  const hasGuards = watch.additional_details.includes('screw_down_crown') && look.shape === 'round' && !hasPushers;
  const guard = `M${n(edge - 40)} ${n(MIDDLE - 96)}Q${n(edge + 14)} ${n(MIDDLE - 70)} ${n(edge + 12)} ${n(MIDDLE - 36)}L${n(edge - 40)} ${n(MIDDLE - 30)}Z`;
  const guards = hasGuards
    ? path(guard, paint) + group(path(guard, paint), `translate(0 ${MIDDLE * 2}) scale(1 -1)`)
    : '';
  return guards + pushers + knob;
}

function bezel(look: Look, frame: Frame, watch: WatchAttributes): string {
  const { bezel: outer, dial } = frame;
  const { dark, glint } = bezelMetal(watch);
  const ring = circle([MIDDLE, MIDDLE], outer, { fill: 'url(#bezel)', stroke: dark, width: 1.5 });
  const rehaut = circle([MIDDLE, MIDDLE], dial + 7, { fill: 'url(#bezel-across)', stroke: dark, width: 1.5 });
  if (look.shape === 'rectangle') {
    const { halfWidth, halfHeight } = frame;
    return rect(MIDDLE - halfWidth + 34, MIDDLE - halfHeight + 16, (halfWidth - 34) * 2, (halfHeight - 16) * 2, 14, {
      fill: 'url(#bezel)',
      stroke: dark,
      width: 1.5,
    });
  }
  if (look.shape === 'octagon') return octagon(frame, dark, glint) + rehaut;
  if (look.shape === 'porthole') return porthole(frame, dark) + rehaut;
  switch (look.bezel) {
    case 'fluted': {
      const teeth = polygon(toothed(72, outer, outer - 4), { fill: 'url(#bezel)' });
      const facets =
        spokes(72, dial + 8, outer - 1, { stroke: dark, width: 3.4, opacity: 0.55 }) +
        rotated(spokes(72, dial + 8, outer - 1, { stroke: glint, width: 3, opacity: 0.8 }), 1.6);
      return teeth + facets + rehaut;
    }
    case 'coin':
      return (
        polygon(toothed(120, outer + 3, outer - 4), { fill: 'url(#bezel)', stroke: dark, width: 1 }) +
        circle([MIDDLE, MIDDLE], outer - 8, { fill: 'url(#bezel-across)' }) +
        rehaut
      );
    case 'gems':
      return ring + gems(outer, dial) + rehaut;
    case 'screwed':
      return ring + screws(frame, 8, outer * 0.93) + rehaut;
    case 'diver':
    case 'gmt':
    case 'tachymeter':
      return inlaid(look, frame, watch) + rehaut;
    default:
      return ring + circle([MIDDLE, MIDDLE], outer * 0.955, { fill: 'url(#bezel-across)' }) + rehaut;
  }
}

function octagon({ bezel: radius }: Frame, dark: string, glint: string): string {
  const corners = (size: number) => Array.from({ length: 8 }, (_, index) => at(22.5 + index * 45, size));
  return (
    polygon(corners(radius * 1.06), { fill: 'url(#bezel-across)', stroke: dark, width: 2.5 }) +
    polygon(corners(radius * 1.015), { fill: 'url(#bezel)', stroke: glint, width: 2.5 }) +
    Array.from({ length: 8 }, (_, index) => screwAt(22.5 + index * 45, radius * 0.915)).join('')
  );
}

/** An octagon with round sides, and an ear on the left and on the right. */
function porthole({ bezel: radius, outer }: Frame, dark: string): string {
  const ear = (x: number) =>
    rect(x, MIDDLE - outer * 0.3, 46, outer * 0.6, 20, { fill: 'url(#case-across)', stroke: dark, width: 2 });
  const corner = Array.from({ length: 8 }, (_, index) => at(22.5 + index * 45, radius * 1.02));
  const middle = Array.from({ length: 8 }, (_, index) => at(45 + index * 45, radius * 1.06));
  const data = `M${pair(corner[0] ?? [0, 0])}${corner.map((_, index) => `Q${pair(middle[index] ?? [0, 0])} ${pair(corner[(index + 1) % 8] ?? [0, 0])}`).join('')}Z`;
  return (
    ear(MIDDLE - outer - 18) + ear(MIDDLE + outer - 28) + path(data, { fill: 'url(#bezel)', stroke: dark, width: 2 })
  );
}

function screws(_frame: Frame, count: number, radius: number): string {
  return Array.from({ length: count }, (_, index) => screwAt(index * (360 / count) + 180 / count, radius)).join('');
}

function screwAt(angle: number, radius: number): string {
  const [x, y] = at(angle, radius);
  return (
    polygon(
      Array.from({ length: 6 }, (_, index) => at(index * 60, 13, [x, y])),
      { fill: '#c9ccd0', stroke: '#55595e', width: 1.5 },
    ) + rotated(rect(x - 11, y - 1.8, 22, 3.6, 1, { fill: '#55595e' }), angle, [x, y])
  );
}

function gems(outer: number, dial: number): string {
  const radius = (outer + dial + 8) / 2;
  const size = (outer - dial - 14) / 2;
  const count = Math.floor((2 * Math.PI * radius) / (size * 2.15));
  return Array.from({ length: count }, (_, index) => {
    const [x, y] = at((index * 360) / count, radius);
    const facets = Array.from({ length: 4 }, (_, corner) => at(corner * 90 + 20 + index * 30, size * 0.62, [x, y]));
    return (
      circle([x, y], size, { fill: '#eef4fb', stroke: '#9aa5b1', width: 1.2 }) +
      polygon(facets, { fill: '#ffffff', stroke: '#b9cbe0', width: 1 })
    );
  }).join('');
}

/** A coloured ring with a scale: minutes of a dive, 24 hours, or speeds. */
function inlaid(look: Look, frame: Frame, watch: WatchAttributes): string {
  const { bezel: outer, dial } = frame;
  const { dark } = bezelMetal(watch);
  const isTurning = look.bezel !== 'tachymeter';
  const rim = isTurning
    ? polygon(toothed(look.bezel === 'gmt' ? 24 * 4 : 60, outer + 5, outer - 3), {
        fill: 'url(#bezel)',
        stroke: dark,
        width: 1.5,
      })
    : circle([MIDDLE, MIDDLE], outer, { fill: 'url(#bezel)', stroke: dark, width: 1.5 });
  const middle = (outer - 12 + dial + 8) / 2;
  const width = outer - 12 - dial - 8;
  const [upper, lower] = look.inlay;
  const half = (color: string, sweep: 0 | 1) =>
    path(`M${n(MIDDLE - middle)} ${MIDDLE}A${n(middle)} ${n(middle)} 0 0 ${sweep} ${n(MIDDLE + middle)} ${MIDDLE}`, {
      stroke: color,
      width: width + 4,
    });
  const inlay = half(upper, 1) + half(lower, 0);
  const shine = circle([MIDDLE, MIDDLE], middle, { stroke: 'url(#inlay-shine)', width });
  return rim + inlay + shine + scale(look, middle, width);
}

function scale(look: Look, radius: number, width: number): string {
  const [upper] = look.inlay;
  const color = isDark(upper) ? '#f4f4f0' : '#24272b';
  const text = (value: string, angle: number, height: number) =>
    rotated(lettering(value, MIDDLE, MIDDLE - radius, { height, color, weight: 0.13 }), angle);
  if (look.bezel === 'diver') {
    const triangle = polygon(
      [at(-5.2, radius + width * 0.42), at(5.2, radius + width * 0.42), at(0, radius - width * 0.34)],
      { fill: color },
    );
    const numerals = ['10', '20', '30', '40', '50']
      .map((value, index) => text(value, (index + 1) * 60, width * 0.6))
      .join('');
    const bars = Array.from({ length: 6 }, (_, index) => {
      const bar = rect(MIDDLE - 5, MIDDLE - radius - width * 0.3, 10, width * 0.6, 2, { fill: color });
      return rotated(bar, 30 + index * 60);
    }).join('');
    const fine = Array.from({ length: 15 }, (_, index) => index * 6).filter(
      (angle) => angle % 30 !== 0 && Math.abs(angle - 60) > 12,
    );
    const minutes = path(
      fine
        .map((angle) => `M${pair(at(angle, radius - width * 0.3))}L${pair(at(angle, radius + width * 0.3))}`)
        .join(''),
      { stroke: color, width: 4 },
    );
    return triangle + numerals + bars + minutes;
  }
  if (look.bezel === 'gmt') {
    const triangle = polygon(
      [at(-5, radius + width * 0.4), at(5, radius + width * 0.4), at(0, radius - width * 0.36)],
      { fill: color },
    );
    const numerals = Array.from({ length: 11 }, (_, index) =>
      text(String((index + 1) * 2), (index + 1) * 30, width * 0.5),
    ).join('');
    const dots = Array.from({ length: 12 }, (_, index) => circle(at(15 + index * 30, radius), 4, { fill: color })).join(
      '',
    );
    return triangle + numerals + dots;
  }
  const speeds: [number, number][] = [
    [400, 54],
    [300, 72],
    [240, 90],
    [200, 108],
    [160, 135],
    [140, 154],
    [120, 180],
    [100, 216],
    [90, 240],
    [80, 270],
    [70, 309],
    [60, 350],
  ];
  const numerals = speeds.map(([speed, angle]) => text(String(speed), angle, width * 0.44)).join('');
  const title = arcLettering('TACHYMETRE', 22, radius, { height: width * 0.34, color, weight: 0.12 }, [MIDDLE, MIDDLE]);
  return title + numerals;
}
