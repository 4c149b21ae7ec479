import { createKeyedSemaphore, type Release, SemaphoreError, type SemaphoreKey } from './keyed-semaphore.ts';

/**
 * So many tasks run at once; the others wait for their turn, but never longer than the wait limit. Then they run without one.
 * Tasks of one key take turns in the order of their arrival, keys and their groups round-robin. It spreads work for speed and
 * refuses nobody, so a task that hangs in its turn can't stop the others.
 */
export type Turns = {
  /** Waits for a turn; the task calls what it gets when it is done. */
  take(key: SemaphoreKey): Promise<Release>;
};

export function createTurns({ limit, waitLimitMs }: { limit: number; waitLimitMs: number }): Turns {
  const semaphore = createKeyedSemaphore({ total: limit, perKey: limit, waitingTotal: Number.POSITIVE_INFINITY });
  return {
    async take(key) {
      try {
        return await semaphore.acquire(key, { deadlineMs: performance.now() + waitLimitMs });
      } catch (error) {
        if (error instanceof SemaphoreError) return () => {};
        throw error;
      }
    },
  };
}
