import { exponentOf } from '../../contract/currencies.ts';
import { roundedToStep } from '../../contract/price-rounding.ts';
import type { Price, Promotion } from '../../contract/resources/common.ts';

/**
 * Prices, in whole minor units throughout: the dealer's price, in the integration's currency, with its markup and its
 * rounding. All steps work on one exact fraction and round once at the end; there is no floating point.
 */
export const ROUNDINGS = [
  'none',
  'to_1',
  'to_5',
  'to_10',
  'to_50',
  'to_100',
  'up_to_9',
  'up_to_95',
  'up_to_99',
] as const;
export type Rounding = (typeof ROUNDINGS)[number];

export type PriceRule = {
  /** The dealer's currency and the integration's. */
  from: string;
  to: string;
  /** Units of `to` for one of `from`; null if it is not known. */
  rate: Rate | null;
  markupBasisPoints: number;
  rounding: Rounding;
};

/** An exact ratio, so that the inverse of a rate loses nothing. */
export type Rate = { numerator: bigint; denominator: bigint };

const BASIS = 10_000n;

/** Rounding to the nearest multiple of so many whole units; none rounds to the nearest minor unit. */
const NEAREST_UNITS: Partial<Record<Rounding, bigint>> = { to_1: 1n, to_5: 5n, to_10: 10n, to_50: 50n, to_100: 100n };
const ENDINGS: Partial<Record<Rounding, { ending: bigint; cycle: bigint }>> = {
  up_to_9: { ending: 9n, cycle: 10n },
  up_to_95: { ending: 95n, cycle: 100n },
  up_to_99: { ending: 99n, cycle: 100n },
};

/** What a document says of an item's price. Unpriceable: there is a price, but none in the channel's currency. */
export type Prices = { price: Price | null; promotion: Promotion | null; isUnpriceable: boolean };

/** An item without a price is sold on request: clients read `price: null`. */
export function isPriceOnRequest(priceAmount: number | null): priceAmount is null {
  return priceAmount === null;
}

/** The price of an item on a channel, and the promotion that runs, if one does. */
export function pricesOf(
  priceAmount: number | null,
  running: { amount: number; endsAtMs: number | null } | null,
  rule: PriceRule,
): Prices {
  if (isPriceOnRequest(priceAmount)) return { price: null, promotion: null, isUnpriceable: false };
  const regular = channelPrice(priceAmount, rule);
  const current = running === null ? regular : channelPrice(running.amount, rule);
  if (regular === null || current === null) return { price: null, promotion: null, isUnpriceable: true };
  const price = { amount: current, amount_formatted: formatMoney(current, rule.to), currency: rule.to };
  if (running === null) return { price, promotion: null, isUnpriceable: false };
  const promotion = {
    regular_amount: regular,
    regular_amount_formatted: formatMoney(regular, rule.to),
    ends_at: running.endsAtMs === null ? null : new Date(running.endsAtMs).toISOString(),
  };
  return { price, promotion, isUnpriceable: false };
}

/** The price a client sees; null when there is no exchange rate, or when no exact number could carry it. */
export function channelPrice(amount: number, rule: PriceRule): number | null {
  if (rule.rate === null) return null;
  const numerator =
    BigInt(amount) * rule.rate.numerator * minorUnits(rule.to) * (BASIS + BigInt(rule.markupBasisPoints));
  const denominator = rule.rate.denominator * minorUnits(rule.from) * BASIS;
  const price = Number(round(numerator, denominator, rule));
  return Number.isSafeInteger(price) ? price : null;
}

/** How a channel's price comes about, for people: each step rounded to minor units, only the last one is charged. */
export type PriceSteps = {
  from: { amount: number; currency: string };
  /** Null where no conversion is needed, or no rate is known. */
  rate: string | null;
  /** In the channel's currency, before the markup; null without a rate. */
  converted: number | null;
  markupBasisPoints: number;
  /** With the markup, before the rounding. */
  markedUp: number | null;
  rounding: Rounding;
  /** What the client reads; null if it can't be priced. */
  price: number | null;
  currency: string;
};

export function priceSteps(amount: number, rule: PriceRule): PriceSteps {
  const exactly = (markupBasisPoints: number) => channelPrice(amount, { ...rule, markupBasisPoints, rounding: 'none' });
  return {
    from: { amount, currency: rule.from },
    rate: rule.from === rule.to || rule.rate === null ? null : decimalOf(rule.rate),
    converted: exactly(0),
    markupBasisPoints: rule.markupBasisPoints,
    markedUp: exactly(rule.markupBasisPoints),
    rounding: rule.rounding,
    price: channelPrice(amount, rule),
    currency: rule.to,
  };
}

const RATE_DIGITS = 6;

/** To be read, not to be calculated with. */
function decimalOf({ numerator, denominator }: Rate): string {
  return String(Number((Number(numerator) / Number(denominator)).toPrecision(RATE_DIGITS)));
}

/** The decimal text of a numeric column as an exact ratio. */
export function rateFrom(decimal: string): Rate {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) };
}

export function inverse(rate: Rate): Rate {
  return { numerator: rate.denominator, denominator: rate.numerator };
}

/** How many minor units make one unit of a currency: 100 for USD, 1 for JPY, 1000 for KWD. */
export function minorUnits(currency: string): bigint {
  return 10n ** BigInt(exponentOf(currency));
}

export function formatMoney(amount: number, currency: string): string {
  const exponent = exponentOf(currency);
  const digits = String(amount).padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  const decimal = exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`;
  return formatterFor(currency).format(decimal as `${number}`);
}

function round(numerator: bigint, denominator: bigint, rule: PriceRule): bigint {
  if (numerator === 0n) return 0n;
  const unit = minorUnits(rule.to);
  const ending = ENDINGS[rule.rounding];
  if (ending !== undefined) {
    const wholeUnits = divideUp(numerator, denominator * unit);
    const cycles = wholeUnits <= ending.ending ? 0n : divideUp(wholeUnits - ending.ending, ending.cycle);
    return (cycles * ending.cycle + ending.ending) * unit;
  }
  const units = NEAREST_UNITS[rule.rounding];
  const step = units === undefined ? 1n : units * unit;
  return roundedToStep(numerator, denominator, step);
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

const formatters = new Map<string, Intl.NumberFormat>();

function formatterFor(currency: string): Intl.NumberFormat {
  let formatter = formatters.get(currency);
  if (formatter === undefined) {
    const digits = exponentOf(currency);
    formatter = new Intl.NumberFormat('en-US', {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    formatters.set(currency, formatter);
  }
  return formatter;
}
