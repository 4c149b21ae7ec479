/**
 * A number as people write it, with a point and nothing else; null for what is no number. `either` has both readings if a wrong
 * guess would be a price a thousand times too high or too low.
 */
export type PlainDecimal = { plain: string } | { either: [string, string] } | null;

/**
 * Of points and commas the last one is the decimal mark, unless it stands before exactly three digits and nothing tells
 * otherwise: 1,299 is a thousand, as dealers write it; 1299,5 and 0,500 are not. Where three decimals are usual, as in KWD,
 * 12.500 is what an export writes, and 12,500 could be both.
 */
export function plainDecimal(text: string, exponent: number): PlainDecimal {
  const marked = text.replaceAll(GROUPING, '');
  if (!/^-?\d[\d.,]*$/.test(marked)) return null;
  const last = Math.max(marked.lastIndexOf('.'), marked.lastIndexOf(','));
  if (last === -1) return { plain: marked };
  const mark = marked.charAt(last);
  const [whole, decimals] = [marked.slice(0, last), marked.slice(last + 1)];
  if (IN_THREES.test(marked)) {
    const mayBeDecimal = exponent >= 3 && !whole.includes(mark);
    if (!mayBeDecimal) return { plain: digitsOf(marked) };
    if (mark === ',') return { either: [`${whole}.${decimals}`, `${whole}${decimals}`] };
  }
  if (whole.includes(mark) || !(DIGITS.test(whole) || IN_THREES.test(whole))) return null;
  return { plain: digitsOf(whole) + (decimals === '' ? '' : `.${decimals}`) };
}

/** Blanks and apostrophes stand between thousands only: they never mean anything else. */
export const GROUPING = /['’\s]/g;
const DIGITS = /^-?\d+$/;
/** Thousands with one kind of mark between them. */
const IN_THREES = /^-?[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+)$/;

function digitsOf(number: string): string {
  return number.replaceAll(/[.,]/g, '');
}
