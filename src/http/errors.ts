import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorEnvelope } from '../contract/errors.ts';
import { newRequestId } from '../contract/ids.ts';
import { CURRENT_VERSION } from '../contract/versions.ts';
import { securityHeaders } from './security-headers.ts';

/** Turns whatever was thrown into the envelope: the only place where errors become responses. */
export function errorHandler(publicUrl: string) {
  return function handleError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = toApiError(thrown);
    if (error.status >= 500 || error.code === 'auth_lookup_failed') {
      request.log.error({ err: error.cause ?? thrown, code: error.code }, 'request failed');
    }
    request.errorCode = error.code;
    // The rest of a refused body is not wanted: the connection ends with the answer.
    if (error.code === 'request_too_large' || error.code === 'request_timeout') reply.header('Connection', 'close');
    reply
      .code(error.status)
      .headers(error.headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(errorEnvelope(error, request.id, publicUrl)));
  };
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const code = (thrown as Partial<FastifyError> | null)?.code;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('request_too_large', { cause: thrown });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('invalid_request', {
        message: 'The body does not have the length that Content-Length says.',
      });
    case 'ECONNRESET':
    case 'ECONNABORTED':
      return new ApiError('request_timeout', { cause: thrown });
    default:
      return new ApiError('internal_error', { cause: thrown });
  }
}

/** For requests that never became one: HTTP that can't be parsed, or that did not arrive in time. */
export function clientErrorHandler(publicUrl: string) {
  return function handleClientError(fault: NodeJS.ErrnoException, socket: Socket): void {
    // An answer that has begun can't be replaced by another.
    if (fault.code === 'ECONNRESET' || !socket.writable || (socket.bytesWritten > 0 && isMidResponse(socket))) {
      socket.destroy();
      return;
    }
    socket.end(rawResponse(clientFault(fault.code), publicUrl));
  };
}

/** A whole HTTP response as text, for sockets that have no response object. */
export function rawResponse(error: ApiError, publicUrl: string): string {
  const requestId = newRequestId();
  const body = JSON.stringify(errorEnvelope(error, requestId, publicUrl));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    'X-Request-Id': requestId,
    'X-API-Version': CURRENT_VERSION,
    ...securityHeaders,
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}

function clientFault(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('request_timeout');
    default:
      return new ApiError('invalid_request', { message: 'The request is not well-formed HTTP.' });
  }
}

function isMidResponse(socket: Socket): boolean {
  const message = (socket as Socket & { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  return message?.headersSent ?? false;
}
