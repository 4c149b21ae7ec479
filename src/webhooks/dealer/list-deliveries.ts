import { type CappedCount, cappedCount, LONG_LIST_COUNT_LIMIT } from '../../contract/dashboard/list.ts';
import { firstIdAt, idTimeMs } from '../../contract/ids.ts';
import type { Database } from '../../db/database.ts';
import { rawSql, type Sql, sql } from '../../db/sql.ts';
import { byIndex } from '../delivery-queue/by-index.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../delivery-queue/delivery-log.ts';
import { IN_DUE_INDEX } from '../delivery-queue/due.ts';

/**
 * The deliveries of a dealer across integrations, newest first. Ids are in the order of their making, so a page is a span of
 * ids. Which index is walked depends on the filter, so that a page costs as much among a million deliveries as among fifty:
 *
 * | filter | walked |
 * |---|---|
 * | ids, events, objects | those rows alone |
 * | failed, dead letters, held; an answer that is not 2xx | the index deliveries_not_delivered |
 * | event types | the index events_by_type, then the delivery of each event |
 * | pending, few of them | the index deliveries_due |
 * | everything else | the primary key |
 */
export type DeliveryFilter = {
  integrationIds: readonly string[];
  /** Null is all, here and below. */
  statuses: readonly DeliveryStatus[] | null;
  types: readonly string[] | null;
  objectIds: readonly string[] | null;
  eventIds: readonly string[] | null;
  deliveryIds: readonly string[] | null;
  /** How the last attempt was answered: from one code to another, or not at all. */
  response: { from: number; to: number } | 'none' | null;
  from: Date | null;
  to: Date | null;
};

export const EVERY_DELIVERY: Omit<DeliveryFilter, 'integrationIds'> = {
  statuses: null,
  types: null,
  objectIds: null,
  eventIds: null,
  deliveryIds: null,
  response: null,
  from: null,
  to: null,
};

export type IdPage = { from: { id: string; isBackwards: boolean } | null; limit: number };

export type ListedDelivery = {
  integrationId: string;
  id: string;
  eventId: string;
  type: string;
  objectId: string | null;
  status: DeliveryStatus;
  isInFlight: boolean;
  attempts: number;
  lastResponseCode: number | null;
  lastError: string | null;
  dueAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
};

/** The newest events of one object that are looked at. */
const OBJECT_EVENTS_LIMIT = 1_000;
const UNDELIVERED = ['failed', 'dead_letter', 'held'] as const;

/** Lists deliveries in the order of the list, also if they are read backwards. */
export async function listDealerDeliveries(
  db: Database,
  filter: DeliveryFilter,
  page: IdPage,
): Promise<ListedDelivery[]> {
  const found = await foundRows(db, filter, page);
  return await byIndex<ListedDelivery>(
    db,
    sql`
    select d.integration_id as "integrationId", d.id, d.event_id as "eventId", e.type, e.object_id as "objectId",
      d.status, d.lease_token is not null and d.leased_until > clock_timestamp() as "isInFlight", d.attempts,
      case when d.attempts > 0 then d.last_response_code end as "lastResponseCode",
      case when d.attempts > 0 then d.last_error end as "lastError",
      case when d.status = 'failed' and d.lease_token is null then d.due_at end as "dueAt",
      d.created_at as "createdAt", d.finished_at as "finishedAt"
    from (${found}) page
    cross join lateral (
      select d.integration_id, d.id, d.event_id, d.status, d.lease_token, d.leased_until, d.attempts, d.last_response_code,
        d.last_error, d.due_at, d.created_at, d.finished_at
      from deliveries d where d.integration_id = page.integration_id and d.id = page.id limit 1) d
    cross join lateral (
      select e.type, e.object_id from events e where e.integration_id = d.integration_id and e.id = d.event_id limit 1) e
    order by page.id desc`,
  );
}

export async function countDealerDeliveries(
  db: Database,
  filter: DeliveryFilter,
  limit = LONG_LIST_COUNT_LIMIT,
): Promise<CappedCount> {
  const page = { from: null, limit: limit + 1 };
  const found = isTypesAlone(filter) ? sentEvents(filter, page) : await foundRows(db, filter, page);
  const [row] = await byIndex<{ count: number }>(db, sql`select count(*) as count from (${found}) counted`);
  const count = row?.count ?? 0;
  return cappedCount(count, limit);
}

/** How many deliveries of each integration have a status that is not a success, in one statement. */
export async function countDeliveriesByIntegration(
  db: Database,
  integrationIds: readonly string[],
  status: (typeof UNDELIVERED)[number],
): Promise<(integrationId: string) => CappedCount> {
  const limit = LONG_LIST_COUNT_LIMIT;
  const filter = { ...EVERY_DELIVERY, integrationIds, statuses: [status] };
  const found = undeliveredRows(filter, [status], { from: null, limit: limit + 1 }, rawSql('desc'));
  const rows = await byIndex<{ integrationId: string; count: number }>(
    db,
    sql`select integration_id as "integrationId", count(*) as count from (${found}) found group by integration_id`,
  );
  const counts = new Map(rows.map(({ integrationId, count }) => [integrationId, count]));
  return (integrationId) => cappedCount(counts.get(integrationId) ?? 0, limit);
}

function isTypesAlone({ types, statuses, objectIds, eventIds, deliveryIds, response }: DeliveryFilter): boolean {
  return types !== null && [statuses, objectIds, eventIds, deliveryIds, response].every((value) => value === null);
}

/** An event that is sent has one delivery: to count them, nobody has to look for it. */
function sentEvents({ integrationIds, types, from, to }: DeliveryFilter, { limit }: IdPage): Sql {
  const since = from === null ? sql`` : sql`and e.created_at >= ${from}`;
  const until = to === null ? sql`` : sql`and e.created_at < ${to}`;
  return sql`
    select e.id from unnest(${[...integrationIds]}::text[]) as own (integration_id)
    cross join unnest(${[...(types ?? [])]}::text[]) as wanted (type)
    cross join lateral (
      select e.id from events e
      where (e.integration_id || ' ' || e.type) collate "C" = own.integration_id || ' ' || wanted.type
        and not e.is_suppressed and e.has_delivery ${since} ${until}
      order by e.created_at desc, e.id desc limit ${limit}) e
    limit ${limit}`;
}

/** Rows with `integration_id` and `id`: a page of what matches. */
async function foundRows(db: Database, given: DeliveryFilter, page: IdPage): Promise<Sql> {
  const filter = { ...given, statuses: possibleStatuses(given) };
  const direction = rawSql(page.from?.isBackwards === true ? 'asc' : 'desc');
  const rows = await walk(db, filter, page, direction);
  return sql`select integration_id, id from (${rows}) merged order by id ${direction} limit ${page.limit}`;
}

async function walk(db: Database, filter: DeliveryFilter, page: IdPage, direction: Sql): Promise<Sql> {
  const own = ownIntegrations(filter);
  const conditions = sql`${conditionsOf(filter)} ${behind(page)}`;
  const where = sql`d.integration_id = own.integration_id ${conditions}`;
  const { statuses, types, objectIds, eventIds, deliveryIds } = filter;
  if (deliveryIds !== null) {
    return sql`
      select d.integration_id, d.id from ${own} cross join unnest(${[...deliveryIds]}::text[]) as wanted (id)
      cross join lateral (
        select d.integration_id, d.id from deliveries d where ${where} and d.id = wanted.id ${ofEvent(filter)} limit 1) d`;
  }
  if (eventIds !== null || objectIds !== null) {
    const events = eventIds === null ? eventsOfObjects(objectIds ?? []) : eventsById(eventIds);
    return sql`
      select d.integration_id, d.id from ${own} cross join lateral (${events}) e
      cross join lateral (
        select d.integration_id, d.id from deliveries d where ${where} and d.event_id = e.id ${ofEvent(filter)} limit 1) d`;
  }
  if (statuses?.every((status) => UNDELIVERED.some((one) => one === status)) === true) {
    return undeliveredRows(filter, statuses, page, direction);
  }
  if (types !== null) return sql`${deliveriesOfTypes(own, where, types, filter, page, direction)}`;
  const isFewPending = statuses?.length === 1 && statuses[0] === 'pending' && (await hasFewPending(db, filter));
  if (isFewPending) {
    return sql`
      select d.integration_id, d.id from ${own} cross join lateral (
        select d.integration_id, d.id from deliveries d where ${where} and ${IN_DUE_INDEX}
        order by d.due_at limit ${LONG_LIST_COUNT_LIMIT * 2}) d`;
  }
  return sql`
    select d.integration_id, d.id from ${own} cross join lateral (
      select d.integration_id, d.id from deliveries d where ${where} order by d.id ${direction} limit ${page.limit}) d`;
}

/** Up to the page's limit of each integration, status and class of answers. */
function undeliveredRows(
  filter: DeliveryFilter,
  statuses: readonly DeliveryStatus[],
  page: IdPage,
  direction: Sql,
): Sql {
  return sql`
    select d.integration_id, d.id from ${ownIntegrations(filter)}
    cross join unnest(${[...statuses]}::text[]) as wanted (status)
    cross join unnest(${answerClasses(filter)}::text[]) as answered (class)
    cross join lateral (
      select d.integration_id, d.id from deliveries d
      where (d.integration_id || ' ' || d.status || ' ' || coalesce(d.last_response_code / 100, 0)::text) collate "C"
          = own.integration_id || ' ' || wanted.status || ' ' || answered.class
        and d.status in ('failed', 'dead_letter', 'held') ${conditionsOf(filter)} ${behind(page)} ${ofEvent(filter)}
      order by d.id ${direction} limit ${page.limit}) d`;
}

function ownIntegrations({ integrationIds }: Pick<DeliveryFilter, 'integrationIds'>): Sql {
  return sql`unnest(${[...integrationIds]}::text[]) as own (integration_id)`;
}

/** A delivery whose last answer was no success is failed, given up or held: it is found among those. */
function possibleStatuses({ statuses, response }: DeliveryFilter): readonly DeliveryStatus[] | null {
  const isSuccess = response !== null && response !== 'none' && response.to >= 200 && response.from < 300;
  if (response === null || isSuccess) return statuses;
  return (statuses ?? DELIVERY_STATUSES).filter((status) => UNDELIVERED.some((one) => one === status));
}

/** The first digits of the answers that are wanted; 0 is no answer. */
function answerClasses({ response }: DeliveryFilter): string[] {
  const all = Array.from({ length: 10 }, (_, digit) => digit);
  const isWanted = (digit: number) => {
    if (response === null) return true;
    if (response === 'none') return digit === 0;
    return digit >= Math.floor(response.from / 100) && digit <= Math.floor(response.to / 100);
  };
  return all.filter(isWanted).map(String);
}

function conditionsOf({ statuses, response, from, to }: DeliveryFilter): Sql {
  // As a case, of which the planner knows nothing: where it expects few rows it would read all of them and sort.
  const ofStatus =
    statuses === null ? sql`` : sql`and case when d.status = any(${[...statuses]}::text[]) then true else false end`;
  const since = from === null ? sql`` : sql`and d.id >= ${firstIdAt('delivery', from.getTime())}`;
  const until = to === null ? sql`` : sql`and d.id < ${firstIdAt('delivery', to.getTime())}`;
  if (response === null) return sql`${ofStatus} ${since} ${until}`;
  const answered =
    response === 'none'
      ? sql`and case when d.attempts > 0 and d.last_response_code is null then true else false end`
      : sql`and case when d.attempts > 0 and d.last_response_code between ${response.from} and ${response.to}
          then true else false end`;
  return sql`${ofStatus} ${since} ${until} ${answered}`;
}

function behind({ from }: IdPage): Sql {
  if (from === null) return sql``;
  return from.isBackwards ? sql`and d.id > ${from.id}` : sql`and d.id < ${from.id}`;
}

/** What is asked of the event. It is looked at row by row: a join could begin with all events. */
function ofEvent({ types, objectIds, eventIds }: DeliveryFilter): Sql {
  const ofIds = eventIds === null ? sql`` : sql`and d.event_id = any(${[...eventIds]}::text[])`;
  if (types === null && objectIds === null) return ofIds;
  const ofTypes = types === null ? sql`true` : sql`e.type = any(${[...types]}::text[])`;
  const ofObjects = objectIds === null ? sql`true` : sql`e.object_id = any(${[...objectIds]}::text[])`;
  return sql`${ofIds} and (select ${ofTypes} and ${ofObjects} from events e
    where e.integration_id = d.integration_id and e.id = d.event_id limit 1)`;
}

function eventsById(eventIds: readonly string[]): Sql {
  return sql`select unnest(${[...eventIds]}::text[]) as id`;
}

function eventsOfObjects(objectIds: readonly string[]): Sql {
  return sql`
    select e.id from unnest(${[...objectIds]}::text[]) as wanted (object_id)
    cross join lateral (
      select e.id from events e where e.integration_id = own.integration_id and e.object_id = wanted.object_id
      order by e.id desc limit ${OBJECT_EVENTS_LIMIT}) e`;
}

/** An event and its delivery are made in one moment, so that the newest deliveries are those of the newest events. */
function deliveriesOfTypes(
  own: Sql,
  where: Sql,
  types: readonly string[],
  { from, to }: DeliveryFilter,
  page: IdPage,
  direction: Sql,
): Sql {
  const since = from === null ? sql`` : sql`and e.created_at >= ${from}`;
  const until = to === null ? sql`` : sql`and e.created_at < ${to}`;
  const start = page.from === null ? null : new Date(idTimeMs(page.from.id));
  const beyond =
    start === null
      ? sql``
      : page.from?.isBackwards === true
        ? sql`and e.created_at >= ${start}`
        : sql`and e.created_at <= ${start}`;
  return sql`
    select d.integration_id, d.id from ${own} cross join unnest(${[...types]}::text[]) as wanted (type)
    cross join lateral (
      select d.integration_id, d.id from events e
      cross join lateral (
        select d.integration_id, d.id from deliveries d
        where ${where} and d.event_id = e.id limit 1) d
      where (e.integration_id || ' ' || e.type) collate "C" = own.integration_id || ' ' || wanted.type
        and not e.is_suppressed and e.has_delivery
        ${since} ${until} ${beyond}
      order by e.created_at ${direction}, e.id ${direction} limit ${page.limit}) d`;
}

/** Few that are due lie far apart along the primary key; many lie at its end. */
async function hasFewPending(db: Database, { integrationIds }: DeliveryFilter): Promise<boolean> {
  const rows = await byIndex(
    db,
    sql`
    select d.id from unnest(${[...integrationIds]}::text[]) as own (integration_id) cross join lateral (
      select d.id from deliveries d where d.integration_id = own.integration_id and ${IN_DUE_INDEX}
      order by d.due_at limit ${LONG_LIST_COUNT_LIMIT}) d limit ${LONG_LIST_COUNT_LIMIT}`,
  );
  return rows.length < LONG_LIST_COUNT_LIMIT;
}
