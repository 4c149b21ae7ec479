import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ByteRateOptions, createByteRate } from '../../concurrency/limits/byte-rate.ts';
import { createKeyedSemaphore, SemaphoreError, type SemaphoreKey } from '../../concurrency/limits/keyed-semaphore.ts';
import { LARGE_BODY_BYTES_PER_SECOND, READ_WAIT_LIMIT_MS } from '../../contract/limits.ts';
import { clientSignal } from './client-signal.ts';
import { onceClosed } from './once-closed.ts';
import { untilGone, waitForSlot } from './wait-for-slot.ts';

const BYTES_LIMIT = 256 * 1_048_576;
/** The limit of one integration or, in the dashboard, of one dealer. All integrations of a dealer may have twice as much. */
const BYTES_LIMIT_PER_KEY = 32 * 1_048_576;
const BYTES_LIMIT_PER_DEALER = 2 * BYTES_LIMIT_PER_KEY;
const WAITING_LIMIT = 2_000;
const WAITING_LIMIT_PER_KEY = 100;
const WAITING_LIMIT_PER_DEALER = 2 * WAITING_LIMIT_PER_KEY;
/**
 * What all counted bodies may bring in a second. If they come faster, V8 collects all its memory again and again: bodies of
 * 250 MB a second cost seven collections of 30 ms in each second.
 */
const RATE = { bytesPerSecond: LARGE_BODY_BYTES_PER_SECOND, burstBytes: 8 * 1_048_576 };
/** A body passes in parts, so that one key's large body does not hold up the other keys'. */
const PART_BYTES = 1_048_576;

export type BodyLimitOptions = {
  /** Whose share of the memory a body takes; null for one that is not counted. */
  keyOf(request: FastifyRequest): SemaphoreKey | null;
  /** Smaller bodies are not counted. */
  countedFromBytes: number;
  rate?: Partial<ByteRateOptions> | undefined;
  /** The error that is answered if the bytes don't become free in time. */
  refusal(error: SemaphoreError): Error;
};

export type BodyLimits = {
  /**
   * Lets a body pass whose size was not announced, once it has been read: before, only its limit is known, which may be a
   * thousand times its size.
   */
  passRead(request: FastifyRequest, bytes: number): Promise<void>;
};

/**
 * Bounds the bytes of bodies in memory, for each key, for each dealer and for all: sixty bulks of 10 MB at a time, which the rate limit
 * allows one integration, would be 600 MB. A body is not read before it has its units; it keeps them until it is answered. One
 * that waits too long is refused. Also bounds how many bytes come in a second. How large one body may be is
 * `bodyLimitBytes` of its operation.
 */
export function limitBodies(
  app: FastifyInstance,
  { keyOf, countedFromBytes, rate, refusal }: BodyLimitOptions,
): BodyLimits {
  const bytesHeld = createKeyedSemaphore({
    total: BYTES_LIMIT,
    perKey: BYTES_LIMIT_PER_KEY,
    perGroup: BYTES_LIMIT_PER_DEALER,
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_KEY,
    waitingPerGroup: WAITING_LIMIT_PER_DEALER,
  });
  const bytesRead = createByteRate({ ...RATE, ...rate });

  async function passParts(key: SemaphoreKey, bytes: number, signal: AbortSignal): Promise<void> {
    for (let rest = bytes; rest > 0; rest -= PART_BYTES) {
      await bytesRead.pass(key, Math.min(rest, PART_BYTES), { signal });
    }
  }

  async function admitBody(key: SemaphoreKey, weight: number, reply: FastifyReply): Promise<void> {
    const deadlineMs = performance.now() + READ_WAIT_LIMIT_MS;
    const release = await waitForSlot(bytesHeld, key, reply, { weight, deadlineMs });
    onceClosed(reply.raw, release);
    if (isAnnounced(reply.request)) await untilGone(reply, (signal) => passParts(key, weight, signal));
  }

  function refused(error: unknown): never {
    throw error instanceof SemaphoreError ? refusal(error) : error;
  }

  app.addHook('preParsing', async (request: FastifyRequest, reply: FastifyReply, payload) => {
    const weight = expectedBytes(request);
    if (weight <= countedFromBytes) return payload;
    const key = keyOf(request);
    if (key === null) return payload;
    await admitBody(key, weight, reply).catch(refused);
    return payload;
  });

  return {
    async passRead(request, bytes) {
      const key = isAnnounced(request) || bytes <= countedFromBytes ? null : keyOf(request);
      if (key !== null) await passParts(key, bytes, clientSignal(request)).catch(refused);
    },
  };
}

function isAnnounced({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined;
}

/** What the client announces, or as much as it may send. A body that is too long is refused before it is read. */
function expectedBytes({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.bodyLimit ?? 0;
  if (headers['transfer-encoding'] !== undefined) return limit;
  const announced = Number(headers['content-length'] ?? 0);
  return announced > limit ? 0 : announced;
}
