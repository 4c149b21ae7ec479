import pg from 'pg';

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** How values that arrive as text become values of JavaScript. */
export const TYPE_PARSERS: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8 && format !== 'binary') return parseInt8;
    if (oid === TIMESTAMPTZ && format !== 'binary') return parseTimestamp;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

/** int8 reads as a number: our counters and amounts stay far below 2^53 (sums: safe-sum.ts), and a larger one must not pass silently. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 value out of the safe range: ${text}`);
  return value;
}

const parseAnyTimestamp = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => unknown;

const DOT = 0x2e;
const DIGIT_0 = 0x30;
const SECONDS_END = 19;
/** "2026-05-07 09:30:00+00", with or without a fraction of the second. */
const UTC_LENGTH = SECONDS_END + '+00'.length;
const UTC_LENGTH_LIMIT = UTC_LENGTH + '.123456'.length;

/**
 * All our sessions are in UTC, so a time of the last two thousand years has its digits at fixed places. The library's
 * pattern takes four times as long, and a page of a list has hundreds of times. Whatever looks otherwise is left to it.
 */
function parseTimestamp(text: string): unknown {
  const { length } = text;
  const isPlain = length >= UTC_LENGTH && length <= UTC_LENGTH_LIMIT && text.endsWith('+00') && text[10] === ' ';
  if (!isPlain || text[4] !== '-' || text.startsWith('00')) return parseAnyTimestamp(text);
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds(text)));
}

function twoDigits(text: string, index: number): number {
  return 10 * (text.charCodeAt(index) - DIGIT_0) + text.charCodeAt(index + 1) - DIGIT_0;
}

/** The server writes no zeros at the end of a fraction. What is finer than a millisecond is cut off, as Date does. */
function milliseconds(text: string): number {
  if (text.charCodeAt(SECONDS_END) !== DOT) return 0;
  return Number(
    text
      .slice(SECONDS_END + 1, -'+00'.length)
      .slice(0, 3)
      .padEnd(3, '0'),
  );
}
