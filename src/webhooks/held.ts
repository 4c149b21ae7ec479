import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { byIndex } from './by-index.ts';

const BATCH_LIMIT = 1_000;

/**
 * Holds what waits for receivers that are off, so that it leaves the hot index. The claim has met them there; whether
 * they are off is asked again, since a dealer may have switched one on in the meantime.
 */
export async function holdStopped(db: Database, integrationIds: string[], now: Date | null): Promise<number> {
  if (integrationIds.length === 0) return 0;
  const rows = await byIndex(
    db,
    sql`
    with waiting as (
      select d.row from unnest(${integrationIds}::text[]) as met (integration_id)
      cross join lateral (
        select is_sending from webhook_receivers where integration_id = met.integration_id limit 1) r
      cross join lateral (
        select d.ctid as row from deliveries d
        where d.status in ('pending', 'failed') and d.integration_id = met.integration_id
          and (d.leased_until is null or d.leased_until <= coalesce(${now}::timestamptz, clock_timestamp()))
        order by d.due_at limit ${BATCH_LIMIT} for update of d skip locked) d
      where not r.is_sending
      limit ${BATCH_LIMIT}
    )
    update deliveries d set status = 'held', lease_token = null, leased_until = null
    from waiting where d.ctid = waiting.row returning d.id`,
  );
  return rows.length;
}

/** Makes held deliveries due, with their counters kept, as soon as their receiver is on again. */
export async function releaseHeld(db: Database, now: Date | null): Promise<number> {
  const rows = await byIndex(
    db,
    sql`
    with recursive hops as (
      (select integration_id from deliveries where status = 'held' order by integration_id, due_at limit 1)
      union all
      select next.integration_id from hops cross join lateral (
        select integration_id from deliveries
        where status = 'held' and integration_id > hops.integration_id order by integration_id, due_at limit 1) next
    ), held as (
      select d.row from hops
      cross join lateral (
        select is_sending from webhook_receivers where integration_id = hops.integration_id limit 1) r
      cross join lateral (
        select d.ctid as row from deliveries d
        where d.status = 'held' and d.integration_id = hops.integration_id
        order by d.due_at limit ${BATCH_LIMIT} for update of d skip locked) d
      where r.is_sending
      limit ${BATCH_LIMIT}
    )
    update deliveries d set
      status = case when d.attempts = 0 then 'pending' else 'failed' end,
      due_at = coalesce(${now}::timestamptz, clock_timestamp())
    from held where d.ctid = held.row returning d.id`,
  );
  return rows.length;
}
