import type { FastifyReply } from 'fastify';
import { createKeyedSemaphore, SemaphoreError } from '../../concurrency/keyed-semaphore.ts';
import { DashboardError } from './dashboard-error.ts';

/**
 * How many operations of one dealer run at once, so that nobody can take the connections of the others, or of the
 * public API, with nothing but a sign-in. The rest wait here without a connection, until their deadline.
 */
export type OperationLimits = <Result>(
  key: string,
  reply: FastifyReply,
  task: () => Promise<Result>,
) => Promise<Result>;

/** Of the connections that clients' reads and writes share as well. */
const SHARE_OF_POOL = 1 / 3;
const SHARE_OF_ONE = 1 / 2;
const WAITING_LIMIT = 1_000;
const WAITING_LIMIT_PER_KEY = 100;
const WAIT_LIMIT_MS = 10_000;
const RETRY_SECONDS = 1;

export function createOperationLimits(poolSize: number, waitLimitMs = WAIT_LIMIT_MS): OperationLimits {
  const total = Math.max(2, Math.floor(poolSize * SHARE_OF_POOL));
  const slots = createKeyedSemaphore({
    total,
    perKey: Math.ceil(total * SHARE_OF_ONE),
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_KEY,
  });

  return async (key, reply, task) => {
    const gone = new AbortController();
    const onClose = () => gone.abort();
    reply.raw.once('close', onClose);
    const deadlineMs = performance.now() + waitLimitMs;
    const release = await slots
      .acquire(key, { deadlineMs, signal: gone.signal })
      .catch((error: unknown) => {
        throw error instanceof SemaphoreError ? overloaded() : error;
      })
      .finally(() => reply.raw.off('close', onClose));
    try {
      return await task();
    } finally {
      release();
    }
  };
}

function overloaded(): DashboardError {
  return new DashboardError('unavailable', 'Too much is going on for your team at once. Try again in a moment.', {
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}
