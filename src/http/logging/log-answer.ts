import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { ApiError, ErrorCode } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operations/operation.ts';
import type { UnknownNames } from '../json/unknown-names.ts';
import { loggedPath } from '../request-url.ts';
import type { ApiRequestLog } from './api-request-log.ts';
import type { LineLimit } from './line-limit.ts';

/** What the log says about a request, besides what is in its answer. */
export type RequestRecord = {
  requestId: string;
  integrationId: string | null;
  route: string | undefined;
  /** The operation of the public API; null if the request is for none of them. */
  operation: Operation | null;
  startedAtMs: number;
  fault?: ApiError | null;
  written?: Written | null;
  unknownNames?: UnknownNames | null;
};

/** The beginning of a write's answer, and the first request if it was a replay. */
export type Written = { answer: string; originalRequestId: string | null };

/** Where requests are logged: the lines of the operator, and the rows that dealers search. */
export type Logs = { log: FastifyBaseLogger; requestLog: ApiRequestLog; refusals: LineLimit; keyless: LineLimit };

/** Runs at the end of every request: when its answer has been sent, or its client has disconnected. */
export function logAnswer(logs: Logs, request: IncomingMessage, response: ServerResponse, record: RequestRecord): void {
  if (record.integrationId !== null) logs.requestLog.note(record.integrationId, request, response, record);
  writeLine(logs, request, response, record);
}

/** The one line that each request leaves in the operator's log. */
function writeLine(
  { log, refusals, keyless }: Logs,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, integrationId, route, startedAtMs, fault = null }: RequestRecord,
): void {
  // This 401 is no fault of the client's; all others below 500 are.
  const isOurs =
    fault !== null && ((fault.status >= 500 && !EXPECTED_CODES.has(fault.code)) || fault.code === 'auth_lookup_failed');
  if (!isOurs && !isInfoLogged(log)) return;
  // A client that disconnects before its answer has begun has seen no status.
  const status = response.headersSent ? response.statusCode : undefined;
  if (!isOurs && status !== undefined && status >= 400) {
    if (!refusals.mayWrite(status)) return;
  } else if (!isOurs && integrationId === null && !keyless.mayWrite(status ?? 'aborted')) return;
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

/** These 503 are right as they are: more than may run at once, and the answer to a load balancer's probe. */
const EXPECTED_CODES = new Set<ErrorCode>(['overloaded', 'not_ready']);

const QUIET_LEVELS = new Set(['warn', 'error', 'fatal', 'silent']);

function isInfoLogged(log: FastifyBaseLogger): boolean {
  return !QUIET_LEVELS.has(log.level);
}
