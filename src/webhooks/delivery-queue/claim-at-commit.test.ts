import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import {
  type ConnectedReceiver,
  claimRequest,
  ping,
  queueEvents,
  type ReceivingWorld,
  startReceivingWorld,
  startTestWorker,
} from '../../../test/harness/webhooks/webhook-world.ts';
import { commitAndWake } from '../../channel/commit-and-wake.ts';
import { recordPings } from '../../channel/record-test-events.ts';
import { type Database, openDatabase, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { readEndpoint } from '../endpoints/read-endpoint.ts';
import { openOutbox } from '../outbox.ts';
import { dispatchId } from '../sending/dispatch-id.ts';
import { openCommitClaims } from '../worker/commit-claims.ts';
import { createConcurrencyLimit } from '../worker/concurrency-limit.ts';
import { WORKER_LIMITS, type WorkerLimits } from '../worker/worker-limits.ts';
import { type Claimed, claimDue } from './claim.ts';
import { recordOutcomes } from './outcomes/record-outcomes.ts';

/** Nothing is found by looking, unless somebody is woken. */
const NEVER_MS = 600_000;

type Row = { id: string; status: string; leased: boolean; dispatches: number };

describe('a commit that claims its own deliveries', () => {
  let world: ReceivingWorld;
  let shop: Shop;
  let receiver: ConnectedReceiver;
  const cleanUps: (() => Promise<void>)[] = [];

  before(async () => {
    world = await startReceivingWorld();
  });
  beforeEach(async () => {
    shop = await openShop(world);
    receiver = await world.connect(shop);
  });
  afterEach(async () => {
    await world.stopReceivers();
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
    await world.db.query(sql`delete from deliveries`);
  });
  after(() => world.stop());

  const rows = () =>
    world.db.query<Row>(sql`
      select id, status, lease_token is not null as leased, dispatches from deliveries
      where integration_id = ${shop.integrationId} order by id`);
  const leases = async () => (await rows()).map(({ leased, dispatches }) => [leased, dispatches]);

  /** Slots of a worker that sends nothing by itself; `sent` is what it would send. */
  function openSlots(limits: Partial<WorkerLimits> = {}, db: Database = world.db) {
    const all = { ...WORKER_LIMITS, ...limits };
    const slots = createConcurrencyLimit(all.inFlight, all.inFlightPerEndpoint);
    const sent: Claimed[] = [];
    const woken: boolean[] = [];
    const open = () =>
      openCommitClaims({
        limits: all,
        slots,
        leaseToken: 7,
        now: null,
        workers: 1,
        asked: () => 0,
        canClaim: () => true,
        onClaimed: (claimed) => sent.push(...claimed),
        onCancelled: () => {},
      });
    const channel = {
      ...world.channel,
      db,
      claimAtCommit: open,
      onEvents: (_: string[], isAnyQueued = true) => void woken.push(isAnyQueued),
    };
    async function commitPings(count: number, then: (tx: Transaction) => Promise<void> = async () => {}) {
      return await commitAndWake(
        channel,
        async (tx) => {
          const events = await recordPings(tx, channel, shop.integrationId, count);
          await then(tx);
          return { events, touched: [shop.integrationId] };
        },
        { planning: 'once' },
      );
    }
    return { slots, sent, woken, commitPings, channel };
  }

  it('a commit gives its deliveries the lease, and wakes nobody', async () => {
    const { sent, woken, commitPings } = openSlots();
    const { events } = await commitPings(3);
    assert.deepEqual(await leases(), [
      [true, 1],
      [true, 1],
      [true, 1],
    ]);
    assert.deepEqual(woken, [false]);
    assert.deepEqual(
      sent.map(({ id, eventId, url, dispatches }) => [id, eventId, url, dispatches]),
      events.map(({ id, deliveryId }) => [deliveryId, id, receiver.url, 0]),
    );
    assert.deepEqual((await claimDue(world.db, claimRequest())).claimed, []);
    const result = { isSuccess: true, responseCode: 200, responseBody: null, error: null };
    const times = { startedAt: new Date(), endedAt: new Date(), durationMs: 1 };
    await recordOutcomes(
      world.db,
      sent.map((delivery) => ({ delivery, result, ...times })),
    );
    assert.deepEqual(new Set((await rows()).map(({ status }) => status)), new Set(['succeeded']));
  });

  it('a delivery does not overtake one that waits: it waits behind it, and the worker is woken', async () => {
    const { slots, sent, woken, commitPings } = openSlots();
    await queueEvents({ db: world.db, channel: { now: () => null, onEvents: () => {} } }, shop, 1);
    await commitPings(2);
    assert.deepEqual(await leases(), [
      [false, 0],
      [false, 0],
      [false, 0],
    ]);
    assert.deepEqual([sent, woken, slots.total()], [[], [true], 0]);
    const { claimed } = await claimDue(world.db, claimRequest());
    assert.equal(claimed.length, 3);
  });

  it('a delivery waits behind one whose worker died and whose lease is over', async () => {
    const dead = openSlots({ leaseMs: 1 });
    await dead.commitPings(1);
    await world.db.query(sql`select pg_sleep(0.01)`);
    const { sent, commitPings } = openSlots();
    await commitPings(1);
    assert.deepEqual(await leases(), [
      [true, 1],
      [false, 0],
    ]);
    assert.deepEqual(sent, []);
  });

  it('an endpoint never has more in flight than its limit, whoever claimed it', async () => {
    const first = openSlots({ inFlightPerEndpoint: 2 });
    await first.commitPings(1);
    const second = openSlots({ inFlightPerEndpoint: 2 });
    await second.commitPings(3);
    assert.deepEqual(await leases(), [
      [true, 1],
      [true, 1],
      [false, 0],
      [false, 0],
    ]);
    assert.deepEqual([first.sent.length, second.sent.length, second.woken], [1, 1, [true]]);
  });

  it('a commit takes no more slots than the worker has free, and leaves the rest to the queue', async () => {
    const { sent, woken, commitPings } = openSlots({ inFlight: 16 });
    await commitPings(5);
    assert.deepEqual(
      await leases(),
      [2, 3].flatMap((count, index) => Array.from({ length: count }, () => [index === 0, index === 0 ? 1 : 0])),
    );
    assert.deepEqual([sent.length, woken], [2, [true]]);
  });

  it('a commit reads what is due of an endpoint, however many finished deliveries have come since the plan was made', async () => {
    const db = openDatabase({ address: world.database.address, poolSize: 1, onIdleError: () => {} });
    cleanUps.push(() => db.close());
    const { sent, commitPings } = openSlots({}, db);
    await commitPings(1);
    const [{ id = '', eventId = '' } = {}] = sent;
    await world.db.query(sql`
      insert into deliveries (integration_id, id, event_id, status, created_at, finished_at)
      select ${shop.integrationId}, ${id} || n, ${eventId}, 'succeeded', now(), now() from generate_series(1, 3000) n`);
    let reads: { seq_scan: number; idx_tup_fetch: number } | undefined;
    await commitPings(1, async (tx) => {
      [reads] = await tx.query(sql`
        select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables where relname = 'deliveries'`);
    });
    assert.equal(reads?.seq_scan, 0);
    assert.ok((reads?.idx_tup_fetch ?? 3_000) < 100, `${reads?.idx_tup_fetch} rows were read`);
    assert.equal(sent.length, 2);
  });

  it('a commit of very many deliveries leaves them all to the queue', async () => {
    const { sent, woken, commitPings } = openSlots();
    await commitPings(101);
    assert.deepEqual([sent, woken, (await rows()).some(({ leased }) => leased)], [[], [true], false]);
  });

  it('a commit that writes its events in parts leaves them all to the queue, in their order', async () => {
    const { sent, woken, channel } = openSlots();
    const endpoint = await readEndpoint(world.db, shop.integrationId);
    assert.ok(endpoint !== null);
    const recorded = await commitAndWake(
      channel,
      async (tx) => {
        const outbox = openOutbox();
        const add = (text: string) =>
          outbox.add(
            { ...endpoint, subscriptions: ['*'] },
            {
              type: 'part.updated',
              object: { id: 'prt_1', object: 'part' },
              previous: { text },
              createdAt: new Date(),
              isSuppressed: false,
            },
          );
        const first = add('long '.repeat(100_000));
        outbox.writeIfLarge(tx);
        const second = add('short');
        outbox.writeIfLarge(tx);
        outbox.write(tx);
        return { ids: [first.deliveryId, second.deliveryId], touched: [shop.integrationId] };
      },
      { planning: 'once' },
    );
    assert.deepEqual(await leases(), [
      [false, 0],
      [false, 0],
    ]);
    assert.deepEqual([sent, woken], [[], [true]]);
    const { claimed } = await claimDue(world.db, claimRequest());
    assert.deepEqual(
      claimed.map(({ id }) => id),
      recorded.ids,
    );
  });

  it('a transaction that fails sends nothing and gives its slots back', async () => {
    const { slots, sent, commitPings } = openSlots();
    await assert.rejects(
      commitPings(2, async () => {
        throw new Error('ours');
      }),
      /ours/,
    );
    await assert.rejects(commitPings(2, async (tx) => tx.defer(sql`select ${'x'}::text::integer`)));
    assert.deepEqual([await rows(), sent, slots.total()], [[], [], 0]);
  });

  it('a transaction that is tried again after a deadlock claims once', async () => {
    const { slots, sent, commitPings } = openSlots();
    let tries = 0;
    await commitPings(1, async () => {
      tries += 1;
      if (tries === 1) throw Object.assign(new pg.DatabaseError('deadlock', 0, 'error'), { code: '40P01' });
    });
    assert.deepEqual([tries, sent.length, slots.total()], [2, 1, 0]);
    assert.deepEqual(await leases(), [[true, 1]]);
  });

  it('a delivery that was claimed and never sent, as its process died, is sent when its lease is over', async () => {
    await openSlots({ leaseMs: 1 }).commitPings(1);
    const worker = startTestWorker(world, { pollMs: 20 });
    cleanUps.push(() => worker.stop());
    const [webhook] = await receiver.until(1);
    const [row] = await rows();
    // It was dispatched once before, as far as anybody knows.
    assert.equal(webhook?.deliveryId, dispatchId(row?.id ?? '', 1));
  });

  describe('with a worker in its process', () => {
    const isClaim = (text: string) => text.includes('due_endpoints');

    function start(limits: Partial<WorkerLimits> = {}) {
      const counts = { claims: 0, ended: 0 };
      const db: Database = {
        ...world.db,
        async transaction(work, options) {
          const before = counts.claims;
          const result = await world.db.transaction(
            (tx) =>
              work({
                ...tx,
                queryLast(statement) {
                  if (isClaim(statement.text)) counts.claims += 1;
                  return tx.queryLast(statement);
                },
              }),
            options,
          );
          if (counts.claims > before) counts.ended += 1;
          return result;
        },
      };
      const worker = startTestWorker({ ...world, db }, { pollMs: NEVER_MS, ...limits });
      cleanUps.push(() => worker.stop());
      return { worker, counts };
    }

    it('a ping is sent after its commit, without a claim', async () => {
      const { worker, counts } = start();
      // The one with which it starts. While it is under way, a slot that becomes free asks for another one.
      while (counts.ended === 0) await sleep(5);
      const deliveryIds = [await ping(shop), await ping(shop), await ping(shop)];
      const received = await receiver.until(3);
      assert.deepEqual(new Set(received.map(({ deliveryId }) => deliveryId)), new Set(deliveryIds));
      assert.equal(counts.claims, 1);
      while ((await rows()).some(({ status }) => status !== 'succeeded')) await sleep(5);
      assert.deepEqual(worker.faults, []);
    });

    it('what the endpoint has no slot for is sent when a slot becomes free', async () => {
      start({ inFlightPerEndpoint: 2, attemptTimeoutMs: 120_000, leaseMs: 240_000 });
      const hanging: (() => void)[] = [];
      receiver.answer = (response) => void hanging.push(() => response.writeHead(200).end());
      for (let count = 0; count < 4; count++) await ping(shop);
      await receiver.until(2);
      assert.deepEqual(
        (await leases()).map(([leased]) => leased),
        [true, true, false, false],
      );
      receiver.answer = (response) => response.writeHead(200).end();
      for (const answer of hanging) answer();
      await receiver.until(4);
    });

    it('a commit that comes after the worker was stopped is released unsent, and any worker may take it at once', async () => {
      const { worker } = start();
      const claims = worker.claimAtCommit();
      assert.ok(claims !== null);
      const channel = { ...world.channel, claimAtCommit: () => claims };
      let stopping: Promise<void> | null = null;
      await commitAndWake(
        channel,
        async (tx) => {
          await recordPings(tx, channel, shop.integrationId, 1);
          stopping = worker.stop();
          return { touched: [] };
        },
        { planning: 'once' },
      );
      await stopping;
      assert.equal(worker.claimAtCommit(), null);
      assert.deepEqual(await leases(), [[false, 0]]);
      assert.equal(receiver.received.length, 0);
    });
  });
});
