import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../database.ts';
import { isLockTimeout } from '../short-lock-waits.ts';
import { releaseFailedJob, releaseJob, setJobAside } from './job-lease.ts';

/** Thrown to leave a job at any point when the service stops. */
class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

export type LeasedJobs<Job> = {
  table: string;
  /** Takes the next job with a lease; null if there is none. */
  claim: () => Promise<Job | null>;
  /** Does the whole job and records its end. It waits between its batches by `pauseUnlessStopped`. */
  run: (job: Job) => Promise<void>;
  signal: AbortSignal | undefined;
};

/**
 * Runs the jobs of a table until none is left or the signal ends it. Any number of workers may run them. A job that is
 * interrupted or fails goes back to the others, and is resumed by whoever claims it next. One whose locks somebody else holds is
 * set aside, and the next job has its turn.
 */
export async function runLeasedJobs<Job extends { id: string }>(
  db: Queryable,
  { table, claim, run, signal }: LeasedJobs<Job>,
): Promise<void> {
  while (!signal?.aborted) {
    const job = await claim();
    if (job === null) return;
    try {
      await run(job);
    } catch (error) {
      if (error instanceof StoppedError) {
        await releaseJob(db, table, job.id);
        return;
      }
      if (isLockTimeout(error)) {
        await setJobAside(db, table, job.id);
        continue;
      }
      await releaseFailedJob(db, table, job.id, error);
      throw error;
    }
  }
}

/** The pause between two batches, so that a large job takes a share of the database and not all of it. */
export async function pauseUnlessStopped(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) throw new StoppedError('the service stops');
  await sleep(pauseMs);
}
