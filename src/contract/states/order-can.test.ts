import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { valuesOf } from '../enumerations.ts';
import { type OrderFacts, orderCan } from './order-can.ts';

const STATUSES = valuesOf('order_status') as OrderFacts['status'][];
const matched = { match: { id: 'lst_1' } };
const unmatched = { match: null };

describe('what the dealer may do with an order', () => {
  it('follows from its status, in the words of the table of states', () => {
    const allowed = Object.fromEntries(
      Object.entries(orderCan).map(([name, can]) => [
        name,
        STATUSES.filter((status) => can({ status, lines: [matched] }).isAllowed),
      ]),
    );
    assert.deepEqual(allowed, {
      matchLine: ['received'],
      addLine: ['received'],
      unmatchLine: ['received'],
      assignCustomer: ['received', 'matched', 'fulfilled', 'cancelled'],
      confirm: ['received'],
      fulfil: ['matched'],
      dismiss: ['received'],
      cancelSale: ['matched', 'fulfilled'],
    });
    assert.equal(orderCan.fulfil({ status: 'received' }).reason, 'An order that is received cannot be fulfilled.');
  });

  it('leaves an order without any match to be confirmed later, and says what is missing', () => {
    assert.equal(orderCan.confirm({ status: 'received', lines: [unmatched, matched] }).isAllowed, true);
    for (const lines of [[], [unmatched]]) {
      const permission = orderCan.confirm({ status: 'received', lines });
      assert.equal(permission.isAllowed, false);
      assert.match(permission.reason ?? '', /^Match at least one line/);
    }
  });
});
