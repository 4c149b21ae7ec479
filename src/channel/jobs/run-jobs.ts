import type { Transaction } from '../../db/database.ts';
import { IS_CLAIMABLE, LEASE_END } from '../../db/jobs/job-lease.ts';
import { pauseUnlessStopped, runLeasedJobs } from '../../db/jobs/run-leased-jobs.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { lockClocks } from '../clock.ts';
import { commitAndWake } from '../commit-and-wake.ts';
import type { ChannelContext } from '../context.ts';
import { projectItems } from '../projection/project-items.ts';
import { finishRoll, isRolling, removeOldVersion } from '../roll-version.ts';
import type { JobKind } from './job-queue.ts';
import { checkAgain, type ReadAhead, readAhead } from './read-ahead.ts';

/**
 * A batch holds the clock, which the integration's orders wait for: half of its time is what an order waits for it. Between
 * two batches whoever waits has its turn, since the server serves a lock in the order of those who ask for it; the pause is
 * for the requests that the process has to read meanwhile.
 *
 * While a batch is written, the next one is read and rendered in a transaction of its own (`read-ahead.ts`), so that the
 * clock is held for little more than the writing.
 */
export const BATCH_LIMIT = 50;
const PAUSE_MS = 1;

/** Runs jobs until none is left or the signal ends it; returns how many documents were projected. */
export async function runJobs(context: ChannelContext, signal?: AbortSignal, pauseMs = PAUSE_MS): Promise<number> {
  let projected = 0;
  async function run(job: ClaimedJob): Promise<void> {
    let batch = openBatch(context, job, null);
    for (;;) {
      batch.proceed();
      const last = await batch.last;
      const next = last === null || job.kind !== 'refresh' ? null : openBatch(context, job, last);
      try {
        const result = await batch.done;
        projected += result.projected;
        if (result.isFinished) return await next?.abandon();
        await pauseUnlessStopped(pauseMs, signal);
        if (next === null || next.hasFailed() || result.position !== last) {
          await next?.abandon();
          batch = openBatch(context, job, null);
        } else batch = next;
      } catch (error) {
        await next?.abandon();
        throw error;
      }
    }
  }
  await runLeasedJobs<ClaimedJob>(context.db, { table: 'channel_jobs', claim: () => claimJob(context), run, signal });
  return projected;
}

type ClaimedJob = { id: string; integrationId: string; kind: JobKind };

/**
 * Changes that must be announced go before re-rendering. The jobs of a detached channel wait: without its dealer nothing
 * can be projected.
 */
async function claimJob(context: ChannelContext): Promise<ClaimedJob | null> {
  const [job] = await context.db.query<ClaimedJob>(sql`
    update channel_jobs set status = 'running', leased_until = ${LEASE_END}
    where id = (
      select j.id from channel_jobs j
      where ${IS_CLAIMABLE}
        and exists (select from integrations i where i.id = j.integration_id and i.organization_id is not null)
      order by j.kind = 'refresh' desc, j.created_at, j.id limit 1 for update skip locked)
    returning id, integration_id as "integrationId", kind`);
  return job ?? null;
}

/** A batch on its way. One that is read ahead waits until it may take the clock. */
type OpenBatch = {
  /** The last of its items as soon as that is known, if another batch may follow; else null. */
  last: Promise<string | null>;
  proceed(): void;
  /** Ends its transaction, if it still waits. */
  abandon(): Promise<void>;
  /** True if it failed before it had the clock: then it is done anew. */
  hasFailed(): boolean;
  done: Promise<BatchResult>;
};

/** The position is where the next batch begins; null if that has to be looked up. */
type BatchResult = { projected: number; isFinished: boolean; position: string | null };

/** Begins a batch behind an item, read ahead; or where the job stands, with everything under the clock. */
function openBatch(context: ChannelContext, job: ClaimedJob, after: string | null): OpenBatch {
  const turn = Promise.withResolvers<void>();
  const last = Promise.withResolvers<string | null>();
  let hasFailed = false;
  // Nobody may be waiting when it is abandoned.
  turn.promise.catch(() => {});
  async function run(): Promise<BatchResult> {
    const {
      organizationId,
      touched: _,
      ...result
    } = await commitAndWake(
      context,
      async (tx) => {
        const ahead = after === null ? null : await readNext(tx, context, job, after);
        if (ahead !== null) last.resolve(lastOf(ahead.itemIds));
        await turn.promise;
        return await writeBatch(tx, context, job, after, ahead, (itemIds) => last.resolve(lastOf(itemIds)));
      },
      { planning: 'once' },
    );
    if (organizationId !== null) context.announceChange?.(organizationId, 'job', [job.id]);
    return result;
  }
  const done = run();
  done
    .catch(() => {
      hasFailed = true;
    })
    .finally(() => last.resolve(null));
  return {
    last: last.promise,
    proceed: () => turn.resolve(),
    hasFailed: () => hasFailed,
    async abandon() {
      turn.reject(new Error('the batch is not wanted any more'));
      await done.catch(() => {});
    },
    done,
  };
}

function lastOf(itemIds: string[]): string | null {
  return itemIds.length < BATCH_LIMIT ? null : (itemIds.at(-1) ?? null);
}

async function readNext(
  tx: Transaction,
  context: ChannelContext,
  { integrationId }: ClaimedJob,
  after: string,
): Promise<ReadAhead> {
  const itemIds = await nextItems(tx, integrationId, sql`${after}::text`);
  return await readAhead(tx, context, integrationId, itemIds);
}

type Written = BatchResult & { touched: string[]; organizationId: string | null };

async function writeBatch(
  tx: Transaction,
  context: ChannelContext,
  job: ClaimedJob,
  after: string | null,
  ahead: ReadAhead | null,
  onItems: (itemIds: string[]) => void,
): Promise<Written> {
  const { integrationId } = job;
  const [clocks, [row], organizationId, itemIds, sources] = await Promise.all([
    // The clock before the job: a roll locks them in this order, too.
    lockClocks(tx, [integrationId]),
    tx.query<{ position: string }>(sql`
      select position from channel_jobs where id = ${job.id} and status = 'running' for update`),
    // Under the clock, which a detachment takes as well: it can't come between here and the end of a roll.
    organizationOf(tx, integrationId),
    ahead?.itemIds ?? nextItems(tx, integrationId, sql`(select position from channel_jobs where id = ${job.id})`),
    ahead === null ? null : checkAgain(tx, context, integrationId, ahead),
  ]);
  const clock = clocks.get(integrationId);
  if (row === undefined || clock === undefined) return NOTHING_DONE;
  if (organizationId === null) {
    await tx.query(sql`update channel_jobs set status = 'pending', leased_until = null where id = ${job.id}`);
    return NOTHING_DONE;
  }
  // A change of settings made the job start over, or another worker has done this batch.
  if (after !== null && row.position !== after) return START_OVER;

  if (job.kind === 'roll' && !(await isRolling(tx, integrationId))) {
    const isFinished = await removeOldVersion(tx, integrationId);
    recordProgress(tx, job, { position: row.position, done: 0, isFinished });
    return { projected: 0, isFinished, position: null, touched: [], organizationId };
  }

  onItems(itemIds);
  const { stamps } = await projectItems(tx, context, {
    itemIds,
    integrationIds: [integrationId],
    clocks,
    ...(sources === null ? {} : { sources }),
    mode: job.kind === 'refresh' ? 'announce' : 'rerender',
  });
  const isProjected = itemIds.length < BATCH_LIMIT;
  if (isProjected && job.kind === 'roll') await finishRoll(tx, integrationId, stamps.get(integrationId) ?? clock);
  // A roll still has to remove the documents of the old version.
  const isFinished = isProjected && job.kind !== 'roll';
  const position = itemIds.at(-1) ?? row.position;
  recordProgress(tx, job, { position, done: itemIds.length, isFinished });
  return { projected: itemIds.length, isFinished, position, touched: [...stamps.keys()], organizationId };
}

function recordProgress(
  tx: Transaction,
  job: ClaimedJob,
  { position, done, isFinished }: { position: string; done: number; isFinished: boolean },
): void {
  tx.defer(sql`
    update channel_jobs set
      position = ${position}, done = done + ${done},
      status = case when ${isFinished} then 'done' else 'running' end,
      finished_at = case when ${isFinished} then now() end,
      leased_until = case when ${isFinished} then null else ${LEASE_END} end,
      error = null
    where id = ${job.id}`);
}

const NOTHING_DONE: Written = { projected: 0, isFinished: true, position: null, touched: [], organizationId: null };
const START_OVER: Written = { ...NOTHING_DONE, isFinished: false };

/** Null while it is detached. */
async function organizationOf(tx: Transaction, integrationId: string): Promise<string | null> {
  const [row] = await tx.query<{ organizationId: string | null }>(sql`
    select organization_id as "organizationId" from integrations where id = ${integrationId}`);
  return row?.organizationId ?? null;
}

/**
 * What is or was published, and what still has a document though its item is gone, as after a deletion while the channel
 * was detached. Not the documents alone: one that is missing would never come back.
 */
async function nextItems(tx: Transaction, integrationId: string, position: Sql): Promise<string[]> {
  const rows = await tx.query<{ item_id: string }>(sql`
    (select item_id from publications
      where integration_id = ${integrationId} and item_id > ${position} order by item_id limit ${BATCH_LIMIT})
    union
    (select item_id from channel_documents
      where integration_id = ${integrationId} and item_id > ${position}
        and api_version = (select api_version from integrations where id = ${integrationId})
      order by item_id limit ${BATCH_LIMIT})
    order by item_id limit ${BATCH_LIMIT}`);
  return rows.map((row) => row.item_id);
}
