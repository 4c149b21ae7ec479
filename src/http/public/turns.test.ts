import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase } from '../../../test/harness/database.ts';
import { admissionCounter, hold, holdClock, untilBlocked } from '../../../test/harness/hold.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { startWorld } from '../../../test/harness/world.ts';
import { createTurns } from './turns.ts';

describe('turns', () => {
  it('are taken one at a time for each name, in the order of their coming', async () => {
    const turns = createTurns();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} begins`);
      await sleep(5);
      log.push(`${name} ends`);
    };
    await Promise.all([turns('a', work('a1')), turns('a', work('a2')), turns('a', work('a3'))]);
    assert.deepEqual(log, ['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends', 'a3 begins', 'a3 ends']);
    log.length = 0;
    await Promise.all([turns('a', work('a')), turns('b', work('b'))]);
    assert.deepEqual(log.slice(0, 2), ['a begins', 'b begins']);
  });

  it('go on after one that failed, and each has its own outcome', async () => {
    const turns = createTurns();
    const outcomes = await Promise.allSettled([
      turns('a', () => Promise.reject(new Error('refused'))),
      turns('a', () => Promise.resolve('done')),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['rejected', 'fulfilled'],
    );
  });
});

describe('writes of one dealer that wait for a lock', () => {
  type Write = (shop: Shop, index: number) => Promise<{ status: number }>;
  const lock = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
  const waits: [string, Write][] = [
    ['customers', (shop, index) => shop.post('/v1/customers', { external_id: `c${index}` })],
    ['bulks', (shop, index) => shop.post('/v1/customers/bulk', { customers: [{ external_id: `c${index}` }] })],
    ['pings', (shop) => shop.post('/v1/test/webhook_ping')],
    ['orders', (shop, index) => shop.post('/v1/orders', { channel_order_id: `SO-${index}` })],
  ];
  for (const [what, write] of waits) {
    it(`hold one connection and no more: ${what}`, async (t) => {
      const database = await cloneDatabase({ poolSize: 2, connectTimeoutMs: 500 });
      const world = await startWorld({ database });
      t.after(() => world.stop());
      const [shop, stranger] = [await openShop(world), await openShop(world)];
      const untilAdmitted = await admissionCounter(shop);
      const held = [
        await hold(database.db, lock, [`customers ${shop.organizationId}`]),
        await holdClock(database.db, shop.integrationId),
      ];
      const writes = Array.from({ length: 10 }, (_, index) => write(shop, index));
      await untilAdmitted(10);
      await untilBlocked(database.db);
      for (let time = 0; time < 5; time++) assert.equal((await stranger.api.get('/v1/orders')).status, 200);
      for (const one of held) await one.letGo();
      for (const { status } of await Promise.all(writes)) assert.ok(status < 300);
    });
  }
});
