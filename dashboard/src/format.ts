import { exponentOf } from '../../src/contract/currencies.ts';

/** Money, dates and numbers, in the locale of the person's browser. The one place that formats them. */
const numbers = new Intl.NumberFormat();
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT: Intl.DateTimeFormatOptions = { dateStyle: 'full', timeStyle: 'long' };
const exactTimes = new Intl.DateTimeFormat(undefined, EXACT);
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** How the locale writes 1,234.5: for fields in which numbers are typed. */
export const NUMBER_SEPARATORS = (() => {
  const parts = numbers.formatToParts(12_345.5);
  const part = (type: 'group' | 'decimal') => parts.find((one) => one.type === type)?.value;
  return { group: part('group') ?? '', decimal: part('decimal') ?? '.' };
})();

export function formatNumber(value: number): string {
  return numbers.format(value);
}

const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** For the scale of a plot: 1.2K. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

const percents = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** Of a share: 0.254 is 25.4 %. */
export function formatPercent(share: number): string {
  return percents.format(share);
}

export function formatUnits(units: number): string {
  return `${formatNumber(units)} ${units === 1 ? 'unit' : 'units'}`;
}

/** A count that stopped counting somewhere: "10,000+". */
export function formatCount({ value, is_capped: isCapped }: { value: number; is_capped: boolean }): string {
  return `${formatNumber(value)}${isCapped ? '+' : ''}`;
}

/**
 * From minor units: 1250000 of CHF are CHF 12,500.00. Always with the currency's code: a "$" alone is one of twenty.
 * Decimals are those of the service; a browser's own may differ.
 */
export function formatMoney(minorUnits: number, currency: string, locale?: string): string {
  return moneyFormat(currency, locale).format(minorUnits / 10 ** exponentOf(currency));
}

/** For the scale of a plot, whose title names the currency: 1250000 of CHF are 12.5K. */
export function formatCompactMoney(minorUnits: number, currency: string): string {
  return compact.format(minorUnits / 10 ** exponentOf(currency));
}

/** Making a format takes longer than a hundred uses of it, and a page has as many as it has prices. */
const moneyFormats = new Map<string, Intl.NumberFormat>();

function moneyFormat(currency: string, locale: string | undefined): Intl.NumberFormat {
  const key = `${currency} ${locale ?? ''}`;
  const known = moneyFormats.get(key);
  if (known !== undefined) return known;
  const digits = exponentOf(currency);
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  moneyFormats.set(key, format);
  return format;
}

/** How long something took: 85 ms, 2.4 s, 5 min, 3 h. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${formatNumber(Math.round(ms))} ms`;
  if (ms < 60_000) return `${formatNumber(Math.round(ms / 100) / 10)} s`;
  if (ms < 3_600_000) return `${formatNumber(Math.round(ms / 60_000))} min`;
  return `${formatNumber(Math.round(ms / 360_000) / 10)} h`;
}

export function formatTime(at: string | Date): string {
  return times.format(new Date(at));
}

/** In the zone of the business, whatever the browser's own is. */
export function formatZonedTime(at: string | Date, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(at));
}

/** An hour or a day of the business: "14:00", "Tue, Nov 12". */
export function formatBucket(at: string, unit: 'hour' | 'day', timeZone: string): string {
  const parts: Intl.DateTimeFormatOptions =
    unit === 'hour' ? { hour: '2-digit', minute: '2-digit' } : { weekday: 'short', day: 'numeric', month: 'short' };
  return new Intl.DateTimeFormat(undefined, { ...parts, timeZone }).format(new Date(at));
}

/** With the name of its zone: the browser's own, unless another is given. */
export function formatExactTime(at: string | Date, timeZone?: string): string {
  const format = timeZone === undefined ? exactTimes : new Intl.DateTimeFormat(undefined, { ...EXACT, timeZone });
  return format.format(new Date(at));
}

const UNITS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** By how much a browser's clock may be behind the service's before a page shows it. */
const CLOCK_TOLERANCE_SECONDS = 300;

/** What has happened is never "in 3 seconds", though the clock of the browser may say so; what is planned may be. */
export function formatRelative(at: string | Date, { now = Date.now(), isPlanned = false } = {}): string {
  const ahead = (new Date(at).getTime() - now) / 1_000;
  const seconds = !isPlanned && ahead > 0 && ahead < CLOCK_TOLERANCE_SECONDS ? 0 : ahead;
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return relative.format(Math.trunc(seconds), 'second');
}

/** A short time that is left: "14 min 20 s". */
export function formatRemaining(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

const countries = new Intl.DisplayNames(undefined, { type: 'region' });
const COUNTRY_CODE = /^[A-Z]{2}$/;

/** Switzerland for CH. Sites send what they like; what is no code stays as it is. */
export function countryName(code: string | null): string | null {
  return code !== null && COUNTRY_CODE.test(code) ? (countries.of(code) ?? code) : code;
}
