import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { byIndex } from './by-index.ts';

/** How many receivers one step looks at, and how many deliveries it moves. */
const RECEIVER_LIMIT = 100;
const BATCH_LIMIT = 1_000;
const SWEEP_LIMIT = 20;

/** How many deliveries were held and released in one step, and whether there may be more. */
export type HoldResult = { held: number; released: number; isMore: boolean };

/**
 * Lets deliveries follow receivers that were switched. What waits for one that is off is held and leaves the index of what
 * is due; what was held for one that is on again is due at once, with its counters kept. The receivers have an equal
 * share of each step, so that nobody's backlog makes another wait. One with nothing left to move is done; what is on its
 * way just now is noted again when it fails.
 */
export async function holdAndRelease(db: Database, now: Date | null): Promise<HoldResult> {
  const [row] = await byIndex<{ receivers: number; held: number; released: number }>(
    db,
    sql`
    with clock as (
      select ${clockTime(now)} as now
    ), turned as materialized (
      select s.ctid as row, s.integration_id from webhook_switches s
      order by s.turned_at limit ${RECEIVER_LIMIT} for update of s skip locked
    ), receivers as materialized (
      select turned.row, turned.integration_id, r.is_sending,
        greatest(${BATCH_LIMIT} / (select count(*) from turned), 1) as share
      from turned cross join lateral (
        select is_sending from webhook_receivers where integration_id = turned.integration_id limit 1) r
    ), due as (
      select receivers.integration_id, d.row from receivers cross join lateral (
        select d.ctid as row from deliveries d
        where d.status in ('pending', 'failed') and not d.is_waiting and d.integration_id = receivers.integration_id
          and (d.leased_until is null or d.leased_until <= (select now from clock))
        order by d.due_at limit receivers.share for update of d skip locked) d
      where not receivers.is_sending
    ), waiting as (
      select receivers.integration_id, d.row from receivers cross join lateral (
        select d.ctid as row from deliveries d
        where d.is_waiting and d.integration_id = receivers.integration_id
        limit receivers.share for update of d skip locked) d
      where not receivers.is_sending
    ), holding as (
      update deliveries d set status = 'held', is_waiting = false, lease_token = null, leased_until = null
      from (select row from due union all select row from waiting) found where d.ctid = found.row
      returning d.integration_id
    ), held as (
      select receivers.integration_id, d.row from receivers cross join lateral (
        select d.ctid as row from deliveries d
        where d.status = 'held' and d.integration_id = receivers.integration_id
        order by d.due_at limit receivers.share for update of d skip locked) d
      where receivers.is_sending
    ), releasing as (
      update deliveries d set
        status = case when d.attempts = 0 then 'pending' else 'failed' end, due_at = clock.now
      from held, clock where d.ctid = held.row returning d.integration_id
    ), moved as materialized (
      select integration_id from holding union select integration_id from releasing
    ), next_turn as (
      update webhook_switches s set turned_at = clock_timestamp()
      from receivers where s.ctid = receivers.row and receivers.integration_id in (select integration_id from moved)
    ), done as (
      delete from webhook_switches s
      using receivers where s.ctid = receivers.row and receivers.integration_id not in (select integration_id from moved)
    )
    select (select count(*) from moved) as receivers, (select count(*) from holding) as held,
      (select count(*) from releasing) as released`,
  );
  return { held: row?.held ?? 0, released: row?.released ?? 0, isMore: (row?.receivers ?? 0) > 0 };
}

/** Notes receivers that are off although something waits for them: switched off between a look and a write. */
export async function requestHolds(db: Database, integrationIds: string[]): Promise<void> {
  if (integrationIds.length === 0) return;
  await byIndex(
    db,
    sql`
    insert into webhook_switches (integration_id)
    select met.integration_id from unnest(${integrationIds}::text[]) as met (integration_id)
    cross join lateral (
      select is_sending from webhook_receivers where integration_id = met.integration_id limit 1) r
    where not r.is_sending order by met.integration_id
    on conflict (integration_id) do nothing`,
  );
}

/**
 * Notes receivers that are on although something is held for them: a commit that had read them as off may come after the
 * switch. It looks at a few at a time, beginning after the one that the last call returned; null is the end of the round.
 */
export async function requestMissedReleases(db: Database, after: string): Promise<string | null> {
  const rows = await byIndex<{ last: string | null; count: number }>(
    db,
    sql`
    with recursive hops as (
      (select integration_id, 1 as hop from deliveries where status = 'held' and integration_id > ${after}
       order by integration_id, due_at limit 1)
      union all
      select next.integration_id, hops.hop + 1 from hops cross join lateral (
        select integration_id from deliveries
        where status = 'held' and integration_id > hops.integration_id order by integration_id, due_at limit 1) next
      where hops.hop < ${SWEEP_LIMIT}
    ), noted as (
      insert into webhook_switches (integration_id)
      select hops.integration_id from hops cross join lateral (
        select is_sending from webhook_receivers where integration_id = hops.integration_id limit 1) r
      where r.is_sending order by hops.integration_id
      on conflict (integration_id) do nothing
    )
    select max(integration_id) as last, count(*) as count from hops`,
  );
  const [{ last, count } = { last: null, count: 0 }] = rows;
  return count < SWEEP_LIMIT ? null : last;
}
