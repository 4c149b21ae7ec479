import Type, { type Static } from 'typebox';
import { listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { nullable, StartedJob } from '../schema-parts.ts';

/** The kinds of jobs on stock, with their labels. */
export const STOCK_JOB_KINDS = {
  import_check: 'Check of a file',
  import: 'Import',
  bulk_change: 'Bulk change',
  bulk_delete: 'Bulk deletion',
  undo: 'Undo',
} as const;
export type StockJobKindName = keyof typeof STOCK_JOB_KINDS;

export const STOCK_JOB_STATUSES = {
  queued: 'Waiting',
  running: 'Running',
  done: 'Done',
  cancelled: 'Cancelled',
  failed: 'Failed',
} as const;
export type StockJobStatus = keyof typeof STOCK_JOB_STATUSES;

/** The counts in a job's result, in the order in which they are shown. */
export const STOCK_JOB_COUNTS = {
  created: 'created',
  changed: 'changed',
  unchanged: 'unchanged',
  removed: 'removed',
  photos: 'photos added',
  photos_removed: 'photos removed',
  photos_wrong: 'photos not taken',
  units_kept: 'sold or reserved, units kept',
  skipped: 'skipped, changed since',
  wrong: 'wrong',
} as const;
export type StockJobCount = keyof typeof STOCK_JOB_COUNTS;

/** The same of a check, which changes nothing. */
export const STOCK_CHECK_COUNTS: Readonly<Record<StockJobCount, string>> = {
  ...STOCK_JOB_COUNTS,
  created: 'would be created',
  changed: 'would be changed',
  unchanged: 'would stay as they are',
  photos: 'photos would be added',
  photos_removed: 'photos would be removed',
  photos_wrong: 'photos can’t be taken',
};

const KindName = Type.Unsafe<StockJobKindName>({ type: 'string', enum: Object.keys(STOCK_JOB_KINDS) });
const JobStatus = Type.Unsafe<StockJobStatus>({ type: 'string', enum: Object.keys(STOCK_JOB_STATUSES) });
const Timestamp = Type.String({ format: 'date-time' });
const OptionalTimestamp = Type.Union([Timestamp, Type.Null()]);
const OptionalText = Type.Union([Type.String(), Type.Null()]);

export const StockJob = Type.Object(
  {
    id: Type.String(),
    kind: KindName,
    title: Type.String(),
    status: JobStatus,
    total: Type.Union([Type.Integer(), Type.Null()], { description: 'Null until it is counted.' }),
    done: Type.Integer(),
    counts: Type.Record(Type.String(), Type.Integer(), { description: 'The result so far, by name.' }),
    error_count: Type.Integer({ description: 'How many of its errors can be read one by one.' }),
    error: Type.Union([Type.String(), Type.Null()], { description: 'Why it failed, or what the last try met.' }),
    asked_by: OptionalText,
    created_at: Timestamp,
    started_at: OptionalTimestamp,
    finished_at: OptionalTimestamp,
    can_cancel: Type.Boolean(),
    can_undo: Type.Boolean({ description: 'By the person who asks.' }),
    undo_refusal: nullable(Type.String(), 'Why this person may not undo a job that others can.'),
    undo_until: OptionalTimestamp,
    undoes: Type.Union([Type.String(), Type.Null()], { description: 'The job that this one takes back.' }),
    undone_by: OptionalText,
  },
  { $id: 'StockJob' },
);
export type StockJob = Static<typeof StockJob>;

const StockJobError = Type.Object(
  {
    line: Type.Union([Type.Integer(), Type.Null()]),
    item_id: OptionalText,
    stock_number: OptionalText,
    field: OptionalText,
    message: Type.String(),
  },
  { $id: 'StockJobError' },
);

const JobId = Type.Object({ job_id: Type.String() });

export const jobOperations = {
  listJobs: operation({
    method: 'GET',
    path: '/jobs',
    access: 'staff',
    description: 'Bulk changes, imports and their undo, newest first, with their progress and result.',
    query: listQuery({ kind: Type.Optional(KindName), status: Type.Optional(JobStatus) }),
    response: listOf(StockJob),
  }),
  getJob: operation({
    method: 'GET',
    path: '/jobs/{job_id}',
    access: 'staff',
    description: 'One job with its progress, its result and the first of its errors.',
    params: JobId,
    response: Type.Object({ job: StockJob, errors: Type.Array(StockJobError) }),
  }),
  cancelJob: operation({
    method: 'POST',
    path: '/jobs/{job_id}/cancel',
    access: 'staff',
    overQuota: 'served',
    description: 'Ends a job that waits or runs. What it did already stays, and can be undone.',
    params: JobId,
    response: null,
  }),
  undoJob: operation({
    method: 'POST',
    path: '/jobs/{job_id}/undo',
    access: 'staff',
    overQuota: 'reserve',
    description:
      'Takes a job back by another one. What changed since is left as it is. Only owners and the person who started the job may do this.',
    params: JobId,
    response: StartedJob,
  }),
  exportJobErrors: operation({
    method: 'GET',
    path: '/jobs/{job_id}/errors.csv',
    access: 'staff',
    description:
      'The errors of a job as a CSV file. Those of an import have the line beside them, ready to be put right.',
    params: JobId,
    response: 'text/csv',
  }),
};
