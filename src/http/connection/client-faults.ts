import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { spreadOverTurns } from '../../concurrency/spread-over-turns.ts';
import { ApiError, errorEnvelope } from '../../contract/errors.ts';
import { CURRENT_VERSION } from '../../contract/versions.ts';
import { newRequestId } from '../../ids/request-id.ts';
import type { LineLimit } from '../logging/line-limit.ts';
import { securityHeaders } from '../security-headers.ts';
import type { BodyDiscard } from './body-discard.ts';

/**
 * How long a connection stays readable after its last response: if it were closed at once over unread bytes, the client
 * would lose that response.
 */
const LINGER_MS = 1_000;
/** Hundreds of connections can be late in the same moment. To answer all of them in one go held up everybody for 0.15 s. */
const FAULTS_PER_TURN = 8;

export type ClientFaults = {
  /** Says which request a connection is busy with. */
  follow(request: IncomingMessage, response: ServerResponse): void;
  /** Whether the body of the request that a connection is busy with has not arrived yet. */
  isReceiving(socket: Socket): boolean;
  /** Handles Node's event `clientError`. */
  handle(fault: NodeJS.ErrnoException, socket: Socket): void;
  /** Answers a connection that has no request to answer, and closes it. */
  hangUp(socket: Socket, error: ApiError): void;
};

/** The newest response of a connection, kept on the connection itself: a map on the side costs each request more. */
const LATEST = Symbol('latest response');
type FollowedSocket = Socket & { [LATEST]?: ServerResponse };

/**
 * Handles faults that Node reports for a connection and not for a request: HTTP that can't be parsed or did not arrive
 * in time. The client gets the envelope all the same, exactly once, and never instead of an answer to something else.
 */
export function clientFaults(options: {
  publicUrl: string;
  log: FastifyBaseLogger;
  discard: BodyDiscard;
  refusals: LineLimit;
}): ClientFaults {
  const leaving = new WeakSet<Socket>();
  const waiting = new WeakSet<Socket>();
  const inTurn = spreadOverTurns(FAULTS_PER_TURN);

  function hangUp(socket: Socket, error: ApiError): void {
    leaving.add(socket);
    const requestId = newRequestId();
    if (options.refusals.mayWrite(error.status)) {
      options.log.info({ requestId, status: error.status, code: error.code }, `refused connection: ${error.message}`);
    }
    socket.on('error', () => socket.destroy());
    socket.end(rawResponse(error, requestId, options.publicUrl));
    options.discard.drop(socket);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }

  function handle(fault: NodeJS.ErrnoException, socket: FollowedSocket): void {
    // Node reports each further packet of a broken request again, also while its answer is being read.
    if (leaving.has(socket) || waiting.has(socket)) return;
    if (fault.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const response = socket[LATEST];
    waiting.add(socket);
    inTurn(() => {
      waiting.delete(socket);
      if (!socket.writable) socket.destroy();
      // Unless the request arrived after all until its turn came.
      else if (socket[LATEST] === response) close(socket, response, clientError(fault.code));
    });
  }

  function close(socket: Socket, response: ServerResponse | undefined, error: ApiError): void {
    if (response !== undefined && !response.req.complete) {
      failBody(socket, response, error);
    } else if (response === undefined || response.writableFinished) {
      hangUp(socket, error);
    } else {
      // The answers to the good requests before it come first.
      leaving.add(socket);
      response.once('close', () => hangUp(socket, error));
    }
  }

  return {
    // Not by the response's socket: Node gives it to a pipelined response only when the responses before it are sent.
    follow(request, response) {
      (request.socket as FollowedSocket)[LATEST] = response;
    },
    isReceiving(socket: FollowedSocket) {
      return socket[LATEST]?.req.complete === false;
    },
    handle,
    hangUp,
  };
}

/** The fault lies in the body of a request that we know: it fails like any other, or has its answer already. */
function failBody(socket: Socket, response: ServerResponse, error: ApiError): void {
  const { req: request } = response;
  response.shouldKeepAlive = false;
  if (response.writableFinished) socket.destroy();
  else if (hasReader()) request.emit('error', error);
  else if (request.listenerCount('newListener') === 0) request.on('newListener', failReader);

  function hasReader(): boolean {
    return request.listenerCount('error') > 0;
  }

  /** The request is still being admitted. Its error is emitted when something begins to read its body. */
  function failReader(event: string): void {
    if (event !== 'error') return;
    request.off('newListener', failReader);
    process.nextTick(() => hasReader() && request.emit('error', error));
  }
}

function clientError(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('request_timeout');
    default:
      return new ApiError('invalid_request', { message: 'The request is not well-formed HTTP.' });
  }
}

/** A whole HTTP response as text, for connections that have no response object. */
function rawResponse(error: ApiError, requestId: string, publicUrl: string): string {
  const body = JSON.stringify(errorEnvelope(error, requestId, publicUrl));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    Connection: 'close',
    Date: new Date().toUTCString(),
    'X-Request-Id': requestId,
    'X-API-Version': CURRENT_VERSION,
    ...securityHeaders,
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}
