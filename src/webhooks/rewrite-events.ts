import type { Database, Transaction } from '../db/database.ts';
import { documentsWithin, WHOLE_PAGE_BYTES } from '../db/large-pages.ts';
import { sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';

const EVENTS_LIMIT = 100;

/**
 * Rewrites the bodies of all events about some objects of one integration, in short transactions, and forgets what
 * receivers answered to them: an answer may quote the event. What is sent from now on is the new body. Repeating it
 * changes nothing. Returns how many events there were.
 */
export async function rewriteEvents(
  db: Database,
  integrationId: string,
  objectIds: string[],
  rewrite: (body: string) => string,
): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const ids = await db.transaction((tx) => rewritePage(tx, integrationId, objectIds, after, rewrite), {
      planning: 'by index',
    });
    count += ids.length;
    const last = ids.at(-1);
    if (last === undefined) return count;
    after = last;
  }
}

async function rewritePage(
  tx: Transaction,
  integrationId: string,
  objectIds: string[],
  after: string,
  rewrite: (body: string) => string,
): Promise<string[]> {
  const rows = await tx.query<{ id: string; body: string | null }>(sql`
    select id, ${documentsWithin(WHOLE_PAGE_BYTES, sql`body`, sql`id`)} as body from (
      -- Of each object by itself: of several at once, the planner may look for them among all events of the integration.
      select found.id, found.body from unnest(${objectIds}::text[]) object (id)
      cross join lateral (
        select e.id, e.body from events e
        where e.integration_id = ${integrationId} and e.object_id = object.id and e.id > ${after}
        order by e.id limit ${EVENTS_LIMIT}) found
      order by found.id limit ${EVENTS_LIMIT}) page
    order by id`);
  const bodies = rows.flatMap(({ id, body }) => (body === null ? [] : [{ id, body: rewrite(body) }]));
  await tx.query(sql`
    update events e set body = rows.body from ${unnestRows('rows', bodies, { id: 'text', body: 'text' })}
    where e.integration_id = ${integrationId} and e.id = rows.id and e.body <> rows.body`);
  const ids = bodies.map(({ id }) => id);
  await forgetAnswers(tx, integrationId, ids);
  return ids;
}

/**
 * An attempt that is on its way carries the old body, and its answer may quote it. It loses its lease, so that its outcome
 * is not recorded, and the delivery is sent again with the new body.
 */
async function forgetAnswers(tx: Transaction, integrationId: string, eventIds: string[]): Promise<void> {
  await tx.query(sql`
    update deliveries set last_response_body = null, lease_token = null, leased_until = null
    where integration_id = ${integrationId} and event_id = any(${eventIds}::text[])
      and (last_response_body is not null or lease_token is not null)`);
  await tx.query(sql`
    update delivery_attempts set response_body = null
    where integration_id = ${integrationId} and response_body is not null and delivery_id = any(array(
      select id from deliveries where integration_id = ${integrationId} and event_id = any(${eventIds}::text[])))`);
}
