import type { FastifyReply } from 'fastify';
import { createByteRate } from '../../../concurrency/limits/byte-rate.ts';
import {
  type AcquireOptions,
  createKeyedSemaphore,
  type GroupedKey,
  type KeyedSemaphore,
  type Release,
  SemaphoreError,
} from '../../../concurrency/limits/keyed-semaphore.ts';
import { ApiError } from '../../../contract/errors.ts';
import { LARGE_PAGE_BYTES_PER_SECOND, OVERLOADED_RETRY_SECONDS, READ_WAIT_LIMIT_MS } from '../../../contract/limits.ts';
import { untilGone, waitForSlot } from '../../connection/wait-for-slot.ts';

/**
 * What the reads of one dealer and of each integration may take of the process, so that the others have theirs: database connections, memory
 * for answers that are on their way, and time of the event loop. What can't start waits here, without any of them, and after
 * the deadline the answer is `overloaded`. An answer that has begun can't be refused any more: its next piece waits until
 * the client goes.
 */
export type ReadLimits = {
  /** Runs one read of the database. */
  read<Result>(wait: ReadWait, task: () => Promise<Result>): Promise<Result>;
  /** Bytes of an answer until it is sent; null if they can't be had at once. */
  tryBytes(share: GroupedKey, bytes: number): Release | null;
  waitForBytes(wait: ReadWait, bytes: number): Promise<Release>;
  /** Waits until the bytes of a piece, which was sent, are within what all large pages may send in a second. */
  pace(wait: ReadWait, bytes: number): Promise<void>;
};

export type ReadWait = {
  /** Of the dealer, and within it of the integration. */
  share: GroupedKey;
  reply: FastifyReply;
  /** Whether a part of the answer has been sent. */
  hasBegun?: boolean;
};

/** Of the connections that are not admission's or the worker's, so many are for reads; the rest is left to writes. */
const READ_SHARE = 1 / 2;
/**
 * So much of the reads' share one dealer may use, with all integrations. With half of it, three reads of 250 events at a time
 * took two cores, and the p99 of a neighbour went from 15 to 80 ms. Now it goes to 24, and those reads are a quarter slower.
 */
const DEALER_SHARE = 1 / 4;
const WAITING_LIMIT = 4_000;
const WAITING_LIMIT_PER_INTEGRATION = 500;
const WAITING_LIMIT_PER_DEALER = 2 * WAITING_LIMIT_PER_INTEGRATION;

/** Large pages up to this are not slowed down. */
const LARGE_PAGE_BURST_BYTES = 4 * 1_048_576;

const BYTES_IN_FLIGHT_LIMIT = 128 * 1_048_576;
const BYTES_IN_FLIGHT_LIMIT_PER_INTEGRATION = 16 * 1_048_576;

export type ReadLimitOptions = {
  poolSize: number;
  waitLimitMs?: number;
  bytesPerIntegration?: number;
  largePageBytesPerSecond?: number;
};

export function createReadLimits(options: ReadLimitOptions): ReadLimits {
  const { poolSize, waitLimitMs = READ_WAIT_LIMIT_MS } = options;
  const connections = Math.max(1, Math.floor(poolSize * READ_SHARE));
  const waiting = {
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_INTEGRATION,
    waitingPerGroup: WAITING_LIMIT_PER_DEALER,
  };
  const slots = createKeyedSemaphore({
    total: connections,
    perKey: Math.max(1, Math.floor(connections * DEALER_SHARE)),
    ...waiting,
  });
  const bytesPerIntegration = options.bytesPerIntegration ?? BYTES_IN_FLIGHT_LIMIT_PER_INTEGRATION;
  const bytesInFlight = createKeyedSemaphore({
    total: BYTES_IN_FLIGHT_LIMIT,
    perKey: bytesPerIntegration,
    // One integration whose client does not read leaves as much for the dealer's others.
    perGroup: 2 * bytesPerIntegration,
    ...waiting,
  });
  const largePages = createByteRate({
    bytesPerSecond: options.largePageBytesPerSecond ?? LARGE_PAGE_BYTES_PER_SECOND,
    burstBytes: LARGE_PAGE_BURST_BYTES,
  });

  const wait = (semaphore: KeyedSemaphore, { share, reply, hasBegun }: ReadWait, units: AcquireOptions) => {
    const deadline = hasBegun === true ? {} : { deadlineMs: performance.now() + waitLimitMs };
    return waitUnlessOverloaded(semaphore, share, reply, { ...units, ...deadline });
  };

  return {
    async read(reader, task) {
      const release = await wait(slots, reader, {});
      try {
        return await task();
      } finally {
        release();
      }
    },
    tryBytes: bytesInFlight.tryAcquire,
    waitForBytes: (reader, weight) => wait(bytesInFlight, reader, { weight }),
    pace: ({ share, reply }, bytes) => untilGone(reply, (signal) => largePages.pass(share, bytes, { signal })),
  };
}

/** Waits for units of a semaphore until the deadline, then refuses. */
async function waitUnlessOverloaded(...wait: Parameters<typeof waitForSlot>): Promise<Release> {
  return await waitForSlot(...wait).catch((error: unknown) => {
    throw error instanceof SemaphoreError ? overloaded(error) : error;
  });
}

export function overloaded(cause: SemaphoreError): ApiError {
  return new ApiError('overloaded', { headers: { 'Retry-After': String(OVERLOADED_RETRY_SECONDS) }, cause });
}
