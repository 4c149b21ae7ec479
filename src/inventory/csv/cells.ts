import { exponentOf } from '../../contract/currencies.ts';
import { type Enumeration, labelOf, valuesOf } from '../../contract/enumerations.ts';
import { STRING_LENGTH_LIMIT } from '../../contract/limits.ts';

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

export const text: CellFormat = { read: (cell) => cell, write: (value) => String(value ?? '') };

export const bool: CellFormat = {
  read(cell) {
    const word = cell.trim().toLowerCase();
    if (YES.has(word)) return true;
    if (NO.has(word)) return false;
    throw new CellError('must be yes or no');
  },
  write: (value) => (value === true ? 'yes' : 'no'),
};

/** A number with a decimal point or comma, and any marks between its thousands. */
export const number: CellFormat = {
  read: (cell) => Number(plainDecimal(cell)),
  write: (value) => String(value ?? ''),
};

export const integer: CellFormat = {
  read(cell) {
    const plain = plainDecimal(cell);
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
      const plain = plainDecimal(cell.trim().replace(CURRENCY_BEFORE, '').replace(CURRENCY_BEHIND, ''));
      const [whole = '', decimals = ''] = plain.split('.');
      if (whole.startsWith('-')) throw new CellError('must not be negative');
      if (decimals.replace(/0+$/, '').length > exponent) {
        throw new CellError(`has more decimals than ${currency} (${exponent})`);
      }
      return Number(whole + decimals.slice(0, exponent).padEnd(exponent, '0'));
    },
    write(value) {
      if (typeof value !== 'number') return '';
      const digits = String(value).padStart(exponent + 1, '0');
      return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
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

const COMPATIBILITY = ['brand', 'model', 'reference_number', 'caliber'] as const;

/** What a part fits: brand / model / reference / caliber, with a bar between watches; an empty member fits any. */
export const compatibility: CellFormat = {
  read: (cell) =>
    parts(cell, /\|/).map((watch) => {
      const members = watch.split('/').map((member) => member.trim());
      if (members.length > COMPATIBILITY.length) throw new CellError('must be brand / model / reference / caliber');
      return Object.fromEntries(COMPATIBILITY.map((name, index) => [name, members[index] || null]));
    }),
  write: (value) =>
    Array.isArray(value)
      ? value
          .map((watch: Record<string, unknown>) => COMPATIBILITY.map((name) => watch[name] ?? '').join(' / '))
          .join(` ${LIST_SEPARATOR} `)
      : '',
};

function parts(cell: string, separator: RegExp): string[] {
  const found = cell.split(separator, PARTS_LIMIT + 1);
  if (found.length > PARTS_LIMIT) throw new CellError(`has more than ${PARTS_LIMIT} parts`);
  return found.map((part) => part.trim()).filter((part) => part !== '');
}

/** Folds a word for comparison: "Very good", "very_good" and "VERY-GOOD" are equal. */
export function folded(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/**
 * The number with a point and nothing else. Of points and commas the last one is the decimal mark, unless it stands
 * before exactly three digits and nothing tells otherwise: 1,299 is a thousand, as dealers write it; 1299,5 is not.
 */
function plainDecimal(cell: string): string {
  const marked = cell.trim().replaceAll(/['’\s\u00a0\u202f]/g, '');
  if (!/^-?\d[\d.,]*$/.test(marked)) throw new CellError('must be a number');
  const last = Math.max(marked.lastIndexOf('.'), marked.lastIndexOf(','));
  if (last === -1) return marked;
  const marks = marked.replaceAll(/[^.,]/g, '');
  const areMixed = marks.includes('.') && marks.includes(',');
  const isThousands = !areMixed && (marks.length > 1 || marked.length - last === 4);
  const whole = isThousands ? marked : marked.slice(0, last);
  if (!GROUPED.test(whole)) throw new CellError('must be a number');
  const decimals = isThousands ? '' : marked.slice(last + 1);
  return whole.replaceAll(/[.,]/g, '') + (decimals === '' ? '' : `.${decimals}`);
}

/** Digits alone, or in threes with one kind of mark between them. */
const GROUPED = /^-?(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+)$/;
