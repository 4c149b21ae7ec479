import type { FastifyReply } from 'fastify';
import {
  createKeyedSemaphore,
  type KeyedSemaphore,
  type Release,
  SemaphoreError,
} from '../../../concurrency/limits/keyed-semaphore.ts';
import { ANSWER_PIECE_LIMIT_MS } from '../../../contract/limits.ts';
import { onceClosed } from '../../connection/once-closed.ts';
import { cutSlowReader, SLOWEST_FILE_BYTES } from '../../connection/slow-reader.ts';
import { waitForSlot } from '../../connection/wait-for-slot.ts';
import { overloaded } from '../dashboard-error.ts';

/**
 * How many operations of one dealer run at once, so that nobody can take the connections of the others, or of the
 * public API, with nothing but a sign-in. The rest wait here without a connection, until their deadline.
 */
export type OperationLimits = <Result>(
  key: string,
  reply: FastifyReply,
  task: () => Promise<Result>,
) => Promise<Result>;

/**
 * Reads and writes each have their own slots, so that what waits for a lock does not keep the same team from reading.
 * Operations without a session count by the client's network, so that somebody who signs in often waits only for themselves.
 */
export type OperationKind = 'read' | 'write' | 'public';

/**
 * Taken from the connections that the reads and writes of clients use, too. An operation mostly takes one at a time; how many
 * it may is in call-connections.ts.
 */
const SHARES_OF_POOL: Record<OperationKind, number> = { read: 1 / 4, write: 1 / 4, public: 1 / 5 };
/** With two, two dealers whose operations wait for a lock would stop those of all others. */
const LEAST_AT_ONCE = 3;
/** With half of them, two searches of one dealer at once kept two cores busy: the p99 of a neighbour went from 19 to 65 ms. */
const SHARE_OF_ONE = 1 / 4;
const WAITING_LIMIT = 1_000;
const WAITING_LIMIT_PER_KEY = 100;
const WAIT_LIMIT_MS = 10_000;
/** A password is hashed while the slot is held, and few are at once. */
const PUBLIC_WAIT_LIMIT_MS = 20_000;
const OVERLOADED_BY_TEAM = 'Too much is going on for your team at once. Try again in a moment.';

/** Each reads one batch after the other, so it mostly takes one connection, and never more than a call may. */
export const FILES_AT_ONCE_PER_KEY = 3;
/** Many more than one dealer may have, because a client that reads slowly keeps its slot for long. */
export const FILES_AT_ONCE = 60;

/** Hardly a connection is held meanwhile. */
const WAITING_ELSEWHERE_PER_KEY = 2;
const WAITING_ELSEWHERE = 40;

export function createOperationLimits(poolSize: number, kind: OperationKind): OperationLimits {
  const waitLimitMs = kind === 'public' ? PUBLIC_WAIT_LIMIT_MS : WAIT_LIMIT_MS;
  const total = Math.max(LEAST_AT_ONCE, Math.floor(poolSize * SHARES_OF_POOL[kind]));
  return runWithin({ total, perKey: Math.ceil(total * SHARE_OF_ONE) }, waitLimitMs);
}

/** The same for operations that wait for something else than the database. */
export function createWaitingLimits(): OperationLimits {
  return runWithin({ total: WAITING_ELSEWHERE, perKey: WAITING_ELSEWHERE_PER_KEY }, WAIT_LIMIT_MS);
}

function runWithin(limits: { total: number; perKey: number }, waitLimitMs: number): OperationLimits {
  const slots = createKeyedSemaphore({
    ...limits,
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
export function createFileLimits(): OperationLimits {
  const slots = createKeyedSemaphore({
    total: FILES_AT_ONCE,
    perKey: FILES_AT_ONCE_PER_KEY,
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_KEY,
  });

  return async (key, reply, task) => {
    const release = await acquireSlot(slots, key, reply, WAIT_LIMIT_MS);
    onceClosed(reply.raw, release);
    cutSlowReader(reply.raw, { periodMs: ANSWER_PIECE_LIMIT_MS, bytes: SLOWEST_FILE_BYTES });
    return await task();
  };
}

async function acquireSlot(
  slots: KeyedSemaphore,
  key: string,
  reply: FastifyReply,
  waitLimitMs: number,
): Promise<Release> {
  const deadlineMs = performance.now() + waitLimitMs;
  return await waitForSlot(slots, key, reply, { deadlineMs }).catch((error: unknown) => {
    throw error instanceof SemaphoreError ? overloaded(OVERLOADED_BY_TEAM) : error;
  });
}
