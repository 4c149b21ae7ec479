/** The few SVG elements that the drawings are made of, as text. Angles are a clock's: 0 is up, 90 is three o'clock. */
export const CANVAS_PX = 1200;
export const MIDDLE = CANVAS_PX / 2;

export type Point = readonly [x: number, y: number];
export type Paint = {
  fill?: string;
  stroke?: string;
  width?: number;
  opacity?: number;
  cap?: 'round' | 'butt';
  extra?: string;
};

export function at(angle: number, radius: number, center: Point = [MIDDLE, MIDDLE]): Point {
  const radians = ((angle - 90) * Math.PI) / 180;
  return [center[0] + radius * Math.cos(radians), center[1] + radius * Math.sin(radians)];
}

export function circle(center: Point, radius: number, paint: Paint): string {
  return `<circle cx="${n(center[0])}" cy="${n(center[1])}" r="${n(radius)}"${attributes(paint)}/>`;
}

export function rect(x: number, y: number, width: number, height: number, corner: number, paint: Paint): string {
  return `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" rx="${n(corner)}"${attributes(paint)}/>`;
}

export function ellipse(center: Point, radiusX: number, radiusY: number, paint: Paint): string {
  return `<ellipse cx="${n(center[0])}" cy="${n(center[1])}" rx="${n(radiusX)}" ry="${n(radiusY)}"${attributes(paint)}/>`;
}

export function line(from: Point, to: Point, paint: Paint): string {
  return `<line x1="${n(from[0])}" y1="${n(from[1])}" x2="${n(to[0])}" y2="${n(to[1])}"${attributes(paint)}/>`;
}

export function polygon(points: readonly Point[], paint: Paint): string {
  return `<polygon points="${points.map(([x, y]) => `${n(x)},${n(y)}`).join(' ')}"${attributes(paint)}/>`;
}

export function path(data: string, paint: Paint): string {
  return `<path d="${data}"${attributes(paint)}/>`;
}

export function group(content: string, transform = '', extra = ''): string {
  return `<g${transform === '' ? '' : ` transform="${transform}"`}${extra === '' ? '' : ` ${extra}`}>${content}</g>`;
}

export function rotated(content: string, angle: number, center: Point = [MIDDLE, MIDDLE]): string {
  return group(content, `rotate(${n(angle)} ${n(center[0])} ${n(center[1])})`);
}

/** The same outline in black, for a shadow. */
export function silhouette(content: string): string {
  return content
    .replaceAll(/fill="(?!none)[^"]*"/g, 'fill="#000"')
    .replaceAll(/stroke="(?!none)[^"]*"/g, 'stroke="#000"')
    .replaceAll(/ opacity="[^"]*"/g, '');
}

/** One path of many short lines, which draws far faster than many elements. */
export function spokes(
  count: number,
  from: number,
  to: number,
  paint: Paint,
  center: Point = [MIDDLE, MIDDLE],
): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const angle = (index * 360) / count;
    return `M${pair(at(angle, from, center))}L${pair(at(angle, to, center))}`;
  });
  return path(lines.join(''), paint);
}

/** A ring with so many corners on its outside, such as a fluted bezel. */
export function toothed(count: number, outer: number, inner: number, center: Point = [MIDDLE, MIDDLE]): Point[] {
  return Array.from({ length: count * 2 }, (_, index) => at((index * 180) / count, index % 2 ? inner : outer, center));
}

export function radial(
  id: string,
  stops: [offset: number, color: string, opacity?: number][],
  focus: Point = [0.5, 0.5],
): string {
  return `<radialGradient id="${id}" cx="0.5" cy="0.5" r="0.5" fx="${focus[0]}" fy="${focus[1]}">${stopsOf(stops)}</radialGradient>`;
}

export function linear(id: string, stops: [offset: number, color: string, opacity?: number][], angle = 0): string {
  return `<linearGradient id="${id}" x1="0" y1="0" x2="1" y2="0" gradientTransform="rotate(${angle} 0.5 0.5)">${stopsOf(stops)}</linearGradient>`;
}

/** Rounded to a tenth of a pixel: the drawings are stored as text. */
export function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}

export function pair([x, y]: Point): string {
  return `${n(x)} ${n(y)}`;
}

function stopsOf(stops: [offset: number, color: string, opacity?: number][]): string {
  return stops
    .map(([offset, color, opacity]) => {
      const alpha = opacity === undefined ? '' : ` stop-opacity="${opacity}"`;
      return `<stop offset="${offset}" stop-color="${color}"${alpha}/>`;
    })
    .join('');
}

function attributes({ fill, stroke, width, opacity, cap, extra }: Paint): string {
  return [
    ` fill="${fill ?? 'none'}"`,
    stroke === undefined ? '' : ` stroke="${stroke}" stroke-width="${n(width ?? 1)}"`,
    cap === undefined ? '' : ` stroke-linecap="${cap}" stroke-linejoin="${cap === 'round' ? 'round' : 'miter'}"`,
    opacity === undefined ? '' : ` opacity="${opacity}"`,
    extra === undefined ? '' : ` ${extra}`,
  ].join('');
}
