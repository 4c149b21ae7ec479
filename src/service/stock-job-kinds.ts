import { checkKind } from '../inventory/import/check-import.ts';
import { importKind } from '../inventory/import/run-import.ts';
import { bulkChangeKind } from '../inventory/jobs/bulk-change.ts';
import type { StockJobKinds } from '../inventory/jobs/job-kind.ts';
import { undoKind } from '../inventory/jobs/undo-job.ts';
import { bulkDeleteKind } from '../sales/bulk-delete.ts';

/** Every kind of job on stock that a worker runs. How to add one is said in inventory/jobs/job-kind.ts. */
export const STOCK_JOB_KINDS_RUN: StockJobKinds = {
  import_check: checkKind,
  import: importKind,
  bulk_change: bulkChangeKind,
  bulk_delete: bulkDeleteKind,
  undo: undoKind,
};
