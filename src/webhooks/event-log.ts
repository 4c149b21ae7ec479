import { isId } from '../contract/ids.ts';
import { EVENT_LOG_DAYS } from '../contract/limits.ts';
import { DAY_MS } from '../contract/timestamps.ts';
import type { Queryable } from '../db/database.ts';
import { documentsWithin, PIECE_BYTES, pageDocuments } from '../db/large-pages.ts';
import { sql } from '../db/sql.ts';

export const EVENT_LOG_MS = EVENT_LOG_DAYS * DAY_MS;

export type EventQuery = {
  integrationId: string;
  limit: number;
  types: string[] | null;
  createdAfter: Date | null;
  before: { id: string; at: Date } | null;
  now: Date;
};

export type LoggedEvent = {
  id: string;
  createdAt: Date;
  /** Null if the page is large and this is beyond its first piece: read it with `readEventPiece`. */
  body: string | null;
  /** Of the row: another one once the body has changed, as it does when a person is erased. */
  version: string;
};

/** Newest first; echoes of the client's own writes are not among them. */
export async function listEvents(db: Queryable, query: EventQuery): Promise<LoggedEvent[]> {
  const { types, createdAfter, before, limit } = query;
  const oldest = new Date(query.now.getTime() - EVENT_LOG_MS);
  const since = createdAfter !== null && createdAfter > oldest ? createdAfter : oldest;
  const from = before === null ? sql`` : sql`and (created_at, id) < (${before.at}, ${before.id})`;
  const isWanted = sql`not is_suppressed and created_at > ${since} ${from}`;
  const ofIntegration = sql`events.integration_id = ${query.integrationId}`;
  // Nothing but the index of types knows both as one value, so the planner has no other to choose.
  const ofType = sql`
    (events.integration_id || ' ' || events.type) collate "C" = ${query.integrationId} || ' ' || wanted.type`;
  const order = sql`created_at desc, id desc`;
  // Of each type one page of ids, from its own end of the index; then the newest of them all, with their bodies.
  // A plan for any limit would join all events of the integration by a hash; a lateral one with a limit can't.
  const rows =
    types === null
      ? sql`
        select id, created_at, body, xmin::text as version from events
        where ${ofIntegration} and ${isWanted} order by ${order} limit ${limit}`
      : sql`
        select newest.id, newest.created_at, found.body, found.version
        from (
          select page.id, page.created_at from unnest(${types}::text[]) as wanted (type)
          cross join lateral (
            select id, created_at from events where ${ofType} and ${isWanted}
            order by ${order} limit ${limit}
          ) page
          order by ${order} limit ${limit}
        ) newest
        cross join lateral (
          select body, xmin::text as version from events where ${ofIntegration} and events.id = newest.id limit 1
        ) found`;
  return await db.query<LoggedEvent>(sql`
    select id, created_at as "createdAt", ${pageDocuments(sql`body`, order)} as body, version
    from (${rows}) rows order by ${order}`);
}

/** These events again, as far as their bodies make a piece. A body changes only when a person is erased: it is read without them. */
export async function readEventPiece(
  db: Queryable,
  integrationId: string,
  ids: string[],
): Promise<Omit<LoggedEvent, 'version'>[]> {
  const order = sql`created_at desc, id desc`;
  return await db.query<Omit<LoggedEvent, 'version'>>(sql`
    select id, created_at as "createdAt", ${documentsWithin(PIECE_BYTES, sql`body`, order)} as body
    from events where integration_id = ${integrationId} and id = any(${ids}::text[])
    order by ${order}`);
}

export type FoundEvent = { id: string; integrationId: string; type: string; createdAt: Date };

/** One event by its id, whichever of these integrations it is of; also one that was never sent. */
export async function findEvent(
  db: Queryable,
  integrationIds: readonly string[],
  id: string,
): Promise<FoundEvent | null> {
  if (!isId('event', id)) return null;
  const [event] = await db.query<FoundEvent>(sql`
    select id, integration_id as "integrationId", type, created_at as "createdAt" from events
    where integration_id = any(${[...integrationIds]}::text[]) and id = ${id} limit 1`);
  return event ?? null;
}
