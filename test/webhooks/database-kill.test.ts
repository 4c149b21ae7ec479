import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { sql } from '../../src/db/sql.ts';
import { type OwnServer, startOwnServer } from '../harness/servers/own-server.ts';
import { countRefused, type Receiver } from '../harness/servers/receiver.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { connectReceiver, queueEvents } from '../harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../harness/world.ts';
import { allDelivered, assertEachCame } from './ledger.ts';
import { startWorker, sweepWorkers, type Worker } from './worker-process.ts';

const LIMITS = { leaseMs: 3_000, attemptTimeoutMs: 500, pollMs: 100, maintenanceMs: 200, inFlightPerEndpoint: 8 };
const KILLS = 3;

describe('webhooks when PostgreSQL is killed', () => {
  let server: OwnServer;
  let world: World;
  let shop: Shop;
  let receiver: Receiver & { secret: string };
  let workers: Worker[] = [];

  before(async () => {
    server = await startOwnServer();
    const db = openDatabase({ address: server.address, poolSize: 5, onIdleError: () => {} });
    await migrate(db);
    world = await startWorld({ database: { db, address: server.address, drop: () => db.close() } });
    shop = await openShop(world);
    receiver = await connectReceiver(world, shop);
    workers = await Promise.all(
      [1, 2].map(() => startWorker({ address: server.address, limits: LIMITS, dieAt: null })),
    );
  });
  after(async () => {
    sweepWorkers();
    await receiver?.stop();
    await world?.stop();
    await server?.remove();
  });

  it('all webhooks arrive when PostgreSQL is killed: workers wait for it, go on by themselves, and record what they had sent before they claim more', async () => {
    let committed = 0;
    let refused = 0;
    let isQueueing = true;
    const queueing = (async () => {
      while (isQueueing) {
        await queueEvents(world, shop, 5).then(
          (ids) => {
            committed += ids.length;
          },
          () => {
            refused += 1;
          },
        );
        await sleep(20);
      }
    })();
    for (let kill = 0; kill < KILLS; kill++) {
      const count = receiver.received.length;
      await receiver.until(count + 50, 45_000);
      await server.kill();
    }
    await receiver.until(receiver.received.length + 50, 45_000);
    isQueueing = false;
    await queueing;
    assert.ok(refused > 0, 'the database was never away');
    await allDelivered(world.db);

    const [row] = await world.db.query<{ count: number }>(sql`select count(*) as count from deliveries`);
    assert.ok((row?.count ?? 0) >= committed, 'a commit was lost');
    // A second claim is the kill's doing: the outcome of the first could not be recorded within its lease.
    const duplicates = await assertEachCame(world.db, receiver.received);
    assert.ok(duplicates <= KILLS * workers.length * LIMITS.inFlightPerEndpoint, `${duplicates} duplicates`);
    assert.equal(await countRefused(receiver.received, receiver.secret), 0);
    assert.ok(workers.every((worker) => worker.faults.length > 0 && !worker.isKilled()));
    await Promise.all(workers.map((worker) => worker.stop()));
  });
});
