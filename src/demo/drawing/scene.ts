import { CANVAS_PX, radial, rect } from './shapes.ts';

/** Warm and cool greys, so that a page full of photos does not look stamped out. */
const GROUNDS: [middle: string, edge: string][] = [
  ['#faf8f5', '#d3cdc4'],
  ['#f7f8f9', '#c8cdd2'],
  ['#f8f6f1', '#cfc9ba'],
  ['#f5f7f6', '#c3ccc8'],
  ['#f9f6f6', '#d2c8c6'],
];

/** A whole picture: the ground on which the thing lies, and the thing. The same thing always lies on the same ground. */
export function scene(subject: unknown, defs: string, content: string): string {
  const [middle, edge] = GROUNDS[hash(JSON.stringify(subject)) % GROUNDS.length] ?? ['#ffffff', '#cccccc'];
  const ground = radial(
    'ground',
    [
      [0, middle],
      [0.55, middle],
      [1, edge],
    ],
    [0.42, 0.38],
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CANVAS_PX}" height="${CANVAS_PX}" viewBox="0 0 ${CANVAS_PX} ${CANVAS_PX}">` +
    `<defs>${ground.replace('r="0.5"', 'r="0.78"')}${defs}</defs>` +
    rect(0, 0, CANVAS_PX, CANVAS_PX, 0, { fill: 'url(#ground)' }) +
    `${content}</svg>`
  );
}

function hash(text: string): number {
  let value = 0;
  for (const character of text) value = (value * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return value;
}
