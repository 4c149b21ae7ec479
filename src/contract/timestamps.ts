import { DomainError } from './domain-error.ts';
import { shownText } from './shown-value.ts';

export const DAY_MS = 24 * 60 * 60 * 1_000;

/** How long the UTC day of a time still lasts, in whole seconds: whoever waits so long finds a new day. */
export function secondsOfDayLeft(time: Date): number {
  return Math.ceil((DAY_MS - (time.getTime() % DAY_MS)) / 1_000);
}

/** The form of a time in a request. The sign of an offset may be a space, because an unescaped "+" in a query string becomes one. */
export const TIMESTAMP_PATTERN =
  '(\\d{4}-\\d{2}-\\d{2})(?:[Tt ](\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?)(?:[Zz]|([+\\- ])(\\d{2})(?::?(\\d{2}))?)?)?';
const DATE_TIME = new RegExp(`^${TIMESTAMP_PATTERN}$`);

/** ISO 8601 with any offset, or a plain date, in UTC where no offset is given. Digits beyond milliseconds are dropped. */
export function parseTimestamp(text: string, name: string): number {
  const match = DATE_TIME.exec(text);
  const [, date = '', time = '00:00', sign, hours = '00', minutes = '00'] = match ?? [];
  const clock = time.replace(',', '.').replace(/(\.\d{3})\d+$/, '$1');
  const value = Date.parse(`${date}T${clock}${sign === '-' ? '-' : '+'}${hours}:${minutes}`);
  if (match === null || Number.isNaN(value) || !isRealDate(date) || !isPrintable(value)) {
    throw new DomainError(
      'invalid_input',
      `${name} must be an ISO 8601 time such as 2026-05-08T09:00:00.123Z, or a date, not ${shownText(text)}.`,
      name,
    );
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
