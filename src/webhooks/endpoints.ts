import { isSubscription } from '../contract/events.ts';
import type { Database, Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { Guard } from './guard.ts';

/** Why a setting of a receiver was refused. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
}

export const SUBSCRIPTION_LIMIT = 100;

/** Sets where webhooks go; null takes the URL away, and what waits is held. False if there is no such integration. */
export async function setUrl(db: Queryable, guard: Guard, integrationId: string, url: string | null): Promise<boolean> {
  const problem = url === null ? null : guard.problemOf(url);
  if (problem !== null) throw new EndpointError(`the URL ${problem}`);
  const rows = await db.query(sql`
    update webhook_endpoints set url = ${url}, consecutive_failures = 0, consecutive_gone = 0
    where integration_id = ${integrationId} returning integration_id`);
  return rows.length === 1;
}

/** Switching on again forgets the 410 answers that switched it off. */
export async function setWebhooksEnabled(db: Queryable, integrationId: string, isEnabled: boolean): Promise<boolean> {
  const rows = await db.query(sql`
    update webhook_endpoints set is_enabled = ${isEnabled}, consecutive_gone = 0, disabled_reason = null
    where integration_id = ${integrationId} returning integration_id`);
  return rows.length === 1;
}

export async function subscribe(db: Queryable, integrationId: string, names: string[]): Promise<boolean> {
  const unknown = names.find((name) => !isSubscription(name));
  if (unknown !== undefined) throw new EndpointError(`there is no event named ${unknown}`);
  if (names.length > SUBSCRIPTION_LIMIT)
    throw new EndpointError(`at most ${SUBSCRIPTION_LIMIT} names can be subscribed`);
  const rows = await db.query(sql`
    update webhook_endpoints set subscribed_events = ${[...new Set(names)]}::text[]
    where integration_id = ${integrationId} returning integration_id`);
  return rows.length === 1;
}

export type DeliverySummary = {
  id: string;
  eventId: string;
  type: string;
  status: string;
  attempts: number;
  lastResponseCode: number | null;
  lastError: string | null;
  /** When a delivery that failed is tried again. */
  dueAt: Date | null;
  createdAt: Date;
};

/** The newest deliveries of an integration. */
export async function listDeliveries(
  db: Database | Queryable,
  integrationId: string,
  limit: number,
): Promise<DeliverySummary[]> {
  return await db.query<DeliverySummary>(sql`
    select d.id, d.event_id as "eventId", e.type, d.status, d.attempts, d.last_response_code as "lastResponseCode",
      d.last_error as "lastError", case when d.lease_token is null then d.due_at end as "dueAt", d.created_at as "createdAt"
    from deliveries d join events e on e.integration_id = d.integration_id and e.id = d.event_id
    where d.integration_id = ${integrationId} order by d.created_at desc, d.id desc limit ${limit}`);
}
