import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { byIndex } from './by-index.ts';
import { IN_DUE_INDEX, isUnleased } from './due.ts';

/** How many endpoints one step looks at, and how many deliveries it moves. */
const ENDPOINT_LIMIT = 100;
const BATCH_LIMIT = 1_000;
const SWEEP_LIMIT = 20;

/** How many deliveries were held and released in one step, and whether there may be more. */
export type HoldResult = { held: number; released: number; isMore: boolean };

/**
 * Holds the deliveries of endpoints that were switched off, which takes them out of the index of what is due, and releases
 * those of endpoints that were switched on: they are due at once, with their counters kept. The table webhook_switches
 * says which endpoints were switched. Each has an equal share of a step, so that nobody's backlog makes another wait. An
 * endpoint with nothing left to move is done; what is being sent to it just now is asked for again when it fails.
 */
export async function holdAndRelease(db: Database, time: Date | null): Promise<HoldResult> {
  const now = sql`(select now from clock)`;
  const [row] = await byIndex<{ endpoints: number; held: number; released: number }>(
    db,
    sql`
    with clock as (
      select ${clockTime(time)} as now
    ), switched as materialized (
      select s.ctid, s.integration_id from webhook_switches s
      order by s.turned_at limit ${ENDPOINT_LIMIT} for update of s skip locked
    ), endpoints as materialized (
      select switched.ctid, switched.integration_id, r.is_sending,
        greatest(${BATCH_LIMIT} / (select count(*) from switched), 1) as share
      from switched cross join lateral (
        select is_sending from webhook_endpoint_states where integration_id = switched.integration_id limit 1) r
    ), due as (
      select endpoints.integration_id, d.ctid from endpoints cross join lateral (
        select d.ctid from deliveries d
        where ${IN_DUE_INDEX} and d.integration_id = endpoints.integration_id and ${isUnleased(now)}
        order by d.due_at limit endpoints.share for update of d skip locked) d
      where not endpoints.is_sending
    ), waiting as (
      select endpoints.integration_id, d.ctid from endpoints cross join lateral (
        select d.ctid from deliveries d
        where d.is_waiting and d.integration_id = endpoints.integration_id
        limit endpoints.share for update of d skip locked) d
      where not endpoints.is_sending
    ), newly_held as (
      update deliveries d set status = 'held', is_waiting = false, lease_token = null, leased_until = null
      from (select ctid from due union all select ctid from waiting) found where d.ctid = found.ctid
      returning d.integration_id
    ), held as (
      select endpoints.integration_id, d.ctid from endpoints cross join lateral (
        select d.ctid from deliveries d
        where d.status = 'held' and d.integration_id = endpoints.integration_id
        order by d.due_at limit endpoints.share for update of d skip locked) d
      where endpoints.is_sending
    ), released as (
      update deliveries d set
        status = case when d.attempts = 0 then 'pending' else 'failed' end, due_at = clock.now
      from held, clock where d.ctid = held.ctid returning d.integration_id
    ), moved as materialized (
      select integration_id from newly_held union select integration_id from released
    ), unfinished as (
      update webhook_switches s set turned_at = clock_timestamp()
      from endpoints where s.ctid = endpoints.ctid and endpoints.integration_id in (select integration_id from moved)
    ), finished as (
      delete from webhook_switches s
      using endpoints where s.ctid = endpoints.ctid and endpoints.integration_id not in (select integration_id from moved)
    )
    select (select count(*) from moved) as endpoints, (select count(*) from newly_held) as held,
      (select count(*) from released) as released`,
  );
  return { held: row?.held ?? 0, released: row?.released ?? 0, isMore: (row?.endpoints ?? 0) > 0 };
}

/** Asks for holds at endpoints that are off although something is due: switched off between a look and a write. */
export async function requestHolds(db: Database, integrationIds: string[]): Promise<void> {
  if (integrationIds.length === 0) return;
  await byIndex(
    db,
    sql`
    insert into webhook_switches (integration_id)
    select given.integration_id from unnest(${integrationIds}::text[]) as given (integration_id)
    cross join lateral (
      select is_sending from webhook_endpoint_states where integration_id = given.integration_id limit 1) r
    where not r.is_sending order by given.integration_id
    on conflict (integration_id) do nothing`,
  );
}

/**
 * Asks for releases at endpoints that are on although something is held: a commit that had read them as off may come after
 * the switch. Looks at a few endpoints at a time, beginning after the one that the last call returned; null is the end of
 * the round.
 */
export async function requestMissedReleases(db: Database, after: string): Promise<string | null> {
  const rows = await byIndex<{ last: string | null; count: number }>(
    db,
    sql`
    with recursive held_endpoints as (
      (select integration_id, 1 as step from deliveries where status = 'held' and integration_id > ${after}
       order by integration_id, due_at limit 1)
      union all
      select next.integration_id, held_endpoints.step + 1 from held_endpoints cross join lateral (
        select integration_id from deliveries
        where status = 'held' and integration_id > held_endpoints.integration_id
        order by integration_id, due_at limit 1) next
      where held_endpoints.step < ${SWEEP_LIMIT}
    ), requested as (
      insert into webhook_switches (integration_id)
      select held_endpoints.integration_id from held_endpoints cross join lateral (
        select is_sending from webhook_endpoint_states where integration_id = held_endpoints.integration_id limit 1) r
      where r.is_sending order by held_endpoints.integration_id
      on conflict (integration_id) do nothing
    )
    select max(integration_id) as last, count(*) as count from held_endpoints`,
  );
  const [{ last, count } = { last: null, count: 0 }] = rows;
  return count < SWEEP_LIMIT ? null : last;
}
