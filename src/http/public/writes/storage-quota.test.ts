import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import { cloneDatabase } from '../../../../test/harness/database/database.ts';
import { admissionCounter, lockClock, untilBlocked } from '../../../../test/harness/database/locks.ts';
import type { ApiResponse } from '../../../../test/harness/http/api-client.ts';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { BYTES_PER_MB, COUNTED_BYTES_PER_WRITE } from '../../../contract/limits.ts';
import { openDatabase } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { setStorageQuota } from '../../../dealers/integrations/integrations.ts';
import { setPublished } from '../../../inventory/publications.ts';
import { pruneStorageUsage } from './storage-quota.ts';

const EXCEEDED = { status: 429, code: 'storage_quota_exceeded' };
/** A field that the API ignores makes a body as large as a test needs it. */
const padding = (bytes: number) => 'x'.repeat(bytes);

let world: World;
before(async () => {
  world = await startWorld({ storageQuotaMbPerDay: 1 });
});
after(async () => {
  await world.stop();
});

async function storedBytes(shop: Shop): Promise<number> {
  const [row] = await world.db.query<{ bytes: number }>(sql`
    select coalesce(sum(bytes), 0)::bigint as bytes from storage_usage where integration_id = ${shop.integrationId}`);
  return row?.bytes ?? 0;
}

/** Uses up the quota of a megabyte. */
async function fill(shop: Shop): Promise<void> {
  const body = { external_id: 'large', padding: padding(BYTES_PER_MB - 200) };
  assert.equal((await shop.post('/v1/customers', body)).status, 201);
}

describe('the storage quota', () => {
  it('counts each write’s answer and what it stores, at least its body and a fixed part, and no replay or failure', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const body = JSON.stringify({ channel_order_id: 'SO-1', ignored: padding(9_000) });
    const json = { ...key, 'content-type': 'application/json' };
    const order = await shop.api.post('/v1/orders', body, json);
    const counted = body.length + Buffer.byteLength(order.text) + COUNTED_BYTES_PER_WRITE;
    assert.equal(await storedBytes(shop), counted);
    assert.equal((await shop.api.post('/v1/orders', body, json)).status, 201);
    assert.equal(
      faultOf(await shop.post('/v1/orders', { channel_order_id: 'SO-1' })).code,
      'duplicate_channel_order_id',
    );
    assert.equal(await storedBytes(shop), counted);
  });

  it('counts what an order and its cancellation change on the other channels of an item', async () => {
    const shop = await openShop(world);
    const others = [await addShop(world, shop), await addShop(world, shop), await addShop(world, shop)];
    const countedFor = async (item: string) => {
      const before = await storedBytes(shop);
      const { body } = await shop.post('/v1/orders', { channel_order_id: item, lines: [{ listing_id: item }] });
      const ordered = await storedBytes(shop);
      assert.equal((await shop.post(`/v1/orders/${body.id}/cancel`)).status, 200);
      return { order: ordered - before, cancellation: (await storedBytes(shop)) - ordered };
    };
    const description = padding(2_000);
    const alone = await countedFor(await publishNew(world, shop, watch({ description })));
    const item = await publishNew(world, shop, watch({ description }));
    for (const { organizationId, integrationId } of others) {
      await setPublished(world.channel, TESTER, organizationId, integrationId, [item], true);
    }
    const everywhere = await countedFor(item);
    const leastMore = others.length * description.length;
    assert.ok(everywhere.order > alone.order + leastMore, `${everywhere.order} and ${alone.order} bytes`);
    assert.ok(everywhere.cancellation > alone.cancellation + leastMore);
  });

  it('counts the order that a triggered event carries, which neither the request nor its answer shows', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const metadata = { note: padding(9_000) };
    const { body: order } = await shop.post('/v1/orders', { channel_order_id: 'SO-1', metadata });
    const before = await storedBytes(shop);
    const trigger = { type: 'order.fulfilled', object_id: order.id };
    const answer = await shop.post('/v1/test/webhook_ping', trigger);
    const { data } = (await shop.api.get('/v1/events?limit=1')).body;
    const bytes = Buffer.byteLength(answer.text) + Buffer.byteLength(JSON.stringify(data[0].data.object));
    const counted = (await storedBytes(shop)) - before;
    assert.ok(counted > bytes && counted < bytes + 4 * COUNTED_BYTES_PER_WRITE, `${counted} of ${bytes} bytes`);
    await fill(shop);
    assert.deepEqual(faultOf(await shop.post('/v1/test/webhook_ping', trigger)), EXCEEDED);
  });

  it('refuses every kind of write once it is used up, with the time until midnight UTC, and serves reads', async () => {
    const shop = await openShop(world);
    const { id } = (await shop.post('/v1/orders', { channel_order_id: 'SO-1' })).body;
    const item = await publishNew(world, shop, part({ units: 5 }));
    const { id: reservation } = (await shop.post('/v1/reservations', { part_id: item })).body;
    await fill(shop);
    const writes: [string, object][] = [
      ['/v1/orders', { channel_order_id: 'SO-2' }],
      [`/v1/orders/${id}/cancel`, {}],
      ['/v1/customers', { external_id: 'c1' }],
      ['/v1/customers/bulk', { customers: [{ external_id: 'c1' }] }],
      ['/v1/test/webhook_ping', {}],
      ['/v1/reservations', { part_id: item }],
      [`/v1/reservations/${reservation}/extend`, { ttl_seconds: 60 }],
      [`/v1/reservations/${reservation}/release`, {}],
    ];
    for (const [path, body] of writes) {
      const answer = await shop.post(path, body);
      assert.deepEqual(faultOf(answer), EXCEEDED, path);
      assert.equal(answer.body.error.type, 'rate_limit_error');
    }
    assert.equal((await shop.api.get('/v1/orders')).body.data.length, 1);
  });

  it('says truly when to retry, and the same key passes then', async () => {
    const shop = await openShop(world);
    const noon = Date.parse('2026-06-01T12:00:00.400Z');
    world.setTime(new Date(noon));
    try {
      await fill(shop);
      const key = freshKey();
      const refused = await shop.api.post('/v1/customers', { external_id: 'c1' }, key);
      assert.deepEqual(faultOf(refused), EXCEEDED);
      const waitSeconds = Number(refused.headers['retry-after']);
      assert.equal(waitSeconds, 12 * 60 * 60);
      world.setTime(new Date(noon + (waitSeconds - 1) * 1000));
      assert.deepEqual(faultOf(await shop.api.post('/v1/customers', { external_id: 'c1' }, key)), EXCEEDED);
      world.setTime(new Date(noon + waitSeconds * 1000));
      assert.equal((await shop.api.post('/v1/customers', { external_id: 'c1' }, key)).status, 201);
    } finally {
      world.setTime(null);
    }
  });

  it('comes after the replay and after a reused key, and before the operation', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const first = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    await fill(shop);
    const replay = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    assert.equal(replay.text, first.text);
    const reused = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, key);
    assert.equal(faultOf(reused).code, 'key_reused_with_different_body');
    assert.deepEqual(faultOf(await shop.post('/v1/orders', { channel_order_id: 'SO-1' })), EXCEEDED);
  });

  it('is each integration’s own, counted on all nodes together', async (t) => {
    const { address } = world.database;
    const db = openDatabase({ address, poolSize: 2, onIdleError: () => {} });
    const node = await startWorld({ database: { db, address, drop: () => db.close() }, storageQuotaMbPerDay: 1 });
    t.after(() => node.stop());
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    await fill(shop);
    const elsewhere = await node.client(shop.apiKey).post('/v1/customers', { external_id: 'c1' }, freshKey());
    assert.deepEqual(faultOf(elsewhere), EXCEEDED);
    assert.equal((await sibling.post('/v1/customers', { external_id: 'c1' })).status, 201);
  });

  it('is shared by all integrations of a dealer: ten times that of one, for those that store more than a little', async () => {
    const shop = await openShop(world);
    const siblings = await Promise.all(Array.from({ length: 10 }, () => addShop(world, shop)));
    const [heavy, light] = siblings as [Shop, Shop];
    const large = { external_id: 'large', padding: padding(0.2 * BYTES_PER_MB) };
    assert.equal((await heavy.post('/v1/customers', large)).status, 201);
    for (const one of [shop, ...siblings.slice(2)]) await fill(one);
    assert.equal((await heavy.post('/v1/customers', { external_id: 'c1' })).status, 201, 'nine and a bit');
    const usage = sql`update storage_usage set bytes = bytes + ${BYTES_PER_MB} where integration_id = ${shop.integrationId}`;
    await world.db.query(usage);
    assert.deepEqual(faultOf(await heavy.post('/v1/customers', { external_id: 'c2' })), EXCEEDED);
    assert.equal((await light.post('/v1/customers', { external_id: 'c1' })).status, 201);
    // Another dealer's count is its own, and a quota of one's own may be larger than what the dealer's integrations share.
    assert.equal((await (await openShop(world)).post('/v1/customers', large)).status, 201);
    await setStorageQuota(world.db, COMMAND_LINE, heavy.integrationId, 20);
    assert.equal((await heavy.post('/v1/customers', { external_id: 'c2' })).status, 201);
  });

  it('holds within a batch: those that no longer fit are refused, the others are stored', async (t) => {
    const tight = await startWorld({ database: await cloneDatabase({ poolSize: 3 }), storageQuotaMbPerDay: 1 });
    t.after(() => tight.stop());
    const shop = await openShop(tight);
    const untilAdmitted = await admissionCounter(shop);
    const clock = await lockClock(tight.db, shop.integrationId);
    const report = (id: string) =>
      shop.post('/v1/orders', { channel_order_id: id, padding: padding(0.3 * BYTES_PER_MB) });
    const first = report('first');
    await untilBlocked(tight.db);
    const others = ['a', 'b', 'c', 'd', 'e'].map(report);
    await untilAdmitted(12);
    await clock.release();
    const answers: ApiResponse[] = await Promise.all([first, ...others]);
    // The one that crosses the line is still stored, as it would be alone.
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, 201, 201, 201, 429, 429]);
  });

  it('of one integration is raised by an override, from the next request on', async () => {
    const shop = await openShop(world);
    await fill(shop);
    assert.deepEqual(faultOf(await shop.post('/v1/customers', { external_id: 'c1' })), EXCEEDED);
    await setStorageQuota(world.db, COMMAND_LINE, shop.integrationId, 2);
    assert.equal((await shop.post('/v1/customers', { external_id: 'c1' })).status, 201);
    await setStorageQuota(world.db, COMMAND_LINE, shop.integrationId, null);
    assert.deepEqual(faultOf(await shop.post('/v1/customers', { external_id: 'c2' })), EXCEEDED);
  });

  it('forgets the counts of days long past', async () => {
    const shop = await openShop(world);
    await shop.post('/v1/customers', { external_id: 'c1' });
    await pruneStorageUsage(world.db, null);
    assert.ok((await storedBytes(shop)) > 0);
    await pruneStorageUsage(world.db, new Date(Date.now() + 40 * 24 * 60 * 60 * 1000));
    assert.equal(await storedBytes(shop), 0);
  });
});

describe('a disk that is nearly full', () => {
  it('lets the API read and replay, refuses what stores something, and takes the same key when there is room', async (t) => {
    let isLow = false;
    const site = await startWorld({ isDiskLow: () => isLow });
    t.after(() => site.stop());
    const shop = await openShop(site);
    const owner = await signedIn(site);
    const key = freshKey();
    const first = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    isLow = true;
    assert.equal((await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key)).text, first.text);
    const next = freshKey();
    const refused = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, next);
    assert.deepEqual(faultOf(refused), { status: 503, code: 'overloaded' });
    assert.match(refused.body.error.message, /disk/);
    assert.equal(refused.headers['retry-after'], '60', 'somebody has to make room');
    assert.equal((await shop.api.get('/v1/orders')).body.data.length, 1);
    const view = { list: 'watches', name: 'Mine', query: '', is_shared: false };
    const edit = await owner.call('POST', '/views', view);
    assert.deepEqual([edit.status, edit.body.error.code], [503, 'unavailable']);
    assert.equal((await owner.call('GET', '/views?list=watches')).status, 200);
    isLow = false;
    assert.equal((await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, next)).status, 201);
    assert.equal((await owner.call('POST', '/views', view)).status, 200);
  });
});
