import type { Actor } from '../../audit/actor.ts';
import { FAILED_JOB_DAYS, UNDO_LIMIT_DAYS, UNFINISHED_JOBS_LIMIT } from '../../contract/dashboard/limits.ts';
import { type CappedCount, COUNT_LIMIT, cappedCount } from '../../contract/dashboard/list.ts';
import type { StockJobKindName, StockJobStatus } from '../../contract/dashboard/stock/jobs.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Attempt } from '../../db/attempts.ts';
import {
  type Database,
  inTransaction,
  type Queryable,
  sqlState,
  type Transaction,
  UNIQUE_VIOLATION,
} from '../../db/database.ts';
import { rawSql, type Sql, sql } from '../../db/sql.ts';
import { isAtLimit, lockCount, stockJobsOf } from '../../dealers/row-limit.ts';
import { newId } from '../../ids/new-id.ts';

/** Longer than a job can be undone. */
export const JOB_KEPT_DAYS = 90;
const PRUNE_LIMIT = 100;

export type NewJob = {
  organizationId: string;
  kind: StockJobKindName;
  /** What people read in the list, such as "Import of stock.csv". */
  title: string;
  parameters: Record<string, unknown>;
  /** Whether its changes can be taken back for UNDO_LIMIT_DAYS. */
  isUndoable: boolean;
  total?: number;
  undoes?: string;
  /** The attempt to queue it, which `onlyOnce` looks for. */
  attempt?: Attempt | undefined;
};

/** A job as people see it. */
export type JobRow = {
  id: string;
  kind: StockJobKindName;
  title: string;
  actor: Actor;
  parameters: Record<string, unknown>;
  status: StockJobStatus;
  total: number | null;
  done: number;
  counts: Record<string, number>;
  error: string | null;
  errorCount: number;
  canUndo: boolean;
  undoUntil: Date | null;
  undoes: string | null;
  undoneBy: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** The time as the database writes it: what a page goes on from. */
  sortValue: string;
};

/** Queues a job, which a worker begins within a second. Returns its id. */
export async function startJob(db: Database | Transaction, actor: Actor, job: NewJob): Promise<string> {
  const id = newId('job');
  const { organizationId, kind, title, isUndoable, total = null, undoes = null, attempt } = job;
  const unfinished = sql`
    select from stock_jobs where organization_id = ${organizationId} and status in ('queued', 'running')`;
  return await inTransaction(db, async (tx) => {
    await lockCount(tx, stockJobsOf(organizationId));
    if (await isAtLimit(tx, { rows: unfinished, limit: UNFINISHED_JOBS_LIMIT })) {
      const message = `${UNFINISHED_JOBS_LIMIT} jobs are waiting or running already. Wait for some of them, or cancel them.`;
      throw new DomainError('too_many_jobs', message);
    }
    await tx.query(sql`
      insert into stock_jobs (id, organization_id, kind, title, actor, parameters, is_undoable, total, undoes,
        attempt, attempt_fingerprint)
      values (${id}, ${organizationId}, ${kind}, ${title}, ${JSON.stringify(actor)}::jsonb,
        ${JSON.stringify(job.parameters)}::jsonb, ${isUndoable}, ${total}::integer, ${undoes}, ${attempt?.name ?? null},
        ${attempt?.fingerprint ?? null})`);
    return id;
  });
}

export type JobFilter = {
  organizationId: string;
  kind?: StockJobKindName;
  status?: StockJobStatus;
  /** Words of the title. */
  search?: string;
};
export type JobPage = JobFilter & {
  from: { position: { value: string | null; id: string }; isBackwards: boolean } | null;
  limit: number;
};

/** One page of a dealer's jobs, newest first. */
export async function listJobs(db: Queryable, page: JobPage): Promise<JobRow[]> {
  const isBackwards = page.from?.isBackwards ?? false;
  const direction = rawSql(isBackwards ? 'asc' : 'desc');
  const position = page.from?.position ?? null;
  const behind =
    position === null
      ? sql`true`
      : sql`(j.created_at, j.id) ${rawSql(isBackwards ? '>' : '<')} (${position.value}::timestamptz, ${position.id})`;
  const rows = await db.query<JobRow>(sql`
    select ${JOB_COLUMNS} from stock_jobs j where ${conditionOf(page)} and ${behind}
    order by j.created_at ${direction}, j.id ${direction} limit ${page.limit}`);
  return isBackwards ? rows.reverse() : rows;
}

export async function countJobs(db: Queryable, filter: JobFilter): Promise<CappedCount> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::integer as count from (
      select from stock_jobs j where ${conditionOf(filter)} limit ${COUNT_LIMIT + 1}) counted`);
  const count = row?.count ?? 0;
  return cappedCount(count, COUNT_LIMIT);
}

/** How many jobs of a dealer failed lately. */
export async function countFailedJobs(db: Queryable, organizationId: string, limit: number): Promise<number> {
  const rows = await db.query(sql`
    select j.id from stock_jobs j
    where ${conditionOf({ organizationId, status: 'failed' })} and j.created_at > now() - make_interval(days => ${FAILED_JOB_DAYS})
    limit ${limit}`);
  return rows.length;
}

export async function findJob(db: Queryable, organizationId: string, jobId: string): Promise<JobRow> {
  const [row] = await db.query<JobRow>(sql`
    select ${JOB_COLUMNS} from stock_jobs j where j.id = ${jobId} and j.organization_id = ${organizationId}`);
  if (row === undefined) throw new DomainError('not_found', 'There is no such job.');
  return row;
}

/** They are numbered from one: counting 20,000 of each job on a page took 7 s of a processor while they were new. */
const ERROR_COUNT = sql`coalesce((select max(e.number) from stock_job_errors e where e.job_id = j.id), 0)`;

/** The undo that took a job back, or is about to. */
const UNDONE_BY = sql`(select u.id from stock_jobs u
  where u.undoes = j.id and u.status in ('queued', 'running', 'done') limit 1)`;

const JOB_COLUMNS = sql`j.id, j.kind, j.title, j.actor, j.parameters, j.status, j.total, j.done, j.counts, j.error,
  ${ERROR_COUNT} as "errorCount",
  j.is_undoable and j.audit_id is not null and j.finished_at > now() - make_interval(days => ${UNDO_LIMIT_DAYS})
    and ${UNDONE_BY} is null as "canUndo",
  case when j.is_undoable and j.audit_id is not null
    then j.finished_at + make_interval(days => ${UNDO_LIMIT_DAYS}) end as "undoUntil",
  j.undoes, ${UNDONE_BY} as "undoneBy", j.created_at as "createdAt", j.started_at as "startedAt",
  j.finished_at as "finishedAt", j.created_at::text as "sortValue"`;

function conditionOf(filter: JobFilter): Sql {
  const conditions = [sql`j.organization_id = ${filter.organizationId}`];
  if (filter.kind !== undefined) conditions.push(sql`j.kind = ${filter.kind}`);
  if (filter.status !== undefined) conditions.push(sql`j.status = ${filter.status}`);
  if (filter.search !== undefined) conditions.push(sql`strpos(lower(j.title), lower(${filter.search})) > 0`);
  return conditions.reduce((all, one) => sql`${all} and ${one}`);
}

export type JobErrorRow = {
  number: number;
  line: number | null;
  itemId: string | null;
  stockNumber: string | null;
  field: string | null;
  message: string;
};

/** The errors of a job in their order, behind a number. */
export async function listJobErrors(
  db: Queryable,
  organizationId: string,
  jobId: string,
  { after, limit }: { after: number; limit: number },
): Promise<JobErrorRow[]> {
  return await db.query<JobErrorRow>(sql`
    select number, line, item_id as "itemId", stock_number as "stockNumber", field, message from stock_job_errors
    where job_id = ${jobId} and organization_id = ${organizationId} and number > ${after}
    order by number limit ${limit}`);
}

/**
 * Cancels a job that waits or runs. The fencing token is raised, so the batch under way is rolled back; earlier batches
 * stay.
 */
export async function cancelJob(db: Queryable, organizationId: string, jobId: string): Promise<void> {
  const [row] = await db.query<{ id: string }>(sql`
    update stock_jobs set status = 'cancelled', fence = fence + 1, leased_until = null, finished_at = clock_timestamp()
    where id = ${jobId} and organization_id = ${organizationId} and status in ('queued', 'running')
    returning id`);
  if (row !== undefined) return;
  await findJob(db, organizationId, jobId);
  throw new DomainError('wrong_status', 'This job has ended already.');
}

/** The options of an undo. People who may not set cost prices can't undo a change of them either. */
export type UndoParameters = { jobId: string; isCostAllowed: boolean };

/** Queues another job that undoes this one. Values that have changed since are left alone. */
export async function undoJob(
  db: Database,
  actor: Actor,
  organizationId: string,
  jobId: string,
  { isCostAllowed }: { isCostAllowed: boolean },
): Promise<string> {
  const job = await findJob(db, organizationId, jobId);
  if (job.undoneBy !== null) throw alreadyUndone();
  if (!job.canUndo) throw new DomainError('wrong_status', whyNot(job));
  const refusal = undoRefusal(actor, job);
  if (refusal !== null) throw new DomainError('not_allowed', refusal);
  const parameters: UndoParameters = { jobId, isCostAllowed };
  const undo: NewJob = {
    organizationId,
    kind: 'undo',
    title: `Undo: ${job.title}`,
    parameters,
    isUndoable: false,
    undoes: jobId,
  };
  try {
    return await startJob(db, actor, undo);
  } catch (error) {
    // A colleague has already started the undo.
    if (sqlState(error) === UNIQUE_VIOLATION) throw alreadyUndone();
    throw error;
  }
}

/**
 * Why somebody may not undo a job that can be undone; null if they may. The undo of an import deletes for ever what it created,
 * and only owners do that to what others have made.
 */
export function undoRefusal(actor: Actor, { actor: starter }: Pick<JobRow, 'actor'>): string | null {
  if (actor.kind !== 'person' || actor.role === 'owner') return null;
  if (starter.kind === 'person' && starter.userId === actor.userId) return null;
  return 'Only owners and the person who started this job can undo it.';
}

function alreadyUndone(): DomainError {
  return new DomainError('wrong_status', 'This job is undone already.');
}

function whyNot(job: JobRow): string {
  if (job.finishedAt === null) return 'This job has not ended yet. Cancel it first.';
  if (job.undoUntil === null) return 'This job changed nothing that could be undone.';
  return `A job can be undone for ${UNDO_LIMIT_DAYS} days. This one ended longer ago.`;
}

/** Deletes some of the jobs that ended long ago; returns how many. */
export async function pruneJobs(db: Queryable): Promise<number> {
  const rows = await db.query(sql`
    delete from stock_jobs where id in (
      select id from stock_jobs where finished_at < now() - make_interval(days => ${JOB_KEPT_DAYS})
      order by finished_at limit ${PRUNE_LIMIT})
    returning id`);
  return rows.length;
}
