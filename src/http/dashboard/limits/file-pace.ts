import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyedSemaphore } from '../../../concurrency/limits/keyed-semaphore.ts';
import { FILES_AT_ONCE, FILES_AT_ONCE_PER_KEY } from './operation-limits.ts';

/** Of all dealers: as many batches of files are read at the same time. Of one dealer it is one. */
const BATCHES_AT_ONCE = 4;
/** After a batch its dealer waits for as long as it took, but no longer than this. */
const PAUSE_LIMIT_MS = 250;

/** A file waits for one batch at a time, so none that has a slot is refused here: its client would get half of it. */
const batches = createKeyedSemaphore({
  total: BATCHES_AT_ONCE,
  perKey: 1,
  waitingTotal: FILES_AT_ONCE,
  waitingPerKey: FILES_AT_ONCE_PER_KEY,
});

/**
 * The pieces of a file, made one after the other for each dealer and with pauses. Three files of one dealer that are read as
 * fast as they come took the CPU of three connections to the database: the p50 of another client went from 4 to 51 ms.
 */
export function pacedPieces(dealerId: string, pieces: AsyncIterable<string>): AsyncIterable<string> {
  const ended = new AbortController();
  const paced = readPaced(dealerId, pieces, ended.signal);
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => paced.next(),
      // A generator ends only after the step that it is in, and that may be a wait: a client that has gone waits no longer.
      return() {
        ended.abort();
        return paced.return(undefined);
      },
    }),
  };
}

async function* readPaced(
  dealerId: string,
  pieces: AsyncIterable<string>,
  signal: AbortSignal,
): AsyncGenerator<string, undefined> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const release = await batches.acquire(dealerId, { signal });
      const beganMs = performance.now();
      let step: IteratorResult<string>;
      try {
        step = await iterator.next();
      } finally {
        const tookMs = performance.now() - beganMs;
        void sleep(Math.min(PAUSE_LIMIT_MS, tookMs), undefined, { ref: false }).finally(release);
      }
      if (step.done === true) return undefined;
      yield step.value;
    }
  } finally {
    await iterator.return?.();
  }
}
