import { exponentOf } from '../../contract/currencies.ts';
import { type Enumeration, labelOf, valuesOf } from '../../contract/enumerations.ts';
import { STRING_LENGTH_LIMIT } from '../../contract/limits.ts';
import { plainDecimal as decimalOf } from '../../contract/plain-decimal.ts';
import { normalized } from '../../text/normalized.ts';

/** Why a cell can't be read, in words for the person who filled it in. */
export class CellError extends Error {
  override readonly name = 'CellError';
}

/** How a cell's text becomes a value and back. An empty cell is never read: it keeps what is there. */
export type CellFormat = { read(text: string): unknown; write(value: unknown): string };

/** The word that clears a field. An empty cell keeps what is there, so clearing needs a word. */
export const CLEARED = 'none';

const LIST_SEPARATOR = '|';
/** More than any list may have. A cell may hold 200,000 characters, and looking each part up would block the event loop. */
const PARTS_LIMIT = 500;
const YES = new Set(['yes', 'y', 'true', '1', 'x', 'ja', 'oui']);
const NO = new Set(['no', 'n', 'false', '0', 'nein', 'non']);

/** That word as a text. It has an apostrophe in front, as a formula does, and so has one that begins with such an apostrophe. */
const CLEARED_AS_TEXT = new RegExp(String.raw`^'*\s*${CLEARED}\s*$`, 'i');

/** A stock number, which is never cleared. */
export const plainText: CellFormat = { read: (cell) => cell, write: (value) => String(value ?? '') };

export const text: CellFormat = {
  read: (cell) => (cell.startsWith("'") && CLEARED_AS_TEXT.test(cell) ? cell.slice(1) : cell),
  write(value) {
    const plain = plainText.write(value);
    return CLEARED_AS_TEXT.test(plain) ? `'${plain}` : plain;
  },
};

export const bool: CellFormat = {
  read(cell) {
    const word = cell.trim().toLowerCase();
    if (YES.has(word)) return true;
    if (NO.has(word)) return false;
    throw new CellError('must be yes or no');
  },
  write: (value) => (value === true ? 'yes' : 'no'),
};

/** As JavaScript writes it, also if it is as small as 1e-7, or with a decimal comma. */
const MEASURE = /^-?\d+(?:[.,]\d+)?(?:e-\d+)?$/;

/** A measure, such as 40.5. Nobody puts marks between its thousands, so a point or comma is the decimal mark. */
export const number: CellFormat = {
  read(cell) {
    const plain = cell.trim();
    if (!MEASURE.test(plain)) throw new CellError('must be a number');
    return Number(plain.replace(',', '.'));
  },
  write: (value) => String(value ?? ''),
};

export const integer: CellFormat = {
  read(cell) {
    const plain = plainDecimal(cell, 0);
    if (!/^-?\d+$/.test(plain)) throw new CellError('must be a whole number');
    return Number(plain);
  },
  write: (value) => String(value ?? ''),
};

/** CHF 500 and $500; 500 € and 500.- */
const CURRENCY_BEFORE = /^(?:\p{Sc}|[A-Za-z]{2,3}\b)/u;
const CURRENCY_BEHIND = /(?:\p{Sc}|\b[A-Za-z]{3}|[.,][-–—]+)$/u;

/** An amount in units of the currency, such as 12'990.00, becomes its minor units. */
export function money(currency: string): CellFormat {
  const exponent = exponentOf(currency);
  return {
    read(cell) {
      const plain = plainDecimal(cell.trim().replace(CURRENCY_BEFORE, '').replace(CURRENCY_BEHIND, ''), exponent);
      const [whole = '', decimals = ''] = plain.split('.');
      if (whole.startsWith('-')) throw new CellError('must not be negative');
      if (decimals.replace(/0+$/, '').length > exponent) {
        throw new CellError(`has more decimals than ${currency} (${exponent})`);
      }
      return Number(whole + decimals.slice(0, exponent).padEnd(exponent, '0'));
    },
    write(value) {
      if (typeof value !== 'number') return '';
      const sign = value < 0 ? '-' : '';
      const digits = String(Math.abs(value)).padStart(exponent + 1, '0');
      const amount = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
      return sign + amount;
    },
  };
}

/** A value of the catalogue, by its name or its label. */
export function choice(name: Enumeration): CellFormat {
  const byWord = new Map<string, string>();
  for (const value of valuesOf(name)) {
    byWord.set(folded(labelOf(name, value)), value);
    byWord.set(folded(value), value);
  }
  return {
    read(cell) {
      const value = cell.length > STRING_LENGTH_LIMIT ? undefined : byWord.get(folded(cell));
      if (value !== undefined) return value;
      throw new CellError(
        `must be one of ${valuesOf(name)
          .map((one) => labelOf(name, one))
          .join(', ')}`,
      );
    },
    write: (value) => (typeof value === 'string' ? labelOf(name, value) : ''),
  };
}

/** Several values, with a bar or a comma between them. */
export function choices(name: Enumeration): CellFormat {
  const one = choice(name);
  return {
    read: (cell) => [...new Set(parts(cell, /[|,]/).map((part) => one.read(part)))],
    write: (value) => (Array.isArray(value) ? value.map((item) => one.write(item)).join(` ${LIST_SEPARATOR} `) : ''),
  };
}

export const list: CellFormat = {
  read: (cell) => parts(cell, /[|\s]+/),
  write: (value) => (Array.isArray(value) ? value.join(` ${LIST_SEPARATOR} `) : ''),
};

/** Names of files may have blanks. So a blank separates photos only beside an address or behind the ending of a picture. */
const PHOTO_SEPARATOR = /[|\n]|\s(?:(?=https?:)|(?<=(?:https?:[^\s|]+|\.(?:jpe?g|png|webp|avif))\s))/i;

/** Addresses of photos, or names of files in the zip, with a bar or a line break between them. */
export const photos: CellFormat = { ...list, read: (cell) => parts(cell, PHOTO_SEPARATOR) };

const COMPATIBILITY = ['brand', 'model', 'reference_number', 'caliber'] as const;

/** A slash between blanks: references, such as 5711/1A-010, have slashes too. */
const MEMBER_SEPARATOR = /(?<!\S)\/(?!\S)/;
/** What would be read as a separator or left out, if it stood in a member as it is. */
const UNREADABLE = new RegExp(String.raw`\||%(?=[\dA-F]{2})|^\s+|\s+$|${MEMBER_SEPARATOR.source}`, 'gi');

/**
 * What a part fits: brand / model / reference / caliber, with a bar between watches; an empty member fits any. The slashes
 * may do without blanks if all of them do. A bar in a member is written %7C and a slash between blanks %2F, as in a URL.
 */
export const compatibility: CellFormat = {
  read: (cell) =>
    parts(cell, /\|/).map((watch) => {
      const spaced = watch.split(MEMBER_SEPARATOR);
      const members = spaced.length > 1 ? spaced : watch.split('/');
      if (members.length > COMPATIBILITY.length) throw new CellError('must be brand / model / reference / caliber');
      return Object.fromEntries(COMPATIBILITY.map((name, index) => [name, unescaped(members[index] ?? '') || null]));
    }),
  write: (value) =>
    Array.isArray(value)
      ? value
          .map((watch: Record<string, unknown>) => COMPATIBILITY.map((name) => escaped(watch[name])).join(' / '))
          .join(` ${LIST_SEPARATOR} `)
      : '',
};

function escaped(member: unknown): string {
  return String(member ?? '').replaceAll(UNREADABLE, encodeURIComponent);
}

function unescaped(member: string): string {
  return member.trim().replaceAll(/(?:%[\dA-F]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

function parts(cell: string, separator: RegExp): string[] {
  const found = cell.split(separator, PARTS_LIMIT + 1);
  if (found.length > PARTS_LIMIT) throw new CellError(`has more than ${PARTS_LIMIT} parts`);
  return found.map((part) => part.trim()).filter((part) => part !== '');
}

/** Folds a word for comparison: "Very good", "very_good" and "VERY-GOOD" are equal. */
export function folded(word: string): string {
  return normalized(word, 'NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The number with a point and nothing else. */
function plainDecimal(cell: string, exponent: number): string {
  const read = decimalOf(cell, exponent);
  if (read === null) throw new CellError('must be a number');
  if ('either' in read) throw new CellError(`could be ${read.either.join(' or ')}: write one of them`);
  return read.plain;
}
