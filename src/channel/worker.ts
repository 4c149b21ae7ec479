import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelContext } from './context.ts';
import { refreshDue } from './due.ts';
import { enqueueStaleRenders, pruneJobs } from './job-queue.ts';
import { runJobs } from './run-jobs.ts';

const TICK_MS = 500;
/** After a fault, such as a database that is away, the worker waits longer; what is rare anyway waits for its turn. */
const FAULT_PAUSE_MS = 2_000;
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

  async function repeat(work: () => Promise<unknown>, everyMs: number): Promise<void> {
    while (!signal.aborted) {
      let pauseMs = everyMs;
      try {
        await work();
      } catch (error) {
        onFault(error);
        pauseMs = Math.max(everyMs, FAULT_PAUSE_MS);
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  const running = Promise.all([
    repeat(() => refreshDue(context, signal), TICK_MS),
    repeat(() => runJobs(context, signal), TICK_MS),
    repeat(() => enqueueStaleRenders(context), STALE_CHECK_MS),
    repeat(() => pruneAll(context, signal), PRUNE_MS),
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
