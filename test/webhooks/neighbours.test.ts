import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/db/sql.ts';
import { createNotifier } from '../../src/webhooks/worker/wake-up.ts';
import type { Receiver } from '../harness/servers/receiver.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { queueEvents, type ReceivingWorld, startReceivingWorld } from '../harness/webhooks/webhook-world.ts';
import { startWorker, sweepWorkers, type Worker } from './worker-process.ts';

const EVENTS = 25;
const BACKLOG = 10_000;
/** Whoever waited for the neighbour would wait for its deadlines: hundreds of times longer than this. */
const SLOWER_LIMIT = 3;

describe('a receiver that hangs with 10,000 deliveries queued', () => {
  let world: ReceivingWorld;
  let worker: Worker;

  before(async () => {
    world = await startReceivingWorld();
    world.channel.onEvents = createNotifier(world.db);
    worker = await startWorker({ address: world.database.address, limits: {}, dieAt: null });
  });
  after(async () => {
    sweepWorkers();
    await world.stop();
  });

  /** From the commit to the receipt, for events one at a time. */
  async function medianDelay(shop: Shop, receiver: Receiver): Promise<number> {
    const delays: number[] = [];
    for (let index = 0; index < EVENTS; index++) {
      const count = receiver.received.length + 1;
      await queueEvents(world, shop, 1);
      const committedAt = performance.now();
      await receiver.until(count);
      delays.push(performance.now() - committedAt);
      await sleep(55);
    }
    return delays.sort((a, b) => a - b)[Math.floor(EVENTS / 2)] ?? 0;
  }

  it("a receiver that hangs with 10,000 queued deliveries leaves the others' delay as it was", async () => {
    const hanging = await openShop(world);
    const silent = await world.connect(hanging);
    silent.answer = () => {};
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await medianDelay(shop, receiver);
    const without = await medianDelay(shop, receiver);
    for (let batch = 0; batch < BACKLOG / 1_000; batch++) await queueEvents(world, hanging, 1_000);
    await silent.until(20);
    const beside = await medianDelay(shop, receiver);
    assert.ok(beside < without * SLOWER_LIMIT, `${beside} ms beside the neighbour, ${without} ms without`);
    const [row] = await world.db.query<{ leased: number }>(sql`
      select count(lease_token) as leased from deliveries where integration_id = ${hanging.integrationId}`);
    assert.ok(row !== undefined && row.leased >= 20 && row.leased <= 64, `${row?.leased} in flight to one receiver`);
    assert.deepEqual(worker.faults, []);
  });
});
