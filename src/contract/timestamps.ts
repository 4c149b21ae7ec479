import { ApiError } from './errors.ts';

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** ISO 8601 with any offset, or a plain date; a "+" that the query string turned into a blank is one again. */
export function parseTimestamp(text: string, name: string): number {
  const match = DATE_TIME.exec(
    text
      .trim()
      .replace(/ (\d{2}:?\d{2})$/, (whole, offset: string) =>
        /[T ]\d{2}:\d{2}/.test(text.slice(0, -whole.length)) ? `+${offset}` : whole,
      ),
  );
  const [, date = '', time = '00:00', zone = 'Z'] = match ?? [];
  const clock = time.replace(',', '.').replace(/(\.\d{3})\d+$/, '$1');
  const offset =
    zone.toUpperCase() === 'Z'
      ? 'Z'
      : zone.replace(/^([+-]\d{2}):?(\d{2})?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`);
  const value = Date.parse(`${date}T${clock}${offset}`);
  if (match === null || Number.isNaN(value) || !isRealDate(date) || !isPrintable(value)) {
    throw new ApiError('invalid_request', {
      param: name,
      message: `${name} must be an ISO 8601 time such as 2026-05-08T09:00:00.123Z, or a date.`,
    });
  }
  return value;
}

/** Date.parse takes February 30th for March 2nd. */
function isRealDate(date: string): boolean {
  const value = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(value) && new Date(value).toISOString().startsWith(date);
}

/** An offset may carry a time beyond the years that have four digits. */
function isPrintable(value: number): boolean {
  return /^\d{4}-/.test(new Date(value).toISOString());
}
