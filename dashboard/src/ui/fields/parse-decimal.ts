import { GROUPING, plainDecimal } from '../../../../src/contract/plain-decimal.ts';

/** How many units of 10^-decimals were typed, null for nothing; or what is wrong, for the person who types. */
export type ParsedDecimal = { units: number | null } | { problem: string };

/** CHF 500 and $500; 500 € and 500.- */
const CURRENCY_BEFORE = /^(?:\p{Sc}|[A-Za-z]{2,3}\b)/u;
const CURRENCY_BEHIND = /(?:\p{Sc}|\b[A-Za-z]{3}|[.,][-–—]+)$/u;

/** Arabic and Hebrew locales write them around a minus. */
const DIRECTION_MARKS = /[\u200e\u200f\u061c]/g;

/**
 * Reads what people type as an amount. What a field of this locale shows is read as it is shown: 12,500 in English. All else is
 * read as the import of CSV files does: 12'500 and 12.500 are thousands, 12500,50 has decimals.
 */
export function parseDecimal(text: string, decimals: number, locale?: string): ParsedDecimal {
  const typed = text
    .replaceAll(DIRECTION_MARKS, '')
    .trim()
    .replace(CURRENCY_BEFORE, '')
    .replace(CURRENCY_BEHIND, '')
    .replace('−', '-')
    .replaceAll(GROUPING, '');
  if (text.trim() === '') return { units: null };
  const read = asShown(typed, decimals, locale) ?? plainDecimal(typed, decimals);
  if (read === null) return { problem: `Enter a number, such as ${formatDecimal(1_250_000, decimals, locale)}.` };
  if ('either' in read) return { problem: `This could be ${read.either.join(' or ')}: enter one of them.` };
  const [whole = '', fraction = ''] = read.plain.split('.');
  if (fraction.length > decimals) {
    return { problem: decimals === 0 ? 'Enter a whole number.' : `At most ${decimals} decimals.` };
  }
  const units = Number(whole + fraction.padEnd(decimals, '0'));
  return Number.isSafeInteger(units) ? { units } : { problem: 'This number is too large.' };
}

/** For a field that nobody types in: with marks between thousands, and decimals if it has any. */
export function formatDecimal(units: number, decimals: number, locale?: string): string {
  const digits = units % 10 ** decimals === 0 ? 0 : decimals;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits, numberingSystem: 'latn' };
  return new Intl.NumberFormat(locale, format).format(units / 10 ** decimals);
}

/**
 * For the field that somebody types in: without marks between thousands. One that is left over when a digit goes, as in 12,50,
 * would look like a decimal mark.
 */
export function editableDecimal(units: number, decimals: number, locale?: string): string {
  const digits = String(Math.abs(units)).padStart(decimals + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  const tail = /^0*$/.test(fraction) ? '' : `${separatorsOf(locale).decimal}${fraction}`;
  return `${units < 0 ? '-' : ''}${whole}${tail}`;
}

/** Three decimals of a currency that has two are none: 12.500 is left to the rule of the import. */
function asShown(typed: string, decimals: number, locale: string | undefined): { plain: string } | null {
  const { group, decimal } = separatorsOf(locale);
  const mark = group.replaceAll(GROUPING, '');
  const thousands = mark === '' ? '' : String.raw`[1-9]\d{0,2}(?:[${mark}]\d{2,3})*[${mark}]\d{3}|`;
  const shown = new RegExp(String.raw`^(-?(?:${thousands}\d+))(?:[${decimal}](\d*))?$`);
  const [, whole, fraction = ''] = shown.exec(typed) ?? [];
  if (whole === undefined || fraction.length > decimals) return null;
  return { plain: `${whole.replaceAll(/[^-\d]/g, '')}.${fraction}` };
}

function separatorsOf(locale: string | undefined): { group: string; decimal: string } {
  const parts = new Intl.NumberFormat(locale, { numberingSystem: 'latn' }).formatToParts(12_345.5);
  const part = (type: 'group' | 'decimal') => parts.find((one) => one.type === type)?.value;
  return { group: part('group') ?? '', decimal: part('decimal') ?? '.' };
}
