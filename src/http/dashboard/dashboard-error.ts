import type { FastifyReply, FastifyRequest } from 'fastify';
import { SemaphoreError } from '../../concurrency/limits/keyed-semaphore.ts';
import type { DashboardErrorCode, DashboardErrorEnvelope, EdgeErrorCode } from '../../contract/dashboard/errors.ts';
import { EDGE_ERROR_STATUS } from '../../contract/dashboard/errors.ts';
import { DOMAIN_ERROR_STATUS, DomainError } from '../../contract/domain-error.ts';
import { ApiError } from '../../contract/errors.ts';
import { OVERLOADED_RETRY_SECONDS } from '../../contract/limits.ts';
import { TooManyUploadsError } from '../../inventory/photos/encode-photos.ts';
import { PhotoStorageError, STORAGE_FAILED } from '../../inventory/photos/storage/photo-storage-error.ts';
import { stopReading } from '../connection/body-discard.ts';

/** What the dashboard's API refuses before an operation runs. The operation itself throws a DomainError. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  readonly code: EdgeErrorCode;
  readonly field: string | undefined;
  readonly headers: Record<string, string>;

  constructor(
    code: EdgeErrorCode,
    message: string,
    details: { field?: string; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.field = details.field;
    this.headers = details.headers ?? {};
  }
}

const OVERLOADED = 'Too much is going on at once. Try again in a moment.';

/** No slot became free in time, or too many requests already wait for one. */
export function overloaded(message = OVERLOADED): DashboardError {
  return new DashboardError('unavailable', message, { headers: { 'Retry-After': String(OVERLOADED_RETRY_SECONDS) } });
}

type Refusal = {
  status: number;
  code: DashboardErrorCode;
  message: string;
  field?: string | undefined;
  headers?: Record<string, string>;
};

/** Turns whatever was thrown into the dashboard's envelope. */
export function handleDashboardError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, code, message, field, headers = {} } = refusalOf(thrown);
  stopReading(request.raw);
  // That somebody asks more than is served at once is no fault of ours, and no error in the log.
  if (status >= 500) {
    const isOverload = code === 'unavailable' && !(thrown instanceof PhotoStorageError);
    request.fault = new ApiError(isOverload ? 'overloaded' : 'internal_error', { cause: thrown });
  }
  const envelope: DashboardErrorEnvelope = {
    error: { code, message, ...(field === undefined ? {} : { field }), request_id: request.id },
  };
  reply.code(status).headers(headers).type('application/json; charset=utf-8').send(JSON.stringify(envelope));
}

function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof DashboardError) return { ...own(thrown), status: EDGE_ERROR_STATUS[thrown.code] };
  if (thrown instanceof DomainError) return { ...own(thrown), status: DOMAIN_ERROR_STATUS[thrown.code] };
  if (thrown instanceof SemaphoreError) return refusalOf(overloaded());
  if (thrown instanceof TooManyUploadsError) return refusalOf(overloaded(thrown.message));
  if (thrown instanceof PhotoStorageError) return refusalOf(overloaded(STORAGE_FAILED));
  // Work that was ended because its client has gone: nobody reads the answer.
  if ((thrown as Partial<Error> | null)?.name === 'AbortError') return refusalOf(overloaded());
  // Errors of the checks that both APIs share: the time that a body takes, its bytes, and its schema.
  if (thrown instanceof ApiError && thrown.code === 'request_timeout') {
    return { status: EDGE_ERROR_STATUS.request_timeout, code: 'request_timeout', message: thrown.message };
  }
  if (thrown instanceof ApiError && thrown.status < 500) {
    return { status: 400, code: 'invalid_request', message: thrown.message, field: thrown.param };
  }
  if ((thrown as { code?: string } | null)?.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return { status: 413, code: 'request_too_large', message: 'That is too large to send.' };
  }
  return {
    status: 500,
    code: 'internal_error',
    message: 'Something went wrong on our side. What you entered is still here: try again in a moment.',
  };
}

function own<Code extends DashboardErrorCode>(error: {
  code: Code;
  message: string;
  field: string | undefined;
  headers?: Record<string, string>;
}) {
  const { code, message, field, headers = {} } = error;
  return { code, message, field, headers };
}
