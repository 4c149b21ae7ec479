import { lockClocks } from '../../channel/clock.ts';
import { commitAndWake } from '../../channel/commit-and-wake.ts';
import type { ChannelContext } from '../../channel/context.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { BATCH_DONE, CLAIMED, IS_CLAIMABLE, JOB_DONE } from '../../db/jobs/job-lease.ts';
import { nextTurn, runLeasedJobs } from '../../db/jobs/run-leased-jobs.ts';
import { sql } from '../../db/sql.ts';
import { type DeletionStep, INTEGRATION_STEPS, ORGANIZATION_STEPS, rowsOfOwner } from './deletion-steps.ts';

const PAUSE_MS = 10;
/** A total that is shown need not be exact beyond this; a count reads every row. */
const COUNT_LIMIT = 200_000;

type Run = {
  context: ChannelContext;
  jobId: string;
  /** Whose open dashboards are told of the progress. */
  organizationId: string | null;
  /** What was being removed at the end of the turn before; null once that goes on. */
  resumedAt: string | null;
  pause: () => Promise<void>;
  onRemoved(rows: number): void;
};
type ClaimedDeletion = {
  id: string;
  organizationId: string | null;
  integrationId: string | null;
  total: number | null;
  stage: string;
};

/**
 * Removes what was deleted until nothing is left or the signal ends it; returns how many rows went. Any number of
 * workers may run it. Each batch is a transaction that also records its progress, and looks for what is left: an
 * interrupted job is resumed by running it again.
 */
export async function runDeletions(
  context: ChannelContext,
  signal?: AbortSignal,
  pauseMs: number = PAUSE_MS,
): Promise<number> {
  let removed = 0;
  const onRemoved = (rows: number) => {
    removed += rows;
  };
  await runLeasedJobs<ClaimedDeletion>(context.db, {
    table: 'deletion_jobs',
    claim: (served) => claimDeletion(context.db, served),
    run: async (job, pause) => {
      const { id: jobId, organizationId, stage: resumedAt } = job;
      await runDeletion({ context, jobId, organizationId, resumedAt, pause, onRemoved }, job);
    },
    pauseMs,
    signal,
  });
  return removed;
}

async function runDeletion(run: Run, job: ClaimedDeletion): Promise<void> {
  if (job.total === null) await countRows(run, job);
  if (job.integrationId !== null) {
    await removeIntegration(run, job.integrationId);
  } else {
    const organizationId = job.organizationId ?? '';
    for (;;) {
      const integrationId = await nextIntegration(run.context.db, organizationId);
      if (integrationId === null) break;
      await removeIntegration(run, integrationId);
    }
    await removeAll(run, ORGANIZATION_STEPS, organizationId, endOrganization);
  }
  await finish(run);
}

async function removeIntegration(run: Run, integrationId: string): Promise<void> {
  await run.context.db.transaction((tx) => detach(tx, integrationId));
  await removeAll(run, INTEGRATION_STEPS, integrationId, endIntegration);
}

type End = (tx: Transaction, ownerId: string) => Promise<boolean>;

/**
 * Step by step, from the one where the last turn ended, and once more from the start if something is left: a write that was on
 * its way has added it.
 */
async function removeAll(run: Run, steps: readonly DeletionStep[], ownerId: string, end: End): Promise<void> {
  for (;;) {
    const first = steps.findIndex(({ table }) => table === run.resumedAt);
    run.resumedAt = null;
    for (const step of steps.slice(Math.max(first, 0))) await removeStep(run, step, ownerId);
    if (await run.context.db.transaction((tx) => end(tx, ownerId))) return;
    await run.pause();
  }
}

async function removeStep(run: Run, step: DeletionStep, ownerId: string): Promise<void> {
  for (;;) {
    const batch = await commitAndWake(
      run.context,
      async (tx) => {
        const batch = await step.removeBatch(tx, run.context, ownerId);
        if (batch.removed > 0) await recordProgress(tx, run.jobId, step.table, batch.removed);
        return batch;
      },
      // A plan that was made for a small owner would read the whole table for a large one.
      { planning: 'by index' },
    );
    if (batch.removed === 0) return;
    run.onRemoved(batch.removed);
    notifyOfProgress(run);
    await run.pause();
  }
}

/** A transaction that projects onto the channel has the dealer until its commit, or finds none. */
async function detach(tx: Transaction, integrationId: string): Promise<void> {
  await lockClocks(tx, [integrationId]);
  await tx.query(sql`
    update integrations set organization_id = null where id = ${integrationId} and organization_id is not null`);
}

/** Under the clock no order can come in; a customer of an upsert on its way goes with the row. */
async function endIntegration(tx: Transaction, integrationId: string): Promise<boolean> {
  await lockClocks(tx, [integrationId]);
  if (await hasAny(tx, INTEGRATION_STEPS, integrationId)) return false;
  await tx.query(sql`delete from integrations where id = ${integrationId}`);
  return true;
}

async function endOrganization(tx: Transaction, organizationId: string): Promise<boolean> {
  await tx.query(sql`select id from organizations where id = ${organizationId} for update`);
  if (await hasAny(tx, ORGANIZATION_STEPS, organizationId)) return false;
  await tx.query(sql`delete from organizations where id = ${organizationId}`);
  return true;
}

async function hasAny(tx: Transaction, steps: readonly DeletionStep[], ownerId: string): Promise<boolean> {
  for (const step of steps) {
    const rows = await tx.query(sql`select 1 ${rowsOfOwner(step, ownerId)} limit 1`);
    if (rows.length > 0) return true;
  }
  return false;
}

async function nextIntegration(db: Queryable, organizationId: string): Promise<string | null> {
  const [row] = await db.query<{ id: string }>(sql`
    select id from integrations
    where organization_id = ${organizationId} or data_organization_id = ${organizationId} order by id limit 1`);
  return row?.id ?? null;
}

/** Counts the rows for the progress that is shown. If a count takes too long, it is given up. */
async function countRows({ context, jobId }: Run, job: ClaimedDeletion): Promise<void> {
  const { db } = context;
  const integrationIds =
    job.integrationId !== null
      ? [job.integrationId]
      : (
          await db.query<{ id: string }>(sql`
            select id from integrations
            where organization_id = ${job.organizationId} or data_organization_id = ${job.organizationId}`)
        ).map((row) => row.id);
  const counts = [
    ...integrationIds.flatMap((id) => INTEGRATION_STEPS.map((step) => ({ step, ownerId: id }))),
    ...(job.integrationId === null
      ? ORGANIZATION_STEPS.map((step) => ({ step, ownerId: job.organizationId ?? '' }))
      : []),
  ];
  let total = 0;
  for (const { step, ownerId } of counts) {
    const [row] = await db
      .query<{ count: number }>(sql`
        select count(*) from (select 1 ${rowsOfOwner(step, ownerId)} limit ${COUNT_LIMIT}) rows`)
      .catch(() => [{ count: COUNT_LIMIT }]);
    total += row?.count ?? 0;
  }
  await db.query(sql`
    update deletion_jobs set total = ${total}, ${BATCH_DONE}
    where id = ${jobId}`);
}

async function claimDeletion(db: Queryable, served: string[]): Promise<ClaimedDeletion | null> {
  const [job] = await db.query<ClaimedDeletion>(sql`
    update deletion_jobs set ${CLAIMED}
    where id = (
      select id from deletion_jobs
      where ${IS_CLAIMABLE}
      order by ${nextTurn(served, sql`coalesce(organization_id, id)`)}, created_at, id limit 1 for update skip locked)
    returning id, organization_id as "organizationId", integration_id as "integrationId", total, stage`);
  return job ?? null;
}

async function recordProgress(tx: Transaction, jobId: string, stage: string, removed: number): Promise<void> {
  await tx.query(sql`
    update deletion_jobs set done = done + ${removed}, stage = ${stage}, ${BATCH_DONE}
    where id = ${jobId}`);
}

function notifyOfProgress({ context, jobId, organizationId }: Run): void {
  if (organizationId !== null) context.notifyDashboards?.(organizationId, 'job', [jobId]);
}

async function finish(run: Run): Promise<void> {
  await run.context.db.query(sql`
    update deletion_jobs set ${JOB_DONE}, stage = '', finished_at = now()
    where id = ${run.jobId}`);
  notifyOfProgress(run);
}
