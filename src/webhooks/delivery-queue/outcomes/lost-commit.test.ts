import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import { openShop, type Shop } from '../../../../test/harness/shop.ts';
import { claimRequest, encryption, guard, queueEvents } from '../../../../test/harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import type { Database } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { setUrl, setWebhooksEnabled } from '../../endpoints/endpoint-settings.ts';
import { type Claimed, claimDue } from '../claim.ts';
import { holdAndRelease } from '../hold-and-release.ts';
import { pruneWebhooks } from '../prune.ts';
import { listReplays, runReplays, startReplay } from '../replay.ts';
import { makeRetriesDue } from '../retries/make-retries-due.ts';
import { createOutcomeBuffer } from './outcome-buffer.ts';

const MINUTE_MS = 60_000;
const COUNT = 3;

/** Each batch that a worker repeats after a fault, when the commit was made and only its answer was lost. */
describe('a batch whose commit answer is lost and that is repeated', () => {
  let world: World;
  let losing: Database;
  let shop: Shop;

  before(async () => {
    world = await startWorld();
    losing = losingAnswers(world.db);
  });
  after(() => world.stop());

  beforeEach(async () => {
    shop = await openShop(world);
    await setUrl(world.db, TESTER, { guard, encryption }, shop.integrationId, 'http://127.0.0.1:9/nobody');
    await queueEvents(world, shop, COUNT);
  });

  /** The same database, whose every commit is made and reported as a lost connection. */
  function losingAnswers(db: Database): Database {
    return {
      ...db,
      async transaction(work, options) {
        await db.transaction(work, options);
        throw new Error('Connection terminated unexpectedly');
      },
    };
  }

  /** Does it with the answer lost, and then again as the worker does. */
  async function twice<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
    await assert.rejects(work(losing), /Connection terminated/);
    return await work(world.db);
  }

  async function claimAll(): Promise<Claimed[]> {
    const { claimed } = await claimDue(world.db, claimRequest());
    return claimed.filter(({ integrationId }) => integrationId === shop.integrationId);
  }

  async function deliveries() {
    return await world.db.query<{ status: string; attempts: number; dispatches: number; isWaiting: boolean }>(sql`
      select status, attempts, dispatches, is_waiting as "isWaiting" from deliveries
      where integration_id = ${shop.integrationId} order by id`);
  }

  /** A buffer that writes to the losing database first and to the real one from then on. */
  function bufferOnce() {
    let isLosing = true;
    const db: Database = {
      ...world.db,
      async transaction(work, options) {
        const current = isLosing ? losing : world.db;
        isLosing = false;
        return await current.transaction(work, options);
      },
    };
    return createOutcomeBuffer(db);
  }

  it('a batch that is repeated after a lost commit answer counts each 410 and each failure once', async () => {
    const buffer = bufferOnce();
    const gone = { isSuccess: false, responseCode: 410, responseBody: null, error: null };
    for (const delivery of await claimAll())
      buffer.addOutcome({ delivery, result: gone, startedAt: new Date(), endedAt: new Date(), durationMs: 1 });
    await assert.rejects(buffer.flush(100), /Connection terminated/);
    assert.equal(buffer.size(), COUNT);
    await buffer.flush(100);
    assert.equal(buffer.size(), 0);
    const [endpoint] = await world.db.query(sql`
      select consecutive_failures, consecutive_gone, is_enabled from webhook_endpoints
      where integration_id = ${shop.integrationId}`);
    assert.deepEqual(endpoint, { consecutive_failures: COUNT, consecutive_gone: COUNT, is_enabled: true });
    for (const { attempts, status } of await deliveries()) assert.deepEqual([attempts, status], [1, 'failed']);
  });

  it('a batch that has grown since its commit answer was lost counts what is new, and only that', async () => {
    const [first, ...others] = await claimAll();
    assert.ok(first !== undefined);
    const gone = { isSuccess: false, responseCode: 410, responseBody: null, error: null };
    const buffer = bufferOnce();
    buffer.addOutcome({ delivery: first, result: gone, startedAt: new Date(), endedAt: new Date(), durationMs: 1 });
    await assert.rejects(buffer.flush(100), /Connection terminated/);
    for (const delivery of others)
      buffer.addOutcome({ delivery, result: gone, startedAt: new Date(), endedAt: new Date(), durationMs: 1 });
    await buffer.flush(100);
    const [endpoint] = await world.db.query(sql`
      select consecutive_failures, consecutive_gone from webhook_endpoints where integration_id = ${shop.integrationId}`);
    assert.deepEqual(endpoint, { consecutive_failures: COUNT, consecutive_gone: COUNT });
  });

  it('a batch that is repeated after a lost commit answer takes the dispatch of a released claim back once', async () => {
    const buffer = bufferOnce();
    for (const delivery of await claimAll()) buffer.addReleasedClaim(delivery);
    await assert.rejects(buffer.flush(100), /Connection terminated/);
    await buffer.flush(100);
    for (const { dispatches, attempts } of await deliveries()) assert.deepEqual([dispatches, attempts], [0, 0]);
    assert.equal((await claimAll()).length, COUNT);
  });

  it('a batch that is repeated after a lost commit answer makes each retry due once', async () => {
    await world.db.query(sql`
      update deliveries set status = 'failed', is_waiting = true, attempts = 1, due_at = now() - interval '1 second'
      where integration_id = ${shop.integrationId}`);
    assert.equal(await twice((db) => makeRetriesDue(db, null)), 0);
    for (const row of await deliveries()) {
      assert.deepEqual(row, { status: 'failed', attempts: 1, dispatches: 0, isWaiting: false });
    }
  });

  it('a batch that is repeated after a lost commit answer holds and releases each delivery once, with its counters kept', async () => {
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    await twice((db) => holdAndRelease(db, null));
    for (const { status } of await deliveries()) assert.equal(status, 'held');
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, true);
    await twice((db) => holdAndRelease(db, null));
    for (const { status, attempts } of await deliveries()) assert.deepEqual([status, attempts], ['pending', 0]);
  });

  it('a batch that is repeated after a lost commit answer requeues each delivery of a replay once, and counts it once', async () => {
    await world.db.query(sql`
      update deliveries set status = 'succeeded', finished_at = now() where integration_id = ${shop.integrationId}`);
    const filter = { since: null, until: null, types: null, statuses: ['succeeded' as const] };
    await startReplay(world.db, TESTER, shop.integrationId, filter);
    await twice((db) => runReplays(db, null));
    const [job] = await listReplays(world.db, shop.integrationId, 1);
    assert.deepEqual([job?.status, job?.done, job?.skipped, job?.total], ['done', COUNT, 0, COUNT]);
    for (const { status } of await deliveries()) assert.equal(status, 'pending');
  });

  it('a batch that is repeated after a lost commit answer prunes what is past its age and nothing else', async () => {
    await world.db.query(sql`
      update deliveries set status = 'succeeded', finished_at = now() - interval '31 days'
      where ctid = (select ctid from deliveries where integration_id = ${shop.integrationId} limit 1)`);
    await twice((db) => pruneWebhooks(db, new Date(Date.now() + MINUTE_MS)));
    assert.equal((await deliveries()).length, COUNT - 1);
  });
});
