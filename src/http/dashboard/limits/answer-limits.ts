import type { FastifyReply } from 'fastify';
import { createKeyedSemaphore } from '../../../concurrency/limits/keyed-semaphore.ts';
import { ANSWER_PIECE_LIMIT_MS } from '../../../contract/limits.ts';
import { onceClosed } from '../../connection/once-closed.ts';
import { cutSlowReader, SLOWEST_FILE_BYTES } from '../../connection/slow-reader.ts';
import { overloaded } from '../dashboard-error.ts';

/**
 * Counts the bytes of answers from when they are made until they are sent, those of each dealer and all together: a client that
 * asks for pages of long texts and never reads them filled the memory by 70 MB a second. One that finds no room is refused
 * at once. If it waited, it would keep a slot meanwhile that other dealers need.
 */
export type AnswerLimits = (key: string, reply: FastifyReply, bytes: number) => void;

export type AnswerByteLimits = { countedFromBytes: number; total: number; perKey: number };

const MIB = 1_048_576;
const LIMITS: AnswerByteLimits = {
  /** A connection may leave sixteen requests unanswered, and an address has 500 connections: smaller ones make 64 MB. */
  countedFromBytes: 8_192,
  total: 256 * MIB,
  /** Many times what a team reads at a time; sixteen dealers who read nothing leave no room for others. */
  perKey: 16 * MIB,
};

export function createAnswerLimits(given: Partial<AnswerByteLimits> = {}): AnswerLimits {
  const { countedFromBytes, ...limits } = { ...LIMITS, ...given };
  const bytesInFlight = createKeyedSemaphore({ ...limits, waitingTotal: 0 });
  return (key, reply, bytes) => {
    if (bytes < countedFromBytes) return;
    const release = bytesInFlight.tryAcquire(key, bytes);
    if (release === null) throw overloaded('Your team has not read its answers yet. Try again in a moment.');
    onceClosed(reply.raw, release);
    cutSlowReader(reply.raw, { periodMs: ANSWER_PIECE_LIMIT_MS, bytes: SLOWEST_FILE_BYTES });
  };
}
