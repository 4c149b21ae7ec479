import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase } from '../../../../test/harness/database/database.ts';
import {
  admissionCounter,
  type HeldLock,
  holdLock,
  lockClock,
  untilBlocked,
} from '../../../../test/harness/database/locks.ts';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { type Database, type DatabaseOptions, LOCK_NOT_AVAILABLE, sqlState } from '../../../db/database.ts';
import { rawSql, sql } from '../../../db/sql.ts';

describe('a batch that is tried one by one', () => {
  it('gives up those whose deadline has passed, and nobody else', async (t) => {
    const database = await cloneDatabase({ poolSize: 2 });
    const world = await startWorld({ database, writeWaitMs: 4_000 });
    t.after(() => world.stop());
    const shop = await openShop(world);
    // The shared write fails slowly: the early ones are late by then, the last one is not.
    await world.db.query(
      rawSql(`
        create function refuse_some() returns trigger language plpgsql as $$
        begin if new.channel_order_id = 'poison' then perform pg_sleep(2); raise 'refused'; end if; return new; end $$;
        create trigger refuse_some before insert on orders for each row execute function refuse_some();`),
    );
    const untilAdmitted = await admissionCounter(shop);
    const clock = await lockClock(world.db, shop.integrationId);
    const first = shop.post('/v1/orders', { channel_order_id: 'first' });
    await untilBlocked(world.db);
    const early = ['poison', 'early'].map((id) => shop.post('/v1/orders', { channel_order_id: id }));
    await untilAdmitted(6);
    await sleep(2_500);
    const late = shop.post('/v1/orders', { channel_order_id: 'late' });
    await untilAdmitted(8);
    await clock.release();
    const codes = (await Promise.all([first, ...early, late])).map((answer) => faultOf(answer).code ?? answer.status);
    assert.deepEqual(codes, [201, 'lookup_failed', 'lookup_failed', 201]);
  });
});

describe('writes of one dealer that wait for a lock', () => {
  const COUNT = 10;
  type Write = { path: string; body: (index: number) => object; cost: number };
  const lock = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
  const writes: [string, Write][] = [
    ['customers', { path: '/v1/customers', body: (index) => ({ external_id: `c${index}` }), cost: 2 }],
    [
      'bulks',
      { path: '/v1/customers/bulk', body: (index) => ({ customers: [{ external_id: `c${index}` }] }), cost: 10 },
    ],
    ['pings', { path: '/v1/test/webhook_ping', body: () => ({}), cost: 1 }],
    ['orders', { path: '/v1/orders', body: (index) => ({ channel_order_id: `SO-${index}` }), cost: 2 }],
  ];

  type Scene = { world: World; shop: Shop; stranger: Shop; held: HeldLock[]; lockTimeouts: () => number };

  async function openScene(
    t: TestContext,
    options: Partial<DatabaseOptions>,
    overrides: Parameters<typeof startWorld>[0] = {},
  ): Promise<Scene> {
    const database = await cloneDatabase({ poolSize: 2, connectTimeoutMs: 500, ...options });
    let timeouts = 0;
    const counting: Database = {
      ...database.db,
      async transaction(work, settings) {
        return await database.db.transaction(work, settings).catch((error: unknown) => {
          if (sqlState(error) === LOCK_NOT_AVAILABLE) timeouts += 1;
          throw error;
        });
      },
    };
    const world = await startWorld({ database, db: counting, ...overrides });
    t.after(() => world.stop());
    const [shop, stranger] = [await openShop(world), await openShop(world)];
    const held = [
      await holdLock(database.db, lock, [`customers ${shop.organizationId}`]),
      await lockClock(database.db, shop.integrationId),
    ];
    return { world, shop, stranger, held, lockTimeouts: () => timeouts };
  }

  for (const [what, { path, body, cost }] of writes) {
    it(`hold one connection and no more: ${what}`, async (t) => {
      const { world, shop, stranger, held } = await openScene(t, {});
      const untilAdmitted = await admissionCounter(shop);
      const answers = Array.from({ length: COUNT }, (_, index) => shop.post(path, body(index)));
      await untilAdmitted(COUNT * cost);
      await untilBlocked(world.db);
      for (let time = 0; time < 5; time++) assert.equal((await stranger.api.get('/v1/orders')).status, 200);
      for (const one of held) await one.release();
      for (const { status } of await Promise.all(answers)) assert.ok(status < 300);
    });

    it(`wait for it once, all together, and fail: ${what}`, async (t) => {
      const { shop, held, lockTimeouts } = await openScene(t, { lockTimeoutMs: 3_000 });
      const untilAdmitted = await admissionCounter(shop);
      const answers = Array.from({ length: COUNT }, (_, index) => shop.post(path, body(index)));
      await untilAdmitted(COUNT * cost);
      for (const answer of await Promise.all(answers)) {
        assert.deepEqual(faultOf(answer), { status: 500, code: 'lookup_failed' });
      }
      assert.equal(lockTimeouts(), 1);
      for (const one of held) await one.release();
      assert.ok((await shop.post(path, body(0))).status < 300);
    });

    it(`give up at their deadline, do nothing afterwards, and may be retried: ${what}`, async (t) => {
      const { world, shop, held } = await openScene(t, {}, { writeWaitMs: 300 });
      const first = shop.post(path, body(0));
      await untilBlocked(world.db);
      const keys = Array.from({ length: COUNT }, freshKey);
      const send = (key: (typeof keys)[number], index: number) => shop.api.post(path, body(index + 1), key);
      for (const answer of await Promise.all(keys.map(send))) {
        assert.deepEqual(faultOf(answer), { status: 500, code: 'lookup_failed' });
      }
      for (const one of held) await one.release();
      assert.ok((await first).status < 300);
      const [records] = await world.db.query<{ count: number }>(sql`select count(*) as count from idempotency_records`);
      assert.equal(records?.count, 1);
      for (const [index, key] of keys.entries()) {
        const answer = await send(key, index);
        assert.ok(answer.status < 300, answer.text);
        assert.equal(answer.headers['idempotent-replay'], undefined);
      }
    });
  }
});

describe('writes of many integrations of one dealer', () => {
  const CONNECTIONS = 3;
  const INTEGRATIONS = 8;

  it('hold two connections at once, so that other dealers have theirs', async (t) => {
    const database = await cloneDatabase({ poolSize: CONNECTIONS, connectTimeoutMs: 500 });
    const world = await startWorld({ database });
    t.after(() => world.stop());
    const stranger = await openShop(world);
    const shops = [await openShop(world)];
    while (shops.length < INTEGRATIONS) shops.push(await addShop(world, shops[0] as Shop));
    const clocks: HeldLock[] = [];
    for (const { integrationId } of shops) clocks.push(await lockClock(database.db, integrationId));
    const untilAdmitted = await Promise.all(shops.map(admissionCounter));
    const answers = shops.map((shop) => shop.post('/v1/orders', { channel_order_id: 'SO-1' }));
    for (const admitted of untilAdmitted) await admitted(2);
    await untilBlocked(world.db, CONNECTIONS - 1);
    for (let time = 0; time < 5; time++) assert.equal((await stranger.post('/v1/orders', order(time))).status, 201);
    for (const clock of clocks) await clock.release();
    for (const { status } of await Promise.all(answers)) assert.equal(status, 201);
  });

  const order = (index: number) => ({ channel_order_id: `SO-${index}` });
});
