import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockClocks } from '../../src/channel/clock.ts';
import { startChannelWorker } from '../../src/channel/jobs/worker.ts';
import type { RepeatedTask } from '../../src/concurrency/repeat.ts';
import type { StockJobKindName } from '../../src/contract/dashboard/stock/jobs.ts';
import { sql } from '../../src/db/sql.ts';
import { deleteIntegration } from '../../src/dealers/deletions.ts';
import { changePresentation } from '../../src/dealers/integrations/integration-settings.ts';
import { findJob, startJob } from '../../src/inventory/jobs/stock-job-queue.ts';
import { startStockJobWorker } from '../../src/inventory/jobs/stock-job-worker.ts';
import { startPromotion } from '../../src/inventory/promotions.ts';
import { startDeletionWorker } from '../../src/sales/deletion/deletion-worker.ts';
import { eraseCustomer } from '../../src/sales/erasure/erase-customer.ts';
import { startErasureWorker } from '../../src/sales/erasure/erasure-worker.ts';
import { startReservationExpiry } from '../../src/sales/reservations/expiry-worker.ts';
import { STOCK_JOB_KINDS_RUN } from '../../src/service/stock-job-kinds.ts';
import { TESTER } from '../harness/actor.ts';
import { type HeldLock, lockClock, until } from '../harness/database/locks.ts';
import { jobContext } from '../harness/jobs/stock-jobs.ts';
import { readEvents } from '../harness/observe.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';

/** More than a worker looks at in one go. */
const MANY = 150;

/**
 * A transaction of a dealer holds its clock for as long as these tests want. Faults are what a worker reports after it has waited
 * for a lock as long as a request would, with everybody's work behind it.
 */
describe('while a dealer’s clock is locked for long, of all the work in the background only its own waits:', () => {
  let world: World;
  let locked: Shop;
  let other: Shop;
  let worker: RepeatedTask | null = null;
  const faults: unknown[] = [];
  const onFault = (error: unknown) => faults.push(error);
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    [locked, other] = [await openShop(world), await openShop(world)];
  });
  afterEach(async () => {
    await worker?.stop();
    worker = null;
    assert.deepEqual(faults.splice(0), []);
  });

  /** The other's work is done under the lock, the dealer's own after it. */
  async function assertOnlyItsOwnWaits(
    start: () => RepeatedTask,
    isDone: (shop: Shop) => Promise<boolean>,
    lock: () => Promise<HeldLock> = () => lockClock(world.db, locked.integrationId),
  ): Promise<void> {
    const held = await lock();
    worker = start();
    await until(() => isDone(other), 'the other dealer waited for the lock, too');
    assert.equal(await isDone(locked), false);
    await held.release();
    await until(() => isDone(locked), 'nobody came back to the dealer after the lock');
  }

  const hasEvents = (count: number) => async (shop: Shop) => (await readEvents(shop.api)).length === count;

  it('a mass change', async () => {
    for (const shop of [locked, other]) {
      await publishNew(world, shop, watch());
      const { organizationId, integrationId } = shop;
      await changePresentation(world.channel, TESTER, organizationId, integrationId, { markupBasisPoints: 1_000 });
    }
    await assertOnlyItsOwnWaits(() => startChannelWorker(world.channel, onFault), hasEvents(2));
    const jobs = await world.db.query(sql`select distinct status, error from channel_jobs`);
    assert.deepEqual(jobs, [{ status: 'done', error: null }]);
  });

  it('a mass change, but not among many short transactions that lock its clock one after the other', async () => {
    await publishNew(world, locked, watch());
    const { organizationId, integrationId } = locked;
    await changePresentation(world.channel, TESTER, organizationId, integrationId, { markupBasisPoints: 1_000 });
    let isDone = false;
    async function keepLocking(): Promise<void> {
      while (!isDone) {
        await world.db.transaction(async (tx) => {
          await lockClocks(tx, [integrationId]);
          await sleep(20);
        });
      }
    }
    const locking = Promise.all([keepLocking(), keepLocking(), keepLocking()]);
    worker = startChannelWorker(world.channel, onFault);
    try {
      await until(() => hasEvents(2)(locked), 'the mass change never got the clock');
    } finally {
      isDone = true;
      await locking;
    }
  });

  it('a promotion that begins', async () => {
    for (const shop of [locked, other]) {
      const id = await publishNew(world, shop, watch());
      const startsAt = new Date(Date.now() + 3_600_000);
      await startPromotion(world.channel, TESTER, shop.organizationId, id, {
        priceAmount: 1_000,
        startsAt,
        endsAt: null,
      });
      // As if the hour were over.
      await world.db.query(sql`update promotions set starts_at = now() - interval '1 minute' where item_id = ${id}`);
      await world.db.query(sql`
        update channel_documents set valid_until = now() - interval '1 minute' where item_id = ${id}`);
    }
    await assertOnlyItsOwnWaits(() => startChannelWorker(world.channel, onFault), hasEvents(2));
  });

  const isFree = (ids: Map<Shop, string>) => async (shop: Shop) =>
    (await stockOf(world, ids.get(shop) ?? '')).held === 0;

  /** A reservation of each shop, which is over: that of the locked one for longer. */
  async function reserveInThePast(): Promise<Map<Shop, string>> {
    const ids = new Map<Shop, string>();
    for (const [shop, minutes] of [
      [locked, 2],
      [other, 1],
    ] as const) {
      const id = await publishNew(world, shop, part({ units: 3 }));
      assert.equal((await shop.post('/v1/reservations', { part_id: id })).status, 201);
      await world.db.query(sql`
        update reservations set expires_at = now() - make_interval(mins => ${minutes}) where item_id = ${id}`);
      ids.set(shop, id);
    }
    return ids;
  }

  it('a reservation that is over', async () => {
    const ids = await reserveInThePast();
    await assertOnlyItsOwnWaits(() => startReservationExpiry(world.channel, onFault), isFree(ids));
  });

  it('a reservation that is over, behind more of them than are looked at in one go', async () => {
    const ids = await reserveInThePast();
    await world.db.query(sql`
      insert into reservations
      select (jsonb_populate_record(r, jsonb_build_object('id', r.id || n, 'is_test', true))).*
      from reservations r cross join generate_series(1, ${MANY}) n where r.integration_id = ${locked.integrationId}`);
    await assertOnlyItsOwnWaits(() => startReservationExpiry(world.channel, onFault), isFree(ids));
  });

  it('a job on stock, which does not fail by that', async () => {
    const second = await openShop(world);
    const jobs = new Map<Shop, string>();
    // Two dealers are locked, since two batches run at once.
    for (const shop of [locked, second, other]) {
      const { organizationId } = shop;
      const itemIds = [await publishNew(world, shop, watch())];
      const parameters = { selection: { itemIds }, change: { action: 'hide' } };
      const kind: StockJobKindName = 'bulk_change';
      jobs.set(
        shop,
        await startJob(world.db, TESTER, { organizationId, kind, title: '', parameters, isUndoable: true }),
      );
    }
    const statusOf = async (shop: Shop) => (await findJob(world.db, shop.organizationId, jobs.get(shop) ?? '')).status;
    await assertOnlyItsOwnWaits(
      () => startStockJobWorker(jobContext(world), STOCK_JOB_KINDS_RUN, onFault),
      async (shop) => (await statusOf(shop)) === 'done',
      async () => {
        const [one, two] = [
          await lockClock(world.db, locked.integrationId),
          await lockClock(world.db, second.integrationId),
        ];
        return {
          async release() {
            await one.release();
            await two.release();
          },
        };
      },
    );
    await until(async () => (await statusOf(second)) === 'done', 'the second locked dealer was forgotten');
  });

  it('the deletion of an integration', async () => {
    for (const { integrationId } of [locked, other]) await deleteIntegration(world.db, TESTER, integrationId);
    await assertOnlyItsOwnWaits(
      () => startDeletionWorker(world.channel, onFault),
      async ({ integrationId }) => {
        const rows = await world.db.query(sql`
          select from deletion_jobs where integration_id = ${integrationId} and status = 'done'`);
        return rows.length === 1;
      },
    );
  });

  it('the erasure of a person', async () => {
    const jobs = new Map<Shop, string>();
    for (const shop of [locked, other]) {
      const { body } = await shop.post('/v1/orders', {
        channel_order_id: 'SO-1',
        customer: { email: 'ana@example.ch' },
      });
      jobs.set(shop, await eraseCustomer(world.channel, TESTER, shop.organizationId, body.customer_id));
    }
    await assertOnlyItsOwnWaits(
      () => startErasureWorker(world.channel, onFault),
      async (shop) => {
        const rows = await world.db.query(sql`
          select from erasure_jobs where id = ${jobs.get(shop)} and status = 'done'`);
        return rows.length === 1;
      },
    );
  });
});
