import type { IncomingMessage } from 'node:http';
import type { Operation } from '../../../contract/operations/operation.ts';
import { OPERATIONS } from '../../../contract/operations.ts';
import { newRequestId } from '../../../ids/request-id.ts';
import type { RequestHandler } from '../../fast-path.ts';
import { type Logs, logAnswer } from '../../logging/log-answer.ts';
import type { Readiness } from '../../readiness.ts';
import { securityHeaders } from '../../security-headers.ts';
import type { AdmissionResult, Admit } from '../authentication.ts';
import type { CachedAnswer, ReadCache } from './read-cache.ts';
import { limitSending } from './send-list.ts';

/** What a request carries on to the framework: its token is spent, and must not be spent twice. */
export type HandedOver = { admission: AdmissionResult; startedAtMs: number };

const HANDED_OVER = Symbol('handed over');
type AdmittedMessage = IncomingMessage & { [HANDED_OVER]?: HandedOver };

export function handedOver(message: AdmittedMessage): HandedOver | undefined {
  return message[HANDED_OVER];
}

export type CachedReadOptions = Logs & {
  admit: Admit;
  readCache: ReadCache;
  readiness: Readiness;
  /** How long a client may take for an answer whose bytes are counted. */
  pieceLimitMs: number;
};

/**
 * The fast path of a read whose answer is cached: admission, the read cache, the socket. The framework's life cycle
 * costs such a read more than the read itself. All rules come from the same functions as in the framework, which takes
 * over whatever is refused, has to be built, or is in any way unusual.
 */
export function createCachedReads(options: CachedReadOptions): RequestHandler {
  const { admit, readCache, readiness, pieceLimitMs, ...logs } = options;
  return function serveCached(request, response, framework) {
    const operation = operationOf(request);
    if (operation === null) return framework(request, response);
    const startedAtMs = performance.now();
    void admit(request.headers, operation).then((admission) => {
      const { integrationId, integration } = admission;
      const route = `/api${operation.path}`;
      const record = { requestId: newRequestId(), integrationId, route, operation, startedAtMs };
      // A client that has disconnected needs no answer.
      if (response.closed) return logAnswer(logs, request, response, record);
      const answer = integration === null ? null : readCache.cachedAnswer(request, integration);
      if (answer === null) {
        (request as AdmittedMessage)[HANDED_OVER] = { admission, startedAtMs };
        return framework(request, response);
      }
      response.on('close', () => logAnswer(logs, request, response, record));
      if (answer.release !== null) limitSending(response, { pieceLimitMs, release: answer.release });
      if (readiness.isDraining()) response.shouldKeepAlive = false;
      response.writeHead(answer.status, headersOf(record.requestId, admission, answer));
      response.end(answer.body ?? undefined);
    });
  };
}

const KEPT_PATH = /^\/api\/v1\/(listings|parts)(\/[0-9a-z_]+)?(?:\?|$)/;

/** The operation of a plain read: a GET without a body, with a path that needs no decoding. */
function operationOf({ method, url = '', headers }: IncomingMessage): Operation | null {
  if (method !== 'GET' || headers.host === undefined) return null;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return null;
  const match = KEPT_PATH.exec(url);
  if (match === null) return null;
  if (match[1] === 'listings') return match[2] === undefined ? OPERATIONS.listListings : OPERATIONS.getListing;
  return match[2] === undefined ? OPERATIONS.listParts : OPERATIONS.getPart;
}

const SECURITY_HEADERS = Object.entries(securityHeaders).flat();

function headersOf(requestId: string, admission: AdmissionResult, { version, headers, body }: CachedAnswer): string[] {
  const all = ['x-request-id', requestId, ...SECURITY_HEADERS];
  for (const name in admission.headers) {
    all.push(name, name === 'x-api-version' && version !== null ? version : (admission.headers[name] as string));
  }
  all.push(...headers);
  if (body !== null) all.push('content-length', String(body.length));
  return all;
}
