import { setTimeout as sleep } from 'node:timers/promises';
import { type AcquireOptions, createKeyedSemaphore, SemaphoreError, type SemaphoreKey } from './keyed-semaphore.ts';

/**
 * A limit on bytes a second, for all keys together. Keys are served round-robin, and so are their groups: one dealer who moves
 * many bytes leaves the others their share.
 */
export type ByteRate = {
  /**
   * Waits until these bytes may pass. Throws a SemaphoreError if the signal is aborted; the bytes of one whose turn had
   * come still count.
   */
  pass(key: SemaphoreKey, bytes: number, options?: Pick<AcquireOptions, 'signal'>): Promise<void>;
};

export type ByteRateOptions = {
  bytesPerSecond: number;
  /** What may pass at once after a time in which nothing did. */
  burstBytes: number;
  /** Milliseconds, and a wait for so many of them; a test owns both. */
  now?: () => number;
  wait?: (ms: number, signal?: AbortSignal) => Promise<unknown>;
};

const WAITING_LIMIT = 100_000;

export function createByteRate({
  bytesPerSecond,
  burstBytes,
  now = () => performance.now(),
  wait = (ms, signal) => sleep(ms, undefined, signal === undefined ? { ref: false } : { ref: false, signal }),
}: ByteRateOptions): ByteRate {
  const turns = createKeyedSemaphore({ total: 1, perKey: 1, waitingTotal: WAITING_LIMIT });
  const msPerByte = 1_000 / bytesPerSecond;
  /** The moment at which all that has passed would have passed at an even pace. */
  let passedAtMs = Number.NEGATIVE_INFINITY;

  return {
    async pass(key, bytes, options = {}) {
      const release = await turns.acquire(key, options);
      try {
        const nowMs = now();
        passedAtMs = Math.max(passedAtMs, nowMs - burstBytes * msPerByte) + bytes * msPerByte;
        if (passedAtMs > nowMs) await wait(passedAtMs - nowMs, options.signal);
      } catch (cause) {
        throw new SemaphoreError('aborted', { cause });
      } finally {
        release();
      }
    },
  };
}
