import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { observe } from '../../../test/harness/observe.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { addCustomer, addShop, openShop, type Shop } from '../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { dismissOrder } from '../orders/order-operations.ts';
import { assignCustomer } from './assign-customer.ts';
import { mergeCustomers } from './merge-customers.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

const read = async (shop: Shop, id: string) => (await shop.api.get(`/v1/orders/${id}`)).body;

async function hasConflict(orderId: string): Promise<boolean | undefined> {
  const [row] = await world.db.query<{ has_customer_conflict: boolean }>(sql`
    select has_customer_conflict from orders where id = ${orderId}`);
  return row?.has_customer_conflict;
}

/** An order whose buyer is two people. */
async function conflicting(
  shop: Shop,
): Promise<{ order: { id: string; updated_at: string }; ana: string; ben: string }> {
  const ana = await addCustomer(shop, { email: 'ana@example.ch' });
  const ben = await addCustomer(shop, { phone: '+41227300000' });
  const buyer = { email: 'ana@example.ch', phone: '+41227300000' };
  const { body } = await shop.post('/v1/orders', { channel_order_id: 'SO-1', customer: buyer });
  assert.equal(body.customer_id, null);
  assert.equal(await hasConflict(body.id), true);
  return { order: body, ana, ben };
}

describe('assigning a customer to an order', () => {
  it('decides a conflict: clients read the customer, with a new stamp and without an event', async () => {
    const shop = await openShop(world);
    const { order, ben } = await conflicting(shop);
    await read(shop, order.id);
    const seen = await observe(shop.api, () =>
      assignCustomer(world.channel, TESTER, shop.organizationId, order.id, ben),
    );
    assert.deepEqual(seen.types, []);
    const assigned = await read(shop, order.id);
    assert.deepEqual(assigned, { ...order, customer_id: ben, updated_at: assigned.updated_at });
    assert.ok(assigned.updated_at > order.updated_at);
    assert.equal(await hasConflict(order.id), false);
  });

  it('says that it is nobody’s, which also decides the conflict', async () => {
    const shop = await openShop(world);
    const { order } = await conflicting(shop);
    const decided = await assignCustomer(world.channel, TESTER, shop.organizationId, order.id, null);
    assert.equal(decided.customer_id, null);
    assert.equal(await hasConflict(order.id), false);
  });

  it('changes an earlier choice, in any status, and the stamp only if it is another one', async () => {
    const shop = await openShop(world);
    const { order, ana, ben } = await conflicting(shop);
    await dismissOrder(world.channel, TESTER, shop.organizationId, order.id, null);
    await assignCustomer(world.channel, TESTER, shop.organizationId, order.id, ana);
    const first = await assignCustomer(world.channel, TESTER, shop.organizationId, order.id, ben);
    assert.deepEqual(await assignCustomer(world.channel, TESTER, shop.organizationId, order.id, ben), first);
    assert.deepEqual(await read(shop, order.id), first);
    assert.deepEqual([first.status, first.customer_id], ['cancelled', ben]);
  });

  it('is not undone by a later merge of others', async () => {
    const shop = await openShop(world);
    const { order, ana, ben } = await conflicting(shop);
    const third = await addCustomer(shop, { email: 'third@example.ch' });
    await assignCustomer(world.channel, TESTER, shop.organizationId, order.id, third);
    await mergeCustomers(world.channel, TESTER, shop.organizationId, ana, ben);
    assert.equal((await read(shop, order.id)).customer_id, third);
  });

  it('refuses unknown and foreign orders and customers, and a test customer for a live order', async () => {
    const shop = await openShop(world);
    const test = await addShop(world, shop, { isTestMode: true });
    const stranger = await openShop(world);
    const { order, ana } = await conflicting(shop);
    const foreign = await addCustomer(stranger, { email: 'x@example.ch' });
    const ofTest = await addCustomer(test, { email: 'x@example.ch' });
    const assign = (orderId: string, customerId: string, organizationId = shop.organizationId) =>
      assignCustomer(world.channel, TESTER, organizationId, orderId, customerId);
    await assertRefused(assign(newId('order'), ana), 'not_found');
    await assertRefused(assign(order.id, newId('customer')), 'not_found', 'customerId');
    await assertRefused(assign(order.id, foreign), 'not_found', 'customerId');
    await assertRefused(assign(order.id, foreign, stranger.organizationId), 'not_found');
    await assertRefused(assign(order.id, ofTest), 'wrong_kind', 'customerId');
    assert.deepEqual(await read(shop, order.id), order);
    assert.equal(await hasConflict(order.id), true);
  });

  it('goes well beside a merge of the same people, whichever comes first', async () => {
    for (let round = 0; round < 5; round++) {
      const shop = await openShop(world);
      const { order, ana, ben } = await conflicting(shop);
      await Promise.all([
        mergeCustomers(world.channel, TESTER, shop.organizationId, ana, ben),
        assignCustomer(world.channel, TESTER, shop.organizationId, order.id, ben).catch(() => {}),
      ]);
      assert.equal((await read(shop, order.id)).customer_id, ana);
      assert.equal(await hasConflict(order.id), false);
    }
  });
});
