import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { kindOverItems, runJobs } from '../../../test/harness/jobs/stock-jobs.ts';
import { observe } from '../../../test/harness/observe.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { UNFINISHED_JOBS_LIMIT } from '../../contract/dashboard/limits.ts';
import type { StockJobKindName } from '../../contract/dashboard/stock/jobs.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { sql } from '../../db/sql.ts';
import { editItems } from '../items/edit-items.ts';
import { createItem, editItem } from '../items/item-operations.ts';
import { outcomeOfEdits } from './batch-outcome.ts';
import type { StockJobKinds } from './job-kind.ts';
import {
  cancelJob,
  findJob,
  JOB_KEPT_DAYS,
  listJobErrors,
  listJobs,
  pruneJobs,
  startJob,
  undoJob,
} from './stock-job-queue.ts';
import { undoKind } from './undo-job.ts';

const BATCH = 3;
/** Raises the price by one, so that doing it twice would show. */
const RAISE = 'raise' as StockJobKindName;

describe('jobs on stock', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
  });

  const raise = kindOverItems(BATCH, async (tx, context, job, itemIds) => {
    const edits = await editItems(tx, context, job.organizationId, itemIds, (item) => ({
      priceAmount: (item.priceAmount ?? 0) + 1,
    }));
    return { ...outcomeOfEdits(edits), done: itemIds.length };
  });
  const kinds = { undo: undoKind, [RAISE]: raise } as StockJobKinds;
  const run = (options: Parameters<typeof runJobs>[1] = {}) => runJobs(world, { kinds, ...options });
  const job = (id: string, { organizationId } = dealer) => findJob(world.db, organizationId, id);

  async function stock(count: number, { organizationId } = dealer): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push(await createItem(world.channel, TESTER, organizationId, watch({ priceAmount: 1_000 })));
    }
    return ids;
  }

  const start = (itemIds: string[], { organizationId } = dealer) =>
    startJob(world.db, TESTER, {
      organizationId,
      kind: RAISE,
      title: 'Raise prices',
      parameters: { itemIds },
      isUndoable: true,
    });

  async function prices(itemIds: string[]): Promise<(number | null)[]> {
    const rows = await world.db.query<{ price: number }>(sql`
      select price_amount as price from items where id = any(${itemIds}::text[]) order by id`);
    return rows.map((row) => row.price);
  }

  /** As if the worker had died: its lease has run out. */
  const expireLeases = () =>
    world.db.query(
      sql`update stock_jobs set leased_until = now() - interval '1 second' where leased_until is not null`,
    );

  it('run in batches, count what they did, and are one row of the audit log with each item beside it', async () => {
    const ids = await stock(7);
    const id = await start(ids);
    assert.partialDeepStrictEqual(await job(id), { status: 'queued', done: 0, total: null, canUndo: false });
    assert.equal(await run(), 4, 'three batches and the end');
    assert.partialDeepStrictEqual(await job(id), {
      status: 'done',
      done: 7,
      total: 7,
      counts: { changed: 7, unchanged: 0, wrong: 0 },
      error: null,
      canUndo: true,
    });
    assert.deepEqual(await prices(ids), Array(7).fill(1_001));
    const rows = await world.db.query(sql`
      select (select count(*)::integer from audit_log_objects o where o.audit_id = a.id) as objects from audit_log a
      where a.organization_id = ${dealer.organizationId} and a.new_values ->> 'jobId' = ${id}`);
    assert.deepEqual(rows, [{ objects: 7 }]);
  });

  it('announce what they change on a channel, and undo announces it again', async () => {
    const itemId = await publishNew(world, dealer, watch({ priceAmount: 1_000 }));
    const id = await start([itemId]);
    const seen = await observe(dealer.api, () => run());
    assert.deepEqual(seen.types, ['listing.updated']);
    await undoJob(world.db, TESTER, dealer.organizationId, id, { isCostAllowed: true });
    const undone = await observe(dealer.api, () => run());
    assert.deepEqual(undone.types, ['listing.updated']);
  });

  it('are undone, but for what changed since; the undo names what it left alone', async () => {
    const ids = await stock(5);
    const [edited = '', other = ''] = ids;
    const id = await start(ids);
    await run();
    await editItem(world.channel, TESTER, dealer.organizationId, edited, { priceAmount: 5_000 });
    await editItem(world.channel, TESTER, dealer.organizationId, other, { title: 'Another title' });
    const undoId = await undoJob(world.db, TESTER, dealer.organizationId, id, { isCostAllowed: true });
    assert.equal((await job(id)).undoneBy, undoId);
    await run();
    assert.deepEqual(await prices(ids), [5_000, 1_000, 1_000, 1_000, 1_000]);
    assert.partialDeepStrictEqual(await job(undoId), { status: 'done', done: 5, counts: { changed: 4, skipped: 1 } });
    assert.partialDeepStrictEqual(
      await listJobErrors(world.db, dealer.organizationId, undoId, { after: 0, limit: 10 }),
      [{ itemId: edited, field: 'priceAmount' }],
    );
    assert.partialDeepStrictEqual(await job(id), { canUndo: false, undoneBy: undoId });
    await assertRefused(undoJob(world.db, TESTER, dealer.organizationId, id, { isCostAllowed: true }), 'wrong_status');
    const [row] = await world.db.query(sql`
      select u.undo, u.undoes = a.id as "isOfJob" from audit_log u, audit_log a
      where u.new_values ->> 'jobId' = ${undoId} and a.new_values ->> 'jobId' = ${id}`);
    assert.deepEqual(row, { undo: null, isOfJob: true });
  });

  it('can’t be undone twice at once, nor after thirty days', async () => {
    const id = await start(await stock(1));
    await run();
    const asked = await Promise.allSettled(
      [1, 2].map(() => undoJob(world.db, TESTER, dealer.organizationId, id, { isCostAllowed: true })),
    );
    assert.deepEqual(asked.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const old = await start(await stock(1));
    await run();
    await world.db.query(sql`update stock_jobs set finished_at = now() - interval '31 days' where id = ${old}`);
    await assertRefused(undoJob(world.db, TESTER, dealer.organizationId, old, { isCostAllowed: true }), 'wrong_status');
  });

  it('are cancelled at once: the batch under way leaves no trace, what was done before stays and can be undone', async () => {
    const ids = await stock(7);
    const id = await start(ids);
    let batches = 0;
    const cancelling = kindOverItems(BATCH, async (...batch) => {
      const outcome = await raise.applyBatch(...batch);
      batches += 1;
      if (batches === 2) await cancelJob(world.db, dealer.organizationId, id);
      return outcome;
    });
    await run({ kinds: { ...kinds, [RAISE]: cancelling } });
    assert.partialDeepStrictEqual(await job(id), { status: 'cancelled', done: 3, total: 7, canUndo: true });
    assert.deepEqual(await prices(ids), [...Array(3).fill(1_001), ...Array(4).fill(1_000)]);
    await assertRefused(cancelJob(world.db, dealer.organizationId, id), 'wrong_status');
    await undoJob(world.db, TESTER, dealer.organizationId, id, { isCostAllowed: true });
    await run();
    assert.deepEqual(await prices(ids), Array(7).fill(1_000));
  });

  it('go on after a worker died, and a worker that lost its lease can’t commit: nothing is done twice', async () => {
    const ids = await stock(7);
    const id = await start(ids);
    let batches = 0;
    const losing = kindOverItems(BATCH, async (...batch) => {
      const outcome = await raise.applyBatch(...batch);
      batches += 1;
      // Another worker takes over while this one is still busy; it meets the rows that this one has locked.
      if (batches === 1) {
        await expireLeases();
        await world.db.query(sql`update stock_jobs set fence = fence + 1, leased_until = null where id = ${id}`);
      }
      return outcome;
    });
    await run({ kinds: { ...kinds, [RAISE]: losing } });
    assert.equal(batches, 4, 'the first batch was rolled back and done again');
    assert.deepEqual(await prices(ids), Array(7).fill(1_001));
    assert.partialDeepStrictEqual(await job(id), { status: 'done', done: 7, counts: { changed: 7 } });
  });

  it('that several workers run at once do everything once', async () => {
    const ids = await stock(20);
    const id = await start(ids);
    const workers = Array.from({ length: 4 }, async () => {
      for (let tries = 0; tries < 200 && (await job(id)).status !== 'done'; tries++) await run();
    });
    await Promise.all(workers);
    assert.deepEqual(await prices(ids), Array(20).fill(1_001));
    assert.partialDeepStrictEqual(await job(id), { status: 'done', done: 20 });
  });

  it('meet a fault, are tried again after a pause, and fail after five; a refusal ends them at once', async () => {
    const id = await start(await stock(1));
    const faults: unknown[] = [];
    const failing = kindOverItems(BATCH, async () => {
      throw new Error('no more memory');
    });
    const runFailing = () => run({ kinds: { ...kinds, [RAISE]: failing }, onFault: (error) => faults.push(error) });
    await runFailing();
    assert.partialDeepStrictEqual(await job(id), { status: 'running' });
    assert.doesNotMatch((await job(id)).error ?? '', /memory/, 'what happened is for the log, not for people');
    assert.equal(await runFailing(), 0, 'it is left alone for a while');
    for (let tries = 1; tries < 5; tries++) {
      await expireLeases();
      await runFailing();
    }
    assert.partialDeepStrictEqual(await job(id), { status: 'failed' });
    assert.equal(faults.length, 5);

    const refused = await start(await stock(1));
    const refusing = kindOverItems(BATCH, async () => {
      throw new DomainError('not_found', 'The file is gone.');
    });
    await run({ kinds: { ...kinds, [RAISE]: refusing } });
    assert.partialDeepStrictEqual(await job(refused), { status: 'failed', error: 'The file is gone.' });
  });

  it('fail if their process dies five times at the same batch, and the jobs of others go on', async (t) => {
    const other = await world.dealer();
    const ids = await stock(2 * BATCH);
    const id = await start(ids);
    const otherIds = await stock(1, other);
    const end = Promise.withResolvers<never>();
    const dying: Promise<unknown>[] = [];
    t.after(async () => {
      end.reject(new Error('the test is over'));
      await Promise.all(dying);
    });
    /** A worker that claims the job and never comes back; then its lease runs out. */
    async function die(): Promise<void> {
      const begun = Promise.withResolvers<void>();
      const hanging = kindOverItems(BATCH, () => {
        begun.resolve();
        return end.promise;
      });
      dying.push(run({ kinds: { ...kinds, [RAISE]: hanging }, jobId: id, onFault: () => {} }));
      await begun.promise;
      await expireLeases();
    }
    for (let times = 0; times < 4; times++) await die();
    const stop = new AbortController();
    const once = kindOverItems(BATCH, async (...batch) => {
      stop.abort();
      return await raise.applyBatch(...batch);
    });
    await run({ kinds: { ...kinds, [RAISE]: once }, signal: stop.signal });
    assert.partialDeepStrictEqual(
      await job(id),
      { status: 'running', done: BATCH },
      'a batch that is done counts anew',
    );
    for (let times = 0; times < 5; times++) await die();
    const otherId = await start(otherIds, other);
    const faults: unknown[] = [];
    await run({ onFault: (error) => faults.push(error) });
    assert.partialDeepStrictEqual(await job(id), { status: 'failed', done: BATCH });
    assert.match(String(faults), /ended its process 5 times/);
    assert.partialDeepStrictEqual(await job(otherId, other), { status: 'done' });
    assert.deepEqual(await prices(ids), [...Array(BATCH).fill(1_001), ...Array(BATCH).fill(1_000)]);
  });

  it('of one dealer run one after the other, and dealers take turns batch by batch', async () => {
    const other = await world.dealer();
    const many = [await start(await stock(BATCH * 3)), await start(await stock(BATCH * 3))];
    const few = await start(await stock(BATCH * 2, other), other);
    const turns: string[] = [];
    const counting = kindOverItems(BATCH, async (...batch) => {
      turns.push(batch[2].id);
      return await raise.applyBatch(...batch);
    });
    await run({ kinds: { ...kinds, [RAISE]: counting } });
    const names = turns.map((id) => (id === few ? 'few' : `many ${many.indexOf(id)}`));
    assert.deepEqual(names.slice(0, 4), ['many 0', 'few', 'many 0', 'few']);
    assert.deepEqual(names.slice(4), ['many 0', 'many 1', 'many 1', 'many 1']);
  });

  it('of a dealer are so many at most until some are done', async () => {
    for (let index = 0; index < UNFINISHED_JOBS_LIMIT; index++) await start([]);
    await assertRefused(start([]), 'too_many_jobs');
    await run();
    await start([]);
    await run();
  });

  it('are listed newest first, and pruned long after their end', async () => {
    const first = await start([]);
    const second = await start([]);
    await run();
    const ids = async () =>
      (await listJobs(world.db, { organizationId: dealer.organizationId, from: null, limit: 10 })).map((one) => one.id);
    assert.deepEqual(await ids(), [second, first]);
    await world.db.query(sql`
      update stock_jobs set finished_at = now() - make_interval(days => ${JOB_KEPT_DAYS + 1}) where id = ${first}`);
    assert.equal(await pruneJobs(world.db), 1);
    assert.deepEqual(await ids(), [second]);
  });
});
