import type { ChannelContext } from '../../channel/context.ts';
import { type RepeatedTask, startTasks } from '../../concurrency/repeat.ts';
import { PRUNE_JOBS_EVERY_MS } from '../../db/jobs/job-lease.ts';
import { withShortLockWaits } from '../../db/short-lock-waits.ts';
import { pruneDeletions } from '../../dealers/deletions.ts';
import { runDeletions } from './run-deletions.ts';

const TICK_MS = 1_000;

/** Removes what was deleted, in the background. Any number of nodes may run one. */
export function startDeletionWorker(context: ChannelContext, onFault: (error: unknown) => void): RepeatedTask {
  const brief = withShortLockWaits(context);
  return startTasks(
    [
      { work: (signal) => runDeletions(brief, signal), everyMs: TICK_MS },
      { work: () => pruneDeletions(context.db), everyMs: PRUNE_JOBS_EVERY_MS },
    ],
    onFault,
  );
}
