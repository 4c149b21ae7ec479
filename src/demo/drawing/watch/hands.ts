import type { WatchAttributes } from '../../../contract/resources/listing.ts';
import { DIALS, metalOf } from '../colors.ts';
import type { Look } from '../look.ts';
import { circle, group, MIDDLE, n, type Paint, path, polygon, rect, rotated, silhouette } from '../shapes.ts';
import type { Frame } from './case.ts';
import { trimOf } from './dial.ts';

/** Ten past ten and a bit, as in every shop window: the name is free, and the hands smile. */
const HOUR_ANGLE = 305;
const MINUTE_ANGLE = 55;
const SECONDS_ANGLE = 168;
const SECOND_ZONE_ANGLE = 232;

export function drawHands(watch: WatchAttributes, look: Look, frame: Frame): string {
  const reach = look.shape === 'rectangle' ? frame.dial * 0.86 : frame.dial;
  const color = DIALS[watch.dial_color ?? 'silver'];
  const isLightOnLight = !color.isDark && ['steel', 'white_gold', 'platinum'].includes(trimOf(watch));
  const trim = metalOf(trimOf(watch));
  const paint: Paint = {
    fill: isLightOnLight && look.hands === 'breguet' ? '#1f3f8f' : 'url(#trim)',
    stroke: isLightOnLight ? '#3a3e44' : trim.dark,
    width: 1.6,
  };
  const pieces = [
    hasSecondZone(watch) ? { angle: SECOND_ZONE_ANGLE, content: secondZone(look, reach) } : null,
    { angle: HOUR_ANGLE, content: hand(look, reach * 0.56, 'hour', paint, reach) },
    { angle: MINUTE_ANGLE, content: hand(look, reach * 0.86, 'minute', paint, reach) },
    hasCentralSeconds(watch, look)
      ? { angle: watch.complications.includes('chronograph') ? 0 : SECONDS_ANGLE, content: seconds(look, reach) }
      : null,
  ].filter((piece) => piece !== null);
  const shadows = pieces
    .map(({ angle, content }) => group(rotated(silhouette(content), angle), 'translate(5 8)'))
    .join('');
  const hands = pieces.map(({ angle, content }) => rotated(content, angle)).join('');
  const cap = circle([MIDDLE, MIDDLE], reach * 0.045, { fill: 'url(#trim)', stroke: trim.dark, width: 1.5 });
  return `<g opacity="0.28">${shadows}</g>${hands}${cap}`;
}

function hasSecondZone(watch: WatchAttributes): boolean {
  return watch.complications.includes('gmt') || watch.complications.includes('alarm');
}

function hasCentralSeconds(watch: WatchAttributes, look: Look): boolean {
  if (watch.complications.includes('chronograph')) return true;
  return watch.additional_details.includes('central_seconds') && look.shape !== 'rectangle';
}

/** A hand that points up from the middle. */
function hand(look: Look, length: number, kind: 'hour' | 'minute', paint: Paint, dial: number): string {
  const unit = dial / 100;
  const wide = (kind === 'hour' ? 4.4 : 3.3) * unit;
  const tip = MIDDLE - length;
  const tail = MIDDLE + 10 * unit;
  const lume: Paint = { fill: look.lume };
  const x = MIDDLE;
  switch (look.hands) {
    case 'dauphine':
      return (
        polygon(
          [
            [x, tip],
            [x + wide * 1.35, MIDDLE - 6 * unit],
            [x, tail],
            [x - wide * 1.35, MIDDLE - 6 * unit],
          ],
          paint,
        ) +
        polygon(
          [
            [x, tip],
            [x + wide * 1.35, MIDDLE - 6 * unit],
            [x, tail],
          ],
          { fill: '#000000', opacity: 0.18 },
        )
      );
    case 'leaf':
      return path(
        `M${n(x)} ${n(tip)}C${n(x + wide * 1.5)} ${n(tip + length * 0.42)} ${n(x + wide * 1.3)} ${n(tip + length * 0.6)} ${n(x + wide * 0.5)} ${n(tail)}H${n(x - wide * 0.5)}C${n(x - wide * 1.3)} ${n(tip + length * 0.6)} ${n(x - wide * 1.5)} ${n(tip + length * 0.42)} ${n(x)} ${n(tip)}Z`,
        paint,
      );
    case 'sword':
      return (
        polygon(
          [
            [x, tip],
            [x + wide * 1.5, tip + length * 0.24],
            [x + wide * 0.7, tail],
            [x - wide * 0.7, tail],
            [x - wide * 1.5, tip + length * 0.24],
          ],
          paint,
        ) +
        polygon(
          [
            [x, tip + 5 * unit],
            [x + wide * 0.95, tip + length * 0.25],
            [x + wide * 0.4, MIDDLE - 10 * unit],
            [x - wide * 0.4, MIDDLE - 10 * unit],
            [x - wide * 0.95, tip + length * 0.25],
          ],
          lume,
        )
      );
    case 'breguet': {
      const ring = tip + length * (kind === 'hour' ? 0.3 : 0.22);
      return (
        polygon(
          [
            [x, tip],
            [x + wide * 0.5, ring],
            [x + wide * 0.7, tail],
            [x - wide * 0.7, tail],
            [x - wide * 0.5, ring],
          ],
          paint,
        ) + circle([x, ring], 5.2 * unit, { stroke: paint.fill ?? '#000', width: 2.6 * unit })
      );
    }
    case 'cathedral':
    case 'mercedes':
      if (kind === 'hour') return mercedes(length, unit, paint, look);
      return (
        rect(x - wide, tip + 7 * unit, wide * 2, length - 7 * unit + 10 * unit, 2, paint) +
        polygon(
          [
            [x - wide, tip + 7.5 * unit],
            [x, tip - 1],
            [x + wide, tip + 7.5 * unit],
          ],
          paint,
        ) +
        rect(x - wide * 0.55, tip + 9 * unit, wide * 1.1, length - 24 * unit, 1, lume)
      );
    case 'snowflake':
      if (kind === 'hour') {
        const s = 9 * unit;
        const y = tip + 16 * unit;
        const diamond = (size: number, look: Paint) =>
          polygon(
            [
              [x, y - size],
              [x + size, y],
              [x, y + size],
              [x - size, y],
            ],
            look,
          );
        return (
          rect(x - wide * 0.9, tip, wide * 1.8, length + 10 * unit, 1, paint) +
          diamond(s * 1.45, paint) +
          diamond(s, lume) +
          rect(x - wide * 0.45, tip + 3 * unit, wide * 0.9, 8 * unit, 1, lume)
        );
      }
      return (
        rect(x - wide, tip, wide * 2, length + 10 * unit, 1, paint) +
        rect(x - wide * 0.55, tip + 3 * unit, wide * 1.1, length - 20 * unit, 1, lume)
      );
    default:
      return (
        rect(x - wide * 0.85, tip, wide * 1.7, length + 10 * unit, 2, paint) +
        rect(x - wide * 0.42, tip + 3 * unit, wide * 0.84, length - 20 * unit, 1, { ...lume, opacity: 0.92 })
      );
  }
}

/** A ring with three spokes behind the tip. */
function mercedes(length: number, unit: number, paint: Paint, look: Look): string {
  const x = MIDDLE;
  const tip = MIDDLE - length;
  const y = tip + 17 * unit;
  const r = 9 * unit;
  const spoke = [0, 120, 240]
    .map((angle) =>
      rotated(rect(x - 1.1 * unit, y - r, 2.2 * unit, r, 0, { fill: paint.fill ?? '#000' }), angle, [x, y]),
    )
    .join('');
  return (
    rect(x - 3.4 * unit, y, 6.8 * unit, MIDDLE - y + 10 * unit, 2, paint) +
    circle([x, y], r * 1.2, paint) +
    circle([x, y], r * 0.92, { fill: look.lume }) +
    spoke +
    polygon(
      [
        [x - 5 * unit, y - r],
        [x, tip - 1],
        [x + 5 * unit, y - r],
      ],
      paint,
    )
  );
}

function seconds(look: Look, reach: number): string {
  const unit = reach / 100;
  const x = MIDDLE;
  const paint: Paint = { fill: look.accent };
  const lollipop =
    look.hands === 'mercedes'
      ? circle([x, MIDDLE - reach * 0.56], 4.6 * unit, { fill: look.lume, stroke: look.accent, width: 2 * unit })
      : '';
  const square =
    look.hands === 'snowflake'
      ? rect(x - 4.4 * unit, MIDDLE - reach * 0.6, 8.8 * unit, 8.8 * unit, 1, {
          fill: look.lume,
          stroke: look.accent,
          width: 1.6 * unit,
        })
      : '';
  return (
    rect(x - 0.9 * unit, MIDDLE - reach * 0.93, 1.8 * unit, reach * 1.16, 1, paint) +
    rect(x - 2 * unit, MIDDLE + reach * 0.1, 4 * unit, reach * 0.16, 2, paint) +
    lollipop +
    square +
    circle([x, MIDDLE], 3 * unit, paint)
  );
}

function secondZone(look: Look, reach: number): string {
  const unit = reach / 100;
  const x = MIDDLE;
  const tip = MIDDLE - reach * 0.9;
  return (
    rect(x - 1.2 * unit, tip + 8 * unit, 2.4 * unit, reach * 0.82, 1, { fill: look.accent }) +
    polygon(
      [
        [x, tip],
        [x + 7 * unit, tip + 13 * unit],
        [x - 7 * unit, tip + 13 * unit],
      ],
      { fill: look.lume, stroke: look.accent, width: 2.4 * unit },
    )
  );
}
