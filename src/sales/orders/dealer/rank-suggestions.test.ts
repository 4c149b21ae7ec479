import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ItemSummary } from '../../../inventory/lists/item-summaries.ts';
import { numberWords, type ReportedLine, rankSuggestions } from './rank-suggestions.ts';

function item(id: string, changes: Partial<ItemSummary> = {}): ItemSummary {
  return {
    id,
    kind: 'listing',
    stockNumber: `S-${id}`,
    title: id,
    brand: null,
    reference: null,
    priceAmount: 1_000_000,
    units: 1,
    reservedUnits: 0,
    status: 'in_stock',
    photoId: null,
    ...changes,
  };
}

const LINE: ReportedLine = { listing_id: null, part_id: null, title: null, unit_amount: null, quantity: 1 };
const rank = (line: Partial<ReportedLine>, items: ItemSummary[]) =>
  rankSuggestions({ ...LINE, ...line }, items, ({ priceAmount }) => priceAmount).map(
    ({ item: { id }, reasons }) => `${id}: ${reasons.join(', ')}`,
  );

describe('suggestions for a line of an order', () => {
  it('rank the id before the stock number, the reference and the price, and say why', () => {
    const items = [
      item('price', { priceAmount: 1_049_000 }),
      item('reference', { reference: '126610-LN', priceAmount: null }),
      item('named', { priceAmount: 5 }),
      item('stock', { stockNumber: 'W-1042', priceAmount: 5 }),
      item('both', { reference: '126610LN' }),
      item('nothing', { priceAmount: 1_060_000 }),
    ];
    const line = { listing_id: 'named', title: 'Submariner 126610LN (W 1042)', unit_amount: 1_000_000 };
    assert.deepEqual(rank(line, items), [
      'named: id',
      'stock: stock_number',
      'both: reference, price',
      'reference: reference',
      'price: price',
    ]);
  });

  it('of two that fit as well, take the nearer price first', () => {
    const items = [item('a', { priceAmount: 1_040_000 }), item('b', { priceAmount: 990_000 })];
    assert.deepEqual(rank({ unit_amount: 1_000_000 }, items), ['b: price', 'a: price']);
  });

  it('leave out what has too few free units', () => {
    const items = [item('two', { units: 3, reservedUnits: 1 }), item('one', { units: 2, reservedUnits: 1 })];
    assert.deepEqual(rank({ unit_amount: 1_000_000, quantity: 2 }, items), ['two: price']);
  });

  it('take 5 % in both directions for the same price, and no more', () => {
    const items = [950_000, 1_050_000, 949_999, 1_050_001].map((priceAmount) =>
      item(`${priceAmount}`, { priceAmount }),
    );
    assert.deepEqual(rank({ unit_amount: 1_000_000 }, items).sort(), ['1050000: price', '950000: price']);
  });

  it('find a number of several parts in a title, and no number inside another', () => {
    assert.ok(numberWords('Omega 310.30.42.50.01.001').includes('31030425001001'));
    assert.ok(!numberWords('Ref. 1266101').includes('126610'));
    assert.deepEqual(rank({ title: 'Ref. 1266101' }, [item('a', { reference: '126610' })]), []);
  });
});
