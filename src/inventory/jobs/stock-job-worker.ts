import { repeat } from '../../concurrency/repeat.ts';
import { pruneImportFiles } from '../import/import-files.ts';
import type { StockJobContext, StockJobKinds } from './job-kind.ts';
import { pruneJobs } from './job-queue.ts';
import { runStockJobs } from './run-stock-jobs.ts';

const TICK_MS = 500;
const PRUNE_MS = 60 * 60_000;
/** Batches at once in one process. More than one, as a batch that downloads photos waits for somebody else's server. */
const BATCHES_AT_ONCE = 2;

/** Runs the jobs on stock. Any number of nodes may run one. */
export function startStockJobWorker(
  context: StockJobContext,
  kinds: StockJobKinds,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const repeating = { signal, onFault };
  const running = Promise.all([
    ...Array.from({ length: BATCHES_AT_ONCE }, () =>
      repeat(repeating, () => runStockJobs(context, kinds, { signal, onFault }), TICK_MS),
    ),
    repeat(repeating, () => pruneAll(context, signal), PRUNE_MS),
  ]);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function pruneAll(context: StockJobContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await pruneJobs(context.db)) > 0);
  while (!signal.aborted && (await pruneImportFiles(context.db)) > 0);
}
