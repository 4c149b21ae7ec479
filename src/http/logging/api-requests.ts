import { addActivity } from '../../activity/activity-counts.ts';
import { cappedCount, LONG_LIST_COUNT_LIMIT } from '../../contract/dashboard/list.ts';
import { REQUEST_LOG_DAYS } from '../../contract/limits.ts';
import type { Queryable } from '../../db/database.ts';
import { pruneByAge } from '../../db/prune-by-age.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';

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

/** Requests of one integration: all of them, those that failed, and those that are not in the log. */
export type RequestCounts = {
  integrationId: string;
  requests: number;
  errors: number;
  readsNotLogged: number;
  errorsNotLogged: number;
  dropped: number;
};

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
const ANSWERED_TYPES = { integrationId: 'text', requests: 'bigint', errors: 'bigint' } as const;
const UNLOGGED_TYPES = {
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

export async function storeCounts(db: Queryable, counts: RequestCounts[], options: StoreOptions = {}) {
  const unlogged = counts.filter((one) => one.readsNotLogged + one.errorsNotLogged + one.dropped > 0);
  const activity = addActivity(sql`
    select integration_id, kind, clock_timestamp(), count from ${unnestRows('answered', counts, ANSWERED_TYPES)}
    cross join lateral (values ('requests', requests), ('request_errors', errors)) as kinds (kind, count)`);
  const statement = sql`
    with activity as (${activity})
    insert into api_request_counts (integration_id, minute, reads_not_logged, errors_not_logged, dropped)
    select integration_id, date_trunc('minute', clock_timestamp()), reads_not_logged, errors_not_logged, dropped
    from ${unnestRows('rows', unlogged, UNLOGGED_TYPES)} where ${isThere} order by integration_id
    on conflict (integration_id, minute) do update set
      reads_not_logged = api_request_counts.reads_not_logged + excluded.reads_not_logged,
      errors_not_logged = api_request_counts.errors_not_logged + excluded.errors_not_logged,
      dropped = api_request_counts.dropped + excluded.dropped`;
  await db.query(statement, options);
}

export type RequestFilter = {
  /** The integrations of the dealer: all of them, or the one that is asked for. */
  integrationIds: readonly string[];
  /** The first digit of the status. */
  statusClass: number | null;
  method: string | null;
  route: string | null;
  /** A request id or an idempotency key, whole. */
  search: string;
  /** Requests that came from then on, and before then. */
  from: Date | null;
  to: Date | null;
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

/** Newest first: a page of each integration, or of each kind of request that the filter keeps, and the pages are merged. */
export async function listApiRequests(db: Queryable, page: RequestPage): Promise<ListedRequest[]> {
  const { start, limit } = page;
  const direction = rawSql(start?.isBackwards ? 'asc' : 'desc');
  const rows = await db.query<ListedRequest>(
    plannedAnew(sql`
      select page.* from ${groups(page)}
      cross join lateral (
        select ${COLUMNS} from api_requests
        where ${inGroup(page)} and ${within(page)} and ${beyond(page)}
        order by ${timeOf(page)} ${direction}, request_id ${direction} limit ${limit}) page
      order by page.at ${direction}, page."requestId" ${direction} limit ${limit}`),
  );
  return start?.isBackwards ? rows.reverse() : rows;
}

/** How many match; counting stops at a limit. */
export async function countApiRequests(db: Queryable, filter: RequestFilter) {
  const limit = LONG_LIST_COUNT_LIMIT + 1;
  // In the order of an index: without one, the server expects to find enough rows anywhere in the table.
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`
      select count(*) as count from (
        select from ${groups(filter)}
        cross join lateral (
          select from api_requests where ${inGroup(filter)} and ${within(filter)}
          order by ${timeOf(filter)} desc, request_id desc limit ${limit}) found
        limit ${limit}) counted`),
  );
  const count = row?.count ?? 0;
  return cappedCount(count, LONG_LIST_COUNT_LIMIT);
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

const WRITES_AT_LIMIT = 3;
/** The clocks of a process and of the database differ a little. */
const CLOCKS_DIFFER_MS = 2_000;
/** No write takes longer. */
const WRITE_MS = 60_000;

/** The ids of an integration's writes that succeeded and ran at a moment, the nearest first. */
export async function findWritesAt(db: Queryable, integrationId: string, at: Date): Promise<string[]> {
  const [from, to] = [-WRITE_MS, CLOCKS_DIFFER_MS].map((ms) => new Date(at.getTime() + ms));
  const endedFrom = new Date(at.getTime() - CLOCKS_DIFFER_MS);
  const rows = await db.query<{ id: string }>(sql`
    select request_id as id from api_requests
    where integration_id = ${integrationId} and method = 'POST' and api_requests.at between ${from ?? at} and ${to ?? at}
      and status < 300 and original_request_id is null and object_id is not null
      and api_requests.at + make_interval(secs => duration_ms / 1000.0) >= ${endedFrom}
    order by abs(extract(epoch from api_requests.at - ${at}::timestamptz)) limit ${WRITES_AT_LIMIT}`);
  return rows.map(({ id }) => id);
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

/** Deletes a batch of rows whose retention is over; returns how many. */
export async function pruneApiRequests(db: Queryable, now: Date | null): Promise<number> {
  const tables = [
    { table: 'api_requests', time: 'at' },
    { table: 'api_request_counts', time: 'minute' },
  ];
  return await pruneByAge(db, tables, REQUEST_LOG_DAYS, now);
}

const REQUEST_ID = /^req_[0-9a-f]{32}$/;

/** What a request is: whose, how it was answered, and its route, as one value of the index api_requests_of_kind. */
const KIND = sql`(integration_id || ' ' || method || ' ' || coalesce(status / 100, 0)::text || ' ' || coalesce(route, '')) collate "C"`;

/**
 * Where pages are read from: the integrations or, with a filter, the kinds of requests that it keeps. There are some dozens of
 * kinds, and they are found by jumping from one to the next in their index.
 */
function groups(filter: RequestFilter): Sql {
  const channels = sql`unnest(${filter.integrationIds}::text[]) as channels (id)`;
  if (!hasKind(filter)) return channels;
  const { method, statusClass, route } = filter;
  const kept = [
    ...(method === null ? [] : [sql`split_part(kind, ' ', 2) = ${method}`]),
    ...(statusClass === null ? [] : [sql`split_part(kind, ' ', 3) = ${String(statusClass)}`]),
    ...(route === null ? [] : [sql`split_part(kind, ' ', 4) = ${route}`]),
  ].reduce((all, one) => sql`${all} and ${one}`);
  return sql`${channels}
    cross join lateral (
      with recursive kinds as (
        (select ${KIND} as kind from api_requests
          where ${KIND} > channels.id || ' ' and ${KIND} < channels.id || '!' order by ${KIND} limit 1)
        union all
        select (select ${KIND} from api_requests
          where ${KIND} > kinds.kind and ${KIND} < channels.id || '!' order by ${KIND} limit 1)
        from kinds where kinds.kind is not null)
      select kind from kinds where kind is not null and ${kept}) kinds`;
}

function inGroup(filter: RequestFilter): Sql {
  const text = filter.search.trim();
  const isFound =
    text === '' ? sql`true` : REQUEST_ID.test(text) ? sql`request_id = ${text}` : sql`idempotency_key = ${text}`;
  // The kind names the integration. Named once more, the server would take the index of all its requests for a shorter way.
  if (hasKind(filter) && text === '') return sql`${KIND} = kinds.kind`;
  const ofKind = hasKind(filter) ? sql`${KIND} = kinds.kind` : sql`true`;
  return sql`integration_id = channels.id and ${ofKind} and ${isFound}`;
}

/** Within a kind the time is written as its index has it: so no index of times alone can stand in for that. */
function timeOf(filter: RequestFilter): Sql {
  return hasKind(filter) ? sql`(api_requests.at at time zone 'UTC')` : sql`api_requests.at`;
}

/** The part of the index that lies in the time. */
function within(filter: RequestFilter): Sql {
  const { from, to } = filter;
  const ends = [
    ...(from === null ? [] : [sql`${timeOf(filter)} >= ${atAs(filter, sql`${from}`)}`]),
    ...(to === null ? [] : [sql`${timeOf(filter)} < ${atAs(filter, sql`${to}`)}`]),
  ];
  return ends.reduce((all, one) => sql`${all} and ${one}`, sql`true`);
}

/** A time as it is compared with `timeOf`. */
function atAs(filter: RequestFilter, at: Sql): Sql {
  return hasKind(filter) ? sql`(${at}::timestamptz at time zone 'UTC')` : sql`${at}::timestamptz`;
}

function hasKind({ method, statusClass, route }: RequestFilter): boolean {
  return method !== null || statusClass !== null || route !== null;
}

function beyond({ start, ...filter }: RequestPage): Sql {
  if (start === null) return sql`true`;
  const { value, id } = start.position;
  const sign = rawSql(start.isBackwards ? '>' : '<');
  return sql`(${timeOf(filter)}, request_id) ${sign} (${atAs(filter, sql`${value}`)}, ${id})`;
}
