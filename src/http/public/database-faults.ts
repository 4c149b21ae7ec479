import { DomainError } from '../../contract/domain-error.ts';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { LOCK_NOT_AVAILABLE, sqlState } from '../../db/database.ts';
import { publicError } from './domain-errors.ts';

/** Runs one step of an operation; a fault in it that is not the client's becomes that step's own 500. */
export async function failingAs<Result>(code: ErrorCode, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof DomainError) throw publicError(error);
    throw new ApiError(code, { cause: error });
  }
}

/** A read that fails is `query_failed`, whatever the reason. */
export async function reading<Result>(step: () => Promise<Result>): Promise<Result> {
  return await failingAs('query_failed', step);
}

/** What the client is told of a fault in a write. Whoever got no lock has written nothing, so that is a lookup. */
export function writeFault(step: ErrorCode, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DomainError) return publicError(error);
  return new ApiError(sqlState(error) === LOCK_NOT_AVAILABLE ? 'lookup_failed' : step, { cause: error });
}
