import type { Queryable } from '../database.ts';
import { rawSql, type Sql, sql } from '../sql.ts';

/**
 * The lease of persisted jobs, which run in batches. A worker claims a job with a lease and renews it with each batch. If
 * the worker dies, another one claims the job when the lease has run out. A table of jobs has the columns id, status
 * (`pending`, `running` or `done`), leased_until, attempts, error, created_at and finished_at.
 *
 * A claim counts as an attempt until a batch is committed. Whoever frees a job takes its attempt back, so what is left are workers
 * that died in a row, at the same batch: it may be the batch that ends the process, as by its memory. These jobs have to be done
 * sooner or later, so they never fail: after some attempts they rest, for hours.
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

/** So many workers may die in a row before the job rests. */
export const ATTEMPTS_LIMIT = 5;
/** The first rest is an hour, each further one twice as long, up to a day. */
const REST_LIMIT_HOURS = 24;
const REST: Sql = sql`case when attempts < ${ATTEMPTS_LIMIT} then interval '0'
  else make_interval(hours => least(power(2, least(attempts, 100) - ${ATTEMPTS_LIMIT}), ${REST_LIMIT_HOURS})::integer) end`;

/** `where` a job can be claimed. */
export const IS_CLAIMABLE: Sql = sql`status in ('pending', 'running')
  and (leased_until is null or leased_until + ${REST} < now())`;

const LEASE_END: Sql = sql`now() + make_interval(secs => ${LEASE_SECONDS})`;
const DIED = 'The process that ran it ended before it was done.';

/** What is `set` when a job is claimed. */
export const CLAIMED: Sql = sql`status = 'running', leased_until = ${LEASE_END}, attempts = attempts + 1,
  error = case when attempts > 0 then ${DIED} else error end`;

/** What is `set` with each batch. */
export const BATCH_DONE: Sql = sql`leased_until = ${LEASE_END}, attempts = 0, error = null`;

/** What is `set` with the last batch. */
export const JOB_DONE: Sql = sql`status = 'done', leased_until = null, attempts = 0, error = null`;

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
  // Not "now" without a pause: the column rounds that up to the next millisecond, in which nobody could claim it.
  const statement = sql`
    update ${rawSql(table)} set status = 'pending', error = ${error}, attempts = greatest(attempts - 1, 0),
      leased_until = ${pauseSeconds === 0 ? null : sql`now() + make_interval(secs => ${pauseSeconds})`}
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
