import type { DomainError, DomainErrorCode } from '../../contract/domain-error.ts';
import { ApiError, ERRORS, type ErrorCode } from '../../contract/errors.ts';

/** The API's error for each refusal of domain code. A code that is not here can't be caused by a client. */
const PUBLIC_CODES: Partial<Record<DomainErrorCode, ErrorCode>> = {
  invalid_input: 'invalid_request',
  invalid_cursor: 'invalid_cursor',
  unpriceable: 'query_failed',
};

export function publicError(error: DomainError): ApiError {
  const code = PUBLIC_CODES[error.code];
  if (code === undefined) return new ApiError('internal_error', { cause: error });
  return new ApiError(code, {
    message: error.message,
    ...(error.field === undefined ? {} : { param: error.field }),
    // A fault of ours is logged with its cause; a client's mistake needs none.
    cause: ERRORS[code].status >= 500 ? error : error.cause,
  });
}
