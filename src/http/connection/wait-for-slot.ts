import type { FastifyReply } from 'fastify';
import type { AcquireOptions, KeyedSemaphore, Release } from '../../concurrency/limits/keyed-semaphore.ts';
import { onceClosed } from './once-closed.ts';

/** Waits for units of a semaphore until the deadline. A client that has gone no longer waits. Throws a SemaphoreError. */
export async function waitForSlot(
  semaphore: KeyedSemaphore,
  key: string,
  reply: Pick<FastifyReply, 'raw'>,
  units: AcquireOptions,
): Promise<Release> {
  const gone = new AbortController();
  const onClose = () => gone.abort();
  onceClosed(reply.raw, onClose);
  try {
    return await semaphore.acquire(key, { ...units, signal: gone.signal });
  } finally {
    reply.raw.off('close', onClose);
  }
}
