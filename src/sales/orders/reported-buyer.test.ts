import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { STRING_LENGTH_LIMIT } from '../../contract/limits.ts';
import { sql } from '../../db/sql.ts';
import { reportedBuyer } from './reported-buyer.ts';

describe('the buyer in the document of an order', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** The order of the fields is that of a stored order. */
  const orderOf = (customer: object | null, others: object = {}) => ({
    id: 'ord_1',
    channel_order_id: '","customer":null,"customer_id":"',
    customer,
    customer_id: null,
    shipping_address: { name: 'Another' },
    lines: [],
    metadata: { customer: { email: 'wrong@a.ch' }, inner: { customer_id: 'cus_1' } },
    ...others,
  });
  const longest = '\u0001'.repeat(STRING_LENGTH_LIMIT);
  const cases = {
    'with all its fields': orderOf({
      external_id: 'c1',
      email: 'a@b.ch',
      phone: '+41227300000',
      first_name: 'Ä',
      last_name: null,
    }),
    'that nobody named': orderOf(null),
    'whose name looks like JSON': orderOf({ first_name: '"},"customer_id":null,"customer":{', last_name: '\\' }),
    'with the longest texts': orderOf(
      { external_id: longest, email: longest, phone: longest, first_name: longest, last_name: longest },
      { lines: [{ title: 'x'.repeat(100_000) }] },
    ),
    'that stands behind the lines': { lines: [{ title: 'x'.repeat(100_000) }], customer: { email: 'a@b.ch' } },
  };

  for (const [name, order] of Object.entries(cases)) {
    it(`is read ${name}`, async () => {
      const [row] = await world.db.query<{ buyer: unknown }>(sql`
        select ${reportedBuyer(sql`document`)} as buyer from (select ${JSON.stringify(order)}::text as document) orders`);
      assert.deepEqual(row?.buyer, order.customer);
    });
  }
});
