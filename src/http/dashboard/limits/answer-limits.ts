import type { FastifyReply } from 'fastify';
import { createKeyedSemaphore, SemaphoreError } from '../../../concurrency/limits/keyed-semaphore.ts';
import { ANSWER_PIECE_LIMIT_MS } from '../../../contract/limits.ts';
import { onceClosed } from '../../connection/once-closed.ts';
import { cutSlowReader, SLOWEST_FILE_BYTES } from '../../connection/slow-reader.ts';
import { waitForSlot } from '../../connection/wait-for-slot.ts';
import { overloaded } from '../dashboard-error.ts';

/**
 * Counts the bytes of large answers from when they are made until they are sent, those of each dealer and all together: a
 * client that asks for pages of long texts and never reads them filled the memory by 70 MB a second.
 */
export type AnswerLimits = (key: string, reply: FastifyReply, bytes: number) => Promise<void>;

export type AnswerByteLimits = { countedFromBytes: number; total: number; perKey: number; waitLimitMs: number };

const MIB = 1_048_576;
const LIMITS: AnswerByteLimits = {
  countedFromBytes: MIB / 4,
  total: 128 * MIB,
  perKey: 32 * MIB,
  waitLimitMs: 10_000,
};

export function createAnswerLimits(given: Partial<AnswerByteLimits> = {}): AnswerLimits {
  const { countedFromBytes, waitLimitMs, ...limits } = { ...LIMITS, ...given };
  const bytesInFlight = createKeyedSemaphore({ ...limits, waitingTotal: 1_000 });
  return async (key, reply, bytes) => {
    if (bytes < countedFromBytes) return;
    const deadlineMs = performance.now() + waitLimitMs;
    const release = await waitForSlot(bytesInFlight, key, reply, { weight: bytes, deadlineMs }).catch((error) => {
      const message = 'Your team has not read its answers yet. Try again in a moment.';
      throw error instanceof SemaphoreError ? overloaded(message) : error;
    });
    onceClosed(reply.raw, release);
    cutSlowReader(reply.raw, { periodMs: ANSWER_PIECE_LIMIT_MS, bytes: SLOWEST_FILE_BYTES });
  };
}
