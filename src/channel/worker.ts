import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelContext } from './context.ts';
import { refreshDue } from './due.ts';
import { enqueueStaleRenders } from './job-queue.ts';
import { runJobs } from './run-jobs.ts';

const TICK_MS = 500;
/** After a fault, such as a database that is away, the worker waits longer. */
const FAULT_PAUSE_MS = 2_000;

export type ChannelWorker = { stop(): Promise<void> };

/** Does what no request waits for: promotions that start and end, and mass changes. Any number of nodes may run one. */
export function startChannelWorker(context: ChannelContext, onFault: (error: unknown) => void): ChannelWorker {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function tick(): Promise<void> {
    while ((await refreshDue(context)) > 0 && !signal.aborted);
    await runJobs(context, signal);
  }

  async function run(): Promise<void> {
    let hasLookedForStale = false;
    while (!signal.aborted) {
      let pauseMs = TICK_MS;
      try {
        if (!hasLookedForStale) await enqueueStaleRenders(context);
        hasLookedForStale = true;
        await tick();
      } catch (error) {
        onFault(error);
        pauseMs = FAULT_PAUSE_MS;
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
