import type { EventOutcome, UnsentReason } from '../../contract/dashboard/integrations/delivery-labels.ts';
import { type CappedCount, cappedCount, LONG_LIST_COUNT_LIMIT } from '../../contract/dashboard/list.ts';
import { EVENT_TYPES } from '../../contract/event-types.ts';
import { firstIdAt, idTimeMs } from '../../contract/ids.ts';
import type { Database } from '../../db/database.ts';
import { rawSql, type Sql, sql } from '../../db/sql.ts';
import { byIndex } from '../delivery-queue/by-index.ts';
import type { DeliveryStatus } from '../delivery-queue/delivery-log.ts';
import type { IdPage } from './list-deliveries.ts';

/**
 * The events of a dealer across integrations, newest first, with those that were never sent. As in list-deliveries.ts, the
 * filter decides which index is walked: by object, by reason and type, by type, or the primary key.
 */
export type EventFilter = {
  integrationIds: readonly string[];
  /** Null is all, here and below. */
  types: readonly string[] | null;
  outcome: EventOutcome | null;
  objectIds: readonly string[] | null;
  eventIds: readonly string[] | null;
  from: Date | null;
  to: Date | null;
};

export const EVERY_EVENT: Omit<EventFilter, 'integrationIds'> = {
  types: null,
  outcome: null,
  objectIds: null,
  eventIds: null,
  from: null,
  to: null,
};

export type ListedEvent = {
  integrationId: string;
  id: string;
  type: string;
  objectId: string | null;
  createdAt: Date;
  /** Null if it was sent, or is on its way. */
  unsentReason: UnsentReason | null;
  delivery: { id: string; status: DeliveryStatus; attempts: number } | null;
};

const ALL_TYPES: readonly string[] = Object.keys(EVENT_TYPES);

export async function listDealerEvents(db: Database, filter: EventFilter, page: IdPage): Promise<ListedEvent[]> {
  return await readFound(db, foundRows(filter, page));
}

/** The newest event of an object on each of these integrations, also one that was never sent. */
export async function lastEventsOf(
  db: Database,
  integrationIds: readonly string[],
  objectId: string,
): Promise<ListedEvent[]> {
  return await readFound(
    db,
    sql`
    select own.integration_id, last.id from unnest(${[...integrationIds]}::text[]) as own (integration_id)
    cross join lateral (
      select e.id from events e where e.integration_id = own.integration_id and e.object_id = ${objectId}
      order by e.id desc limit 1) last`,
  );
}

async function readFound(db: Database, found: Sql): Promise<ListedEvent[]> {
  return await byIndex<ListedEvent>(
    db,
    sql`
    select e.integration_id as "integrationId", e.id, e.type, e.object_id as "objectId", e.created_at as "createdAt",
      ${REASON} as "unsentReason", sent.delivery
    from (${found}) page
    cross join lateral (
      select e.integration_id, e.id, e.type, e.object_id, e.created_at, e.unsent_reason, e.is_suppressed, e.has_delivery
      from events e where e.integration_id = page.integration_id and e.id = page.id limit 1) e
    left join lateral (
      select json_build_object('id', d.id, 'status', d.status, 'attempts', d.attempts) as delivery from deliveries d
      where d.integration_id = e.integration_id and d.event_id = e.id order by d.id desc limit 1) sent on true
    order by page.id desc`,
  );
}

export async function countDealerEvents(db: Database, filter: EventFilter): Promise<CappedCount> {
  const found = foundRows(filter, { from: null, limit: LONG_LIST_COUNT_LIMIT + 1 });
  const [row] = await byIndex<{ count: number }>(db, sql`select count(*) as count from (${found}) counted`);
  const count = row?.count ?? 0;
  return cappedCount(count, LONG_LIST_COUNT_LIMIT);
}

/** An event that a node of an older version recorded has no reason of its own. */
const REASON = sql`case when not e.has_delivery
  then coalesce(e.unsent_reason, case when e.is_suppressed then 'echo' else 'unknown' end) end`;

function foundRows(filter: EventFilter, page: IdPage): Sql {
  const direction = rawSql(page.from?.isBackwards === true ? 'asc' : 'desc');
  return sql`
    select integration_id, id from (${walk(filter, page, direction)}) merged order by id ${direction} limit ${page.limit}`;
}

function walk(filter: EventFilter, page: IdPage, direction: Sql): Sql {
  const { types, outcome, objectIds, eventIds } = filter;
  const own = sql`unnest(${[...filter.integrationIds]}::text[]) as own (integration_id)`;
  const conditions = sql`${conditionsOf(filter)} ${behind(page)}`;
  const where = sql`e.integration_id = own.integration_id ${conditions}`;
  const ofTypes = types === null ? sql`` : sql`and e.type = any(${[...types]}::text[])`;
  const last = sql`order by e.id ${direction} limit ${page.limit}`;
  if (eventIds !== null || objectIds !== null) {
    const wanted = sql`unnest(${[...(eventIds ?? objectIds ?? [])]}::text[]) as wanted (id)`;
    const column = rawSql(eventIds === null ? 'e.object_id' : 'e.id');
    const ofObjects = objectIds === null ? sql`` : sql`and e.object_id = any(${[...objectIds]}::text[])`;
    return sql`
      select e.integration_id, e.id from ${own} cross join ${wanted} cross join lateral (
        select e.integration_id, e.id from events e where ${where} and ${column} = wanted.id ${ofTypes} ${ofObjects} ${last}) e`;
  }
  const unsent = (reason: string) => sql`
    select e.integration_id, e.id from ${own} cross join unnest(${[...(types ?? ALL_TYPES)]}::text[]) as wanted (type)
    cross join lateral (
      select e.integration_id, e.id from events e
      where (e.integration_id || ' ' || e.unsent_reason || ' ' || e.type) collate "C"
          = own.integration_id || ' ' || ${reason}::text || ' ' || wanted.type
        and e.unsent_reason is not null ${conditions} ${last}) e`;
  if (outcome !== null && outcome !== 'sent') return unsent(outcome);
  if (types !== null) {
    const others = sql`
      select e.integration_id, e.id from ${own} cross join unnest(${[...types]}::text[]) as wanted (type)
      cross join lateral (
        select e.integration_id, e.id from events e
        where (e.integration_id || ' ' || e.type) collate "C" = own.integration_id || ' ' || wanted.type
          and not e.is_suppressed ${conditions} ${beyond(page)}
        order by e.created_at ${direction}, e.id ${direction} limit ${page.limit}) e`;
    return outcome === 'sent' ? others : sql`${others} union all ${unsent('echo')}`;
  }
  return sql`
    select e.integration_id, e.id from ${own} cross join lateral (
      select e.integration_id, e.id from events e where ${where} ${last}) e`;
}

function conditionsOf({ outcome, from, to }: EventFilter): Sql {
  const since = from === null ? sql`` : sql`and e.id >= ${firstIdAt('event', from.getTime())}`;
  const until = to === null ? sql`` : sql`and e.id < ${firstIdAt('event', to.getTime())}`;
  if (outcome === null) return sql`${since} ${until}`;
  const became =
    outcome === 'sent'
      ? sql`and case when e.has_delivery then true else false end`
      : sql`and e.unsent_reason = ${outcome}`;
  return sql`${became} ${since} ${until}`;
}

function behind({ from }: IdPage): Sql {
  if (from === null) return sql``;
  return from.isBackwards ? sql`and e.id > ${from.id}` : sql`and e.id < ${from.id}`;
}

/** The same in the column that the index of types is ordered by. */
function beyond({ from }: IdPage): Sql {
  if (from === null) return sql``;
  const at = new Date(idTimeMs(from.id));
  return from.isBackwards ? sql`and e.created_at >= ${at}` : sql`and e.created_at <= ${at}`;
}
