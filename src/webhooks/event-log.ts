import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** How far back the events of an integration can be read. */
export const EVENT_LOG_DAYS = 30;
export const EVENT_LOG_MS = EVENT_LOG_DAYS * 24 * 60 * 60 * 1000;

export type EventQuery = {
  integrationId: string;
  limit: number;
  types: string[] | null;
  createdAfter: Date | null;
  before: { id: string; at: Date } | null;
  now: Date;
};

export type LoggedEvent = { id: string; createdAt: Date; body: string };

/** Newest first; echoes of the client's own writes are not among them. */
export async function listEvents(db: Queryable, query: EventQuery): Promise<LoggedEvent[]> {
  const { types, createdAfter, before } = query;
  const oldest = new Date(query.now.getTime() - EVENT_LOG_MS);
  const since = createdAfter !== null && createdAfter > oldest ? createdAfter : oldest;
  const ofTypes = types === null ? sql`` : sql`and type = any(${types}::text[])`;
  const from = before === null ? sql`` : sql`and (created_at, id) < (${before.at}, ${before.id})`;
  return await db.query<LoggedEvent>(sql`
    select id, created_at as "createdAt", body from events
    where integration_id = ${query.integrationId} and not is_suppressed and created_at > ${since} ${ofTypes} ${from}
    order by created_at desc, id desc limit ${query.limit}`);
}
