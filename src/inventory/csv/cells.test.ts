import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bool, CellError, choice, choices, compatibility, integer, money, number } from './cells.ts';
import { columnFor, stockColumns } from './stock-columns.ts';

describe('a cell of a stock file', () => {
  it('holds money with points, commas or apostrophes, in the decimals of its currency', () => {
    const cases: [string, string, number][] = [
      ['CHF', "12'990.00", 1_299_000],
      ['USD', '$12,990.00', 1_299_000],
      ['EUR', '12.990,50 €', 1_299_050],
      ['EUR', '12990,5', 1_299_050],
      ['USD', '12,990', 1_299_000],
      ['USD', '1,234,567', 123_456_700],
      ['USD', '12 990', 1_299_000],
      ['JPY', '1,299,000', 1_299_000],
      ['KWD', '12.5', 12_500],
      ['CHF', 'CHF 12’990.-', 1_299_000],
      ['EUR', '990 EUR', 99_000],
      ['USD', '0', 0],
    ];
    for (const [currency, cell, amount] of cases)
      assert.equal(money(currency).read(cell), amount, `${currency} ${cell}`);
    for (const cell of ['', 'on request', '-5', '1.999,995', '1e5', '12.345.6', '1,2,3', '5 x', '$']) {
      assert.throws(() => money('USD').read(cell), CellError, cell);
    }
    assert.equal(money('USD').write(1_299_050), '12990.50');
    assert.equal(money('JPY').write(1_299), '1299');
    assert.equal(money('USD').write(5), '0.05');
  });

  it('holds numbers, whole numbers and yes or no', () => {
    assert.equal(number.read('12,5'), 12.5);
    assert.equal(number.read('41'), 41);
    assert.equal(integer.read('1.250'), 1250);
    assert.throws(() => integer.read('1.5'), /whole number/);
    assert.throws(() => number.read('about 5'), /must be a number/);
    assert.equal(bool.read(' Yes'), true);
    assert.equal(bool.read('0'), false);
    assert.throws(() => bool.read('maybe'), /yes or no/);
  });

  it('holds values of the catalogue by their names or labels', () => {
    assert.equal(choice('condition').read('Very good'), 'very_good');
    assert.equal(choice('condition').read('VERY_GOOD'), 'very_good');
    assert.throws(() => choice('condition').read('lovely'), /must be one of Unworn, Mint/);
    assert.deepEqual(choices('complications').read('Date | GMT, chronograph'), ['date', 'gmt', 'chronograph']);
    assert.equal(choices('complications').write(['date', 'gmt']), 'Date | GMT');
  });

  it('holds what a part fits', () => {
    const cell = 'Rolex / Submariner / 16610 / 3135 | Tudor // 7016';
    const value = compatibility.read(cell);
    assert.deepEqual(value, [
      { brand: 'Rolex', model: 'Submariner', reference_number: '16610', caliber: '3135' },
      { brand: 'Tudor', model: null, reference_number: '7016', caliber: null },
    ]);
    assert.deepEqual(compatibility.read(compatibility.write(value)), value);
  });
});

describe('the columns of a stock file', () => {
  it('cover every attribute of both kinds, and are known by the words that dealers use', () => {
    const columns = stockColumns('listing', 'USD');
    assert.equal(columnFor(columns, 'Ref.')?.name, 'reference_number');
    assert.equal(columnFor(columns, 'Artikelnummer')?.name, 'stock_number');
    assert.equal(columnFor(columns, 'Case diameter (mm)')?.name, 'case_diameter_mm');
    assert.equal(columnFor(columns, 'weather'), null);
    assert.ok(stockColumns('part', 'USD').some((column) => column.name === 'compatibility'));
    assert.equal(new Set(columns.map((column) => column.name)).size, columns.length);
  });
});
