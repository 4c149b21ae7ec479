import { type Release, SemaphoreError } from './keyed-semaphore.ts';
import { createSemaphore } from './semaphore.ts';

/**
 * So many tasks run at once; the others wait for their turn in the order of their arrival, but never longer than the wait
 * limit. Then they run without one. It spreads work for speed and refuses nobody, so a task that hangs in its turn can't
 * stop the others.
 */
export type Turns = {
  /** Waits for a turn; the task calls what it gets when it is done. */
  take(): Promise<Release>;
};

export function createTurns({ limit, waitLimitMs }: { limit: number; waitLimitMs: number }): Turns {
  const semaphore = createSemaphore({ limit, waitingLimit: Number.POSITIVE_INFINITY });
  return {
    async take() {
      try {
        return await semaphore.acquire({ deadlineMs: performance.now() + waitLimitMs });
      } catch (error) {
        if (error instanceof SemaphoreError) return () => {};
        throw error;
      }
    },
  };
}
