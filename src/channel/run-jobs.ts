import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { ChannelContext } from './context.ts';
import type { JobKind } from './job-queue.ts';
import { NEVER_SUPPRESSED, NO_CHANGE, refreshItems } from './refresh.ts';
import { finishRoll, renderBeside } from './roll.ts';

/** A batch holds the clock, which the integration's orders wait for; the pause between lets them pass. */
const BATCH_LIMIT = 100;
const PAUSE_MS = 5;
const LEASE_SECONDS = 30;

/** Runs jobs until none is left or the signal ends it; returns how many documents were projected. */
export async function runJobs(context: ChannelContext, signal?: AbortSignal, pauseMs = PAUSE_MS): Promise<number> {
  let projected = 0;
  while (!signal?.aborted) {
    const job = await claimJob(context);
    if (job === null) return projected;
    try {
      for (;;) {
        const batch = await runBatch(context, job);
        projected += batch.projected;
        if (batch.isFinished || signal?.aborted) break;
        await sleep(pauseMs);
      }
    } catch (error) {
      await release(context, job, error);
      throw error;
    }
  }
  return projected;
}

type ClaimedJob = { id: string; integrationId: string; kind: JobKind };

/** A job whose worker died is free again when its lease runs out. Changes that must be told go before re-rendering. */
async function claimJob(context: ChannelContext): Promise<ClaimedJob | null> {
  const [job] = await context.db.query<ClaimedJob>(sql`
    update channel_jobs set status = 'running', leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = (
      select id from channel_jobs
      where status in ('pending', 'running') and (leased_until is null or leased_until < now())
      order by kind = 'refresh' desc, created_at, id limit 1 for update skip locked)
    returning id, integration_id as "integrationId", kind`);
  return job ?? null;
}

async function runBatch(context: ChannelContext, job: ClaimedJob): Promise<{ projected: number; isFinished: boolean }> {
  const { isTold, ...result } = await context.db.transaction(async (tx) => {
    const [row] = await tx.query<{ position: string }>(sql`
      select position from channel_jobs where id = ${job.id} and status = 'running' for update`);
    if (row === undefined) return { projected: 0, isFinished: true, isTold: false };
    const itemIds = await nextItems(tx, job.integrationId, row.position);
    const isTold = itemIds.length > 0 && (await project(tx, context, job, itemIds));
    const isFinished = itemIds.length < BATCH_LIMIT;
    if (isFinished && job.kind === 'roll') await finishRoll(tx, context, job.integrationId);
    await tx.query(sql`
      update channel_jobs set
        position = ${itemIds.at(-1) ?? row.position}, done = done + ${itemIds.length},
        status = case when ${isFinished} then 'done' else 'running' end,
        finished_at = case when ${isFinished} then now() end,
        leased_until = case when ${isFinished} then null else now() + make_interval(secs => ${LEASE_SECONDS}) end,
        error = null
      where id = ${job.id}`);
    return { projected: itemIds.length, isFinished, isTold };
  });
  if (isTold) context.onEvents([job.integrationId]);
  return result;
}

/** Projects one batch; true if something was stamped. */
async function project(tx: Transaction, context: ChannelContext, job: ClaimedJob, itemIds: string[]): Promise<boolean> {
  if (job.kind === 'roll') {
    await renderBeside(tx, context, job.integrationId, itemIds);
    return false;
  }
  const { stamps } = await refreshItems(tx, context, {
    itemIds,
    integrationIds: [job.integrationId],
    change: NO_CHANGE,
    isSuppressed: NEVER_SUPPRESSED,
    isQuiet: job.kind === 'render',
  });
  return stamps.size > 0;
}

async function nextItems(tx: Transaction, integrationId: string, position: string): Promise<string[]> {
  const rows = await tx.query<{ item_id: string }>(sql`
    select d.item_id from channel_documents d
    where d.integration_id = ${integrationId}
      and d.api_version = (select api_version from integrations where id = ${integrationId})
      and d.item_id > ${position}
    order by d.item_id limit ${BATCH_LIMIT}`);
  return rows.map((row) => row.item_id);
}

/** Frees the job for another try, with the reason for whoever looks. */
async function release(context: ChannelContext, job: ClaimedJob, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  await context.db
    .query(sql`
      update channel_jobs set error = ${reason}, leased_until = now() + make_interval(secs => 5) where id = ${job.id}`)
    .catch(() => {});
}
