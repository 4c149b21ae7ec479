import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNotifier } from '../../src/webhooks/worker/wake-up.ts';
import { countRefused } from '../harness/servers/receiver.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import {
  type ConnectedReceiver,
  queueEvents,
  type ReceivingWorld,
  startReceivingWorld,
} from '../harness/webhooks/webhook-world.ts';
import { allDelivered, assertExplained } from './ledger.ts';
import { startWorker, sweepWorkers, type Worker, type WorkerOrder } from './worker-process.ts';

const LIMITS = { leaseMs: 2_000, attemptTimeoutMs: 500, pollMs: 100, maintenanceMs: 200, inFlightPerEndpoint: 8 };
/**
 * Workers that live to the end: no stall of a busy machine outlasts their lease or their attempts, so nobody may take over from
 * them and nothing is sent twice.
 */
const SURVIVOR_LIMITS = { ...LIMITS, leaseMs: 60_000, attemptTimeoutMs: 30_000 };

describe('webhooks when worker processes are killed', () => {
  let world: ReceivingWorld;
  const workers: Worker[] = [];
  const receivers: ConnectedReceiver[] = [];
  const shops: Shop[] = [];

  before(async () => {
    world = await startReceivingWorld();
    world.channel.onEvents = createNotifier(world.db);
    for (let index = 0; index < 3; index++) {
      const shop = await openShop(world);
      shops.push(shop);
      receivers.push(await world.connect(shop));
    }
  });
  // What a failed test left running would take the next one's deliveries.
  afterEach(() => sweepWorkers());
  after(() => world.stop());

  async function start(dieAt: WorkerOrder['dieAt'] = null, limits: WorkerOrder['limits'] = LIMITS): Promise<Worker> {
    const worker = await startWorker({ address: world.database.address, limits, dieAt });
    workers.push(worker);
    return worker;
  }

  const all = () => receivers.flatMap(({ received }) => received);
  const queue = (count: number) => Promise.all(shops.map((shop) => queueEvents(world, shop, count)));

  it('webhooks of a worker that died after its claim are taken over: sent late, and once', async () => {
    await queue(2);
    await (await start('after claim')).ended;
    assert.equal(all().length, 0);
    const worker = await start(null, SURVIVOR_LIMITS);
    await allDelivered(world.db);
    assert.equal(await assertExplained(world.db, all(), workers), 0);
    await worker.stop();
  });

  it('webhooks are sent again when their worker died after sending and before recording', async () => {
    await queue(1);
    for (const point of ['before record', 'before the commit of a record'] as const) await (await start(point)).ended;
    const worker = await start(null, SURVIVOR_LIMITS);
    await allDelivered(world.db);
    const duplicates = await assertExplained(world.db, all(), workers);
    assert.ok(duplicates >= 1, 'nothing was sent twice, so nothing was tested');
    await worker.stop();
  });

  it('webhooks are sent once when their worker died right after recording', async () => {
    const before = all().length;
    await queueEvents(world, shops[0] as Shop, 1);
    await (await start('after record')).ended;
    const worker = await start(null, SURVIVOR_LIMITS);
    await allDelivered(world.db);
    assert.equal(all().length, before + 1);
    await worker.stop();
  });

  it('all webhooks arrive under load while workers die again and again at any moment', async () => {
    const points = ['after claim', null, 'before record', null, 'before the commit of a record', null, null] as const;
    let isQueueing = true;
    const queueing = (async () => {
      for (let batch = 0; batch < 30; batch++) {
        await queue(10);
        await sleep(40);
      }
      isQueueing = false;
    })();
    async function slot(first: number): Promise<void> {
      for (let round = first; isQueueing || round < first + 4; round++) {
        const worker = await start(points[round % points.length]);
        await Promise.race([worker.ended, sleep(Math.random() * 500)]);
        await worker.kill();
      }
    }
    await Promise.all([slot(0), slot(3), queueing]);
    const last = [await start(null, SURVIVOR_LIMITS), await start(null, SURVIVOR_LIMITS)];
    await allDelivered(world.db);
    const duplicates = await assertExplained(world.db, all(), workers);
    const kills = workers.filter((worker) => worker.isKilled()).length;
    assert.ok(kills >= 8, `${kills} kills`);
    assert.ok(duplicates <= kills * 3 * LIMITS.inFlightPerEndpoint, `${duplicates} duplicates by ${kills} kills`);
    for (const receiver of receivers) assert.equal(await countRefused(receiver.received, receiver.secret), 0);
    await Promise.all(last.map((worker) => worker.stop()));
  });

  it('two workers that live share webhooks without a single duplicate', async () => {
    const before = all().length;
    const both = [await start(null, {}), await start(null, {})];
    await Promise.all(Array.from({ length: 10 }, () => queue(30)));
    await allDelivered(world.db);
    assert.equal(all().length - before, 900);
    assert.ok(
      both.every(({ claimed }) => claimed.length > 0),
      'one of them did nothing',
    );
    assert.deepEqual(
      both.flatMap(({ faults }) => faults),
      [],
    );
    await Promise.all(both.map((worker) => worker.stop()));
  });
});
