import { setImmediate as nextTurn } from 'node:timers/promises';
import { createKeyedSemaphore } from './keyed-semaphore.ts';

/**
 * Runs long computations in slices of some milliseconds. Between two slices, of the same computation or of another, the
 * event loop serves what has arrived. Keys take turns, so the computations of one integration do not hold up the others'.
 *
 * A computation is a generator that yields wherever it can be interrupted, every few hundred microseconds.
 */
export type TimeSlices = {
  run<Result>(key: string, steps: Generator<void, Result>): Promise<Result>;
};

const SLICE_MS = 8;
const WAITING_LIMIT = 100_000;

export function createTimeSlices(sliceMs = SLICE_MS): TimeSlices {
  const turns = createKeyedSemaphore({ total: 1, perKey: 1, waitingTotal: WAITING_LIMIT });

  return {
    async run(key, steps) {
      for (;;) {
        const release = await turns.acquire(key);
        try {
          const step = slice(steps, sliceMs);
          if (step.done) return step.value;
          // The turn is kept meanwhile: one slice for each round of the event loop, however many are waiting.
          await nextTurn();
        } finally {
          release();
        }
      }
    },
  };
}

function slice<Result>(steps: Generator<void, Result>, sliceMs: number): IteratorResult<void, Result> {
  const untilMs = performance.now() + sliceMs;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() >= untilMs) return step;
  }
}
