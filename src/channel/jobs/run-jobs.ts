import type { Transaction } from '../../db/database.ts';
import { BATCH_DONE, CLAIMED, IS_CLAIMABLE, JOB_DONE } from '../../db/jobs/job-lease.ts';
import { nextTurn, runLeasedJobs } from '../../db/jobs/run-leased-jobs.ts';
import { sql } from '../../db/sql.ts';
import { storageCounter } from '../../quota/storage-usage.ts';
import { lockClocks } from '../clock.ts';
import { commitAndWake } from '../commit-and-wake.ts';
import type { ChannelContext } from '../context.ts';
import { projectItems, readSources, type SourceRows } from '../projection/project-items.ts';
import { type PriceRows, readPriceRows, repriceItems } from '../projection/reprice-items.ts';
import { finishRoll, isRolling, removeOldVersion } from '../roll-version.ts';
import { type BatchSize, createBatchSize } from './batch-size.ts';
import { changesPricesAlone, type JobKind, RATE_REASON } from './channel-job-queue.ts';

/**
 * Between two batches whoever waits for the clock has its turn, since the server serves a lock in the order of those who ask for
 * it; the pause is for the requests that the process has to read meanwhile.
 */
const PAUSE_MS = 1;
/** As many items are looked for as a batch and the next one have, which may be larger by half. */
const WITH_NEXT = 3;
/**
 * How long a batch holds the clock after it has read what it is made of, which takes about half as long again. An order takes
 * two to three times its quiet time then.
 */
const HELD_MS = 12;
/** Of documents that are rendered, and of those whose prices alone change. */
export const RENDERED_LIMITS = { first: 32, least: 16, most: 64 };
export const PRICED_LIMITS = { first: 48, least: 24, most: 128 };

export type BatchSizes = { rendered: BatchSize; priced: BatchSize };

/** Runs jobs until none is left or the signal ends it; returns how many documents were projected. */
export async function runJobs(
  context: ChannelContext,
  signal?: AbortSignal,
  pauseMs = PAUSE_MS,
  sizes: BatchSizes = {
    rendered: createBatchSize(RENDERED_LIMITS, HELD_MS),
    priced: createBatchSize(PRICED_LIMITS, HELD_MS),
  },
): Promise<number> {
  let projected = 0;
  async function run(claimed: ClaimedJob, pause: () => Promise<void>): Promise<void> {
    let job = claimed;
    for (let expected: string[] = []; ; ) {
      const batch = await runBatch(context, sizes, job, expected);
      expected = batch.next;
      // Another setting that changed meanwhile is one more reason.
      job = { ...job, reasons: batch.reasons };
      projected += batch.projected;
      if (batch.isFinished) return;
      await pause();
    }
  }
  const claim = (served: string[]) => claimJob(context, served);
  await runLeasedJobs<ClaimedJob>(context.db, { table: 'channel_jobs', claim, run, pauseMs, signal });
  return projected;
}

type ClaimedJob = { id: string; integrationId: string; organizationId: string; kind: JobKind; reasons: string[] };

/**
 * Changes that must be announced go before re-rendering. The jobs of a detached channel wait: without its dealer nothing can be
 * projected.
 */
async function claimJob(context: ChannelContext, served: string[]): Promise<ClaimedJob | null> {
  const [job] = await context.db.query<ClaimedJob>(sql`
    update channel_jobs set ${CLAIMED}
    where id = (
      select j.id from channel_jobs j join integrations i on i.id = j.integration_id
      where ${IS_CLAIMABLE} and i.organization_id is not null
      order by ${nextTurn(served, sql`i.organization_id`)}, j.kind = 'refresh' desc, j.created_at, j.id
      limit 1 for update of j skip locked)
    returning id, integration_id as "integrationId", kind, reasons,
      (select organization_id from integrations i where i.id = integration_id) as "organizationId"`);
  return job ?? null;
}

type BatchResult = {
  projected: number;
  isFinished: boolean;
  /** Of the job, as they were under its lock. */
  reasons: string[];
  /** The items of the next batch, unless something changes until then. */
  next: string[];
};

/**
 * What the items that are expected are made of is read in the round trip that takes the lock, so that the lock is held for a
 * shorter time. If the batch turns out to be another one, it was read in vain.
 */
async function runBatch(
  context: ChannelContext,
  sizes: BatchSizes,
  claimed: ClaimedJob,
  expected: string[],
): Promise<BatchResult> {
  const { integrationId } = claimed;
  let job = claimed;
  let heldAt = 0;
  const { organizationId, projected, isFinished, left } = await commitAndWake(
    isDealers(claimed) ? countedChannel(context, integrationId) : context,
    async (tx) => {
      const [clocks, [row], organizationId, coming, read] = await Promise.all([
        // The clock before the job: a roll locks them in this order, too.
        lockClocks(tx, [integrationId]),
        tx.query<{ position: string; reasons: string[] }>(sql`
        select position, reasons from channel_jobs where id = ${claimed.id} and status = 'running' for update`),
        // Under the clock, which a detachment takes as well: it can't come between here and the end of a roll.
        organizationOf(tx, integrationId),
        nextItems(tx, claimed, WITH_NEXT * sizeOf(sizes, claimed).documents()),
        expected.length === 0 ? {} : readBatch(tx, context, claimed, expected),
      ]);
      job = { ...claimed, reasons: row?.reasons ?? claimed.reasons };
      heldAt = performance.now();
      const limit = sizeOf(sizes, job).documents();
      const itemIds = coming.slice(0, limit);
      const isExpected = itemIds.length === expected.length && itemIds.every((id, index) => id === expected[index]);
      const clock = clocks.get(integrationId);
      if (row === undefined || clock === undefined) return NOTHING_DONE;
      if (organizationId === null) {
        await tx.query(sql`
          update channel_jobs set status = 'pending', leased_until = null, attempts = 0 where id = ${job.id}`);
        return NOTHING_DONE;
      }

      if (job.kind === 'roll' && !(await isRolling(tx, integrationId))) {
        const isFinished = await removeOldVersion(tx, integrationId);
        recordProgress(tx, job, { position: row.position, done: 0, isFinished });
        return { ...NOTHING_DONE, isFinished, organizationId };
      }

      const rows = isExpected ? read : {};
      const { stamps, done } = await projectBatch(tx, context, job, {
        itemIds,
        clocks,
        projectedLimit: sizes.rendered.documents(),
        ...rows,
      });
      const isProjected = done.length === itemIds.length && itemIds.length < limit;
      if (isProjected && job.kind === 'roll') await finishRoll(tx, integrationId, stamps.get(integrationId) ?? clock);
      // A roll still has to remove the documents of the old version.
      const isFinished = isProjected && job.kind !== 'roll';
      recordProgress(tx, job, { position: done.at(-1) ?? row.position, done: done.length, isFinished });
      const left = coming.slice(done.length);
      return { projected: done.length, isFinished, left, touched: [...stamps.keys()], organizationId };
    },
    { planning: 'once' },
  );
  const size = sizeOf(sizes, job);
  size.note(projected, performance.now() - heldAt);
  if (organizationId !== null) context.notifyDashboards?.(organizationId, 'job', [job.id]);
  return { projected, isFinished, reasons: job.reasons, next: left.slice(0, size.documents()) };
}

function sizeOf({ rendered, priced }: BatchSizes, job: ClaimedJob): BatchSize {
  return changesPricesAlone(job) ? priced : rendered;
}

/** What a batch is made of: all that its documents show, or their prices. */
type BatchRows = { sources?: SourceRows; priceRows?: PriceRows };

async function readBatch(
  tx: Transaction,
  context: ChannelContext,
  job: ClaimedJob,
  itemIds: string[],
): Promise<BatchRows> {
  const { integrationId } = job;
  if (changesPricesAlone(job)) return { priceRows: await readPriceRows(tx, context, integrationId, itemIds) };
  return { sources: await readSources(tx, context, [integrationId], itemIds) };
}

/** Answers with the stamps of what it changed, and with the items that are done. */
async function projectBatch(
  tx: Transaction,
  context: ChannelContext,
  job: ClaimedJob,
  { projectedLimit, ...batch }: BatchRows & { itemIds: string[]; clocks: Map<string, Date>; projectedLimit: number },
): Promise<{ stamps: Map<string, Date>; done: string[] }> {
  const { integrationId } = job;
  if (changesPricesAlone(job)) {
    return await repriceItems(tx, context, { integrationId, projectedLimit, ...batch });
  }
  const mode = job.kind === 'refresh' ? 'announce' : 'rerender';
  const { stamps } = await projectItems(tx, context, { integrationIds: [integrationId], ...batch, mode });
  return { stamps, done: batch.itemIds };
}

/** A setting of the dealer changed; not the operator's rates, and not the release. */
function isDealers({ kind, reasons }: ClaimedJob): boolean {
  return kind === 'refresh' && reasons.some((reason) => !reason.startsWith(RATE_REASON));
}

/** Counts the documents and events as the dealer's, but never refuses them: half of a channel would be out of date. */
function countedChannel(context: ChannelContext, ofIntegration: string): ChannelContext {
  const { countedDb } = storageCounter(context.db, { ofIntegration }, context.now);
  return { ...context, db: countedDb(context.db) };
}

function recordProgress(
  tx: Transaction,
  job: ClaimedJob,
  { position, done, isFinished }: { position: string; done: number; isFinished: boolean },
): void {
  tx.defer(sql`
    update channel_jobs set
      position = ${position}, done = done + ${done}, ${isFinished ? sql`${JOB_DONE}, finished_at = now()` : BATCH_DONE}
    where id = ${job.id}`);
}

const NOTHING_DONE = { projected: 0, isFinished: true, left: [], touched: [], organizationId: null };

/** Null while it is detached. */
async function organizationOf(tx: Transaction, integrationId: string): Promise<string | null> {
  const [row] = await tx.query<{ organizationId: string | null }>(sql`
    select organization_id as "organizationId" from integrations where id = ${integrationId}`);
  return row?.organizationId ?? null;
}

/**
 * The items of a batch and of the next one: what is or was published, and what still has a document though its item is gone, as
 * after a deletion while the channel was detached. Not the documents alone: one that is missing would never come back.
 */
async function nextItems(tx: Transaction, { id, integrationId }: ClaimedJob, limit: number): Promise<string[]> {
  const position = sql`(select position from channel_jobs where id = ${id})`;
  const rows = await tx.query<{ item_id: string }>(sql`
    (select item_id from publications
      where integration_id = ${integrationId} and item_id > ${position} order by item_id limit ${limit})
    union
    (select item_id from channel_documents
      where integration_id = ${integrationId} and item_id > ${position}
        and api_version = (select api_version from integrations where id = ${integrationId})
      order by item_id limit ${limit})
    order by item_id limit ${limit}`);
  return rows.map((row) => row.item_id);
}
