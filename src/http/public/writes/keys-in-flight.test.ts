import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { cloneDatabase } from '../../../../test/harness/database/database.ts';
import {
  admissionCounter,
  type HeldLock,
  holdLock,
  lockClock,
  untilBlocked,
} from '../../../../test/harness/database/locks.ts';
import type { ApiResponse } from '../../../../test/harness/http/api-client.ts';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { idempotencyLock } from '../../../db/advisory-locks.ts';
import { sql } from '../../../db/sql.ts';

const BUSY = 12;

type Key = ReturnType<typeof freshKey>;
type Write = { path: string; body: (index: number) => object; status: number; cost: number };
const writes: Record<string, Write> = {
  orders: { path: '/v1/orders', body: (index) => ({ channel_order_id: `SO-${index}` }), status: 201, cost: 2 },
  customers: { path: '/v1/customers', body: (index) => ({ external_id: `c${index}` }), status: 201, cost: 2 },
  bulks: {
    path: '/v1/customers/bulk',
    body: (index) => ({ customers: [{ external_id: `c${index}` }] }),
    status: 200,
    cost: 10,
  },
  pings: { path: '/v1/test/webhook_ping', body: () => ({}), status: 200, cost: 1 },
};

/** A world with so few connections that one which waits is missed. */
async function smallWorld(t: TestContext, options: Parameters<typeof startWorld>[0] = {}): Promise<World> {
  const database = await cloneDatabase({ poolSize: 2, connectTimeoutMs: 1_000 });
  const world = await startWorld({ database, writeWaitMs: 60_000, ...options });
  t.after(() => world.stop());
  return world;
}

/** Holds keys as another node does while it runs their requests. */
async function lockKeys(world: World, shop: Shop, keys: Key[]): Promise<HeldLock> {
  const names = keys.map((key) => idempotencyLock(shop.integrationId, key['idempotency-key']));
  const lock = 'select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest($1::text[]) as rows (name)';
  return await holdLock(world.db, lock, [names]);
}

function send(shop: Shop, { path, body }: Write, keys: Key[], firstIndex = 0): Promise<ApiResponse>[] {
  return keys.map((key, index) => shop.api.post(path, body(firstIndex + index), key));
}

const keysOf = (count: number) => Array.from({ length: count }, freshKey);

describe('keys that are busy on another node', () => {
  for (const [what, write] of Object.entries(writes)) {
    it(`keep neither the dealer’s other ${what} nor anybody’s connection waiting`, async (t) => {
      const world = await smallWorld(t);
      const [shop, stranger] = [await openShop(world), await openShop(world)];
      const sibling = await addShop(world, shop);
      const untilAdmitted = await admissionCounter(shop);
      const keys = keysOf(BUSY);
      const elsewhere = await lockKeys(world, shop, keys);
      const busy = send(shop, write, keys);
      await untilAdmitted(BUSY * write.cost);
      for (let time = 0; time < 3; time++) {
        assert.equal((await stranger.api.get('/v1/orders')).status, 200);
        for (const other of [shop, sibling, stranger]) {
          for (const answer of await Promise.all(send(other, write, keysOf(3), 100 * (time + 1)))) {
            assert.ok(answer.status < 300, answer.text);
          }
        }
      }
      const answered = await Promise.race([...busy, 'none' as const]);
      assert.equal(answered, 'none', 'a busy key was answered while it was busy');
      await elsewhere.release();
      for (const answer of await Promise.all(busy)) {
        assert.equal(answer.status, write.status, answer.text);
        assert.equal(answer.headers['idempotent-replay'], undefined);
      }
    });
  }

  it('keep nobody waiting when they are all of one batch', async (t) => {
    const world = await smallWorld(t);
    const [shop, stranger] = [await openShop(world), await openShop(world)];
    const { orders } = writes as { orders: Write };
    const untilAdmitted = await admissionCounter(shop);
    const keys = keysOf(BUSY);
    const clock = await lockClock(world.db, shop.integrationId);
    const first = shop.post('/v1/orders', { channel_order_id: 'goes first' });
    await untilBlocked(world.db);
    const elsewhere = await lockKeys(world, shop, keys);
    const busy = send(shop, orders, keys);
    const behind = shop.post('/v1/orders', { channel_order_id: 'goes last' });
    await untilAdmitted((BUSY + 2) * orders.cost);
    await clock.release();
    for (const answer of await Promise.all([first, behind])) assert.equal(answer.status, 201);
    const waiting = await world.db.query(sql`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    assert.deepEqual(waiting, [], 'a connection waits for a key');
    for (let time = 0; time < 3; time++) assert.equal((await stranger.api.get('/v1/orders')).status, 200);
    await elsewhere.release();
    for (const answer of await Promise.all(busy)) assert.equal(answer.status, 201);
  });

  it('are replayed as soon as the other node has answered', async (t) => {
    const world = await smallWorld(t);
    const shop = await openShop(world);
    for (const write of Object.values(writes)) {
      const [key] = keysOf(1) as [Key];
      const first = await shop.api.post(write.path, write.body(7), key);
      const elsewhere = await lockKeys(world, shop, [key]);
      // The answer is there already: who holds the key only replays it too.
      const replay = await shop.api.post(write.path, write.body(7), key);
      await elsewhere.release();
      assert.equal(replay.text, first.text);
      assert.equal(replay.headers['idempotent-replay'], 'true');
    }
  });

  it('are in use in the end, whatever else waits', async (t) => {
    const world = await smallWorld(t, { writeWaitMs: 2_000 });
    const shop = await openShop(world);
    for (const write of Object.values(writes)) {
      const keys = keysOf(BUSY);
      const elsewhere = await lockKeys(world, shop, keys);
      for (const answer of await Promise.all(send(shop, write, keys))) {
        assert.deepEqual(faultOf(answer), { status: 409, code: 'idempotency_key_in_use' });
        assert.equal(answer.headers['retry-after'], '1');
      }
      await elsewhere.release();
      for (const answer of await Promise.all(send(shop, write, keys))) assert.equal(answer.status, write.status);
    }
  });
});
