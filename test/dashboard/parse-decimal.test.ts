import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editableDecimal, formatDecimal, parseDecimal } from '../../dashboard/src/ui/fields/parse-decimal.ts';
import { AMOUNT_LIMIT } from '../../src/contract/limits.ts';
import { CellError, money } from '../../src/inventory/csv/cells.ts';

const unitsOf = (text: string, decimals: number, locale: string) => {
  const parsed = parseDecimal(text, decimals, locale);
  return 'units' in parsed ? parsed.units : parsed.problem;
};

describe('a typed amount', () => {
  it('has thousands, whatever mark stands between them', () => {
    for (const locale of ['en-US', 'de-CH', 'de-DE', 'fr-FR', 'en-IN']) {
      for (const text of [
        '12,500',
        '12.500',
        "12'500",
        '12’500',
        '12 500',
        '12\u202f500',
        '12500',
        '12500.-',
        'CHF 12’500',
      ]) {
        assert.equal(unitsOf(text, 2, locale), 1_250_000, `${text} in ${locale}`);
      }
      for (const text of ['1,250,000', '1.250.000', "1'250'000"]) {
        assert.equal(unitsOf(text, 2, locale), 125_000_000, `${text} in ${locale}`);
      }
    }
    assert.equal(unitsOf('12,50,000', 2, 'en-IN'), 125_000_000);
  });

  it('has decimals behind a point or a comma', () => {
    for (const locale of ['en-US', 'de-CH', 'de-DE']) {
      for (const text of ['12500.50', '12500,50', '12500,5', "12'500.50", '12,500.50', '12.500,50', '12,500.5']) {
        assert.equal(unitsOf(text, 2, locale), 1_250_050, `${text} in ${locale}`);
      }
    }
    assert.equal(unitsOf('-5.25', 2, 'en-US'), -525);
    assert.equal(unitsOf('−5', 2, 'en-US'), -500);
    assert.equal(unitsOf('12.', 2, 'en-US'), 1_200);
    assert.equal(unitsOf('1,250', 0, 'en-US'), 1_250);
  });

  it('of three decimals is read as the field of the locale shows it', () => {
    assert.equal(unitsOf('12,500', 3, 'en-US'), 12_500_000);
    assert.equal(unitsOf('12.500', 3, 'en-US'), 12_500);
    assert.equal(unitsOf('12,500', 3, 'de-DE'), 12_500);
    assert.equal(unitsOf('12.500', 3, 'de-DE'), 12_500_000);
    assert.equal(unitsOf('12,500', 3, 'de-CH'), 'This could be 12.500 or 12500: enter one of them.');
  });

  it('is refused with words if it is no number, too exact or too large', () => {
    assert.equal(unitsOf('', 2, 'en-US'), null);
    for (const text of ['abc', '1.2.3', '12,34,5', '-', '1e5', '12.345,6.7', 'CHF']) {
      assert.equal(unitsOf(text, 2, 'en-US'), 'Enter a number, such as 12,500.', text);
    }
    assert.equal(unitsOf('12.5000', 2, 'en-US'), 'At most 2 decimals.');
    assert.equal(unitsOf('12,5000', 2, 'en-US'), 'At most 2 decimals.');
    assert.equal(unitsOf('12.5', 0, 'en-US'), 'Enter a whole number.');
    assert.equal(unitsOf('9'.repeat(20), 2, 'en-US'), 'This number is too large.');
  });

  it('that a field shows, at rest or while somebody types, is read as it was', () => {
    for (const locale of ['en-US', 'de-DE', 'de-CH', 'fr-FR', 'en-IN', 'es-ES', 'sv-SE', 'ar-EG', 'pl-PL']) {
      for (const decimals of [0, 2, 3, 4]) {
        for (let units = 1; units <= AMOUNT_LIMIT; units = units * 5 + 3) {
          for (const amount of [units, -units, units * 10 ** decimals]) {
            assert.equal(unitsOf(formatDecimal(amount, decimals, locale), decimals, locale), amount);
            assert.equal(unitsOf(editableDecimal(amount, decimals, locale), decimals, locale), amount);
          }
        }
      }
    }
  });

  it('means the same as in a CSV file, unless a file could mean two things or has more decimals', () => {
    const wholes = [
      '0',
      '1',
      '12',
      '999',
      '1299',
      '12500',
      '12,500',
      '12.500',
      "12'500",
      '1,250,000',
      '1.250.000',
      '1,2,3',
    ];
    const tails = ['', '.', '.5', ',5', '.50', ',50', '.500', ',500', '.-', ' EUR'];
    for (const text of wholes.flatMap((whole) => tails.map((tail) => whole + tail))) {
      for (const [currency, decimals] of [
        ['USD', 2],
        ['JPY', 0],
        ['KWD', 3],
      ] as const) {
        const typed = unitsOf(text, decimals, 'en-US');
        if (typeof typed !== 'number') continue;
        try {
          assert.equal(money(currency).read(text), typed, `${text} ${currency}`);
        } catch (error) {
          assert.ok(error instanceof CellError && /could be/.test(error.message), `${text} ${currency}: ${error}`);
        }
      }
    }
  });
});
