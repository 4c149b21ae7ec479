import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../database.ts';
import { isLockTimeout } from '../short-lock-waits.ts';
import { type Sql, sql } from '../sql.ts';
import { releaseFailedJob, releaseJob, setJobAside } from './job-lease.ts';

/** Thrown to leave a job for now, because others wait for their turn or the service stops. */
class TurnOverError extends Error {
  override readonly name = 'TurnOverError';
}

/** After so many batches it is another dealer's turn: the jobs of one dealer may be many, or never end by themselves. */
export const TURN_BATCHES = 4;

export type LeasedJobs<Job> = {
  table: string;
  /** Takes the next job with a lease, in the order of `nextTurn`; null if there is none. */
  claim: (served: string[]) => Promise<Job | null>;
  /**
   * Does the whole job and records its end. It calls `pause` after each batch, which may leave the job there: so each batch
   * records how far the job is.
   */
  run: (job: Job, pause: () => Promise<void>) => Promise<void>;
  /** How long it waits after a batch, so that a large job takes a share of the database and not all of it. */
  pauseMs: number;
  signal: AbortSignal | undefined;
};

/** `order by` it to claim a job of the dealer who waits longest for a turn. The served ones are in the order of their turns. */
export function nextTurn(served: string[], dealer: Sql): Sql {
  return sql`array_position(${served}::text[], ${dealer}) nulls first`;
}

/**
 * Runs the jobs of a table until none is left or the signal ends it; dealers take turns. Any number of workers may run them. A
 * job that is interrupted or fails goes back to the others, and is resumed by whoever claims it next. One whose locks somebody
 * else holds is set aside, and the next job has its turn.
 */
export async function runLeasedJobs<Job extends { id: string; organizationId: string | null }>(
  db: Queryable,
  { table, claim, run, pauseMs, signal }: LeasedJobs<Job>,
): Promise<void> {
  let served: string[] = [];
  while (!signal?.aborted) {
    const job = await claim(served);
    if (job === null) return;
    const dealer = job.organizationId ?? job.id;
    served = [...served.filter((other) => other !== dealer), dealer];
    try {
      await run(job, pausesOfTurn(pauseMs, signal));
    } catch (error) {
      if (error instanceof TurnOverError) {
        await releaseJob(db, table, job.id);
        continue;
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

/** The pause after each batch of a turn. */
function pausesOfTurn(pauseMs: number, signal: AbortSignal | undefined): () => Promise<void> {
  let batches = 0;
  return async () => {
    if (signal?.aborted) throw new TurnOverError('the service stops');
    await sleep(pauseMs);
    batches += 1;
    if (batches === TURN_BATCHES) throw new TurnOverError('it is the turn of another dealer');
  };
}
