import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type OrderLoad, openTransactionBudget } from './transaction-budget.ts';

const itemIds = (from: number, count: number) => Array.from({ length: count }, (_, index) => `lst_${from + index}`);
const load = (changes: Partial<OrderLoad>): OrderLoad => ({ documentBytes: 500, lines: 1, itemIds: [], ...changes });

/** How many of these orders a transaction takes. */
function taken(orders: OrderLoad[]): number {
  const budget = openTransactionBudget();
  const end = orders.findIndex((order) => !budget.takes(order));
  return end === -1 ? orders.length : end;
}

describe('the budget of a transaction', () => {
  it('takes 25 ordinary orders', () => {
    const orders = Array.from({ length: 25 }, (_, index) => load({ lines: 8, itemIds: itemIds(8 * index, 8) }));
    assert.equal(taken(orders), 25);
  });

  it('always takes the first order, and after a large document none', () => {
    assert.equal(taken([load({ documentBytes: 700_000, lines: 2_000, itemIds: itemIds(0, 300) }), load({})]), 1);
    assert.equal(taken([load({}), load({ documentBytes: 700_000 }), load({})]), 2);
  });

  it('takes as many lines as five orders may have', () => {
    assert.equal(taken(Array.from({ length: 25 }, () => load({ lines: 200 }))), 5);
  });

  it('takes as many items as one order may have, however often they occur', () => {
    const apart = Array.from({ length: 25 }, (_, index) => load({ lines: 40, itemIds: itemIds(100 * index, 100) }));
    assert.equal(taken(apart), 2);
    const same = Array.from({ length: 25 }, () => load({ lines: 40, itemIds: itemIds(0, 200) }));
    assert.equal(taken(same), 25);
  });
});
