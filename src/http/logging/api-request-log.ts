import type { IncomingMessage, ServerResponse } from 'node:http';
import { LOGGED_READS_PER_MINUTE } from '../../contract/limits.ts';
import type { Queryable } from '../../db/database.ts';
import { type EndedRequest, rowOf } from './api-request-rows.ts';
import { storeApiRequests, storeCounts, type UnloggedCount } from './api-requests.ts';
import type { RequestRecord } from './request-log.ts';

/** The log of API requests that dealers search. It takes a request at once and writes it later, with others. */
export type ApiRequestLog = {
  note(integrationId: string, request: IncomingMessage, response: ServerResponse, record: RequestRecord): void;
  /** Writes what waits, and takes no more. */
  stop(): Promise<void>;
};

export type RequestLogLimits = {
  /** How long requests wait, so that many share a statement; a crash loses as much. */
  batchMs: number;
  /** Rows of one statement. */
  batchRows: number;
  /** Rows that wait at most; beyond it they are dropped and counted. */
  pendingRows: number;
  /** Of one integration; beyond it reads are only counted. */
  readsPerMinute: number;
};

const LIMITS: RequestLogLimits = {
  batchMs: 1_000,
  batchRows: 500,
  pendingRows: 10_000,
  readsPerMinute: LOGGED_READS_PER_MINUTE,
};
const MINUTE_MS = 60_000;
const ERROR_STATUS = 400;
/** A database that has not taken a batch by now is overloaded; the log must not add to it. */
const WRITE_TIMEOUT_MS = 5_000;

export function createApiRequestLog(
  db: Queryable,
  { onFault, ...given }: Partial<RequestLogLimits> & { onFault: (error: unknown) => void },
): ApiRequestLog {
  const limits = { ...LIMITS, ...given };
  let pending: EndedRequest[] = [];
  let counts = new Map<string, UnloggedCount>();
  let reads = new Map<string, number>();
  let minute = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<boolean> | null = null;
  let isStopped = false;

  /** Whether the minute of an integration has room for one more read. */
  function takesRead(integrationId: string, nowMs: number): boolean {
    const thisMinute = Math.floor(nowMs / MINUTE_MS);
    if (thisMinute !== minute) {
      minute = thisMinute;
      reads = new Map();
    }
    const count = (reads.get(integrationId) ?? 0) + 1;
    reads.set(integrationId, count);
    return count <= limits.readsPerMinute;
  }

  function count(integrationId: string, what: 'readsNotLogged' | 'dropped'): void {
    let counted = counts.get(integrationId);
    if (counted === undefined) {
      counted = { integrationId, readsNotLogged: 0, dropped: 0 };
      counts.set(integrationId, counted);
    }
    counted[what] += 1;
    schedule();
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

  /** Writes one batch; answers whether the database took it. */
  async function write(): Promise<boolean> {
    const batch = pending.slice(0, limits.batchRows);
    pending = pending.slice(limits.batchRows);
    try {
      // What is monotonic becomes the time of day here, off the path of the requests.
      const offsetMs = Date.now() - performance.now();
      const rows = batch.map((request) => rowOf(request, offsetMs));
      if (rows.length > 0) await storeApiRequests(db, rows, { timeoutMs: WRITE_TIMEOUT_MS });
    } catch (error) {
      for (const { integrationId } of batch) count(integrationId, 'dropped');
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
      for (const { integrationId, readsNotLogged, dropped } of counted) {
        const since = counts.get(integrationId) ?? { integrationId, readsNotLogged: 0, dropped: 0 };
        since.readsNotLogged += readsNotLogged;
        since.dropped += dropped;
        counts.set(integrationId, since);
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
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const isError = status !== null && status >= ERROR_STATUS;
      if (isRead && !isError && !takesRead(integrationId, endedAtMs)) return count(integrationId, 'readsNotLogged');
      if (pending.length >= limits.pendingRows) return count(integrationId, 'dropped');
      const { method = '', url = '', headers } = request;
      const { authorization = '', 'idempotency-key': idempotencyKey } = headers;
      pending.push({ integrationId, method, url, authorization, idempotencyKey, status, endedAtMs, record });
      schedule();
    },
    async stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      isStopped = true;
      await writing;
      // A stop does not wait for a database that takes no more.
      while (pending.length > 0 || counts.size > 0) if (!(await write())) return;
    },
  };
}
