import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventLoopSlices, mapSteps } from '../../concurrency/time-slices.ts';
import {
  DEALER_QUOTA_TIMES,
  LOGGED_429_PER_MINUTE,
  LOGGED_ERRORS_PER_MINUTE,
  LOGGED_READS_PER_MINUTE,
} from '../../contract/limits.ts';
import type { Queryable } from '../../db/database.ts';
import type { Senders } from '../connection/senders.ts';
import { type EndedRequest, rowOf } from './api-request-rows.ts';
import { type RequestCounts, storeApiRequests, storeCounts } from './api-requests.ts';
import type { RequestRecord } from './log-answer.ts';

/** The log of API requests that dealers search. It takes a request at once and writes it later, with others. */
export type ApiRequestLog = {
  note(integrationId: string, request: IncomingMessage, response: ServerResponse, record: RequestRecord): void;
  /** Writes the rows that wait, and takes no more. */
  stop(): Promise<void>;
};

export type RequestLogLimits = {
  /** How long requests wait, so that many share a statement. A crash loses the requests of that time. */
  batchMs: number;
  /** Rows of one statement. */
  batchRows: number;
  /** Rows that wait at most; beyond it they are dropped and counted. */
  pendingRows: number;
  /**
   * How many requests of one integration are logged, and ten times as many of all that a dealer has; the others are only
   * counted. Writes that succeed have no limit.
   */
  readsPerMinute: number;
  errorsPerMinute: number;
  /** Answers of 429 have a limit of their own, because many of them would push out other errors. */
  throttledPerMinute: number;
};

const LIMITS: RequestLogLimits = {
  batchMs: 1_000,
  batchRows: 500,
  pendingRows: 10_000,
  readsPerMinute: LOGGED_READS_PER_MINUTE,
  errorsPerMinute: LOGGED_ERRORS_PER_MINUTE,
  throttledPerMinute: LOGGED_429_PER_MINUTE,
};
/** Formatting is nobody's own share of the event loop, so it does not wait behind any dealer's computations. */
const SLICES_KEY = 'request log';
const MINUTE_MS = 60_000;
const ERROR_STATUS = 400;
const THROTTLED_STATUS = 429;
/** A database that has not taken a batch by now is overloaded; the log must not add to it. */
const WRITE_TIMEOUT_MS = 5_000;

export function createApiRequestLog(
  db: Queryable,
  { senders, onFault, ...given }: Partial<RequestLogLimits> & { senders: Senders; onFault: (error: unknown) => void },
): ApiRequestLog {
  const limits = { ...LIMITS, ...given };
  let pending: EndedRequest[] = [];
  let counts = new Map<string, RequestCounts>();
  const perMinute: Record<LimitedKind, MinuteLimit> = {
    read: createMinuteLimit(limits.readsPerMinute),
    error: createMinuteLimit(limits.errorsPerMinute),
    throttled: createMinuteLimit(limits.throttledPerMinute),
  };
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<boolean> | null = null;
  let isStopped = false;

  function countsOf(integrationId: string): RequestCounts {
    let counted = counts.get(integrationId);
    if (counted === undefined) {
      counted = { integrationId, ...NOTHING_COUNTED };
      counts.set(integrationId, counted);
    }
    return counted;
  }

  function schedule(): void {
    if (isStopped || writing !== null) return;
    if (pending.length >= limits.batchRows) startWriting();
    else timer ??= setTimeout(startWriting, limits.batchMs).unref();
  }

  function startWriting(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writing ??= write().finally(() => {
      writing = null;
      if (pending.length > 0 || counts.size > 0) schedule();
    });
  }

  /** Writes one batch; returns whether the database took it. */
  async function write(): Promise<boolean> {
    const batch = pending.slice(0, limits.batchRows);
    pending = pending.slice(limits.batchRows);
    try {
      // Monotonic times become times of day here, and not while a request is answered.
      const offsetMs = Date.now() - performance.now();
      const rows = await eventLoopSlices.run(
        SLICES_KEY,
        mapSteps(batch, (request) => rowOf(request, offsetMs)),
      );
      if (rows.length > 0) await storeApiRequests(db, rows, { timeoutMs: WRITE_TIMEOUT_MS });
    } catch (error) {
      for (const { integrationId } of batch) countsOf(integrationId).dropped += 1;
      onFault(error);
      return false;
    }
    return await writeCounts();
  }

  async function writeCounts(): Promise<boolean> {
    const counted = [...counts.values()];
    if (counted.length === 0) return true;
    counts = new Map();
    try {
      await storeCounts(db, counted, { timeoutMs: WRITE_TIMEOUT_MS });
      return true;
    } catch (error) {
      for (const { integrationId, ...more } of counted) {
        const since = countsOf(integrationId);
        for (const name of COUNTED) since[name] += more[name];
      }
      onFault(error);
      return false;
    }
  }

  return {
    note(integrationId, request, response, record) {
      if (isStopped) return;
      const endedAtMs = performance.now();
      const status = response.headersSent ? response.statusCode : null;
      const kind = limitedKindOf(request.method, status);
      const counted = countsOf(integrationId);
      counted.requests += 1;
      if (status !== null && status >= ERROR_STATUS) counted.errors += 1;
      if (kind !== null && !perMinute[kind].takes(integrationId, senders.of(request).group, endedAtMs)) {
        counted[kind === 'read' ? 'readsNotLogged' : 'errorsNotLogged'] += 1;
      } else if (pending.length >= limits.pendingRows) {
        counted.dropped += 1;
      } else {
        const { method = '', url = '', headers } = request;
        const { authorization = '', 'idempotency-key': idempotencyKey } = headers;
        pending.push({ integrationId, method, url, authorization, idempotencyKey, status, endedAtMs, record });
      }
      schedule();
    },
    async stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      isStopped = true;
      await writing;
      // A stop does not wait for a database that does not answer.
      while (pending.length > 0 || counts.size > 0) if (!(await write())) return;
    },
  };
}

type LimitedKind = 'read' | 'error' | 'throttled';
const NOTHING_COUNTED = { requests: 0, errors: 0, readsNotLogged: 0, errorsNotLogged: 0, dropped: 0 };
const COUNTED = Object.keys(NOTHING_COUNTED) as (keyof typeof NOTHING_COUNTED)[];

/** Which limit a request falls under; null for a write that succeeded. */
function limitedKindOf(method: string | undefined, status: number | null): LimitedKind | null {
  if (status === THROTTLED_STATUS) return 'throttled';
  if (status !== null && status >= ERROR_STATUS) return 'error';
  if (method === 'GET' || method === 'HEAD') return 'read';
  // The client of a write disconnected before its answer, so it is not known that the write succeeded.
  return status === null ? 'error' : null;
}

type MinuteLimit = { takes(integrationId: string, dealer: string, nowMs: number): boolean };

/** Whether the minute of an integration, and that of its dealer, has room for one more. */
function createMinuteLimit(limit: number): MinuteLimit {
  let taken = new Map<string, number>();
  let minute = 0;
  function take(name: string, most: number): boolean {
    const count = (taken.get(name) ?? 0) + 1;
    if (count <= most) taken.set(name, count);
    return count <= most;
  }
  return {
    takes(integrationId, dealer, nowMs) {
      const thisMinute = Math.floor(nowMs / MINUTE_MS);
      if (thisMinute !== minute) {
        minute = thisMinute;
        taken = new Map();
      }
      return take(integrationId, limit) && take(dealer, limit * DEALER_QUOTA_TIMES);
    },
  };
}
