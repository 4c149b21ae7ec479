import { COUNT_LIMIT } from '../../contract/dashboard/list.ts';
import { REQUEST_LOG_DAYS } from '../../contract/limits.ts';
import type { Queryable } from '../../db/database.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/unnest-rows.ts';

/** The stored log of API requests. */
export type ApiRequestRow = {
  integrationId: string;
  at: Date;
  requestId: string;
  method: string;
  route: string | null;
  query: string | null;
  status: number | null;
  code: string | null;
  durationMs: number;
  keyHint: string;
  idempotencyKey: string | null;
  objectId: string | null;
  ignoredFields: string | null;
  originalRequestId: string | null;
};

/** Requests of one integration that are not in the log. */
export type UnloggedCount = { integrationId: string; readsNotLogged: number; errorsNotLogged: number; dropped: number };

const COLUMN_TYPES = {
  integrationId: 'text',
  at: 'timestamptz',
  requestId: 'text',
  method: 'text',
  route: 'text',
  query: 'text',
  status: 'integer',
  code: 'text',
  durationMs: 'integer',
  keyHint: 'text',
  idempotencyKey: 'text',
  objectId: 'text',
  ignoredFields: 'text',
  originalRequestId: 'text',
} as const;
const COUNT_TYPES = {
  integrationId: 'text',
  readsNotLogged: 'bigint',
  errorsNotLogged: 'bigint',
  dropped: 'bigint',
} as const;

type StoreOptions = { timeoutMs?: number };

/** What is logged a moment after its integration was deleted would be left behind by the deletion. */
const isThere = sql`exists (select from integrations i where i.id = rows.integration_id and i.deleted_at is null)`;

export async function storeApiRequests(db: Queryable, rows: ApiRequestRow[], options: StoreOptions = {}) {
  const statement = sql`
    insert into api_requests (integration_id, at, request_id, method, route, query, status, code, duration_ms, key_hint,
      idempotency_key, object_id, ignored_fields, original_request_id)
    select integration_id, at, request_id, method, route, query, status, code, duration_ms, key_hint,
      idempotency_key, object_id, ignored_fields, original_request_id
    from ${unnestRows('rows', rows, COLUMN_TYPES)} where ${isThere}`;
  await db.query(statement, options);
}

export async function storeCounts(db: Queryable, counts: UnloggedCount[], options: StoreOptions = {}) {
  const statement = sql`
    insert into api_request_counts (integration_id, minute, reads_not_logged, errors_not_logged, dropped)
    select integration_id, date_trunc('minute', clock_timestamp()), reads_not_logged, errors_not_logged, dropped
    from ${unnestRows('rows', counts, COUNT_TYPES)} where ${isThere} order by integration_id
    on conflict (integration_id, minute) do update set
      reads_not_logged = api_request_counts.reads_not_logged + excluded.reads_not_logged,
      errors_not_logged = api_request_counts.errors_not_logged + excluded.errors_not_logged,
      dropped = api_request_counts.dropped + excluded.dropped`;
  await db.query(statement, options);
}

export type RequestFilter = {
  /** Of the dealer, all of them or the one that is asked for. */
  integrationIds: readonly string[];
  /** The first digit of the status. */
  statusClass: number | null;
  method: string | null;
  route: string | null;
  /** A request id or an idempotency key, whole. */
  search: string;
};

export type RequestPage = RequestFilter & {
  start: { position: { value: string | null; id: string }; isBackwards: boolean } | null;
  limit: number;
};

/** A row, with its time as the database writes it: what a page goes on from. */
export type ListedRequest = ApiRequestRow & { position: string };

const COLUMNS = sql`integration_id as "integrationId", at, request_id as "requestId", method, route, query, status, code,
  duration_ms as "durationMs", key_hint as "keyHint", idempotency_key as "idempotencyKey", object_id as "objectId",
  ignored_fields as "ignoredFields", original_request_id as "originalRequestId", at::text as position`;

/** Newest first. Each integration gives a page from its own index, and the pages are merged. */
export async function listApiRequests(db: Queryable, page: RequestPage): Promise<ListedRequest[]> {
  const { start, limit, integrationIds } = page;
  const direction = rawSql(start?.isBackwards ? 'asc' : 'desc');
  const rows = await db.query<ListedRequest>(
    plannedAnew(sql`
      select page.* from unnest(${integrationIds}::text[]) as channels (id)
      cross join lateral (
        select ${COLUMNS} from api_requests
        where integration_id = channels.id and ${conditions(page)} and ${beyond(start)}
        order by api_requests.at ${direction}, request_id ${direction} limit ${limit}) page
      order by page.at ${direction}, page."requestId" ${direction} limit ${limit}`),
  );
  return start?.isBackwards ? rows.reverse() : rows;
}

/** How many match; counting stops at a limit. */
export async function countApiRequests(db: Queryable, filter: RequestFilter) {
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`
      select count(*) as count from (
        select 1 from api_requests
        where integration_id = any(${filter.integrationIds}::text[]) and ${conditions(filter)}
        limit ${COUNT_LIMIT + 1}) counted`),
  );
  const count = row?.count ?? 0;
  return { value: Math.min(count, COUNT_LIMIT), isCapped: count > COUNT_LIMIT };
}

export async function findApiRequest(
  db: Queryable,
  integrationIds: readonly string[],
  requestId: string,
): Promise<ListedRequest | null> {
  const [row] = await db.query<ListedRequest>(sql`
    select ${COLUMNS} from api_requests
    where request_id = ${requestId} and integration_id = any(${integrationIds}::text[]) limit 1`);
  return row ?? null;
}

const REPLAYS_SHOWN = 20;

/** The ids of the requests that replayed one, newest first. */
export async function replaysOf(db: Queryable, original: ApiRequestRow): Promise<string[]> {
  if (original.idempotencyKey === null) return [];
  const rows = await db.query<{ id: string }>(sql`
    select request_id as id from api_requests
    where integration_id = ${original.integrationId} and idempotency_key = ${original.idempotencyKey}
      and original_request_id = ${original.requestId}
    order by at desc limit ${REPLAYS_SHOWN}`);
  return rows.map(({ id }) => id);
}

/** What some integrations did that is not in the log, as long as it is kept. */
export async function sumUnlogged(db: Queryable, integrationIds: readonly string[]) {
  const [row] = await db.query<{ reads: number; errors: number; dropped: number }>(sql`
    select coalesce(sum(reads_not_logged), 0)::bigint as reads, coalesce(sum(errors_not_logged), 0)::bigint as errors,
      coalesce(sum(dropped), 0)::bigint as dropped
    from api_request_counts where integration_id = any(${integrationIds}::text[])`);
  return row ?? { reads: 0, errors: 0, dropped: 0 };
}

const PRUNE_LIMIT = 1_000;

/** Deletes a batch of what is older than it is kept for; answers how many. */
export async function pruneApiRequests(db: Queryable, now: Date | null): Promise<number> {
  const end = sql`${clockTime(now)} - make_interval(days => ${REQUEST_LOG_DAYS})`;
  const [row] = await db.query<{ count: number }>(sql`
    with requests as (
      delete from api_requests where ctid = any(array(
        select ctid from api_requests where at < ${end} limit ${PRUNE_LIMIT} for update skip locked))
      returning 1),
    counts as (
      delete from api_request_counts where ctid = any(array(
        select ctid from api_request_counts where minute < ${end} limit ${PRUNE_LIMIT} for update skip locked))
      returning 1)
    select (select count(*) from requests) + (select count(*) from counts) as count`);
  return row?.count ?? 0;
}

const REQUEST_ID = /^req_[0-9a-f]{32}$/;
const CLASS_SIZE = 100;

/** Written so that the indexes of errors and of writes serve: each has its condition word for word. */
function conditions({ statusClass, method, route, search }: RequestFilter): Sql {
  let all = sql`true`;
  if (statusClass !== null) {
    const from = statusClass * CLASS_SIZE;
    all = sql`${all} and status >= ${from} and status < ${from + CLASS_SIZE}`;
    if (statusClass >= 4) all = sql`${all} and status >= 400`;
  }
  if (method === 'POST') all = sql`${all} and method = 'POST'`;
  else if (method !== null) all = sql`${all} and method = ${method}`;
  if (route !== null) all = sql`${all} and route = ${route}`;
  const text = search.trim();
  if (REQUEST_ID.test(text)) all = sql`${all} and request_id = ${text}`;
  else if (text !== '') all = sql`${all} and idempotency_key = ${text}`;
  return all;
}

function beyond(start: RequestPage['start']): Sql {
  if (start === null) return sql`true`;
  const { value, id } = start.position;
  const sign = rawSql(start.isBackwards ? '>' : '<');
  return sql`(api_requests.at, request_id) ${sign} (${value}::timestamptz, ${id})`;
}
