import { setTimeout as sleep } from 'node:timers/promises';
import { addAuditObjects, recordAudit } from '../../audit/record-audit.ts';
import { commitAndWake } from '../../channel/commit-and-wake.ts';
import { countFitting } from '../../channel/projection/projection-budget.ts';
import type { StockJobKindName } from '../../contract/dashboard/stock/jobs.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { LOCKED_PAUSE_SECONDS } from '../../db/jobs/job-lease.ts';
import { isLockTimeout } from '../../db/short-lock-waits.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { quotaMessage, readStorageUse, storageCounter } from '../../quota/storage-usage.ts';
import { countedFiles } from '../photos/storage/counted-files.ts';
import type {
  BatchOutcome,
  JobBatch,
  JobEntry,
  JobError,
  RunningJob,
  StockJobContext,
  StockJobKind,
  StockJobKinds,
} from './job-kind.ts';

/**
 * A worker renews it while it works on a batch, as on photos that are downloaded. When a worker dies, its job rests for so
 * long. A worker that stood still for longer loses the job, and the fence keeps its batch from being committed.
 */
const LEASE_SECONDS = 20;
const RENEW_EVERY_MS = 5_000;
/** Between batches, so that a long job takes a share of the database and not all of it. */
const PAUSE_MS = 5;
/** The wait before another attempt, times the number of attempts so far. */
const FAULT_PAUSE_SECONDS = 2;
/**
 * After so many attempts in a row without a batch that was committed the job fails. A claim counts as one, not only a fault that
 * was caught: a batch that ends the process, as by its memory, would else end every process that starts.
 */
const ATTEMPTS_LIMIT = 5;
/** How many errors of one job are stored; the others are only counted. */
const JOB_ERRORS_LIMIT = 20_000;

const UNEXPECTED = 'Something went wrong on our side. What was done before stays; start it again to complete it.';

export type RunOptions = {
  signal?: AbortSignal;
  pauseMs?: number;
  /** Runs this job alone, as the command line does. */
  jobId?: string;
  /** Runs only batches that wait for servers of others, or only the rest; all of them by default. */
  isRemote?: boolean;
  onFault?: (error: unknown) => void;
};

/** Runs batches of all dealers, round-robin, until no job is left or the signal ends it; returns how many batches ran. */
export async function runStockJobs(
  context: StockJobContext,
  kinds: StockJobKinds,
  options: RunOptions = {},
): Promise<number> {
  const { signal, pauseMs = PAUSE_MS, onFault = () => {} } = options;
  let batches = 0;
  while (!signal?.aborted) {
    const claim = await claimJob(context.db, Object.keys(kinds), options);
    if (claim === null) break;
    batches += 1;
    const renewal = setInterval(() => renewLease(context.db, claim), RENEW_EVERY_MS);
    try {
      assertAttemptsLeft(claim);
      const kind = kindOf(kinds, claim.job.kind);
      await assertQuotaLeft(context, kind, claim.job);
      await runBatch(countedJobContext(context, claim.job), kind, claim);
    } catch (error) {
      if (isLockTimeout(error)) await setAside(context.db, claim);
      else if (!(error instanceof LeaseLostError)) {
        await recordFault(context.db, claim, error);
        if (!(error instanceof DomainError)) onFault(error);
      }
    } finally {
      clearInterval(renewal);
    }
    context.notifyDashboards?.(claim.job.organizationId, 'job', [claim.job.id]);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return batches;
}

/** The job was cancelled, or another worker has claimed it. This batch must leave no trace. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

type Claim = { job: RunningJob; fence: number; attempts: number };

/** A fault that was caught has failed the job before: here are only those whose process died each time. */
function assertAttemptsLeft({ job, attempts }: Claim): void {
  if (attempts > ATTEMPTS_LIMIT) throw new Error(`job ${job.id} ended its process ${ATTEMPTS_LIMIT} times in a row`);
}

/** Refused before each batch, so that a job that was started in time ends soon. What the operator starts is not refused. */
async function assertQuotaLeft(context: StockJobContext, kind: StockJobKind, job: RunningJob): Promise<void> {
  if (kind.isServedOverQuota === true || job.actor.kind !== 'person') return;
  const quota = { now: context.now(), defaultMb: context.dashboardStorageQuotaMbPerDay };
  const use = await readStorageUse(context.db, job.organizationId, quota);
  if (use === null || use.bytes < use.quotaBytes) return;
  throw new DomainError('limit_reached', `${quotaMessage(use)} What was done before stays; start it again then.`);
}

/** Counts what the batch stores as its dealer's. */
function countedJobContext(context: StockJobContext, { organizationId }: RunningJob): StockJobContext {
  const { countedDb, count } = storageCounter(context.db, organizationId, context.now);
  return { ...context, db: countedDb(context.db), photoFiles: countedFiles(context.photoFiles, count) };
}

/**
 * Of each dealer the oldest unfinished job, of these the one whose dealer has waited longest since a batch: a dealer with a
 * thousand jobs gets as many batches as one with a single job. Each claim is for one batch.
 */
async function claimJob(
  db: Queryable,
  kinds: string[],
  { jobId = null, isRemote = null }: { jobId?: string | null; isRemote?: boolean | null },
): Promise<Claim | null> {
  const [row] = await db.query<RunningJob & { fence: number; attempts: number }>(sql`
    update stock_jobs set status = 'running', fence = fence + 1, attempts = attempts + 1, started_at = coalesce(started_at, clock_timestamp()),
      leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}), last_batch_at = clock_timestamp()
    where id = (
      select j.id from stock_jobs j
      where j.status in ('queued', 'running') and (j.leased_until is null or j.leased_until < clock_timestamp())
        and j.kind = any(${kinds}::text[]) and (${jobId}::text is null or j.id = ${jobId})
        and (${isRemote}::boolean is null or j.is_remote = ${isRemote})
        and not exists (select from stock_jobs e
          where e.organization_id = j.organization_id and e.status in ('queued', 'running')
            and (e.created_at, e.id) < (j.created_at, j.id))
        and exists (select from organizations o where o.id = j.organization_id and o.deleted_at is null)
      order by (select max(t.last_batch_at) from stock_jobs t where t.organization_id = j.organization_id) nulls first,
        j.created_at, j.id
      limit 1 for update skip locked)
    returning id, organization_id as "organizationId", kind, actor, parameters, position, total, done,
      audit_id as "auditId", undoes, fence, attempts`);
  if (row === undefined) return null;
  const { fence, attempts, ...job } = row;
  return { job, fence, attempts };
}

function kindOf(kinds: StockJobKinds, name: StockJobKindName): StockJobKind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`no worker for jobs of kind ${name}`);
  return kind;
}

/** If this fails, the lease runs out, and the fence decides. */
function renewLease(db: Queryable, { job, fence }: Claim): void {
  const statement = sql`
    update stock_jobs set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = ${job.id} and fence = ${fence} and status = 'running' and leased_until is not null`;
  db.query(statement).catch(() => {});
}

async function runBatch(context: StockJobContext, kind: StockJobKind, { job, fence }: Claim): Promise<void> {
  if (job.total === null && job.position === '') {
    job.total = await kind.count(context, job);
    await context.db.query(sql`update stock_jobs set total = ${job.total} where id = ${job.id} and fence = ${fence}`);
  }
  const batch = await kind.nextBatch(context, job);
  if (batch === null) return await finish(context.db, job, fence);
  const { entries, position } = await firstEntries(context, batch);
  const { outcome } = await commitAndWake(context, async (tx) => {
    const outcome = await kind.applyBatch(
      tx,
      context,
      job,
      entries.map(({ work }) => work),
    );
    const auditId = await recordChanges(tx, context, kind, job, outcome);
    await recordErrors(tx, job, outcome.errors);
    await recordProgress(tx, { job, fence }, { ...batch, position }, outcome, auditId);
    return { outcome, touched: outcome.touched };
  });
  const { changed, removedPhotoIds = [] } = outcome;
  if (removedPhotoIds.length > 0) context.onPhotosRemoved?.(removedPhotoIds);
  if (changed.length > 0) {
    context.notifyDashboards?.(
      job.organizationId,
      'item',
      changed.map(({ id }) => id),
    );
  }
}

/** As many as one transaction does, whatever their kind, and the position behind them. */
async function firstEntries<Work>(
  { db }: StockJobContext,
  { entries }: JobBatch<Work>,
): Promise<{ entries: JobEntry<Work>[]; position: string }> {
  const count = await countFitting(
    db,
    entries.map(({ item }) => item),
  );
  const last = entries[count - 1];
  if (last === undefined) throw new Error('a batch has no entries');
  return { entries: entries.slice(0, count), position: last.position };
}

/** One audit row for the job, made by the first batch that changes anything; each item beside it. */
async function recordChanges(
  tx: Transaction,
  context: StockJobContext,
  kind: StockJobKind,
  job: RunningJob,
  { changed }: BatchOutcome,
): Promise<string | null> {
  if (changed.length === 0) return job.auditId;
  const id =
    job.auditId ??
    (await recordAudit(tx, job.actor, {
      organizationId: job.organizationId,
      action: kind.auditAction,
      object: { kind: 'item', id: null },
      new: { jobId: job.id },
      ...(await undoneAudit(tx, job)),
      at: context.now(),
    }));
  if (id !== null) await addAuditObjects(tx, job.organizationId, id, changed);
  return id;
}

/** An undo names the audit row that it takes back. A job is undone as a whole, by its own page, so its row offers no undo. */
async function undoneAudit(tx: Transaction, job: RunningJob) {
  if (job.undoes === null) return {};
  const [row] = await tx.query<{ auditId: string | null }>(sql`
    select audit_id as "auditId" from stock_jobs where id = ${job.undoes} and organization_id = ${job.organizationId}`);
  const undoes = row?.auditId ?? null;
  return undoes === null ? {} : { undoes };
}

const ERROR_COLUMNS = {
  number: 'integer',
  line: 'integer',
  itemId: 'text',
  stockNumber: 'text',
  field: 'text',
  message: 'text',
} as const;

async function recordErrors(tx: Transaction, job: RunningJob, errors: JobError[]): Promise<void> {
  if (errors.length === 0) return;
  const [row] = await tx.query<{ last: number }>(sql`
    select coalesce(max(number), 0) as last from stock_job_errors where job_id = ${job.id}`);
  const last = row?.last ?? 0;
  const rows = errors.slice(0, Math.max(JOB_ERRORS_LIMIT - last, 0)).map((error, index) => ({
    number: last + index + 1,
    line: error.line ?? null,
    itemId: error.itemId ?? null,
    stockNumber: error.stockNumber ?? null,
    field: error.field ?? null,
    message: error.message,
  }));
  await tx.query(sql`
    insert into stock_job_errors (job_id, organization_id, number, line, item_id, stock_number, field, message)
    select ${job.id}, ${job.organizationId}, number, line, item_id, stock_number, field, message
    from ${unnestRows('rows', rows, ERROR_COLUMNS)}`);
}

/** The last statement of a batch. If the fencing token has been raised, the whole batch is rolled back. */
async function recordProgress(
  tx: Transaction,
  { job, fence }: Pick<Claim, 'job' | 'fence'>,
  { position, isNextRemote = false }: { position: string; isNextRemote?: boolean },
  { done, counts }: BatchOutcome,
  auditId: string | null,
): Promise<void> {
  const rows = await tx.query(sql`
    update stock_jobs set position = ${position}, done = done + ${done}, audit_id = ${auditId}, attempts = 0, error = null,
      leased_until = null, is_remote = ${isNextRemote},
      counts = counts || (
        select coalesce(jsonb_object_agg(added.key, coalesce((counts ->> added.key)::integer, 0) + added.value::integer), '{}')
        from jsonb_each_text(${JSON.stringify(counts)}::jsonb) added)
    where id = ${job.id} and fence = ${fence} and status = 'running'
    returning id`);
  if (rows.length === 0) throw new LeaseLostError();
}

async function finish(db: Queryable, job: RunningJob, fence: number): Promise<void> {
  await db.query(sql`
    update stock_jobs set status = 'done', total = done, leased_until = null, finished_at = clock_timestamp(), error = null
    where id = ${job.id} and fence = ${fence} and status = 'running'`);
}

/** Somebody else holds what the batch has to lock. It is tried again soon, behind the batches of other dealers. */
async function setAside(db: Queryable, { job, fence }: Claim): Promise<void> {
  const statement = sql`
    update stock_jobs set attempts = greatest(attempts - 1, 0),
      leased_until = clock_timestamp() + make_interval(secs => ${LOCKED_PAUSE_SECONDS})
    where id = ${job.id} and fence = ${fence} and status = 'running'`;
  // If even this fails, the lease runs out by itself.
  await db.query(statement).catch(() => {});
}

/** A refusal ends the job at once; a fault is retried some times. */
async function recordFault(db: Queryable, { job, fence }: Claim, error: unknown): Promise<void> {
  const isRefusal = error instanceof DomainError;
  const message = isRefusal ? error.message : UNEXPECTED;
  const statement = sql`
    update stock_jobs set error = ${message},
      status = case when ${isRefusal} or attempts >= ${ATTEMPTS_LIMIT} then 'failed' else status end,
      finished_at = case when ${isRefusal} or attempts >= ${ATTEMPTS_LIMIT} then clock_timestamp() end,
      leased_until = clock_timestamp() + make_interval(secs => ${FAULT_PAUSE_SECONDS} * attempts)
    where id = ${job.id} and fence = ${fence} and status = 'running'`;
  // If even this fails, the lease runs out by itself.
  await db.query(statement).catch(() => {});
}
