import type { Actor } from '../../audit/actor.ts';
import type { AuditedObject } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import type { PlannedItem } from '../../channel/projection/projection-budget.ts';
import type { AuditAction } from '../../contract/audit-actions.ts';
import type { StockJobKindName } from '../../contract/dashboard/stock/jobs.ts';
import type { Transaction } from '../../db/database.ts';
import type { SsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';
import type { PhotoFiles } from '../photos/storage/photo-files.ts';

/**
 * How to add a kind of job:
 *
 * 1. Name it in STOCK_JOB_KINDS of contract/dashboard/stock/jobs.ts, with the words in which people read it, and its audit
 *    action in contract/audit-actions.ts.
 * 2. Write a file with a `StockJobKind`: `nextBatch` says what comes next, entry by entry, `applyBatch` does some of the entries in
 *    the transaction that also counts them. Most kinds change items by `editItems(tx, context, organizationId, itemIds, decide)` of
 *    inventory/items/edit-items.ts, whose result is what `outcomeOfEdits` turns into a batch's outcome. Undo then works by itself.
 * 3. Add it to service/stock-job-kinds.ts.
 * 4. Start one with `startJob(db, actor, { organizationId, kind, title, parameters, … })` of job-queue.ts.
 *
 * The engine brings the rest: how much one transaction does (channel/projection/projection-budget.ts), lease and fence, one job of a dealer after the other, dealers round-robin, progress, cancel,
 * errors, the audit row, the live feed, retries.
 */
export type StockJobKind<Work = unknown> = {
  auditAction: AuditAction;
  /** It goes on when the dealer has used up the storage quota of the day: it deletes, or takes back what was counted. */
  isServedOverQuota?: true;
  /** How many there are to do, asked once before the first batch; null if that can't be known. */
  count(context: StockJobContext, job: RunningJob): Promise<number | null>;
  /**
   * What the next batch works on, read outside of any transaction; null ends the job. It may take seconds, as for photos
   * that are downloaded, but well less than the lease. Entries that are too much for one transaction are asked for again.
   */
  nextBatch(context: StockJobContext, job: RunningJob): Promise<JobBatch<Work> | null>;
  /**
   * Does the first entries of the batch. The transaction also stores the position behind the last of them: both happen or
   * neither. Locks are taken in the order of ARCHITECTURE.md; the job's own row comes last, and the engine takes it.
   */
  applyBatch(tx: Transaction, context: StockJobContext, job: RunningJob, work: Work[]): Promise<BatchOutcome>;
};

/** What jobs need beside the channel. */
export type StockJobContext = ChannelContext & {
  photoFiles: PhotoFiles;
  /** Checks the addresses from which a job downloads, because a dealer names them. */
  guard: SsrfGuard;
  /** How much a dealer may store in a day, unless it has a quota of its own. */
  dashboardStorageQuotaMbPerDay?: number;
};

/** Kinds by name. A worker leaves jobs of other kinds alone: another release may know them. */
export type StockJobKinds = { readonly [Name in StockJobKindName]?: StockJobKind };

export type JobBatch<Work> = {
  /** One at least. */
  entries: JobEntry<Work>[];
  /** The batch after this one waits for servers of others, so it runs in a slot for those (stock-job-worker.ts). */
  isNextRemote?: boolean;
};

export type JobEntry<Work> = {
  work: Work;
  /** Where the job goes on behind it. */
  position: string;
  /** The item whose documents it makes anew, if it does. */
  item: PlannedItem | null;
};

/** What one batch did. */
export type BatchOutcome = {
  /** Counted towards the total. */
  done: number;
  /** Added to the result, by name: `changed`, `unchanged`, `skipped` … */
  counts: Readonly<Record<string, number>>;
  /** Items that really changed, with old and new values: for the audit log and for the undo. */
  changed: AuditedObject[];
  errors: JobError[];
  /** Integrations with new events. */
  touched: readonly string[];
  /** Photos that are gone; their files go after the commit. */
  removedPhotoIds?: string[];
};

/** What could not be done, in words for the person who asked for the job. */
export type JobError = {
  line?: number;
  itemId?: string;
  stockNumber?: string;
  field?: string;
  message: string;
};

/** A job as its kind sees it while it runs. */
export type RunningJob = {
  id: string;
  organizationId: string;
  kind: StockJobKindName;
  actor: Actor;
  parameters: Readonly<Record<string, unknown>>;
  position: string;
  total: number | null;
  done: number;
  auditId: string | null;
  undoes: string | null;
};
