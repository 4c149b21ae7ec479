import { repeat } from '../../concurrency/repeat.ts';
import type { ChannelContext } from '../context.ts';
import { refreshDue } from '../projection/due-promotions.ts';
import { enqueueStaleRenders, pruneJobs } from './job-queue.ts';
import { runJobs } from './run-jobs.ts';

const TICK_MS = 500;
/** Also while a new release takes over: the old one writes documents to its last moment. */
const STALE_CHECK_MS = 10 * 60_000;
const PRUNE_MS = 60 * 60_000;

export type ChannelWorker = { stop(): Promise<void> };

/**
 * Does what no request waits for: promotions that start and end, mass changes, documents of another release. They run
 * side by side, so that a promotion ends on time whatever a mass change takes. Any number of nodes may run one.
 */
export function startChannelWorker(context: ChannelContext, onFault: (error: unknown) => void): ChannelWorker {
  const stopping = new AbortController();
  const { signal } = stopping;

  const repeating = { signal, onFault };
  const running = Promise.all([
    repeat(repeating, () => refreshDue(context, signal), TICK_MS),
    repeat(repeating, () => runJobs(context, signal), TICK_MS),
    repeat(repeating, () => enqueueStaleRenders(context), STALE_CHECK_MS),
    repeat(repeating, () => pruneAll(context, signal), PRUNE_MS),
  ]);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function pruneAll(context: ChannelContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await pruneJobs(context.db)) > 0);
}
