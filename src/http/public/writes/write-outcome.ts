import { DomainError } from '../../../contract/domain-error.ts';
import { ApiError, type ErrorCode } from '../../../contract/errors.ts';
import { publicError } from '../domain-errors.ts';
import type { Refusal } from './write-kind.ts';

/** What is sent, and recorded for a replay. */
export type WriteAnswer = { status: number; body: string; requestId: string };

/**
 * What becomes of a write. Everything in this folder speaks of these six; they become errors of the API once, in
 * `apiErrorOf`.
 *
 * | kind | what happened | who else is concerned |
 * |---|---|---|
 * | answered | It succeeded, now or before. | Requests with its key get the same answer. |
 * | refused | The request can't be done, as with an id that is taken. | nobody |
 * | failed | The work or its commit failed. | nobody: those of its batch are tried alone |
 * | unavailable | There was no connection, no lookup, or a lock stayed taken. | Whoever waits for the same lock. |
 * | late | It waited for the lock's queue until its deadline. | nobody |
 * | busy | Another request with its key is running. | nobody |
 */
export type WriteOutcome =
  | { kind: 'answered'; answer: WriteAnswer; isReplay: boolean }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'failed'; cause: unknown }
  | { kind: 'unavailable'; cause: unknown }
  | { kind: 'late' }
  | { kind: 'busy' };

export type Answered = Extract<WriteOutcome, { kind: 'answered' }>;
/** What can go wrong for a whole transaction. */
export type TransactionFault = Extract<WriteOutcome, { kind: 'refused' | 'failed' | 'unavailable' }>;

export const LATE: WriteOutcome = { kind: 'late' };
export const BUSY: WriteOutcome = { kind: 'busy' };

/** The error that the client gets. A write that waited in vain has written nothing, so that is a failed lookup. */
export function apiErrorOf(outcome: Exclude<WriteOutcome, Answered>, failureCode: ErrorCode): ApiError {
  switch (outcome.kind) {
    case 'refused':
      return outcome.refusal instanceof DomainError ? publicError(outcome.refusal) : outcome.refusal;
    case 'failed':
      return new ApiError(failureCode, { cause: outcome.cause });
    case 'unavailable':
      return new ApiError('lookup_failed', { cause: outcome.cause });
    case 'late':
      return new ApiError('lookup_failed', {
        cause: new Error('the write waited until its deadline for the writes before it'),
      });
    case 'busy':
      return new ApiError('idempotency_key_in_use', { headers: { 'Retry-After': '1' } });
  }
}
