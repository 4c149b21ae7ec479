import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { ApiError } from '../../contract/errors.ts';
import { loggedPath } from '../request-url.ts';

/** What the log says of a request besides what its answer says itself. */
export type RequestRecord = {
  requestId: string;
  integrationId: string | null;
  route: string | undefined;
  startedAtMs: number;
  fault?: ApiError | null;
};

/** The one line that each request leaves in the log, when its answer has gone out or its client has gone away. */
export function logAnswer(
  log: FastifyBaseLogger,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, integrationId, route, startedAtMs, fault = null }: RequestRecord,
): void {
  // This 401 is no fault of the client's; all others below 500 are, and so are more reads than it may have at once.
  const isOurs =
    fault !== null && ((fault.status >= 500 && fault.code !== 'overloaded') || fault.code === 'auth_lookup_failed');
  if (!isOurs && !isInfoLogged(log)) return;
  // A client that goes away before its answer has begun has seen no status.
  const status = response.headersSent ? response.statusCode : undefined;
  const fields = {
    requestId,
    integrationId: integrationId ?? undefined,
    route,
    status,
    code: fault?.code,
    durationMs: Math.round((performance.now() - startedAtMs) * 10) / 10,
    isAborted: response.writableFinished ? undefined : true,
  };
  const message = `${request.method} ${loggedPath(request.url ?? '')} ${status ?? 'aborted'}`;
  if (isOurs) log.error({ ...fields, err: fault.cause ?? fault }, message);
  else log.info(fields, message);
}

const QUIET_LEVELS = new Set(['warn', 'error', 'fatal', 'silent']);

function isInfoLogged(log: FastifyBaseLogger): boolean {
  return !QUIET_LEVELS.has(log.level);
}
