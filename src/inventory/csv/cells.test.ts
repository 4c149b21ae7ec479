import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { valuesOf } from '../../contract/enumerations.ts';
import { AMOUNT_LIMIT } from '../../contract/limits.ts';
import { bool, CellError, choice, choices, compatibility, integer, money, number, photos } from './cells.ts';
import { columnFinder, stockColumns } from './stock-columns.ts';

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

  it('holds money in which one mark before three digits is read by what the currency and the digits allow', () => {
    const cases: [string, string, number][] = [
      ['KWD', '850.000', 850_000],
      ['KWD', '12500.000', 12_500_000],
      ['KWD', '12.500', 12_500],
      ['KWD', '0,500', 500],
      ['KWD', "12'500.000", 12_500_000],
      ['KWD', '12,500.000', 12_500_000],
      ['TND', '12 500,000 TND', 12_500_000],
      ['TND', '12.500,000', 12_500_000],
      ['TND', '12500,000', 12_500_000],
      ['OMR', '1,299,000', 1_299_000_000],
      ['OMR', '1.299.000', 1_299_000_000],
      ['OMR', '12 990', 12_990_000],
      ['USD', '12500.000', 1_250_000],
      ['USD', '0.500', 50],
      ['JPY', '1.299', 1_299],
      ['JPY', '1299.00', 1_299],
    ];
    for (const [currency, cell, amount] of cases)
      assert.equal(money(currency).read(cell), amount, `${currency} ${cell}`);
    for (const cell of ['12,500', '850,000']) assert.throws(() => money('KWD').read(cell), /could be .* or /, cell);
    assert.throws(() => money('USD').read('0.125'), /more decimals than USD/);
    assert.throws(() => money('JPY').read('1299.5'), /more decimals than JPY/);
    assert.throws(() => money('KWD').read('1.299.5'), /must be a number/);
  });

  it('holds money as it was written, whatever the decimals of the currency', () => {
    for (const currency of ['JPY', 'USD', 'KWD']) {
      const { read, write } = money(currency);
      const amounts = Array.from({ length: 2_500 }, (_, index) => index);
      for (let amount = 7; amount < AMOUNT_LIMIT; amount = 3 * amount + 1) amounts.push(amount);
      for (let amount = 1; amount <= AMOUNT_LIMIT; amount *= 10) amounts.push(amount, amount - 1, amount * 5);
      for (const amount of amounts) assert.equal(read(write(amount)), amount, `${currency} ${write(amount)}`);
    }
  });

  it('has the sign of a negative amount in front', () => {
    assert.equal(money('USD').write(-5), '-0.05');
    assert.equal(money('USD').write(-123_456), '-1234.56');
    assert.equal(money('KWD').write(-5), '-0.005');
    assert.equal(money('JPY').write(-5), '-5');
  });

  it('holds numbers, whole numbers and yes or no', () => {
    assert.equal(number.read('12,5'), 12.5);
    assert.equal(number.read('41'), 41);
    assert.equal(integer.read('1.250'), 1250);
    for (const whole of [0, 7, -7, 1_250, -1_000_000, 2_147_483_647])
      assert.equal(integer.read(integer.write(whole)), whole);
    assert.throws(() => integer.read('0.125'), /whole number/);
    assert.throws(() => integer.read('1.5'), /whole number/);
    assert.throws(() => number.read('about 5'), /must be a number/);
    assert.equal(bool.read(' Yes'), true);
    assert.equal(bool.read('0'), false);
    assert.throws(() => bool.read('maybe'), /yes or no/);
  });

  it('holds a measure without marks between thousands: a point or comma is the decimal mark', () => {
    const cases: [string, number][] = [
      ['12.345', 12.345],
      ['12,345', 12.345],
      ['0.125', 0.125],
      ['1,5', 1.5],
      [' 40 ', 40],
      ['-1.5', -1.5],
    ];
    for (const [cell, measure] of cases) assert.equal(number.read(cell), measure, cell);
    for (const measure of [41, 12.5, 0.125, 12.345, 1.0005, 0.1 + 0.2, 1e-7, 199.999])
      assert.equal(number.read(number.write(measure)), measure);
    for (const cell of ['1,299.5', "1'299", '1.299.5', '12 mm', '', '.', '1e5'])
      assert.throws(() => number.read(cell), /must be a number/, cell);
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

  it('holds what a part fits by references with slashes, and as it was written whatever stands in it', () => {
    assert.deepEqual(compatibility.read('Patek / Nautilus / 5711/1A-010 / 26-330 S C'), [
      { brand: 'Patek', model: 'Nautilus', reference_number: '5711/1A-010', caliber: '26-330 S C' },
    ]);
    assert.deepEqual(compatibility.read('/ / 5711/1A-010'), [
      { brand: null, model: null, reference_number: '5711/1A-010', caliber: null },
    ]);
    assert.throws(() => compatibility.read('a / b / c / d / e'), /brand \/ model/);
    const names = [
      ...[null, '5711/1A-010', 'a | b', '|', '/', ' / ', '/ x', 'x /', 'x / y', '//', 'a/ /b', ' x ', '\u00a0x\n'],
      ...['100 % steel', '100%', '%7C', '%257C', '%%41', '%7|', '%C3', '"Hulk"', '7" strap', '\\', 'none'],
    ];
    const watches = names.flatMap((brand, index) =>
      names.map((model, other) => ({
        brand,
        model,
        reference_number: names[(index + other) % names.length] ?? null,
        caliber: names[(3 * index + other) % names.length] ?? null,
      })),
    );
    for (const watch of watches) assert.deepEqual(compatibility.read(compatibility.write([watch]).trim()), [watch]);
    const some = watches.slice(0, 200);
    assert.deepEqual(compatibility.read(compatibility.write(some).trim()), some);
    assert.equal(compatibility.write([watches[1]]).includes('%'), false, 'only what could not be read is escaped');
  });

  it('holds addresses of photos and names of files, which may have blanks', () => {
    const cases: [string, string[]][] = [
      ['my photo.jpg', ['my photo.jpg']],
      ['my photo.jpg | other.png', ['my photo.jpg', 'other.png']],
      ['https://a.example/1|my photo.jpg', ['https://a.example/1', 'my photo.jpg']],
      ['front.jpg back.WEBP', ['front.jpg', 'back.WEBP']],
      ['https://a.example/1 https://a.example/2', ['https://a.example/1', 'https://a.example/2']],
      [
        'https://a.example/1\nmy photo.jpg https://a.example/2',
        ['https://a.example/1', 'my photo.jpg', 'https://a.example/2'],
      ],
    ];
    for (const [cell, names] of cases) assert.deepEqual(photos.read(cell), names);
    for (const [, names] of cases) assert.deepEqual(photos.read(photos.write(names)), names);
  });

  it('holds every value of the catalogue as it was written', () => {
    for (const name of ['complications', 'additional_details'] as const) {
      const values = [...valuesOf(name)];
      assert.deepEqual(choices(name).read(choices(name).write(values)), values);
    }
  });
});

describe('the columns of a stock file', () => {
  it('cover every attribute of both kinds, and are known by the words that dealers use', () => {
    const columns = stockColumns('listing', 'USD');
    const columnOf = columnFinder(columns);
    assert.equal(columnOf('Ref.')?.name, 'reference_number');
    assert.equal(columnOf('Artikelnummer')?.name, 'stock_number');
    assert.equal(columnOf('Case diameter (mm)')?.name, 'case_diameter_mm');
    assert.equal(columnOf('weather'), null);
    assert.ok(stockColumns('part', 'USD').some((column) => column.name === 'compatibility'));
    assert.equal(new Set(columns.map((column) => column.name)).size, columns.length);
  });
});
