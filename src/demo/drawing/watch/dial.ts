import type { WatchAttributes } from '../../../contract/resources/listing.ts';
import { DIALS, type DialColor, metalOf } from '../colors.ts';
import { lettering, widthOf } from '../lettering.ts';
import type { Look } from '../look.ts';
import {
  at,
  circle,
  group,
  linear,
  MIDDLE,
  n,
  type Point,
  pair,
  path,
  polygon,
  radial,
  rect,
  rotated,
  spokes,
} from '../shapes.ts';
import { drawTexture } from '../texture.ts';
import type { Frame } from './case.ts';
import { drawSubdials } from './subdials.ts';

const ROMAN = ['XII', 'I', 'II', 'III', 'IIII', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI'];

/** Everything below the hands. */
export function drawDial(watch: WatchAttributes, look: Look, frame: Frame): { defs: string; content: string } {
  const color = DIALS[watch.dial_color ?? 'silver'];
  const metal = metalOf(trimOf(watch));
  const outline = dialOutline(look, frame);
  const texture = drawTexture(watch, look, frame, color);
  const subdials = drawSubdials(watch, look, frame, color);
  const defs =
    radial('dial', [
      [0, color.middle],
      [0.72, color.middle],
      [1, color.edge],
    ]) +
    radial('dial-shade', [
      [0, '#000', 0],
      [0.86, '#000', 0],
      [1, '#000', 0.34],
    ]) +
    linear(
      'trim',
      [
        [0, metal.base],
        [0.35, metal.glint],
        [0.65, metal.light],
        [1, metal.dark],
      ],
      40,
    ) +
    `<clipPath id="dial-clip">${outline('#000')}</clipPath>` +
    texture.defs +
    subdials.defs;
  const onDial = group(texture.content + minuteTrack(look, frame, color), '', 'clip-path="url(#dial-clip)"');
  const content =
    outline('url(#dial)') +
    onDial +
    (look.shape === 'rectangle' ? '' : outline('url(#dial-shade)')) +
    indices(watch, look, frame, color) +
    texts(watch, look, frame, color) +
    subdials.content +
    dateWindow(look, frame);
  return { defs, content };
}

/** Hands and markers have the colour of the case, save on a steel-cased gold watch. */
export function trimOf(watch: WatchAttributes): string {
  const material = watch.case_material ?? 'steel';
  if (['ceramic', 'carbon', 'titanium', 'tantalum', 'gold_steel', 'plastic'].includes(material)) {
    return material === 'gold_steel' ? (watch.bezel_material ?? 'yellow_gold') : 'steel';
  }
  return material;
}

function dialOutline(look: Look, frame: Frame): (fill: string) => string {
  if (look.shape !== 'rectangle') return (fill) => circle([MIDDLE, MIDDLE], frame.dial, { fill });
  const { width, height } = boxOf(frame);
  return (fill) => rect(MIDDLE - width, MIDDLE - height, width * 2, height * 2, 8, { fill });
}

/** Half the sides of a rectangular dial. */
function boxOf(frame: Frame): { width: number; height: number } {
  return { width: frame.halfWidth - 56, height: frame.halfHeight - 40 };
}

/** The point of an hour on the dial, so far from its edge; on a rectangle it lies on a smaller rectangle. */
function spot(look: Look, frame: Frame, angle: number, inset: number): Point {
  if (look.shape !== 'rectangle') return at(angle, frame.dial - inset);
  const box = boxOf(frame);
  const width = box.width - inset;
  const height = box.height - inset;
  const radians = (angle * Math.PI) / 180;
  const reach = Math.min(width / Math.abs(Math.sin(radians) || 1e-9), height / Math.abs(Math.cos(radians) || 1e-9));
  return at(angle, reach);
}

function minuteTrack(look: Look, frame: Frame, color: DialColor): string {
  if (look.shape === 'rectangle') {
    const { width, height } = boxOf(frame);
    const rail = (inset: number) =>
      rect(MIDDLE - width + inset, MIDDLE - height + inset, (width - inset) * 2, (height - inset) * 2, 2, {
        stroke: color.print,
        width: 2,
      });
    const ticks = Array.from(
      { length: 60 },
      (_, index) => `M${pair(spot(look, frame, index * 6, 58))}L${pair(spot(look, frame, index * 6, 70))}`,
    );
    return rail(58) + rail(70) + path(ticks.join(''), { stroke: color.print, width: 2 });
  }
  const outer = frame.dial - 6;
  return (
    spokes(60, outer - 12, outer, { stroke: color.print, width: 2.2, opacity: 0.85 }) +
    spokes(12, outer - 14, outer, { stroke: color.print, width: 4.5 })
  );
}

/** Hours that a window or a small dial covers. */
function coveredHours(look: Look): Set<number> {
  const hours = new Set(look.subdials.map((subdial) => subdial.hour % 12));
  if (look.date === 'three') hours.add(3);
  if (look.date === 'six') hours.add(6);
  if (look.date === 'large' || look.date === 'day-date') hours.add(0);
  if (look.date === 'day-date') hours.add(3);
  return hours;
}

function indices(watch: WatchAttributes, look: Look, frame: Frame, color: DialColor): string {
  const covered = coveredHours(look);
  const unit = frame.dial / 100;
  return Array.from({ length: 12 }, (_, hour) => {
    const isShort = covered.has(hour);
    if (isShort && look.indices !== 'batons') return '';
    return marker(watch, look, frame, color, hour, unit, isShort);
  }).join('');
}

function marker(
  watch: WatchAttributes,
  look: Look,
  frame: Frame,
  color: DialColor,
  hour: number,
  unit: number,
  isShort: boolean,
): string {
  const angle = hour * 30;
  const edge = { fill: 'url(#trim)', stroke: color.isDark ? '#00000055' : '#00000066', width: 1 };
  const top = MIDDLE - frame.dial;
  switch (look.indices) {
    case 'plots':
      return plot(look, frame, hour, unit, edge);
    case 'gems':
      return (
        circle(at(angle, frame.dial - 17 * unit), 5 * unit, { fill: '#f2f7fd', stroke: '#94a3b5', width: 1.5 }) +
        circle(at(angle, frame.dial - 17 * unit), 2.4 * unit, { fill: '#ffffff' })
      );
    case 'daggers': {
      const length = hour % 3 === 0 ? 24 : 20;
      return rotated(
        polygon(
          [
            [MIDDLE - 3.2 * unit, top + 9 * unit],
            [MIDDLE + 3.2 * unit, top + 9 * unit],
            [MIDDLE, top + (9 + length) * unit],
          ],
          edge,
        ),
        angle,
      );
    }
    case 'roman': {
      const [x, y] = spot(look, frame, angle, look.shape === 'rectangle' ? 31 : 20 * unit);
      const height = look.shape === 'rectangle' ? 34 : 17 * unit;
      const text = lettering(ROMAN[hour] ?? '', x, y, { height, color: color.print, weight: 0.17, spacing: 0.9 });
      return look.shape === 'rectangle' ? text : rotated(text, angle, [x, y]);
    }
    case 'arabic':
    case 'pilot': {
      if (look.indices === 'pilot' && hour === 0) {
        const tip: Point[] = [
          [MIDDLE, top + 10 * unit],
          [MIDDLE - 8 * unit, top + 24 * unit],
          [MIDDLE + 8 * unit, top + 24 * unit],
        ];
        return (
          polygon(tip, { fill: look.lume }) +
          circle([MIDDLE - 12 * unit, top + 14 * unit], 1.9 * unit, { fill: look.lume }) +
          circle([MIDDLE + 12 * unit, top + 14 * unit], 1.9 * unit, { fill: look.lume })
        );
      }
      const [x, y] = spot(look, frame, angle, look.shape === 'rectangle' ? 30 : 21 * unit);
      const isLarge = look.indices === 'pilot';
      const fill = isLarge ? look.lume : watch.dial_numerals === 'breguet' ? 'url(#trim)' : color.print;
      return lettering(String(hour === 0 ? 12 : hour), x, y, {
        height: (isLarge ? 19 : 15.5) * unit,
        color: fill === 'url(#trim)' ? metalOf(trimOf(watch)).base : fill,
        weight: isLarge ? 0.2 : 0.16,
        spacing: 0.8,
      });
    }
    default:
      return baton(look, frame, hour, unit, isShort, edge);
  }
}

function baton(
  look: Look,
  frame: Frame,
  hour: number,
  unit: number,
  isShort: boolean,
  edge: { fill: string; stroke: string; width: number },
): string {
  const angle = hour * 30;
  const length = (isShort ? 7 : hour % 3 === 0 ? 21 : 18) * unit;
  const width = 4.4 * unit;
  if (look.shape === 'rectangle') {
    const [x, y] = spot(look, frame, angle, 32);
    return rotated(rect(x - 5, y - 20, 10, 40, 2, edge), angle, [x, y]);
  }
  const top = MIDDLE - frame.dial + 9 * unit;
  const one = (x: number) =>
    rect(x, top, width, length, 1.5, edge) +
    rect(x + width * 0.28, top + 2 * unit, width * 0.44, Math.max(1, length - 4 * unit), 1, {
      fill: look.lume,
      opacity: 0.9,
    });
  const bars = hour === 0 ? one(MIDDLE - width - 1.2 * unit) + one(MIDDLE + 1.2 * unit) : one(MIDDLE - width / 2);
  return rotated(bars, angle);
}

/** A triangle, bars and dots, filled with what glows in the dark. */
function plot(
  look: Look,
  frame: Frame,
  hour: number,
  unit: number,
  edge: { fill: string; stroke: string; width: number },
): string {
  const top = MIDDLE - frame.dial;
  const lume = { fill: look.lume, stroke: 'url(#trim)', width: 1.7 * unit };
  if (hour === 0) {
    return polygon(
      [
        [MIDDLE - 8.5 * unit, top + 10 * unit],
        [MIDDLE + 8.5 * unit, top + 10 * unit],
        [MIDDLE, top + 27 * unit],
      ],
      lume,
    );
  }
  if (hour % 3 === 0) {
    return rotated(rect(MIDDLE - 3.8 * unit, top + 10 * unit, 7.6 * unit, 17 * unit, 1.5, lume), hour * 30);
  }
  return circle(at(hour * 30, frame.dial - 16 * unit), 5.6 * unit, { ...lume, stroke: edge.fill });
}

/** The maker's name and a line or two below, as far as nothing else stands there. */
function texts(watch: WatchAttributes, look: Look, frame: Frame, color: DialColor): string {
  const unit = frame.dial / 100;
  const isBusyAbove = look.subdials.some((subdial) => subdial.hour % 12 === 0) || look.date === 'large';
  const isBusyBelow = look.subdials.some((subdial) => subdial.hour === 6) || look.date === 'six';
  const name = watch.brand.toUpperCase();
  const room = frame.dial * (isBusyAbove ? 0.5 : look.shape === 'rectangle' ? 0.75 : 0.78);
  const height = Math.min(9 * unit, (9 * unit * room) / widthOf(name, 9 * unit, 1.3));
  const nameY = MIDDLE - (isBusyAbove ? 24 : look.shape === 'rectangle' ? 56 : 45) * unit;
  let content = lettering(name, MIDDLE, nameY, { height, color: color.print, weight: 0.15, spacing: 1.3 });
  const isAutomatic = watch.movement === 'automatic';
  if (!isBusyBelow) {
    const lines = [
      isAutomatic ? 'AUTOMATIC' : watch.movement === 'quartz' ? 'QUARTZ' : 'MANUFACTURE',
      (watch.water_resistance_m ?? 0) >= 200
        ? `${watch.water_resistance_m}M ${Math.round(((watch.water_resistance_m ?? 0) * 3.28084) / 10) * 10}FT`
        : '',
    ].filter(Boolean);
    content += lines
      .map((text, index) =>
        lettering(text, MIDDLE, MIDDLE + (40 + index * 9) * unit, {
          height: 4.6 * unit,
          color: color.print,
          weight: 0.13,
          spacing: 1.4,
        }),
      )
      .join('');
  }
  const foot =
    look.shape === 'rectangle'
      ? ''
      : group(
          lettering('SWISS', 0, 0, { height: 3.2 * unit, color: color.print, weight: 0.13 }),
          `translate(${n(MIDDLE - 13 * unit)} ${n(MIDDLE + frame.dial - 4.5 * unit)}) rotate(8)`,
        ) +
        group(
          lettering('MADE', 0, 0, { height: 3.2 * unit, color: color.print, weight: 0.13 }),
          `translate(${n(MIDDLE + 13 * unit)} ${n(MIDDLE + frame.dial - 4.5 * unit)}) rotate(-8)`,
        );
  return content + foot;
}

function dateWindow(look: Look, frame: Frame): string {
  const hasNumerals = ['arabic', 'roman', 'pilot'].includes(look.indices);
  const unit = frame.dial / 100;
  const window = (x: number, y: number, text: string, width: number, turn = 0) =>
    rotated(
      rect(x - width / 2, y - 8.5 * unit, width, 17 * unit, 3, { fill: '#fdfdfb', stroke: 'url(#trim)', width: 2.4 }) +
        lettering(text, x, y, { height: 9.5 * unit, color: '#1b1d20', weight: 0.17 }),
      turn,
      [x, y],
    );
  switch (look.date) {
    case 'three':
      return window(MIDDLE + frame.dial - 24 * unit, MIDDLE, '28', 20 * unit);
    case 'four': {
      const [x, y] = at(135, frame.dial - (hasNumerals ? 44 : 26) * unit);
      return window(x, y, '28', 17 * unit);
    }
    case 'six':
      return window(MIDDLE, MIDDLE + frame.dial - 24 * unit, '28', 20 * unit);
    case 'large':
      return (
        window(MIDDLE - 9.5 * unit, MIDDLE - frame.dial + 32 * unit, '2', 17 * unit) +
        window(MIDDLE + 9.5 * unit, MIDDLE - frame.dial + 32 * unit, '8', 17 * unit)
      );
    case 'day-date':
      return (
        window(MIDDLE + frame.dial - 24 * unit, MIDDLE, '28', 20 * unit) +
        window(
          MIDDLE,
          MIDDLE - frame.dial + 30 * unit,
          hasNumerals ? 'SAT' : 'SATURDAY',
          (hasNumerals ? 27 : 58) * unit,
        )
      );
    case 'none':
      return '';
  }
}
