import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { channelPrice, formatMoney, inverse, minorUnits, type PriceRule, ROUNDINGS, rateFrom } from './pricing.ts';

const PARITY = { numerator: 1n, denominator: 1n };

function rule(changes: Partial<PriceRule> = {}): PriceRule {
  return { from: 'USD', to: 'USD', rate: PARITY, markupBasisPoints: 0, rounding: 'none', ...changes };
}

describe('minor units', () => {
  it('follow ISO 4217, also where custom drops the decimals', () => {
    const expected = { USD: 100n, CHF: 100n, JPY: 1n, KRW: 1n, KWD: 1000n, IQD: 1000n, CLF: 10_000n };
    for (const [currency, units] of Object.entries(expected)) assert.equal(minorUnits(currency), units, currency);
    for (const currency of ['HUF', 'IDR', 'COP', 'PKR', 'MGA']) assert.equal(minorUnits(currency), 100n, currency);
  });
});

describe('conversion', () => {
  const conversions: [string, number, Partial<PriceRule>, number][] = [
    ['the same currency keeps the amount', 1_299_000, {}, 1_299_000],
    ['a direct rate multiplies', 1_299_000, { to: 'EUR', rate: rateFrom('0.92') }, 1_195_080],
    ['an inverse rate divides', 920_000, { to: 'EUR', rate: inverse(rateFrom('0.92')) }, 1_000_000],
    ['the inverse of a rate that does not terminate is exact', 300, { to: 'EUR', rate: inverse(rateFrom('3')) }, 100],
    ['cents become yen', 10_000, { to: 'JPY', rate: rateFrom('151.37') }, 15_137],
    ['yen become cents', 15_137, { from: 'JPY', rate: inverse(rateFrom('151.37')) }, 10_000],
    ['cents become fils', 100, { to: 'KWD', rate: rateFrom('0.3077') }, 308],
    ['fils become cents', 1_000, { from: 'KWD', rate: rateFrom('3.25') }, 325],
    ['fils become yen', 1_500, { from: 'KWD', to: 'JPY', rate: rateFrom('500') }, 750],
    ['ten decimals count', 1_000_000_000_000, { to: 'EUR', rate: rateFrom('0.9000000001') }, 900_000_000_100],
  ];
  for (const [name, amount, changes, expected] of conversions) {
    it(name, () => assert.equal(channelPrice(amount, rule(changes)), expected));
  }

  it('there is no price without a rate', () => {
    assert.equal(channelPrice(100, rule({ to: 'EUR', rate: null })), null);
    assert.equal(channelPrice(0, rule({ to: 'EUR', rate: null })), null);
  });

  it('there is no price beyond what a number carries exactly', () => {
    assert.equal(channelPrice(1_000_000_000_000, rule({ to: 'EUR', rate: rateFrom('9000000000') })), null);
    assert.equal(channelPrice(90_071_992_547_409, rule({ markupBasisPoints: 990_000 })), 9_007_199_254_740_900);
  });

  it('a rate there and back loses nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), rateText(), (amount, text) => {
        const rate = rateFrom(text);
        const back = { numerator: rate.numerator * rate.denominator, denominator: rate.denominator * rate.numerator };
        assert.equal(channelPrice(amount, rule({ rate: back })), amount);
      }),
    );
  });
});

describe('markup', () => {
  const markups: [string, number, number, number][] = [
    ['adds basis points', 10_000, 1_250, 11_250],
    ['takes away when it is negative', 10_000, -9_900, 100],
    ['halves round up', 50, 100, 51],
    ['below a half rounds down', 49, 100, 49],
    ['is exact where floating point is not', 115, 1_500, 132],
  ];
  for (const [name, amount, markupBasisPoints, expected] of markups) {
    it(name, () => assert.equal(channelPrice(amount, rule({ markupBasisPoints })), expected));
  }

  it('comes after the conversion, and the two round once', () => {
    // 1.5 × 0.8 is 1.2; had the 1.5 become 2 first, it would be 1.6. And 2.45 × 1.5 is 3.675, not 2 × 1.5.
    assert.equal(channelPrice(3, rule({ to: 'EUR', rate: rateFrom('0.5'), markupBasisPoints: -2_000 })), 1);
    assert.equal(channelPrice(7, rule({ to: 'EUR', rate: rateFrom('0.35'), markupBasisPoints: 5_000 })), 4);
  });
});

describe('rounding', () => {
  const roundings: [PriceRule['rounding'], string, number, number][] = [
    ['none', 'USD', 123_456, 123_456],
    ['to_1', 'USD', 123_449, 123_400],
    ['to_1', 'USD', 123_450, 123_500],
    ['to_5', 'USD', 123_249, 123_000],
    ['to_5', 'USD', 123_250, 123_500],
    ['to_10', 'USD', 123_499, 123_000],
    ['to_10', 'USD', 123_500, 124_000],
    ['to_50', 'USD', 122_499, 120_000],
    ['to_50', 'USD', 122_500, 125_000],
    ['to_100', 'USD', 124_999, 120_000],
    ['to_100', 'USD', 125_000, 130_000],
    ['to_100', 'JPY', 1_250, 1_300],
    ['to_1', 'KWD', 1_500, 2_000],
    ['to_1', 'KWD', 1_499, 1_000],
    ['up_to_9', 'USD', 100, 900],
    ['up_to_9', 'USD', 900, 900],
    ['up_to_9', 'USD', 901, 1_900],
    ['up_to_9', 'JPY', 9, 9],
    ['up_to_9', 'JPY', 10, 19],
    ['up_to_95', 'USD', 9_500, 9_500],
    ['up_to_95', 'USD', 9_501, 19_500],
    ['up_to_99', 'USD', 1_299_000, 1_299_900],
    ['up_to_99', 'USD', 1_299_901, 1_309_900],
  ];
  for (const [rounding, to, amount, expected] of roundings) {
    it(`${rounding} makes ${expected} of ${amount} ${to}`, () => {
      assert.equal(channelPrice(amount, rule({ from: to, to, rounding })), expected);
    });
  }

  it('keeps what is free free', () => {
    for (const rounding of ROUNDINGS) assert.equal(channelPrice(0, rule({ rounding })), 0, rounding);
  });

  it('looks at the exact amount, not at one that was rounded before', () => {
    // 7.49999 is nearer to 5 than to 10, although in whole cents it is 7.50.
    assert.equal(channelPrice(749_999, rule({ rate: rateFrom('0.001'), rounding: 'to_5' })), 500);
    assert.equal(channelPrice(750_000, rule({ rate: rateFrom('0.001'), rounding: 'to_5' })), 1_000);
  });

  const anyRule = fc.record({
    from: fc.constantFrom('USD', 'JPY', 'KWD'),
    to: fc.constantFrom('USD', 'JPY', 'KWD'),
    rate: rateText().map(rateFrom),
    markupBasisPoints: fc.integer({ min: -9_900, max: 100_000 }),
    rounding: fc.constantFrom(...ROUNDINGS),
  });
  const anyAmount = fc.integer({ min: 0, max: 10_000_000_000 });

  it('never turns a higher price into a lower one', () => {
    fc.assert(
      fc.property(anyRule, anyAmount, anyAmount, (priceRule, one, other) => {
        const low = channelPrice(Math.min(one, other), priceRule);
        const high = channelPrice(Math.max(one, other), priceRule);
        if (low === null || high === null) return;
        assert.ok(low <= high, `${low} > ${high}`);
      }),
    );
  });

  it('never gives away what has a price', () => {
    fc.assert(
      fc.property(anyRule, anyAmount, (priceRule, amount) => {
        const price = channelPrice(amount, priceRule);
        if (price !== null) assert.equal(price === 0, amount === 0);
      }),
    );
  });

  it('ends as it promises, and is no further from the exact amount than it must be', () => {
    const steps = { none: 0n, to_1: 1n, to_5: 5n, to_10: 10n, to_50: 50n, to_100: 100n };
    const endings = { up_to_9: [9n, 10n], up_to_95: [95n, 100n], up_to_99: [99n, 100n] } as const;
    fc.assert(
      fc.property(anyRule, anyAmount, (priceRule, amount) => {
        const price = channelPrice(amount, priceRule);
        if (price === null || amount === 0) return;
        const unit = minorUnits(priceRule.to);
        // The exact amount is top / bottom minor units.
        const top = BigInt(amount) * priceRule.rate.numerator * unit * BigInt(10_000 + priceRule.markupBasisPoints);
        const bottom = priceRule.rate.denominator * minorUnits(priceRule.from) * 10_000n;
        const shown = BigInt(price);
        if (priceRule.rounding in endings) {
          const [ending, cycle] = endings[priceRule.rounding as keyof typeof endings];
          assert.equal(shown % unit, 0n);
          assert.equal((shown / unit) % cycle, ending);
          assert.ok(shown * bottom >= top, 'not below');
          assert.ok((shown - cycle * unit) * bottom < top, 'not a whole cycle above');
        } else {
          const step = steps[priceRule.rounding as keyof typeof steps] * unit || 1n;
          assert.equal(shown % step, 0n);
          const off = shown * bottom - top;
          assert.ok(shown === step || 2n * (off < 0n ? -off : off) <= step * bottom, 'the nearest');
          assert.ok(shown === step || 2n * off > -step * bottom, 'halves go up');
        }
      }),
    );
  });
});

describe('formatting', () => {
  const formats: [number, string, string][] = [
    [1_299_000, 'USD', '$12,990.00'],
    [5, 'USD', '$0.05'],
    [0, 'USD', '$0.00'],
    [1_299_000, 'JPY', '¥1,299,000'],
    [1_234, 'KWD', 'KWD\u00a01.234'],
    [1_299_050, 'CHF', 'CHF\u00a012,990.50'],
    [1_299_050, 'EUR', '€12,990.50'],
    [1_299_050, 'HUF', 'HUF\u00a012,990.50'],
    [9_007_199_254_740_991, 'USD', '$90,071,992,547,409.91'],
  ];
  for (const [amount, currency, expected] of formats) {
    it(`writes ${amount} minor units of ${currency} as ${expected}`, () => {
      assert.equal(formatMoney(amount, currency), expected);
    });
  }
});

function rateText(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 9_999_999_999 }))
    .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(10, '0')}`);
}
