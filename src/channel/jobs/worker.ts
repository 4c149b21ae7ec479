import { type RepeatedTask, startTasks } from '../../concurrency/repeat.ts';
import { PRUNE_JOBS_EVERY_MS } from '../../db/jobs/job-lease.ts';
import { withShortLockWaits } from '../../db/short-lock-waits.ts';
import type { ChannelContext } from '../context.ts';
import { refreshDue } from '../projection/due-promotions.ts';
import { enqueueStaleRenders, pruneJobs } from './channel-job-queue.ts';
import { runJobs } from './run-jobs.ts';

const TICK_MS = 500;
/** Repeated, since the old release goes on writing documents until its last process stops. */
const STALE_CHECK_MS = 10 * 60_000;

/**
 * Does what no request waits for: promotions that start and end, mass changes, documents of another release. They run
 * side by side, so that a promotion ends on time whatever a mass change takes. Any number of nodes may run one.
 */
export function startChannelWorker(context: ChannelContext, onFault: (error: unknown) => void): RepeatedTask {
  const brief = withShortLockWaits(context);
  return startTasks(
    [
      { work: (signal) => refreshDue(brief, signal), everyMs: TICK_MS },
      { work: (signal) => runJobs(brief, signal), everyMs: TICK_MS },
      { work: () => enqueueStaleRenders(context), everyMs: STALE_CHECK_MS },
      { work: (signal) => pruneAll(context, signal), everyMs: PRUNE_JOBS_EVERY_MS },
    ],
    onFault,
  );
}

async function pruneAll(context: ChannelContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await pruneJobs(context.db)) > 0);
}
