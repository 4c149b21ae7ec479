import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** A delivery that this worker holds for the length of the lease. */
export type Claimed = {
  integrationId: string;
  id: string;
  eventId: string;
  type: string;
  body: string;
  url: string;
  /** Encrypted secrets that are valid now, newest first. */
  secrets: string[];
  /** Attempts that have ended; this one is the next. */
  attempts: number;
  /** How often it was sent before, whether or not the outcome was recorded. */
  dispatches: number;
  /** Claims before this one that ended without an outcome. */
  takeovers: number;
  leaseToken: number;
};

export type ClaimRequest = {
  limit: number;
  /** How many more each receiver may have in flight here, where that is less than the default. */
  inFlight: ReadonlyMap<string, number>;
  perReceiver: number;
  /** Receivers are served in the order of their ids, beginning after this one: the next claim goes on from there. */
  after: string;
  leaseToken: number;
  leaseMs: number;
  now: Date | null;
};

export type Claim = {
  claimed: Claimed[];
  /** Where the next claim goes on; empty when all receivers have been looked at. */
  next: string;
};

/** How many receivers one claim looks at; the next one goes on behind them. */
const RECEIVER_LIMIT = 200;

type ClaimRow = Claimed & { lastHop: string | null; hopCount: number };

/**
 * Claims due deliveries, a few for each receiver. It hops from receiver to receiver along the index of what is due, and
 * reads of each no more rows than it may take: a receiver with a million rows waiting costs as much as one with ten, and
 * one that has all its places in flight is not looked at at all.
 */
export async function claimDue(db: Queryable, request: ClaimRequest): Promise<Claim> {
  const busy = [...request.inFlight];
  const rows = await db.query<ClaimRow>(sql`
    with recursive clock as (
      select coalesce(${request.now}::timestamptz, clock_timestamp()) as now
    ), hops as (
      (select integration_id, 1 as hop from deliveries
       where status in ('pending', 'failed') and integration_id > ${request.after}
       order by integration_id limit 1)
      union all
      select next.integration_id, hops.hop + 1 from hops cross join lateral (
        select integration_id from deliveries
        where status in ('pending', 'failed') and integration_id > hops.integration_id
        order by integration_id limit 1) next
      where hops.hop < ${RECEIVER_LIMIT}
    ), receivers as (
      select hops.integration_id, e.url, ${request.perReceiver} - coalesce(busy.in_flight, 0) as room
      from hops
      join webhook_endpoints e on e.integration_id = hops.integration_id
      join integrations i on i.id = hops.integration_id
      join organizations o on o.id = i.organization_id
      left join unnest(${busy.map(([id]) => id)}::text[], ${busy.map(([, count]) => count)}::integer[])
        as busy (integration_id, in_flight) on busy.integration_id = hops.integration_id
      where e.url is not null and e.is_enabled and i.is_enabled and o.has_integration_plan and o.is_provisioned
        and o.archived_at is null and coalesce(busy.in_flight, 0) < ${request.perReceiver}
    ), due as (
      select due.integration_id, due.id, receivers.url from receivers cross join lateral (
        select d.integration_id, d.id from deliveries d, clock
        where d.status in ('pending', 'failed') and d.integration_id = receivers.integration_id and d.due_at <= clock.now
        order by d.due_at limit receivers.room for update of d skip locked) due
      limit ${request.limit}
    ), claimed as (
      update deliveries d set
        lease_token = ${request.leaseToken}, dispatches = d.dispatches + 1,
        takeovers = case when d.lease_token is null then 0 else d.takeovers + 1 end,
        due_at = clock.now + make_interval(secs => ${request.leaseMs / 1000})
      from due, clock
      where d.integration_id = due.integration_id and d.id = due.id
      returning d.integration_id, d.id, d.event_id, d.attempts, d.dispatches - 1 as dispatches, d.takeovers, due.url
    )
    select looked.last_hop as "lastHop", looked.hop_count as "hopCount", c.integration_id as "integrationId", c.id, c.event_id as "eventId", ev.type, ev.body, c.url,
      c.attempts, c.dispatches, c.takeovers, ${request.leaseToken}::bigint as "leaseToken",
      array(select s.ciphertext from webhook_secrets s, clock
        where s.integration_id = c.integration_id and (s.expires_at is null or s.expires_at > clock.now)
        order by s.id desc) as secrets
    from (select max(integration_id) as last_hop, count(*) as hop_count from hops) looked
    left join claimed c on true
    left join events ev on ev.integration_id = c.integration_id and ev.id = c.event_id
    order by c.integration_id`);
  const claimed = rows.filter((row) => row.id !== null);
  const isCut = claimed.length === request.limit;
  const [first] = rows;
  const hasLookedAtAll = first === undefined || first.hopCount < RECEIVER_LIMIT;
  const next = isCut ? (claimed.at(-1)?.integrationId ?? '') : hasLookedAtAll ? '' : (first.lastHop ?? '');
  return { claimed, next };
}
