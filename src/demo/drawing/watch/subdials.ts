import type { WatchAttributes } from '../../../contract/resources/listing.ts';
import { type DialColor, isDark } from '../colors.ts';
import { lettering } from '../lettering.ts';
import type { Look, Subdial } from '../look.ts';
import { at, circle, line, n, type Point, path, polygon, radial, rotated, spokes, toothed } from '../shapes.ts';
import type { Frame } from './case.ts';

/** The small dials: counters, seconds, moon, calendar, power reserve, tourbillon. */
export function drawSubdials(
  watch: WatchAttributes,
  look: Look,
  frame: Frame,
  color: DialColor,
): { defs: string; content: string } {
  const isCrowded = look.subdials.length > 1;
  const radius = frame.dial * (isCrowded ? 0.255 : 0.3);
  const away = frame.dial * (isCrowded ? 0.475 : 0.46);
  const isRectangle = look.shape === 'rectangle';
  const content = look.subdials
    .map((subdial) => {
      const center = at(subdial.hour * 30, isRectangle ? frame.halfHeight * 0.42 : away);
      return draw(subdial, center, radius * (subdial.shows === 'tourbillon' ? 1.12 : 1), color, watch);
    })
    .join('');
  return {
    defs: radial('night', [
      [0, '#2b4a8c'],
      [1, '#0c1a3d'],
    ]),
    content,
  };
}

function draw(subdial: Subdial, center: Point, radius: number, color: DialColor, watch: WatchAttributes): string {
  const ground = subdial.color ?? color.edge;
  const isDarkGround = isDark(ground);
  const print = isDarkGround ? '#f4f4f1' : '#23262b';
  const dish =
    circle(center, radius, { fill: ground, stroke: isDarkGround ? '#ffffff3a' : '#00000040', width: 2 }) +
    [0.9, 0.78, 0.66]
      .map((share) => circle(center, radius * share, { stroke: isDarkGround ? '#ffffff12' : '#00000014', width: 2 }))
      .join('');
  switch (subdial.shows) {
    case 'moon':
      return moon(center, radius);
    case 'tourbillon':
      return tourbillon(center, radius);
    case 'reserve':
      return dish + reserve(center, radius, print);
    case 'calendar':
      return (
        dish +
        ticks(center, radius, 31, print) +
        labels(center, radius, ['31', '8', '16', '24'], print) +
        pointer(center, radius, 218, print)
      );
    case 'seconds':
      return (
        dish +
        ticks(center, radius, 60, print) +
        labels(center, radius, ['60', '15', '30', '45'], print) +
        pointer(center, radius, 137, print)
      );
    case 'counter': {
      const values =
        subdial.hour === 6 && watch.complications.includes('chronograph')
          ? ['12', '3', '6', '9']
          : ['30', '', '15', ''];
      return (
        dish +
        ticks(center, radius, subdial.hour === 6 ? 12 : 30, print) +
        labels(center, radius, values, print) +
        pointer(center, radius, 0, print)
      );
    }
  }
}

function ticks(center: Point, radius: number, count: number, color: string): string {
  return spokes(count, radius * 0.86, radius * 0.97, { stroke: color, width: 1.8 }, center);
}

function labels(center: Point, radius: number, values: string[], color: string): string {
  return values
    .map((value, index) => {
      const [x, y] = at(index * 90, radius * 0.66, center);
      return value === '' ? '' : lettering(value, x, y, { height: radius * 0.23, color, weight: 0.14, spacing: 0.8 });
    })
    .join('');
}

function pointer(center: Point, radius: number, angle: number, color: string): string {
  const tip = at(angle, radius * 0.82, center);
  const tail = at(angle + 180, radius * 0.22, center);
  return (
    line(tail, tip, { stroke: color, width: radius * 0.055, cap: 'round' }) +
    circle(center, radius * 0.09, { fill: color })
  );
}

function moon(center: Point, radius: number): string {
  const [x, y] = center;
  const stars = [
    [-0.55, -0.4],
    [-0.3, -0.66],
    [0.5, -0.5],
    [0.66, -0.1],
    [-0.72, 0.05],
    [0.1, -0.74],
    [0.02, -0.35],
  ] as const;
  const sky = circle(center, radius, { fill: 'url(#night)', stroke: '#d8c48a', width: 4 });
  const dots = stars.map(([dx, dy]) => circle([x + dx * radius, y + dy * radius], 3.4, { fill: '#f6e9b8' })).join('');
  const disc = circle([x + radius * 0.12, y - radius * 0.08], radius * 0.38, {
    fill: '#f3dc98',
    stroke: '#c9a95a',
    width: 2,
  });
  const craters =
    circle([x + radius * 0.02, y - radius * 0.16], radius * 0.08, { fill: '#dfc47c' }) +
    circle([x + radius * 0.24, y + radius * 0.04], radius * 0.1, { fill: '#dfc47c' });
  // The two humps behind which the moon hides.
  const hump = (cx: number) =>
    circle([cx, y + radius * 0.62], radius * 0.44, { fill: '#e9e7e0', stroke: '#a9a69c', width: 2 });
  const clip = `<clipPath id="moon-clip"><circle cx="${n(x)}" cy="${n(y)}" r="${n(radius)}"/></clipPath>`;
  return `${sky}${dots}${disc}${craters}<defs>${clip}</defs><g clip-path="url(#moon-clip)">${hump(x - radius * 0.5)}${hump(x + radius * 0.5)}</g>${circle(center, radius, { stroke: '#d8c48a', width: 4 })}`;
}

function reserve(center: Point, radius: number, color: string): string {
  const arc = (from: number, to: number, stroke: string) => {
    const [start, end] = [at(from, radius * 0.72, center), at(to, radius * 0.72, center)];
    return path(
      `M${n(start[0])} ${n(start[1])}A${n(radius * 0.72)} ${n(radius * 0.72)} 0 0 1 ${n(end[0])} ${n(end[1])}`,
      { stroke, width: radius * 0.13 },
    );
  };
  return arc(-110, -60, '#b8323c') + arc(-55, 110, color) + pointer(center, radius, 48, color);
}

function tourbillon(center: Point, radius: number): string {
  const [x, y] = center;
  const arm = (angle: number) =>
    rotated(
      polygon(
        [
          [x - 7, y],
          [x, y - radius * 0.92],
          [x + 7, y],
        ],
        { fill: '#e4e7ea', stroke: '#7d838a', width: 1.5 },
      ),
      angle,
      center,
    );
  return (
    circle(center, radius, { fill: '#17191c', stroke: '#c9a95a', width: 5 }) +
    circle(center, radius * 0.72, { stroke: '#d9b566', width: radius * 0.1 }) +
    polygon(toothed(30, radius * 0.5, radius * 0.44, center), { fill: '#b7bcc3' }) +
    circle(center, radius * 0.36, { fill: '#22252a' }) +
    circle(center, radius * 0.27, { stroke: '#d9b566', width: 5 }) +
    [0, 120, 240].map((angle) => arm(angle + 20)).join('') +
    circle(center, radius * 0.1, { fill: '#b3263a', stroke: '#e9d9a5', width: 4 })
  );
}
