import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { measureResults } from '../../../test/harness/database/result-sizes.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { mergeCustomers } from '../customers/merge-customers.ts';
import { deleteItem } from '../delete-item.ts';

const ORDERS = 30;
const PADDING_BYTES = 700_000;
/** A page, in JSON. */
const RESULT_BYTES_MAX = 1.5 * 1_048_576;

describe('orders of twenty megabytes together', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  async function report(shop: Shop, order: object): Promise<void> {
    for (let index = 0; index < ORDERS; index++) {
      const { status } = await shop.post('/v1/orders', { channel_order_id: `SO-${index}`, ...order });
      assert.equal(status, 201);
    }
    // As large as the API lets an order become.
    await world.db.query(sql`
      update orders set document = replace(document, '"object":"order"',
        '"object":"order","padding":"' || repeat('x', ${PADDING_BYTES}) || '"')
      where integration_id = ${shop.integrationId}`);
  }
  const read = (shop: Shop) =>
    world.db.query(sql`
      select customer_id, document::jsonb -> 'lines' -> 0 -> 'match' as match, document::jsonb ->> 'customer_id' as "documentCustomerId",
        (document::jsonb ->> 'updated_at')::timestamptz = updated_at as "isStamped"
      from orders where integration_id = ${shop.integrationId}`);

  it('are given to another customer in one commit, a megabyte at a time', async () => {
    const shop = await openShop(world);
    const kept = (await shop.post('/v1/customers', { email: 'kept@a.ch' })).body.id;
    const merged = (await shop.post('/v1/customers', { email: 'merged@a.ch' })).body.id;
    await report(shop, { customer: { email: 'merged@a.ch' } });
    const { db, largest } = measureResults(world.db);
    await mergeCustomers({ ...world.channel, db }, TESTER, shop.organizationId, kept, merged);
    assert.ok(largest() < RESULT_BYTES_MAX, `one query read ${largest()} bytes`);
    const orders = await read(shop);
    assert.equal(orders.length, ORDERS);
    for (const order of orders)
      assert.partialDeepStrictEqual(order, { customer_id: kept, documentCustomerId: kept, isStamped: true });
  });

  it('lose an item that is deleted in one commit, a megabyte at a time', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, part({ units: 100 }));
    await report(shop, { lines: [{ part_id: itemId }] });
    const { db, largest } = measureResults(world.db);
    await deleteItem({ ...world.channel, db }, TESTER, shop.organizationId, itemId);
    assert.ok(largest() < RESULT_BYTES_MAX, `one query read ${largest()} bytes`);
    const orders = await read(shop);
    assert.equal(orders.length, ORDERS);
    for (const order of orders) assert.partialDeepStrictEqual(order, { match: null, isStamped: true });
  });
});
