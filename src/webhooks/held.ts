import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

const BATCH_LIMIT = 1_000;

/**
 * Holds what waits for receivers that are off, so that it leaves the hot index. The claim has met them there; whether
 * they are off is asked again, since a dealer may have switched one on in the meantime.
 */
export async function holdStopped(db: Queryable, integrationIds: string[], now: Date | null): Promise<number> {
  if (integrationIds.length === 0) return 0;
  const rows = await db.query(sql`
    with waiting as (
      select d.integration_id, d.id from webhook_receivers r cross join lateral (
        select d.integration_id, d.id from deliveries d
        where d.status in ('pending', 'failed') and d.integration_id = r.integration_id
          and (d.leased_until is null or d.leased_until <= coalesce(${now}::timestamptz, clock_timestamp()))
        limit ${BATCH_LIMIT} for update of d skip locked) d
      where r.integration_id = any(${integrationIds}::text[]) and not r.is_sending
      limit ${BATCH_LIMIT}
    )
    update deliveries d set status = 'held', lease_token = null, leased_until = null
    from waiting where d.integration_id = waiting.integration_id and d.id = waiting.id
    returning d.id`);
  return rows.length;
}

/** Makes held deliveries due, with their counters kept, as soon as their receiver is on again. */
export async function releaseHeld(db: Queryable, now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    with recursive hops as (
      (select integration_id from deliveries where status = 'held' order by integration_id limit 1)
      union all
      select next.integration_id from hops cross join lateral (
        select integration_id from deliveries
        where status = 'held' and integration_id > hops.integration_id order by integration_id limit 1) next
    ), held as (
      select d.integration_id, d.id
      from hops join webhook_receivers r on r.integration_id = hops.integration_id cross join lateral (
        select d.integration_id, d.id from deliveries d
        where d.status = 'held' and d.integration_id = hops.integration_id
        limit ${BATCH_LIMIT} for update of d skip locked) d
      where r.is_sending
      limit ${BATCH_LIMIT}
    )
    update deliveries d set
      status = case when d.attempts = 0 then 'pending' else 'failed' end,
      due_at = coalesce(${now}::timestamptz, clock_timestamp())
    from held where d.integration_id = held.integration_id and d.id = held.id
    returning d.id`);
  return rows.length;
}
