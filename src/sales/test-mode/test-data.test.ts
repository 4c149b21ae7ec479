import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { admissionCounter, changing, pauseCommits } from '../../../test/harness/database/locks.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { addShop, freshKey, openShop, type Shop } from '../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { mergeCustomers } from '../customers/merge-customers.ts';
import { cancelSale, confirmOrder, matchLine } from '../orders/order-operations.ts';
import { countTestData, deleteTestData } from './test-data.ts';
import { changeTestMode } from './test-mode.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

function goLive(shop: Shop): Promise<object[]> {
  return world.db.query(sql`update integrations set is_test_mode = false where id = ${shop.integrationId}`);
}

describe('deleting test data', () => {
  it('takes the orders, their sales and the customers of the tests, and nothing that is live', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const listingId = await publishNew(world, shop, watch());
    const order = (id: string) =>
      shop.post('/v1/orders', {
        channel_order_id: id,
        customer: { external_id: 'c1', email: 'a@b.ch' },
        lines: [{ listing_id: listingId }],
      });
    const [first, second] = [(await order('SO-1')).body, (await order('SO-2')).body];
    await confirmOrder(world.channel, TESTER, shop.organizationId, first.id);
    await confirmOrder(world.channel, TESTER, shop.organizationId, second.id);
    await cancelSale(world.channel, TESTER, shop.organizationId, second.id);
    await goLive(shop);
    const live = (await order('SO-3')).body;
    assert.notEqual(live.customer_id, first.customer_id);
    await shop.api.get('/v1/orders');

    const deleted = await deleteTestData(world.channel, TESTER, shop.organizationId, shop.integrationId);
    assert.deepEqual(deleted, { orders: 2, customers: 1 });
    assert.deepEqual((await shop.api.get('/v1/orders')).body.data, [live]);
    assert.equal((await shop.api.get(`/v1/orders/${first.id}`)).status, 404);
    const sales = await world.db.query(sql`select id from sales where organization_id = ${shop.organizationId}`);
    assert.deepEqual(sales, []);
    assert.equal((await shop.post('/v1/customers', { external_id: 'c1' })).body.id, live.customer_id);
  });

  it('frees the channel_order_ids and the keys of the tests, and keeps those of live writes', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const writes: [string, object][] = [
      ['/v1/orders', { channel_order_id: 'SO-1' }],
      ['/v1/customers', { email: 'a@b.ch' }],
      ['/v1/customers/bulk', { customers: [{ email: 'c@d.ch' }] }],
    ];
    const tests = [];
    for (const [path, body] of writes) {
      const key = freshKey();
      tests.push({ path, body, key, answer: await shop.api.post(path, body, key) });
    }
    await goLive(shop);
    const key = freshKey();
    const live = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, key);
    await deleteTestData(world.channel, TESTER, shop.organizationId, shop.integrationId);
    for (const { path, body, key, answer } of tests) {
      const again = await shop.api.post(path, body, key);
      assert.equal(again.status, answer.status);
      assert.equal(again.headers['idempotent-replay'], undefined, path);
      assert.notEqual(again.text, answer.text);
    }
    const replay = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, key);
    assert.equal(replay.text, live.text);
  });

  it('is one integration’s: the others of the dealer keep theirs, and the customers they know', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const sibling = await addShop(world, shop, { isTestMode: true });
    const shared = (await shop.post('/v1/customers', { external_id: 'c1', email: 'shared@b.ch' })).body.id;
    await sibling.post('/v1/customers', { external_id: 'd1', email: 'shared@b.ch' });
    const bought = (await sibling.post('/v1/orders', { channel_order_id: 'SO-1', customer: { email: 'x@b.ch' } })).body;
    await shop.post('/v1/customers', { external_id: 'c2', email: 'own@b.ch' });
    await shop.post('/v1/orders', { channel_order_id: 'SO-1', customer: { email: 'shared@b.ch' } });
    const deleted = await deleteTestData(world.channel, TESTER, shop.organizationId, shop.integrationId);
    assert.deepEqual(deleted, { orders: 1, customers: 1 });
    assert.deepEqual((await sibling.api.get(`/v1/orders/${bought.id}`)).body, bought);
    assert.equal((await sibling.post('/v1/customers', { external_id: 'd1' })).body.id, shared);
    assert.equal((await shop.post('/v1/customers', { external_id: 'c1', email: 'new@b.ch' })).status, 201);
  });

  it('keeps the voided sales of another integration’s tests', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const sibling = await addShop(world, shop, { isTestMode: true });
    const itemId = await publishNew(world, shop, watch());
    for (const one of [shop, sibling]) {
      const order = (await one.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ title: 'By hand' }] })).body;
      const choice = { itemId, lineId: order.lines[0].id };
      await matchLine(world.channel, TESTER, shop.organizationId, order.id, choice);
      await confirmOrder(world.channel, TESTER, shop.organizationId, order.id);
      await cancelSale(world.channel, TESTER, shop.organizationId, order.id);
    }
    await deleteTestData(world.channel, TESTER, shop.organizationId, shop.integrationId);
    const sales = await world.db.query(sql`
      select channel, status from sales where organization_id = ${shop.organizationId}`);
    assert.deepEqual(sales, [{ channel: sibling.integrationId, status: 'voided' }]);
  });

  it('keeps test customers that another integration made or wrote, even if nothing but an email names them', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const sibling = await addShop(world, shop, { isTestMode: true });
    const theirs = (await sibling.post('/v1/customers', { email: 'theirs@b.ch' })).body.id;
    const shared = (await shop.post('/v1/customers', { email: 'shared@b.ch' })).body.id;
    await sibling.post('/v1/customers/bulk', { customers: [{ email: 'shared@b.ch' }] });
    await shop.post('/v1/customers', { email: 'own@b.ch' });
    const merged = (await shop.post('/v1/customers', { email: 'merged@b.ch' })).body.id;
    const known = (await sibling.post('/v1/customers', { email: 'known@b.ch' })).body.id;
    await mergeCustomers(world.channel, TESTER, shop.organizationId, merged, known);
    const remove = ({ organizationId, integrationId }: Shop) =>
      deleteTestData(world.channel, TESTER, organizationId, integrationId);
    assert.deepEqual(await remove(shop), { orders: 0, customers: 1 });
    assert.equal((await sibling.post('/v1/customers', { email: 'theirs@b.ch' })).body.id, theirs);
    assert.equal((await sibling.post('/v1/customers', { email: 'shared@b.ch' })).body.id, shared);
    assert.equal((await sibling.post('/v1/customers', { email: 'merged@b.ch' })).body.id, merged);
    assert.deepEqual(await remove(sibling), { orders: 0, customers: 3 });
  });

  it('refuses an integration of another dealer', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const stranger = await openShop(world, { isTestMode: true });
    await stranger.post('/v1/orders', { channel_order_id: 'SO-1' });
    await assertRefused(
      deleteTestData(world.channel, TESTER, shop.organizationId, stranger.integrationId),
      'not_found',
    );
    assert.equal((await stranger.api.get('/v1/orders')).body.data.length, 1);
  });

  it('lets go of everything for an order that came in meanwhile and is under change already', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const first = await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    const early = await changing(world.db, first.body.id);
    const deleted = deleteTestData(world.channel, TESTER, shop.organizationId, shop.integrationId);
    await early.untilAwaited();
    const second = await shop.post('/v1/orders', { channel_order_id: 'SO-2' });
    const late = await changing(world.db, second.body.id);
    await early.takeClock(shop.integrationId);
    await early.end();
    await late.untilAwaited();
    await late.takeClock(shop.integrationId);
    await late.end();
    assert.deepEqual(await deleted, { orders: 2, customers: 0 });
  });

  it('of many thousand rows takes them in batches, and records the whole once', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const count = 450;
    await world.db.query(sql`
      insert into customers (id, organization_id, is_test, email, email_key, created_at, updated_at)
      select 'cus_' || ${shop.integrationId} || i, ${shop.organizationId}, true, i || '@b.ch', i || '@b.ch', now(), now()
      from generate_series(1, ${count}::integer) i`);
    await world.db.query(sql`
      insert into test_customers (customer_id, integration_id)
      select id, ${shop.integrationId} from customers where organization_id = ${shop.organizationId}`);
    await world.db.query(sql`
      insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, customer_id,
        created_at, updated_at)
      select ${shop.integrationId}, 'ord_' || i, ${shop.organizationId}, 'SO-' || i, 'received', true, '{}',
        'cus_' || ${shop.integrationId} || i, now(), now()
      from generate_series(1, ${count}::integer) i`);
    let most = 0;
    const watched = {
      ...world.channel,
      db: {
        ...world.db,
        transaction: (work: (tx: Transaction) => Promise<unknown>) =>
          world.db.transaction(async (tx) => {
            let rows = 0;
            const result = await work({
              ...tx,
              async query(statement) {
                const found = await tx.query(statement);
                if (statement.text.includes('delete from')) rows += found.length;
                return found as never[];
              },
            });
            most = Math.max(most, rows);
            return result;
          }),
      } as typeof world.db,
    };
    const deleted = await deleteTestData(watched, TESTER, shop.organizationId, shop.integrationId);
    assert.deepEqual(deleted, { orders: count, customers: count });
    assert.ok(most <= 400, `${most} rows in one transaction`);
    const recorded = await world.db.query<{ new: unknown }>(sql`
      select new_values as new from audit_log
      where organization_id = ${shop.organizationId} and action = 'integration.test_data_deleted'`);
    assert.deepEqual(recorded, [{ new: deleted }]);
  });

  it('misses nothing that waits when the integration goes live: that is refused, and live when it is sent again', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const itemId = await publishNew(world, shop, watch());
    const writes: [path: string, body: object, key: ReturnType<typeof freshKey>][] = [
      ['/v1/orders', { channel_order_id: 'SO-1', lines: [{ listing_id: itemId }] }, freshKey()],
      ['/v1/reservations', { listing_id: itemId, ttl_seconds: 600 }, freshKey()],
      ['/v1/customers', { email: 'a@b.ch' }, freshKey()],
      ['/v1/customers/bulk', { customers: [{ email: 'c@d.ch' }] }, freshKey()],
    ];
    const paused = pauseCommits(world.db, 'is_test_mode = ');
    const context = { ...world.channel, db: paused.db };
    const change = { isTestMode: false, isTestDataDeleted: true };
    const goesLive = changeTestMode(context, TESTER, shop.organizationId, shop.integrationId, change);
    await paused.reached;
    const isAdmitted = await admissionCounter(shop);
    const waiting = writes.map((write) => shop.api.post(...write));
    await isAdmitted(writes.length);
    paused.release();
    await goesLive;
    for (const answer of await Promise.all(waiting)) {
      assert.equal(answer.status, 500, answer.text);
      assert.equal(answer.body.error.code, 'lookup_failed');
    }
    assert.deepEqual(await countTestData(world.db, shop.integrationId), { orders: 0, customers: 0 });
    for (const write of writes) {
      const { status, text } = await shop.api.post(...write);
      // The order took the watch, so there is nothing left to reserve.
      assert.equal(status < 300, write[0] !== '/v1/reservations', text);
    }
    assert.deepEqual(await countTestData(world.db, shop.integrationId), { orders: 0, customers: 0 });
    assert.equal((await shop.api.get('/v1/orders')).body.data[0].is_test, false);
  });

  it('goes well beside reports that are still coming in', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const reports = Array.from({ length: 30 }, (_, index) =>
      shop.post('/v1/orders', { channel_order_id: `SO-${index}`, customer: { email: `c${index % 3}@b.ch` } }),
    );
    const deletions = [1, 2, 3].map(() =>
      deleteTestData(world.channel, TESTER, shop.organizationId, shop.integrationId),
    );
    for (const { status } of await Promise.all(reports)) assert.equal(status, 201);
    const gone = (await Promise.all(deletions)).reduce((sum, deleted) => sum + deleted.orders, 0);
    const { data } = (await shop.api.get('/v1/orders')).body;
    assert.equal(gone + data.length, 30);
    const orphans = await world.db.query(sql`
      select o.id from orders o where o.integration_id = ${shop.integrationId}
        and (o.document::jsonb ->> 'customer_id') is distinct from o.customer_id`);
    assert.deepEqual(orphans, []);
  });
});
