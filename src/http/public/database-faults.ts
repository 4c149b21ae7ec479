import { DomainError } from '../../contract/domain-error.ts';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { publicError } from './domain-errors.ts';

/** Runs one step of an operation; a fault in it that is not the client's becomes that step's own 500. */
async function failingAs<Result>(code: ErrorCode, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof DomainError) throw publicError(error);
    throw new ApiError(code, { cause: error });
  }
}

/** Runs a read; any fault in it becomes `query_failed`. */
export async function reading<Result>(step: () => Promise<Result>): Promise<Result> {
  return await failingAs('query_failed', step);
}
