import type { FastifyReply } from 'fastify';
import {
  createKeyedSemaphore,
  type KeyedSemaphore,
  type Release,
  SemaphoreError,
} from '../../../concurrency/keyed-semaphore.ts';
import { DashboardError } from '../dashboard-error.ts';

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

/** Each reads one batch after the other, so it takes at most one connection. */
const FILES_AT_ONCE_PER_KEY = 3;
/** Much more than one dealer has: whoever reads slowly keeps a slot for long. */
const FILES_AT_ONCE = 60;

export function createOperationLimits(poolSize: number, waitLimitMs = WAIT_LIMIT_MS): OperationLimits {
  const total = Math.max(2, Math.floor(poolSize * SHARE_OF_POOL));
  const slots = createKeyedSemaphore({
    total,
    perKey: Math.ceil(total * SHARE_OF_ONE),
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_KEY,
  });

  return async (key, reply, task) => {
    const release = await acquireSlot(slots, key, reply, waitLimitMs);
    try {
      return await task();
    } finally {
      release();
    }
  };
}

/** The same for files that are read from the database while they are sent: each holds its slot until it is sent. */
export function createFileLimits(waitLimitMs = WAIT_LIMIT_MS): OperationLimits {
  const slots = createKeyedSemaphore({
    total: FILES_AT_ONCE,
    perKey: FILES_AT_ONCE_PER_KEY,
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_KEY,
  });

  return async (key, reply, task) => {
    const release = await acquireSlot(slots, key, reply, waitLimitMs);
    reply.raw.once('close', release);
    if (reply.raw.closed) release();
    return await task();
  };
}

/** Waits for a slot until the deadline, or until the client has gone. */
async function acquireSlot(
  slots: KeyedSemaphore,
  key: string,
  reply: FastifyReply,
  waitLimitMs: number,
): Promise<Release> {
  const gone = new AbortController();
  const onClose = () => gone.abort();
  reply.raw.once('close', onClose);
  const deadlineMs = performance.now() + waitLimitMs;
  return await slots
    .acquire(key, { deadlineMs, signal: gone.signal })
    .catch((error: unknown) => {
      throw error instanceof SemaphoreError ? overloaded() : error;
    })
    .finally(() => reply.raw.off('close', onClose));
}

function overloaded(): DashboardError {
  return new DashboardError('unavailable', 'Too much is going on for your team at once. Try again in a moment.', {
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}
