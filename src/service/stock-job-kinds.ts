import { checkKind } from '../inventory/import/check-kind.ts';
import { importKind } from '../inventory/import/import-kind.ts';
import type { StockJobKinds } from '../inventory/jobs/job-kind.ts';
import { undoKind } from '../inventory/jobs/undo.ts';

/** Every kind of job on stock that a worker runs. How to add one is said in inventory/jobs/job-kind.ts. */
export const STOCK_JOB_KINDS_RUN: StockJobKinds = {
  import_check: checkKind,
  import: importKind,
  undo: undoKind,
};
