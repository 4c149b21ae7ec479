import type { Queryable } from '../database.ts';
import { rawSql, type Sql, sql } from '../sql.ts';

/**
 * The lease of persisted jobs, which run in batches. A worker claims a job with a lease and renews it with each batch. If
 * the worker dies, another one claims the job when the lease has run out. A table of jobs has the columns id, status
 * (`pending`, `running` or `done`), leased_until, error, created_at and finished_at.
 *
 * A lease need not outlast a batch that waits for a lock: if two workers have one job, they alternate, and each batch
 * is done by one of them. Jobs on stock must not, so they have a lease with a fencing token of their own
 * (inventory/jobs/run-stock-jobs.ts).
 */
const LEASE_SECONDS = 5;
/** How long a job that failed waits for its next try. */
const FAULT_PAUSE_SECONDS = 5;
/** How long a job rests whose locks somebody else holds. Its dealer's other jobs, and those of others, go on. */
export const LOCKED_PAUSE_SECONDS = 0.5;
const PRUNE_LIMIT = 1_000;

/** How often workers look for finished jobs to prune. */
export const PRUNE_JOBS_EVERY_MS = 60 * 60_000;

/** `where` a job can be claimed. */
export const IS_CLAIMABLE: Sql = sql`status in ('pending', 'running') and (leased_until is null or leased_until < now())`;

/** The value of leased_until when a job is claimed, and after each batch. */
export const LEASE_END: Sql = sql`now() + make_interval(secs => ${LEASE_SECONDS})`;

/** Frees a running job, which another worker may then claim at once. */
export async function releaseJob(db: Queryable, table: string, jobId: string): Promise<void> {
  await free(db, table, jobId, null, 0);
}

/** Frees a job whose locks somebody else holds, for another try soon. */
export async function setJobAside(db: Queryable, table: string, jobId: string): Promise<void> {
  await free(db, table, jobId, null, LOCKED_PAUSE_SECONDS);
}

/** Frees a job that failed for another try, and records the reason. */
export async function releaseFailedJob(db: Queryable, table: string, jobId: string, error: unknown): Promise<void> {
  await free(db, table, jobId, error instanceof Error ? error.message : String(error), FAULT_PAUSE_SECONDS);
}

async function free(
  db: Queryable,
  table: string,
  jobId: string,
  error: string | null,
  pauseSeconds: number,
): Promise<void> {
  const statement = sql`
    update ${rawSql(table)} set status = 'pending', error = ${error},
      leased_until = now() + make_interval(secs => ${pauseSeconds})
    where id = ${jobId} and status = 'running'`;
  // If even this fails, the lease runs out by itself.
  await db.query(statement).catch(() => {});
}

/** How long jobs are shown after their end. */
export const FINISHED_JOB_KEPT_DAYS = 30;

/** Deletes some of the jobs that finished long ago; returns how many. */
export async function pruneFinishedJobs(db: Queryable, table: string): Promise<number> {
  const jobs = rawSql(table);
  const rows = await db.query(sql`
    delete from ${jobs} where id in (
      select id from ${jobs} where finished_at < now() - make_interval(days => ${FINISHED_JOB_KEPT_DAYS})
      order by finished_at limit ${PRUNE_LIMIT})
    returning id`);
  return rows.length;
}
