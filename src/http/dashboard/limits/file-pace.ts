import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyedSemaphore } from '../../../concurrency/limits/keyed-semaphore.ts';

/** Of all dealers: as many batches of files are read at the same time. Of one dealer it is one. */
const BATCHES_AT_ONCE = 4;
const WAITING_LIMIT = 1_000;
/** After a batch its dealer waits for as long as it took, but no longer than this. */
const PAUSE_LIMIT_MS = 250;

const batches = createKeyedSemaphore({ total: BATCHES_AT_ONCE, perKey: 1, waitingTotal: WAITING_LIMIT });

/**
 * The pieces of a file, made one after the other for each dealer and with pauses. Three files of one dealer that are read as
 * fast as they come took the CPU of three connections to the database: the p50 of another client went from 4 to 51 ms.
 */
export async function* pacedPieces(dealerId: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const release = await batches.acquire(dealerId);
      const beganMs = performance.now();
      let step: IteratorResult<string>;
      try {
        step = await iterator.next();
      } finally {
        const tookMs = performance.now() - beganMs;
        void sleep(Math.min(PAUSE_LIMIT_MS, tookMs), undefined, { ref: false }).finally(release);
      }
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    await iterator.return?.();
  }
}
