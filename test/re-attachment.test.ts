import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../src/db/sql.ts';
import { setOrganization } from '../src/dealers/integrations/attach-integration.ts';
import { deleteItem } from '../src/sales/delete-item.ts';
import { TESTER } from './harness/actor.ts';
import { holdLock, untilBlocked } from './harness/database/locks.ts';
import { assertRefused } from './harness/refusal.ts';
import { freshKey, openShop, type Shop } from './harness/shop.ts';
import { publishNew, watch } from './harness/stock.ts';
import { startWorld, type World } from './harness/world.ts';

/** An integration that was one dealer's must never show that dealer's things to another. */
let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

/** What an integration can have of its dealer, each alone. */
const TRACES: Record<string, (shop: Shop) => Promise<unknown>> = {
  'an order': (shop) => shop.post('/v1/orders', { channel_order_id: 'SO-1', customer: { email: 'buyer@a.ch' } }),
  'a publication': (shop) => publishNew(world, shop, watch()),
  'events of an item that is gone': async (shop) =>
    deleteItem(world.channel, TESTER, shop.organizationId, await publishNew(world, shop, watch())),
  'a customer': (shop) => shop.post('/v1/customers', { external_id: 'c1' }),
  'a test customer whose answer is forgotten': async (shop) => {
    await world.db.query(sql`update integrations set is_test_mode = true where id = ${shop.integrationId}`);
    await shop.post('/v1/customers', { email: 'buyer@a.ch' });
    await world.db.query(sql`delete from idempotency_records where integration_id = ${shop.integrationId}`);
  },
  'an answer under a key': (shop) => shop.post('/v1/customers', { email: 'buyer@a.ch' }),
  'a ping': (shop) => shop.post('/v1/test/webhook_ping'),
};

const UPSERTS: [string, string, object][] = [
  ['a customer', '/v1/customers', { email: 'buyer@a.ch' }],
  ['a customer with an external id', '/v1/customers', { external_id: 'c1' }],
  ['a bulk of customers', '/v1/customers/bulk', { customers: [{ external_id: 'c1', email: 'buyer@a.ch' }] }],
];

const customersOf = (organizationId: string) =>
  world.db.query(sql`select id from customers where organization_id = ${organizationId}`);

describe('attaching an integration to another dealer', () => {
  for (const [name, leave] of Object.entries(TRACES)) {
    it(`is refused once it has ${name}, whether it was detached before or not`, async () => {
      const shop = await openShop(world);
      const other = await openShop(world);
      await leave(shop);
      const attach = () => setOrganization(world.db, TESTER, shop.integrationId, other.organizationId);
      await assertRefused(attach, 'wrong_status', 'organization');
      assert.equal((await shop.api.get('/v1/me')).body.organization_id, shop.organizationId);
      await setOrganization(world.db, TESTER, shop.integrationId, null);
      await assertRefused(attach, 'wrong_status', 'organization');
      assert.equal((await shop.api.get('/v1/me')).body.error.code, 'integration_org_missing');
    });
  }

  it('is possible while it has nothing, and to its own dealer at any time', async () => {
    const shop = await openShop(world);
    const other = await openShop(world);
    assert.equal(await setOrganization(world.db, TESTER, shop.integrationId, other.organizationId), true);
    assert.equal((await shop.api.get('/v1/me')).body.organization_id, other.organizationId);
    const order = await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    assert.equal(order.status, 201);
    await assertRefused(
      () => setOrganization(world.db, TESTER, shop.integrationId, shop.organizationId),
      'wrong_status',
    );
    await setOrganization(world.db, TESTER, shop.integrationId, null);
    assert.equal(await setOrganization(world.db, TESTER, shop.integrationId, other.organizationId), true);
    assert.deepEqual((await shop.api.get('/v1/orders')).body.data, [order.body]);
  });

  it('waits for an order that is on its way, and then is refused', async () => {
    const shop = await openShop(world);
    const other = await openShop(world);
    const clock = await holdLock(world.db, 'select 1 from channel_clocks where integration_id = $1 for update', [
      shop.integrationId,
    ]);
    const report = shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    await untilBlocked(world.db, 1);
    const attached = assertRefused(
      setOrganization(world.db, TESTER, shop.integrationId, other.organizationId),
      'wrong_status',
    );
    await untilBlocked(world.db, 2);
    await clock.release();
    assert.equal((await report).status, 201);
    await attached;
  });

  for (const [name, path, body] of UPSERTS) {
    it(`waits for ${name} that is on its way, and then is refused`, async () => {
      const shop = await openShop(world);
      const other = await openShop(world);
      // The upsert has written its customers and can't record its answer yet.
      const records = await holdLock(world.db, 'lock table idempotency_records in share mode', []);
      const upserted = shop.post(path, body);
      await untilBlocked(world.db, 1);
      const attached = assertRefused(
        setOrganization(world.db, TESTER, shop.integrationId, other.organizationId),
        'wrong_status',
      );
      await untilBlocked(world.db, 2);
      await records.release();
      assert.equal((await upserted).status < 300, true);
      await attached;
    });

    it(`leaves nothing behind of ${name} that was on its way to the dealer before`, async () => {
      const shop = await openShop(world);
      const other = await openShop(world);
      const key = freshKey();
      const customers = await holdLock(world.db, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `customers ${shop.organizationId}`,
      ]);
      const upserted = shop.api.post(path, body, key);
      await untilBlocked(world.db, 1);
      assert.equal(await setOrganization(world.db, TESTER, shop.integrationId, other.organizationId), true);
      await customers.release();
      assert.equal((await upserted).status, 500);
      assert.deepEqual(await customersOf(shop.organizationId), []);
      assert.equal((await shop.api.post(path, body, key)).status < 300, true);
      assert.equal((await customersOf(other.organizationId)).length, 1);
    });
  }

  it('leaves nothing behind of an order that was on its way to the dealer before', async () => {
    const shop = await openShop(world);
    const other = await openShop(world);
    const key = freshKey();
    const clock = await holdLock(world.db, 'select 1 from channel_clocks where integration_id = $1 for update', [
      shop.integrationId,
    ]);
    const attaching = setOrganization(world.db, TESTER, shop.integrationId, other.organizationId);
    await untilBlocked(world.db, 1);
    const report = shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    await untilBlocked(world.db, 2);
    await clock.release();
    assert.equal(await attaching, true);
    assert.equal((await report).body.error.code, 'insert_failed');
    const again = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    assert.equal(again.status, 201);
    const rows = await world.db.query(sql`
      select organization_id from orders where integration_id = ${shop.integrationId}`);
    assert.deepEqual(rows, [{ organization_id: other.organizationId }]);
  });
});

describe('an order of another dealer under the same integration', () => {
  it('is in no list, reads 404 and can’t be cancelled', async () => {
    const shop = await openShop(world);
    const other = await openShop(world);
    const { body } = await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    // As a release might have left it that allowed the move.
    await world.db.transaction(async (tx) => {
      await tx.query(sql`set local session_replication_role = replica`);
      await tx.query(sql`
        update integrations set organization_id = ${other.organizationId}, data_organization_id = ${other.organizationId}
        where id = ${shop.integrationId}`);
    });
    assert.deepEqual((await shop.api.get('/v1/orders')).body.data, []);
    assert.equal((await shop.api.get(`/v1/orders/${body.id}`)).status, 404);
    assert.equal((await shop.post(`/v1/orders/${body.id}/cancel`)).body.error.code, 'order_not_found');
  });
});
