import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../contract/domain-error.ts';
import { ApiError, errorEnvelope } from '../contract/errors.ts';
import { stopReading } from './connection/body-discard.ts';
import { publicError } from './public/domain-errors.ts';
import { routeNotFound } from './route-not-found.ts';

/**
 * Turns whatever a handler threw into the API's error envelope. Errors of the dashboard's operations are answered by
 * `dashboard/dashboard-error.ts`, requests that never reach a handler by `connection/client-faults.ts`.
 */
export function errorHandler(publicUrl: string) {
  return function handleError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = toApiError(thrown, request);
    request.fault = error;
    stopReading(request.raw);
    keepConnection(reply);
    reply
      .code(error.status)
      .headers(error.headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(errorEnvelope(error, request.id, publicUrl)));
  };
}

/**
 * Fastify closes the connection on every fault of a body. A client that is still sending would then see the reset and
 * not the answer; so the rest is read and dropped, for as long as a request may take. A server that is stopping has
 * said "close" on the response itself, and that stays.
 */
function keepConnection(reply: FastifyReply): void {
  const isStopping = reply.raw.hasHeader('connection');
  if (reply.hasHeader('connection') && reply.raw.shouldKeepAlive && !isStopping) {
    reply.header('connection', 'keep-alive');
  }
}

function toApiError(thrown: unknown, request: FastifyRequest): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof DomainError) return publicError(thrown);
  // The client disconnected while it was sending. Nobody reads this answer, but the log records it.
  if (request.raw.readableAborted) return new ApiError('request_timeout', { cause: thrown });
  // Any other fault of a request to an unknown path.
  if (request.is404) return routeNotFound(request);
  switch ((thrown as Partial<FastifyError> | null)?.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('request_too_large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('invalid_json', { message: 'The Content-Type header is not well-formed.' });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('invalid_request', {
        message: 'The body does not have the length that Content-Length says.',
      });
    default:
      return new ApiError('internal_error', { cause: thrown });
  }
}
