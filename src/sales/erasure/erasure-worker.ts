import type { ChannelContext } from '../../channel/context.ts';
import { type RepeatedTask, startTasks } from '../../concurrency/repeat.ts';
import { PRUNE_JOBS_EVERY_MS, pruneFinishedJobs } from '../../db/jobs/job-lease.ts';
import { withShortLockWaits } from '../../db/short-lock-waits.ts';
import { runErasures } from './run-erasures.ts';

const TICK_MS = 1_000;

/** Erases persons in the background. Any number of nodes may run one. */
export function startErasureWorker(context: ChannelContext, onFault: (error: unknown) => void): RepeatedTask {
  const brief = withShortLockWaits(context);
  return startTasks(
    [
      { work: (signal) => runErasures(brief, signal), everyMs: TICK_MS },
      { work: () => pruneFinishedJobs(context.db, 'erasure_jobs'), everyMs: PRUNE_JOBS_EVERY_MS },
    ],
    onFault,
  );
}
