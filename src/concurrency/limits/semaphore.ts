import { type AcquireOptions, createKeyedSemaphore, type Release } from './keyed-semaphore.ts';

/**
 * Lets so many tasks run at once, or tasks of so many units together, and so many more wait in the order of their
 * arrival. A task that can't start throws a SemaphoreError: too many were waiting, its deadline passed, or its signal was
 * aborted.
 */
export type Semaphore = {
  acquire(options?: AcquireOptions): Promise<Release>;
  run<Result>(task: () => Promise<Result>, options?: AcquireOptions): Promise<Result>;
  held(): number;
  waiting(): number;
};

export function createSemaphore({ limit, waitingLimit }: { limit: number; waitingLimit: number }): Semaphore {
  const keyed = createKeyedSemaphore({ total: limit, perKey: limit, waitingTotal: waitingLimit });
  const KEY = '';
  return {
    acquire: (options) => keyed.acquire(KEY, options),
    run: (task, options) => keyed.run(KEY, task, options),
    held: keyed.held,
    waiting: keyed.waiting,
  };
}
