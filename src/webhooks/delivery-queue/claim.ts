import type { Database } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import type { EndpointIds } from '../endpoints/endpoint-ids.ts';
import { byIndex } from './by-index.ts';
import { IN_DUE_INDEX, isDue, isUnleased } from './due.ts';

/** A delivery that this worker may send: it has the lease. */
export type Claimed = EndpointIds & {
  id: string;
  /** Where the row lies as this claim has written it. Nobody else writes it while the lease lasts. */
  ctid: string;
  eventId: string;
  type: string;
  body: string;
  url: string;
  /** Encrypted secrets that are valid now, newest first, separated by spaces; null if there is none. */
  secrets: string | null;
  /** Attempts that have ended; this one is the next. */
  attempts: number;
  /** How often it was sent before, whether or not the outcome was recorded. */
  dispatches: number;
  /** Claims before this one that ended without an outcome. */
  takeovers: number;
  leaseToken: number;
};

export type ClaimRequest = {
  maxDeliveries: number;
  /** The size of all bodies; one delivery comes whatever its size. */
  maxBytes: number;
  /** Attempts in flight in this worker, by integration, and how many of its slots one endpoint may have. */
  inFlight: ReadonlyMap<string, number>;
  slotsPerEndpoint: number;
  /** The same by dealer, whose endpoints share its slots evenly. */
  inFlightByDealer: ReadonlyMap<string, number>;
  slotsPerDealer: number;
  /** The size of the bodies in flight by dealer, and how large it may become; one delivery comes whatever its size. */
  bytesByDealer: ReadonlyMap<string, number>;
  bytesPerDealer: number;
  /**
   * How many deliveries of one endpoint may be in flight in all workers together: only so many at the head of its queue
   * are looked at. Those that have ended here and are not recorded yet stand there, too, and do not count.
   */
  allSlotsPerEndpoint: number;
  endedHere: ReadonlyMap<string, number>;
  /** A worker that is alone does not have to ask whether other workers have all slots of an endpoint. */
  isAlone: boolean;
  /** Integrations, and organizations, whose deliveries this worker does not take for now. */
  pausedEndpoints: string[];
  pausedDealers: string[];
  /** Endpoints are served in the order of their integrations' ids, beginning after this one. */
  afterEndpoint: string;
  leaseToken: number;
  leaseMs: number;
  now: Date | null;
};

export type Claim = {
  claimed: Claimed[];
  /** Endpoints that are off and have due deliveries, which are to be held. */
  endpointsOff: string[];
  /** Whether more might have been claimed with more free slots. */
  isLimited: boolean;
  /** Whether more is due for some endpoint than its slots in all workers together. */
  isSaturated: boolean;
  /** The database's time. */
  nowMs: number;
  /** Where the next claim goes on; null after the last endpoint. */
  nextAfter: string | null;
};

/** How many endpoints one claim looks at; the next one goes on after them. */
export const ENDPOINT_LIMIT = 200;

type Summary = {
  nowMs: number;
  lastEndpoint: string | null;
  endpointCount: number;
  endpointsOff: string[] | null;
  lockedCount: number;
  isSaturated: boolean;
  /** Whether some endpoint may have fewer because of its dealer's others. */
  isDealerLimited: boolean;
};
type ClaimRow = Summary & (Claimed | { [Column in keyof Claimed]: null });

/**
 * Claims due deliveries, a few for each endpoint. It steps from endpoint to endpoint along the index of what is due, and
 * reads of each no more rows than may be in flight: an endpoint with a million due rows costs as much as one with ten, and
 * one without a free slot is not looked at at all. Retries that wait for their time are not in that index. Workers that
 * claim at the same moment see the same head of the queue and take each row once, so that together they do not exceed the
 * slots of an endpoint.
 */
export async function claimDue(db: Database, request: ClaimRequest): Promise<Claim> {
  const rows = await byIndex<ClaimRow>(db, claimStatement(request));
  const claimed = rows.filter((row) => row.id !== null);
  const [summary] = rows;
  if (summary === undefined) throw new Error('a claim always answers with one row at least');
  const isCut = summary.lockedCount === request.maxDeliveries || claimed.length < summary.lockedCount;
  return {
    claimed,
    endpointsOff: summary.endpointsOff ?? [],
    isLimited: isCut || summary.isSaturated || summary.isDealerLimited || isAnyFull(request, claimed),
    isSaturated: summary.isSaturated,
    nowMs: summary.nowMs,
    nextAfter: nextAfter(claimed, summary, isCut),
  };
}

/** The steps stand in the order in which they happen. Each reads what the one before it left. */
function claimStatement(request: ClaimRequest): Sql {
  const now = sql`(select now from clock)`;
  const [id, dealer] = [sql`due_endpoints.integration_id`, sql`i.organization_id`];
  return sql`
    with recursive clock as (
      select ${clockTime(request.now)} as now
    ),
    -- 1. The next endpoints that have anything in the index, one index entry each.
    due_endpoints as (
      (select d.integration_id, 1 as step from deliveries d
       where ${IN_DUE_INDEX} and d.integration_id > ${request.afterEndpoint}
       order by d.integration_id, d.due_at limit 1)
      union all
      select next.integration_id, due_endpoints.step + 1 from due_endpoints cross join lateral (
        select d.integration_id from deliveries d
        where ${IN_DUE_INDEX} and d.integration_id > due_endpoints.integration_id
        order by d.integration_id, d.due_at limit 1) next
      where due_endpoints.step < ${ENDPOINT_LIMIT}
    ),
    -- 2. Where each one's webhooks go, how many more it may have, and how far into its queue to look.
    endpoints as materialized (
      select due_endpoints.integration_id, i.organization_id, r.url, r.is_sending,
        ${request.slotsPerEndpoint} - ${countOf(request.inFlight, id)} as own_slots,
        ceil((${request.slotsPerDealer} - ${countOf(request.inFlightByDealer, dealer)})::float8
          / count(*) over (partition by i.organization_id)) as dealers_slots,
        ${request.bytesPerDealer} - ${countOf(request.bytesByDealer, dealer)} as dealers_bytes,
        ${request.allSlotsPerEndpoint} + ${countOf(request.endedHere, id)} as head_length,
        (select string_agg(s.ciphertext, ' ' order by s.id desc) from webhook_secrets s
         where s.integration_id = due_endpoints.integration_id
           and (s.expires_at is null or s.expires_at > ${now})) as secrets
      from due_endpoints cross join lateral (
        select url, is_sending from webhook_endpoint_states where integration_id = due_endpoints.integration_id limit 1) r
      cross join lateral (
        select organization_id from integrations where id = due_endpoints.integration_id limit 1) i
      order by due_endpoints.step
    ),
    -- 3. Due rows that no worker has, locked, with the size of those before them.
    locked as materialized (
      select taken.ctid, taken.organization_id, taken.url, taken.secrets, event.type, event.body, taken.dealers_bytes,
        sum(octet_length(event.body)) over (order by taken.position) - octet_length(event.body) as bytes_before,
        sum(octet_length(event.body)) over (partition by taken.organization_id order by taken.position)
          - octet_length(event.body) as dealers_bytes_before
      from (
        select free.ctid, free.event_id, endpoints.integration_id, endpoints.organization_id, endpoints.url,
          endpoints.secrets, endpoints.dealers_bytes, row_number() over () as position
        from endpoints cross join lateral (
          select free.ctid, free.event_id from (
            select d.ctid, d.leased_until from deliveries d
            where d.integration_id = endpoints.integration_id and ${isDue(now)}
            order by d.due_at limit endpoints.head_length) head
          cross join lateral (
            select d.ctid, d.event_id from deliveries d
            where d.ctid = head.ctid and ${IN_DUE_INDEX} and ${isUnleased(now)}
            for update of d skip locked) free
          where head.leased_until is null or head.leased_until <= ${now}
          limit greatest(least(endpoints.own_slots, endpoints.dealers_slots), 0)) free
        where endpoints.is_sending and endpoints.own_slots > 0 and endpoints.dealers_slots > 0
          and endpoints.integration_id <> all (${request.pausedEndpoints}::text[])
          and endpoints.organization_id <> all (${request.pausedDealers}::text[])
        limit ${request.maxDeliveries}) taken
      cross join lateral (
        select e.type, e.body from events e
        where e.integration_id = taken.integration_id and e.id = taken.event_id limit 1) event
    ),
    -- 4. As many of them as fit get the lease.
    claimed as (
      update deliveries d set
        lease_token = ${request.leaseToken}, leased_until = clock.now + make_interval(secs => ${request.leaseMs / 1000}),
        takeovers = case when d.lease_token is null then 0 else d.takeovers + 1 end, dispatches = d.dispatches + 1
      from locked, clock where d.ctid = locked.ctid
        and locked.bytes_before < ${request.maxBytes} and locked.dealers_bytes_before < locked.dealers_bytes
      returning d.integration_id, d.id, d.ctid, d.event_id, d.attempts, d.dispatches - 1 as dispatches, d.takeovers,
        locked.organization_id, locked.url, locked.secrets, locked.type, locked.body
    ),
    -- 5. What was seen on the way; one row, also if nothing was claimed.
    summary as (
      select (select extract(epoch from now) * 1000 from clock)::float8 as now_ms, max(integration_id) as last_endpoint,
        count(*) as endpoint_count, array_agg(integration_id) filter (where not is_sending) as endpoints_off,
        (select count(*) from locked) as locked_count,
        coalesce(bool_or(is_sending and own_slots > dealers_slots), false) as is_dealer_limited,
        not ${request.isAlone}::boolean and exists (
          select from endpoints cross join lateral (
            select d.due_at from deliveries d
            where d.integration_id = endpoints.integration_id and ${isDue(now)}
            order by d.due_at offset endpoints.head_length limit 1) beyond_head
          where endpoints.is_sending and endpoints.own_slots > 0) as is_saturated
      from endpoints
    )
    select s.now_ms as "nowMs", s.last_endpoint as "lastEndpoint", s.endpoint_count as "endpointCount",
      s.endpoints_off as "endpointsOff", s.locked_count as "lockedCount", s.is_saturated as "isSaturated",
      s.is_dealer_limited as "isDealerLimited", c.organization_id as "organizationId",
      c.integration_id as "integrationId", c.id, c.ctid, c.event_id as "eventId", c.type, c.body, c.url, c.attempts,
      c.dispatches, c.takeovers, c.secrets, ${request.leaseToken}::bigint as "leaseToken"
    from summary s left join claimed c on true
    order by c.integration_id`;
}

/** What a map holds for the endpoint or the dealer at hand, as one parameter for all endpoints. */
function countOf(counts: ReadonlyMap<string, number>, id: Sql): Sql {
  const json = JSON.stringify(Object.fromEntries(counts));
  return sql`coalesce((${json}::jsonb ->> ${id})::bigint, 0)`;
}

function isAnyFull({ inFlight, slotsPerEndpoint }: ClaimRequest, claimed: Claimed[]): boolean {
  const counts = new Map(inFlight);
  for (const { integrationId } of claimed) counts.set(integrationId, (counts.get(integrationId) ?? 0) + 1);
  return counts.values().some((count) => count >= slotsPerEndpoint);
}

function nextAfter(claimed: Claimed[], { endpointCount, lastEndpoint }: Summary, isCut: boolean): string | null {
  if (isCut) return claimed.at(-1)?.integrationId ?? null;
  return endpointCount < ENDPOINT_LIMIT ? null : lastEndpoint;
}
