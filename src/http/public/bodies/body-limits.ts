import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createKeyedSemaphore } from '../../../concurrency/keyed-semaphore.ts';
import { READ_WAIT_LIMIT_MS } from '../../../contract/limits.ts';
import { waitUnlessOverloaded } from '../reads/read-limits.ts';

/** Smaller bodies are not counted: 600 requests a minute of them are bounded by the rate limit. */
const COUNTED_FROM_BYTES = 128 * 1024;
const BYTES_LIMIT = 256 * 1_048_576;
const BYTES_LIMIT_PER_INTEGRATION = 32 * 1_048_576;
const WAITING_LIMIT = 2_000;
const WAITING_LIMIT_PER_INTEGRATION = 100;

/**
 * Bounds the bytes of large bodies in memory, for each integration and for all: sixty bulks of 10 MB at a time, which
 * the rate limit allows one key, would be 600 MB. A body is not read before it has its units; it keeps them until it is
 * answered. One that waits too long is refused as `overloaded`.
 */
export function limitBodies(app: FastifyInstance, waitLimitMs = READ_WAIT_LIMIT_MS): void {
  const bytesHeld = createKeyedSemaphore({
    total: BYTES_LIMIT,
    perKey: BYTES_LIMIT_PER_INTEGRATION,
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_INTEGRATION,
  });
  app.addHook('preParsing', async (request: FastifyRequest, reply: FastifyReply, payload) => {
    const weight = expectedBytes(request);
    if (weight <= COUNTED_FROM_BYTES || request.integrationId === null) return payload;
    const deadlineMs = performance.now() + waitLimitMs;
    const release = await waitUnlessOverloaded(bytesHeld, request.integrationId, reply, { weight, deadlineMs });
    reply.raw.once('close', release);
    return payload;
  });
}

/** What the client announces, or as much as it may send. A body that is too long is refused before it is read. */
function expectedBytes({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.bodyLimit ?? 0;
  if (headers['transfer-encoding'] !== undefined) return limit;
  const announced = Number(headers['content-length'] ?? 0);
  return announced > limit ? 0 : announced;
}
