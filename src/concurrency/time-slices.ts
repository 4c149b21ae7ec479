import { setImmediate as nextRound } from 'node:timers/promises';
import { createKeyedSemaphore, type SemaphoreKey } from './limits/keyed-semaphore.ts';

/**
 * Runs long computations in short slices. After each slice, of whichever computation, the event loop serves
 * what has arrived. Keys are served round-robin, so one dealer does not hold up the others'.
 *
 * A computation is a generator that yields wherever it can be interrupted, at least every millisecond.
 */
export type TimeSlices = {
  /** Rejects with a SemaphoreError if the signal is aborted; the computation is then given up. */
  run<Result>(key: SemaphoreKey, steps: Steps<Result>, options?: { signal?: AbortSignal | undefined }): Promise<Result>;
};

export type Steps<Result> = Generator<void, Result>;

/**
 * A request of a neighbour passes through the event loop about five times, and each time it may have to wait for a slice:
 * its median was 1.5 ms alone, and 30, 6.6 and 3.1 ms beside slices of 8, 2 and 0.5 ms. The computations themselves ended
 * as soon.
 */
const SLICE_MS = 0.5;
/** A round of the event loop that takes longer has served somebody, whose next step may be about to come. */
const IDLE_ROUND_MS = 0.2;
/** As long as others have work, so many rounds are theirs before the next slice. */
const ROUNDS_LIMIT = 4;
const WAITING_LIMIT = 100_000;

export type TimeSlicesOptions = {
  sliceMs?: number;
  /** Waits until the event loop has served others. */
  pause?: () => Promise<unknown>;
};

export function createTimeSlices({ sliceMs = SLICE_MS, pause = letOthersRun }: TimeSlicesOptions = {}): TimeSlices {
  const slots = createKeyedSemaphore({ total: 1, perKey: 1, waitingTotal: WAITING_LIMIT });

  /** The slot is kept until the loop has served others: one slice for each pause, however many computations there are. */
  async function runSlice<Result>(
    key: SemaphoreKey,
    steps: Steps<Result>,
    signal: AbortSignal | undefined,
  ): Promise<IteratorResult<void, Result>> {
    const release = await slots.acquire(key, { signal });
    try {
      return slice(steps, sliceMs);
    } finally {
      void pause().finally(release);
    }
  }

  return {
    async run(key, steps, { signal } = {}) {
      for (;;) {
        const step = await runSlice(key, steps, signal);
        if (step.done) return step.value;
      }
    },
  };
}

/** A process has one event loop, so all its computations share these. */
export const eventLoopSlices: TimeSlices = createTimeSlices();

/** Runs a computation at once, for one that is short. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** A computation that makes a value for each item; it can be interrupted after each. */
export function* mapSteps<Item, Result>(
  items: readonly Item[],
  make: (item: Item, index: number) => Result,
): Steps<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    results.push(make(item, index));
    yield;
  }
  return results;
}

async function letOthersRun(): Promise<void> {
  for (let rounds = 0; rounds < ROUNDS_LIMIT; rounds++) {
    const beganMs = performance.now();
    await nextRound();
    if (performance.now() - beganMs < IDLE_ROUND_MS) return;
  }
}

function slice<Result>(steps: Steps<Result>, sliceMs: number): IteratorResult<void, Result> {
  const untilMs = performance.now() + sliceMs;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() >= untilMs) return step;
  }
}
