import { n, type Paint, path } from './shapes.ts';

/**
 * Letters and figures as strokes, in a box 10 high. A bare machine has no fonts, so text in a drawing would vanish;
 * these are part of the drawing.
 */
const GLYPHS: Record<string, [width: number, data: string]> = {
  '0': [6, 'M3 0C1 0 0 2 0 5S1 10 3 10 6 8 6 5 5 0 3 0Z'],
  '1': [4, 'M0.5 2L2.8 0V10'],
  '2': [6, 'M0.2 2.6C0.4 -0.9 5.8 -0.8 5.7 2.7C5.6 5 1.5 7.2 0 10H6'],
  '3': [6, 'M0.3 1.8C1 -0.6 5.5 -0.6 5.4 2.5C5.3 4.4 3.8 4.8 2.4 4.8C4.2 4.8 6 5.4 6 7.3C5.9 10.8 0.6 10.9 0 8'],
  '4': [6.4, 'M4.8 10V0L0 7H6.4'],
  '5': [6, 'M5.5 0H1L0.5 4.6C2.4 3.4 6 3.8 6 6.8C6 10.6 1 10.9 0 8.2'],
  '6': [6, 'M5.2 1.2C3.2 -1 0 0.8 0 6C0 11.3 6 11.3 6 6.9C6 3 1 2.9 0.1 6'],
  '7': [6, 'M0 0H6C4 3.2 2.6 6.4 2.2 10'],
  '8': [
    6,
    'M3 4.7C1.3 4.7 0.4 3.8 0.4 2.4C0.4 -0.8 5.6 -0.8 5.6 2.4C5.6 3.8 4.7 4.7 3 4.7C1 4.7 0 5.7 0 7.3C0 10.9 6 10.9 6 7.3C6 5.7 5 4.7 3 4.7Z',
  ],
  '9': [6, 'M0.8 8.8C2.8 11 6 9.2 6 4C6 -1.3 0 -1.3 0 3.1C0 7 5 7.1 5.9 4'],
  A: [7, 'M0 10L3.5 0L7 10M1.2 6.6H5.8'],
  B: [6, 'M0 0V10M0 0H3.2C6.2 0 6.2 4.7 3.2 4.7H0M3.2 4.7C6.9 4.7 6.9 10 3.2 10H0'],
  C: [7, 'M7 2C5.4 -0.8 0 -0.8 0 5S5.4 10.8 7 8'],
  D: [7, 'M0 0V10H2.6C8.4 10 8.4 0 2.6 0Z'],
  E: [5.4, 'M5.4 0H0V10H5.4M0 4.8H4.4'],
  F: [5.2, 'M5.2 0H0V10M0 4.8H4.2'],
  G: [7.4, 'M7 1.9C5.4 -0.8 0 -0.8 0 5S6 11 7.4 8V5.4H4.4'],
  H: [6.6, 'M0 0V10M6.6 0V10M0 4.8H6.6'],
  I: [1, 'M0.5 0V10'],
  J: [4.4, 'M4.4 0V7C4.4 10.8 0.4 10.8 0 8'],
  K: [6.4, 'M0 0V10M6 0L0 6M2.2 3.9L6.4 10'],
  L: [5, 'M0 0V10H5'],
  M: [8.4, 'M0 10V0L4.2 7L8.4 0V10'],
  N: [7, 'M0 10V0L7 10V0'],
  O: [7.8, 'M3.9 0C-1.3 0 -1.3 10 3.9 10S9.1 0 3.9 0Z'],
  P: [6, 'M0 10V0H3.2C6.9 0 6.9 5.4 3.2 5.4H0'],
  Q: [7.8, 'M3.9 0C-1.3 0 -1.3 10 3.9 10S9.1 0 3.9 0ZM4.8 7L7.6 10.2'],
  R: [6.4, 'M0 10V0H3.2C6.9 0 6.9 5 3.2 5H0M3.2 5L6.4 10'],
  S: [6, 'M5.7 1.6C4.6 -0.9 0.3 -0.4 0.3 2.5C0.3 5.6 6 4.2 6 7.4C6 10.8 0.8 10.9 0 8.2'],
  T: [6.4, 'M0 0H6.4M3.2 0V10'],
  U: [6.8, 'M0 0V6.4C0 11.2 6.8 11.2 6.8 6.4V0'],
  V: [6.8, 'M0 0L3.4 10L6.8 0'],
  W: [10, 'M0 0L2.6 10L5 1.2L7.4 10L10 0'],
  X: [6.4, 'M0 0L6.4 10M6.4 0L0 10'],
  Y: [6.6, 'M0 0L3.3 4.8L6.6 0M3.3 4.8V10'],
  Z: [6, 'M0 0H6L0 10H6'],
  '.': [1, 'M0.5 9.6V10'],
  '-': [4, 'M0.4 5H3.6'],
  '&': [7.4, 'M7.4 10L1.6 3C0.6 1.4 1.4 0 2.9 0S5.2 1.6 4 3C3 4.2 0 4.8 0 7.4C0 10.9 5.6 10.8 6.6 5.6'],
  '·': [2, 'M1 5V5.1'],
  '/': [4, 'M0 10L4 0'],
  ' ': [4, ''],
};

const ACCENTS: Record<string, string> = { È: 'E', É: 'E', Ö: 'O', Ü: 'U', Ä: 'A', Ç: 'C' };
const GAP = 2.2;

export type Lettering = {
  height: number;
  color: string;
  /** Of the stroke, as a part of the height. */
  weight?: number;
  spacing?: number;
};

/** A line of text around a point. Letters that have no strokes are left out. */
export function lettering(text: string, x: number, y: number, style: Lettering): string {
  const glyphs = glyphsOf(text);
  const gap = GAP * (style.spacing ?? 1);
  const width = glyphs.reduce((sum, [advance]) => sum + advance + gap, -gap);
  const scale = style.height / 10;
  const paint: Paint = { stroke: style.color, width: (style.weight ?? 0.12) * 10, cap: 'round' };
  let left = -width / 2;
  const strokes = glyphs.map(([advance, data]) => {
    const moved = data === '' ? '' : `<g transform="translate(${n(left)} 0)">${path(data, paint)}</g>`;
    left += advance + gap;
    return moved;
  });
  return `<g transform="translate(${n(x)} ${n(y - style.height / 2)}) scale(${Math.round(scale * 1000) / 1000})">${strokes.join('')}</g>`;
}

export function widthOf(text: string, height: number, spacing = 1): number {
  const glyphs = glyphsOf(text);
  return (glyphs.reduce((sum, [advance]) => sum + advance + GAP * spacing, -GAP * spacing) * height) / 10;
}

/** Letters along the inside of a circle, feet to the middle; they read from left to right over the top. */
export function arcLettering(
  text: string,
  middleAngle: number,
  radius: number,
  style: Lettering,
  center: readonly [number, number],
): string {
  const glyphs = glyphsOf(text);
  const gap = GAP * (style.spacing ?? 1);
  const scale = style.height / 10;
  const total = glyphs.reduce((sum, [advance]) => sum + advance + gap, -gap) * scale;
  let along = -total / 2;
  return glyphs
    .map(([advance, data]) => {
      const half = (advance * scale) / 2;
      const angle = middleAngle + ((along + half) / radius) * (180 / Math.PI);
      along += (advance + gap) * scale;
      if (data === '') return '';
      const paint: Paint = { stroke: style.color, width: (style.weight ?? 0.12) * 10, cap: 'round' };
      return `<g transform="translate(${n(center[0])} ${n(center[1])}) rotate(${n(angle)}) translate(${n(-half)} ${n(-radius - style.height / 2)}) scale(${Math.round(scale * 1000) / 1000})">${path(data, paint)}</g>`;
    })
    .join('');
}

function glyphsOf(text: string): [width: number, data: string][] {
  return [...text.toUpperCase()].flatMap((letter) => {
    const glyph = GLYPHS[ACCENTS[letter] ?? letter];
    return glyph === undefined ? [] : [glyph];
  });
}
