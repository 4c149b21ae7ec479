import type { FastifyReply } from 'fastify';
import type {
  AcquireOptions,
  KeyedSemaphore,
  Release,
  SemaphoreKey,
} from '../../concurrency/limits/keyed-semaphore.ts';
import { onceClosed } from './once-closed.ts';

/** Waits for units of a semaphore until the deadline. A client that has gone no longer waits. Throws a SemaphoreError. */
export async function waitForSlot(
  semaphore: KeyedSemaphore,
  key: SemaphoreKey,
  reply: Pick<FastifyReply, 'raw'>,
  units: AcquireOptions,
): Promise<Release> {
  // Nearly always nothing has to be waited for, nor watched meanwhile.
  const free = reply.raw.closed ? null : semaphore.tryAcquire(key, units.weight);
  if (free !== null) return free;
  return await untilGone(reply, (signal) => semaphore.acquire(key, { ...units, signal }));
}

/** Waits for something that the client's going aborts. */
export async function untilGone<Result>(
  reply: Pick<FastifyReply, 'raw'>,
  wait: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const gone = new AbortController();
  const onClose = () => gone.abort();
  onceClosed(reply.raw, onClose);
  try {
    return await wait(gone.signal);
  } finally {
    reply.raw.off('close', onClose);
  }
}
