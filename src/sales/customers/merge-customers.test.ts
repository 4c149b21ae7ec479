import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { addCustomer, addShop, faultOf, openShop, type Shop } from '../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { mergeCustomers } from './merge-customers.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

/** The orders whose buyer the dealer has to decide on. */
async function conflicts(shop: Shop): Promise<string[]> {
  const rows = await world.db.query<{ id: string }>(sql`
    select id from orders where organization_id = ${shop.organizationId} and has_customer_conflict order by id`);
  return rows.map((row) => row.id);
}

describe('merging two customers', () => {
  it('resolves a contact conflict: the same request passes afterwards', async () => {
    const shop = await openShop(world);
    const kept = await addCustomer(shop, { external_id: 'c1', email: 'ana@example.ch', first_name: 'Ana' });
    const merged = await addCustomer(shop, { external_id: 'c2', phone: '+41227300000' });
    const request = { external_id: 'c2', email: 'ana@example.ch', phone: '+41227300000' };
    assert.equal(faultOf(await shop.post('/v1/customers', request)).code, 'customer_contact_conflict');
    await mergeCustomers(world.channel, TESTER, shop.organizationId, kept, merged);
    const { status, body } = await shop.post('/v1/customers', request);
    assert.equal(status, 200);
    assert.equal(body.id, kept);
    assert.equal(body.external_id, 'c2');
    assert.equal((await shop.post('/v1/customers', { external_id: 'c1' })).body.id, kept);
  });

  it('keeps what the kept one has and takes what it lacks', async () => {
    const shop = await openShop(world);
    const kept = await addCustomer(shop, { email: 'kept@example.ch', first_name: 'Ana', company: 'Kept SA' });
    const address = { line1: 'Rue 1', line2: null, city: 'Geneva', state: null, postal_code: '1201', country: 'CH' };
    const merged = await addCustomer(shop, {
      email: 'merged@example.ch',
      phone: '+41227300000',
      first_name: 'Anna',
      last_name: 'Berger',
      address,
    });
    await mergeCustomers(world.channel, TESTER, shop.organizationId, kept, merged);
    const { body } = await shop.post('/v1/customers', { email: 'KEPT@example.ch' });
    assert.deepEqual(body, {
      id: kept,
      object: 'customer',
      is_test: false,
      external_id: null,
      email: 'KEPT@example.ch',
      phone: '+41227300000',
      first_name: 'Ana',
      last_name: 'Berger',
      company: 'Kept SA',
      address,
      created_at: body.created_at,
      updated_at: body.updated_at,
    });
    // The email that nobody has any more is free.
    assert.equal((await shop.post('/v1/customers', { email: 'merged@example.ch' })).status, 201);
  });

  it('moves the orders, which read so from then on, of every integration', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const kept = await addCustomer(shop, { email: 'kept@example.ch' });
    const orders = [];
    for (const one of [shop, sibling]) {
      const { body } = await one.post('/v1/orders', {
        channel_order_id: 'SO-1',
        customer: { email: 'merged@example.ch' },
      });
      orders.push({ shop: one, before: body });
    }
    const merged = orders[0]?.before.customer_id;
    assert.equal(orders[1]?.before.customer_id, merged);
    await mergeCustomers(world.channel, TESTER, shop.organizationId, kept, merged);
    for (const { shop: one, before } of orders) {
      const order = (await one.api.get(`/v1/orders/${before.id}`)).body;
      assert.deepEqual(order, { ...before, customer_id: kept, updated_at: order.updated_at });
      assert.ok(order.updated_at > before.updated_at);
      const changed = await one.api.get(`/v1/orders?updated_after=${before.updated_at}`);
      assert.deepEqual(changed.body.data, [order]);
    }
  });

  it('gives orders whose buyer was both of them to the kept one, and leaves other conflicts to the dealer', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const kept = await addCustomer(shop, { external_id: 'c1', email: 'kept@example.ch' });
    const merged = await addCustomer(shop, { external_id: 'c2', email: 'merged@example.ch', phone: '+41227300000' });
    await addCustomer(shop, { external_id: 'c3', email: 'third@example.ch' });
    const report = async (from: Shop, id: string, buyer: object) =>
      (await from.post('/v1/orders', { channel_order_id: id, customer: buyer })).body;
    const both = { email: 'kept@example.ch', phone: '+41227300000', first_name: 'Never taken over' };
    const resolved = [
      { shop, before: await report(shop, 'SO-1', both) },
      { shop, before: await report(shop, 'SO-2', { ...both, external_id: 'c2' }) },
      { shop: sibling, before: await report(sibling, 'SO-1', both) },
    ];
    const others = [
      await report(shop, 'SO-3', { email: 'third@example.ch', phone: '+41227300000' }),
      await report(shop, 'SO-4', { external_id: 'c4', email: 'kept@example.ch' }),
    ];
    for (const { before } of resolved) assert.equal(before.customer_id, null);
    for (const before of others) assert.equal(before.customer_id, null);
    assert.equal((await conflicts(shop)).length, 5);

    await mergeCustomers(world.channel, TESTER, shop.organizationId, kept, merged);
    for (const { shop: one, before } of resolved) {
      const order = (await one.api.get(`/v1/orders/${before.id}`)).body;
      assert.deepEqual(order, { ...before, customer_id: kept, updated_at: order.updated_at });
      assert.ok(order.updated_at > before.updated_at);
    }
    for (const before of others) assert.deepEqual((await shop.api.get(`/v1/orders/${before.id}`)).body, before);
    assert.deepEqual(await conflicts(shop), others.map((order) => order.id).sort());
    assert.equal((await shop.post('/v1/customers', { external_id: 'c1' })).body.first_name, null);
  });

  it('refuses one with itself, unknown ones, another dealer’s, and a test customer with a live one', async () => {
    const shop = await openShop(world);
    const stranger = await openShop(world);
    const test = await addShop(world, shop, { isTestMode: true });
    const own = await addCustomer(shop, { email: 'a@b.ch' });
    const foreign = await addCustomer(stranger, { email: 'a@b.ch' });
    const ofTest = await addCustomer(test, { email: 'a@b.ch' });
    const merge = (kept: string, merged: string) =>
      mergeCustomers(world.channel, TESTER, shop.organizationId, kept, merged);
    await assertRefused(merge(own, own), 'invalid_input', 'mergedId');
    await assertRefused(merge(own, newId('customer')), 'not_found');
    await assertRefused(merge(newId('customer'), own), 'not_found');
    await assertRefused(merge(own, foreign), 'not_found');
    await assertRefused(merge(foreign, own), 'not_found');
    await assertRefused(merge(own, ofTest), 'wrong_kind', 'mergedId');
    assert.equal((await shop.post('/v1/customers', { email: 'a@b.ch' })).body.id, own);
    assert.equal((await stranger.post('/v1/customers', { email: 'a@b.ch' })).body.id, foreign);
  });

  it('goes well beside orders and upserts of the same people', async () => {
    const shop = await openShop(world);
    const kept = await addCustomer(shop, { email: 'kept@example.ch' });
    const merged = await addCustomer(shop, { phone: '+41227300000' });
    const writes = Array.from({ length: 20 }, (_, index) =>
      shop.post('/v1/orders', {
        channel_order_id: `SO-${index}`,
        customer: index % 2 === 0 ? { email: 'kept@example.ch' } : { phone: '+41227300000' },
      }),
    );
    const upserts = Array.from({ length: 10 }, () => shop.post('/v1/customers', { phone: '+41227300000' }));
    await Promise.all([
      ...writes,
      ...upserts,
      mergeCustomers(world.channel, TESTER, shop.organizationId, kept, merged),
    ]);
    const { data } = (await shop.api.get('/v1/orders')).body;
    assert.equal(data.length, 20);
    for (const order of data) assert.equal(order.customer_id, kept);
  });
});
