import type { Queryable } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';

const BATCH_LIMIT = 1_000;

/** Whether an integration sends now: it has a URL, and it, its webhooks, its plan and its organization are on. */
const isSending = sql`(e.url is not null and e.is_enabled and i.is_enabled
  and coalesce(o.has_integration_plan and o.is_provisioned and o.archived_at is null, false))`;

/** Holds what waits for receivers that are off, so that it leaves the hot index; returns how many rows. */
export async function holdStopped(db: Queryable): Promise<number> {
  const waiting = sql`d.status in ('pending', 'failed')`;
  const isFree = sql`(d.lease_token is null or d.due_at <= clock_timestamp())`;
  const rows = await db.query(sql`
    with recursive ${rowsOf(waiting, sql`not ${isSending}`, isFree)}
    update deliveries d set status = 'held', lease_token = null
    from picked where d.integration_id = picked.integration_id and d.id = picked.id
    returning d.id`);
  return rows.length;
}

/** Makes held deliveries due, with their counters kept, as soon as their receiver is on again. */
export async function releaseHeld(db: Queryable, now: Date | null): Promise<number> {
  const held = sql`d.status = 'held'`;
  const rows = await db.query(sql`
    with recursive ${rowsOf(held, isSending, sql`true`)}
    update deliveries d set
      status = case when d.attempts = 0 then 'pending' else 'failed' end,
      due_at = coalesce(${now}::timestamptz, clock_timestamp())
    from picked where d.integration_id = picked.integration_id and d.id = picked.id
    returning d.id`);
  return rows.length;
}

/** Hops along an index from integration to integration, and picks rows of those whose state is the wanted one. */
function rowsOf(inIndex: Sql, isWanted: Sql, isFree: Sql): Sql {
  return sql`
    hops as (
      (select d.integration_id from deliveries d where ${inIndex} order by d.integration_id limit 1)
      union all
      select next.integration_id from hops cross join lateral (
        select d.integration_id from deliveries d
        where ${inIndex} and d.integration_id > hops.integration_id order by d.integration_id limit 1) next
    ), picked as (
      select rows.integration_id, rows.id from hops
      join webhook_endpoints e on e.integration_id = hops.integration_id
      join integrations i on i.id = hops.integration_id
      left join organizations o on o.id = i.organization_id
      cross join lateral (
        select d.integration_id, d.id from deliveries d
        where ${inIndex} and d.integration_id = hops.integration_id and ${isFree}
        limit ${BATCH_LIMIT} for update of d skip locked) rows
      where ${isWanted}
      limit ${BATCH_LIMIT})`;
}
