import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { loggedPath } from '../request-url.ts';

/** The one line that each request leaves in the log, when its answer has gone out or its client has gone away. */
export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { fault } = request;
  // This 401 is no fault of the client's; all others below 500 are, and so are more reads than it may have at once.
  const isOurs =
    fault !== null && ((fault.status >= 500 && fault.code !== 'overloaded') || fault.code === 'auth_lookup_failed');
  if (!isOurs && !isInfoLogged(request.log)) return;
  // A client that goes away before its answer has begun has seen no status.
  const status = reply.raw.headersSent ? reply.statusCode : undefined;
  const fields = {
    requestId: request.id,
    integrationId: request.integrationId ?? undefined,
    route: request.routeOptions.url,
    status,
    code: fault?.code,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    isAborted: reply.raw.writableFinished ? undefined : true,
  };
  const message = `${request.method} ${loggedPath(request.url)} ${status ?? 'aborted'}`;
  if (isOurs) request.log.error({ ...fields, err: fault.cause ?? fault }, message);
  else request.log.info(fields, message);
}

const QUIET_LEVELS = new Set(['warn', 'error', 'fatal', 'silent']);

function isInfoLogged(log: FastifyBaseLogger): boolean {
  return !QUIET_LEVELS.has(log.level);
}
