import { type RepeatedTask, startTasks } from '../../concurrency/repeat.ts';
import { PRUNE_JOBS_EVERY_MS } from '../../db/jobs/job-lease.ts';
import { withShortLockWaits } from '../../db/short-lock-waits.ts';
import { pruneImportFiles } from '../import/import-files.ts';
import type { StockJobContext, StockJobKinds } from './job-kind.ts';
import { runStockJobs } from './run-stock-jobs.ts';
import { pruneJobs } from './stock-job-queue.ts';

const TICK_MS = 500;
/** How many batches run at once in one process, each of another dealer. */
const BATCHES_AT_ONCE = 2;
/**
 * Batches that download photos wait for servers of others, so they have slots of their own: dealers whose servers hang delay
 * each other's photos, and nobody's changes. Each holds up to 100 MB of photos.
 */
const REMOTE_BATCHES_AT_ONCE = 4;

/** Runs the jobs on stock. Any number of nodes may run one. */
export function startStockJobWorker(
  context: StockJobContext,
  kinds: StockJobKinds,
  onFault: (error: unknown) => void,
): RepeatedTask {
  // Not for batches that download: they have slots of their own, and would have to download again.
  const brief = withShortLockWaits(context);
  /** While there are no jobs, only the first slot polls; the others begin when it has found one. */
  const slots = (length: number, isRemote: boolean) => {
    let busy = 0;
    async function run(slot: number, signal: AbortSignal): Promise<void> {
      if (slot > 0 && busy === 0) return;
      busy += 1;
      try {
        await runStockJobs(isRemote ? context : brief, kinds, { signal, onFault, isRemote });
      } finally {
        busy -= 1;
      }
    }
    return Array.from({ length }, (_, slot) => ({
      work: (signal: AbortSignal) => run(slot, signal),
      everyMs: TICK_MS,
    }));
  };
  return startTasks(
    [
      ...slots(BATCHES_AT_ONCE, false),
      ...slots(REMOTE_BATCHES_AT_ONCE, true),
      { work: (signal) => pruneAll(context, signal), everyMs: PRUNE_JOBS_EVERY_MS },
    ],
    onFault,
  );
}

async function pruneAll(context: StockJobContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await pruneJobs(context.db)) > 0);
  while (!signal.aborted && (await pruneImportFiles(context.db)) > 0);
}
