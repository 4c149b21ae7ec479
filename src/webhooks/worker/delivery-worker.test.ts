import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../test/harness/actor.ts';
import { until } from '../../../test/harness/database/locks.ts';
import type { Receiver } from '../../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { isAccepted } from '../../../test/harness/webhooks/verify-signature.ts';
import {
  deliveriesOf,
  encryption,
  guard,
  queueEvents,
  type ReceivingWorld,
  startReceivingWorld,
  startTestWorker,
  type TestWorker,
} from '../../../test/harness/webhooks/webhook-world.ts';
import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { ENDPOINT_LIMIT } from '../delivery-queue/claim.ts';
import { setUrl } from '../endpoints/endpoint-settings.ts';
import { ATTEMPTS_PER_TURN, startDeliveryWorker } from './delivery-worker.ts';
import { WORKER_LIMITS } from './worker-limits.ts';

/** For receivers that hang until the test lets go of them, however slow the machine is. */
const PATIENT = { attemptTimeoutMs: 120_000, leaseMs: 240_000 };

describe('the delivery worker', () => {
  let world: ReceivingWorld;
  const workers: TestWorker[] = [];

  before(async () => {
    world = await startReceivingWorld();
  });
  afterEach(async () => {
    // The receivers first: attempts that hang at them end, and the workers do not wait for their deadline.
    await world.stopReceivers();
    const started = workers.splice(0);
    await Promise.all(started.map((worker) => worker.stop()));
    await world.db.query(sql`delete from deliveries`);
    assert.deepEqual(
      started.flatMap(({ faults }) => faults),
      [],
    );
  });
  after(() => world.stop());

  function start(...args: Parameters<typeof startTestWorker>): TestWorker {
    const worker = startTestWorker(...args);
    workers.push(worker);
    return worker;
  }

  it('the delivery worker begins a few attempts in a turn of the event loop, however many it has claimed', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await queueEvents(world, shop, 60);
    const begunInTurn = [0];
    const counting: typeof encryption = {
      ...encryption,
      decrypt(ciphertext) {
        begunInTurn[begunInTurn.length - 1] = (begunInTurn.at(-1) ?? 0) + 1;
        return encryption.decrypt(ciphertext);
      },
    };
    const worker = startDeliveryWorker({
      db: world.db,
      encryption: counting,
      guard,
      now: world.channel.now,
      onFault: (fault) => assert.fail(String(fault)),
      limits: { pollMs: 50, inFlight: 60, inFlightPerEndpoint: 60 },
    });
    while (receiver.received.length < 60) {
      begunInTurn.push(0);
      await nextTurn();
    }
    await worker.stop();
    assert.equal(
      begunInTurn.reduce((all, count) => all + count),
      60,
    );
    // What begins around a border between two of our turns counts for one of them.
    assert.ok(Math.max(...begunInTurn) <= 2 * ATTEMPTS_PER_TURN, `${Math.max(...begunInTurn)} in one turn`);
  });

  it('the delivery worker keeps slots free: twenty receivers that hang do not make another one wait', async () => {
    start(world, { inFlight: 64, inFlightPerEndpoint: 16, ...PATIENT });
    const dead: Shop[] = [];
    const hanging: Receiver[] = [];
    for (let index = 0; index < 20; index++) {
      const shop = await openShop(world);
      const receiver = await world.connect(shop);
      receiver.answer = () => {};
      await queueEvents(world, shop, 50);
      dead.push(shop);
      hanging.push(receiver);
    }
    await Promise.all(hanging.map((receiver) => receiver.until(1)));
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await queueEvents(world, shop, 100);
    await receiver.until(100);
    const ended = (await Promise.all(dead.map((each) => deliveriesOf(world, each)))).flat();
    assert.equal(ended.filter(({ last_attempt_at }) => last_attempt_at !== null).length, 0, 'it waited for the others');
  });

  it('the delivery worker does not look again and again at endpoints whose deliveries wait for their time', async () => {
    const shops: Shop[] = [];
    for (let index = 0; index < ENDPOINT_LIMIT + 20; index++) shops.push(await openShop(world));
    for (const { integrationId } of shops) {
      await setUrl(world.db, TESTER, { guard, encryption }, integrationId, 'http://127.0.0.1:9/nobody');
      await queueEvents(world, { integrationId }, 1);
    }
    await world.db.query(sql`
      update deliveries set status = 'failed', is_waiting = true, due_at = now() + interval '1 hour'`);
    let statements = 0;
    const counting: Database = {
      ...world.db,
      transaction(work, options) {
        statements += 1;
        return world.db.transaction(work, options);
      },
    };
    start({ ...world, db: counting }, { pollMs: 200, maintenanceMs: 100_000 });
    await sleep(1_000);
    // A claim and a look for retries whose time has come in each of five polls, and the first round of maintenance.
    assert.ok(statements <= 16, `${statements} statements in five polls`);

    const last = shops.sort((one, other) => (one.integrationId < other.integrationId ? -1 : 1)).at(-1) as Shop;
    const receiver = await world.connect(last);
    await queueEvents(world, last, 1);
    await receiver.until(1);
  });

  it('delivery workers share the work, without a webhook sent twice', async () => {
    const workers = [start(world), start(world), start(world)];
    const shops = [await openShop(world), await openShop(world)];
    const both = await Promise.all(shops.map(world.connect));
    for (let batch = 0; batch < 10; batch++) {
      for (const shop of shops) await queueEvents(world, shop, 50);
      for (const worker of workers) worker.wake();
    }
    for (const receiver of both) {
      await receiver.until(500);
      assert.equal(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size, 500);
    }
    await workers[0]?.settled();
    assert.deepEqual(
      both.map(({ received }) => received.length),
      [500, 500],
    );
  });

  it('delivery workers leave an endpoint its limit, however many there are', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    receiver.answer = () => {};
    await queueEvents(world, shop, 100);
    const limits = { inFlightPerEndpoint: 8, ...PATIENT };
    const workers = [start(world, limits), start(world, limits), start(world, limits)];
    await receiver.until(8);
    for (const worker of workers) worker.wake();
    await sleep(500);
    assert.equal(receiver.received.length, 8);
  });

  it('the delivery worker stops at any moment without leaving a lease behind or sending anything twice', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const ids = await queueEvents(world, shop, 600);
    for (let time = 0; time < 12; time++) {
      const worker = start(world);
      await sleep(Math.random() * 25);
      await worker.stop();
      assert.equal(await leasedCount(), 0, 'a lease was left behind');
    }
    await start(world).settled();
    assert.equal(receiver.received.length, 600);
    assert.equal(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size, ids.length);
  });

  it('the delivery worker sends at once what a commit caused, without waiting for its poll', async () => {
    start(world, { pollMs: 60_000, maintenanceMs: 60_000 });
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await sleep(100);
    for (let count = 1; count <= 5; count++) {
      await queueEvents(world, shop, 1);
      await receiver.until(count);
    }
  });

  it("the delivery worker writes and signs by the database's clock, whatever the worker's own says", async (t) => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    receiver.answerWith(500);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 });
    const worker = start(world);
    await queueEvents(world, shop, 1, { createdAt: new Date(0) });
    await receiver.until(1);
    await worker.settled();
    t.mock.timers.reset();
    const [row] = await world.db.query<{ seconds: number }>(sql`
      select extract(epoch from due_at - clock_timestamp())::float8 as seconds from deliveries
      where integration_id = ${shop.integrationId}`);
    assert.ok(row !== undefined && row.seconds < 6 && row.seconds > -60, `due in ${row?.seconds} s`);
    const [webhook] = receiver.received;
    assert.ok(webhook !== undefined);
    assert.equal(await isAccepted(webhook, receiver.secret, Date.now() / 1000), true);
  });

  it('the delivery worker keeps the wait of a retry when the database answers late', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    receiver.answerWith(500);
    await queueEvents(world, shop, 1);
    const worker = start({ ...world, db: late(world.db, 1_000) });
    const [webhook] = await receiver.until(1);
    await worker.stop();
    const [row] = await deliveriesOf(world, shop);
    const waitMs = (row?.due_at?.getTime() ?? 0) - (webhook?.at ?? 0);
    assert.ok(waitMs >= 5_000, `the next attempt is due ${waitMs} ms after this one`);
  });

  it('the delivery worker does not send what its lease would not last for: another worker does, and once', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const limits = { leaseMs: 3_000, attemptTimeoutMs: 2_000 };
    await queueEvents(world, shop, 1);
    const slow = start({ ...world, db: late(world.db, 3_500) }, limits);
    await until(async () => (await leasedCount()) === 1, 'nobody claimed it');
    const quick = start(world, limits);
    await receiver.until(1);
    await quick.settled();
    // Its stop waits for the answer of its claim, and for whatever it would do with it.
    await slow.stop();
    assert.equal(receiver.received.length, 1);
  });

  async function leasedCount(): Promise<number> {
    return (await world.db.query(sql`select id from deliveries where lease_token is not null`)).length;
  }

  it('the delivery worker releases at once what came too late to be sent, as if it had not been claimed', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await queueEvents(world, shop, 1);
    const slow = start({ ...world, db: late(world.db, 800) }, { leaseMs: 60_000, attemptTimeoutMs: 59_000 });
    await sleep(1_000);
    await slow.stop();
    const rows = await world.db.query(sql`
      select status, attempts, dispatches, lease_token from deliveries where integration_id = ${shop.integrationId}`);
    assert.deepEqual(rows, [{ status: 'pending', attempts: 0, dispatches: 0, lease_token: null }]);
    assert.equal(receiver.received.length, 0);
  });

  it('the delivery worker has the deadline and the takeover that are promised', () => {
    assert.equal(WORKER_LIMITS.attemptTimeoutMs, 10_000);
    assert.ok(WORKER_LIMITS.attemptTimeoutMs < WORKER_LIMITS.leaseMs);
    assert.ok(WORKER_LIMITS.leaseMs + WORKER_LIMITS.pollMs <= 30_000);
  });

  it('the delivery worker reuses its connections', async () => {
    const worker = start(world);
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    for (let count = 1; count <= 10; count++) {
      await queueEvents(world, shop, 1);
      await receiver.until(count);
      await worker.settled();
    }
    assert.equal(new Set(receiver.received.map(({ port }) => port)).size, 1);
  });
});

/** The same database, whose answers are that long on their way. */
function late(db: Database, ms: number): Database {
  return {
    ...db,
    async transaction(work, options) {
      const result = await db.transaction(work, options);
      await sleep(ms);
      return result;
    },
  };
}
