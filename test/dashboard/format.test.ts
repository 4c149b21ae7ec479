import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCount, formatExactTime, formatMoney, formatRelative } from '../../dashboard/src/format.ts';
import { exponentOf } from '../../src/contract/currencies.ts';
import { isCurrency } from '../../src/dealers/rates/currencies.ts';

/** Spaces that don't break are written in different ways by different locales. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe('money on the pages', () => {
  it('has the decimals of its currency, and its code', () => {
    for (const [minorUnits, currency, text] of [
      [1_250_000, 'CHF', 'CHF 12,500.00'],
      [1_250_000, 'JPY', 'JPY 1,250,000'],
      [1_250_000, 'KWD', 'KWD 1,250.000'],
      [1_250_000, 'HUF', 'HUF 12,500.00'],
      [1, 'USD', 'USD 0.01'],
      [0, 'EUR', 'EUR 0.00'],
      [-4_205, 'USD', '-USD 42.05'],
      [1_000_000_000_000, 'USD', 'USD 10,000,000,000.00'],
    ] as const) {
      assert.equal(plain(formatMoney(minorUnits, currency, 'en-US')), text);
    }
  });

  it('follows the locale, and still names the currency', () => {
    assert.equal(plain(formatMoney(1_250_000, 'CHF', 'de-DE')), '12.500,00 CHF');
    assert.equal(plain(formatMoney(1_250_000, 'EUR', 'fr-FR')), '12 500,00 EUR');
    assert.match(plain(formatMoney(1_250_000, 'KWD', 'ar-KW-u-nu-latn')), /KWD/);
  });

  it('is exact to the minor unit in every currency that the service knows', () => {
    const codes = Intl.supportedValuesOf('currency').filter(isCurrency);
    assert.ok(codes.length > 100, `${codes.length} currencies`);
    for (const currency of codes) {
      for (const minorUnits of [0, 1, 9, 99, 1_234_567, 999_999_999_999]) {
        const text = plain(formatMoney(minorUnits, currency, 'en-US'));
        assert.ok(text.includes(currency), `${text} names ${currency}`);
        assert.equal(Number(text.replaceAll(/\D/g, '')), minorUnits, `${text} is ${minorUnits} of ${currency}`);
        assert.equal(/\.(\d+)$/.exec(text)?.[1]?.length ?? 0, exponentOf(currency), text);
      }
    }
  });
});

describe('counts on the pages', () => {
  it('say where counting stopped', () => {
    assert.match(formatCount({ value: 10_000, is_capped: true }), /^10\D?000\+$/);
    assert.equal(formatCount({ value: 7, is_capped: false }), '7');
  });
});

describe('times on the pages', () => {
  const now = Date.parse('2026-11-16T12:00:00Z');
  const after = (seconds: number) => new Date(now + seconds * 1_000).toISOString();

  it('are never ahead for what has happened, though the clock of the browser is behind', () => {
    for (const seconds of [0, 3, 20, 240]) assert.equal(formatRelative(after(seconds), { now }), 'now');
    assert.equal(formatRelative(after(-20), { now }), '20 seconds ago');
  });

  it('are ahead for what is planned', () => {
    assert.equal(formatRelative(after(20), { now, isPlanned: true }), 'in 20 seconds');
    assert.equal(formatRelative(after(86_400), { now, isPlanned: true }), 'tomorrow');
  });

  it('name their zone where they are exact', () => {
    assert.match(formatExactTime(after(0), 'Europe/Zurich'), /1:00:00\sPM GMT\+1$/);
  });
});
