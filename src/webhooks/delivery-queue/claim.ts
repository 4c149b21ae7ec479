import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { byIndex } from './by-index.ts';

/** A delivery that this worker holds for the length of the lease. */
export type Claimed = {
  integrationId: string;
  id: string;
  /** Where the row lies as this claim has written it. Nobody else writes it while the lease lasts. */
  row: string;
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
  limit: number;
  /** How many bytes of bodies may come; one delivery comes whatever its size. */
  bytes: number;
  /** How many each receiver has in flight here, and how many it may have. */
  inFlight: ReadonlyMap<string, number>;
  perReceiver: number;
  /**
   * Only so many at the front of a receiver's queue may be on their way, whichever worker sends them. Those that have
   * ended here and are not recorded yet stand there too and do not count.
   */
  front: number;
  ended: ReadonlyMap<string, number>;
  /** A worker that is alone does not have to ask whether others have all the places. */
  isAlone: boolean;
  /** Receivers that are left alone for now. */
  resting: string[];
  /** Receivers are served in the order of their ids, beginning after this one. */
  after: string;
  leaseToken: number;
  leaseMs: number;
  now: Date | null;
};

export type Claim = {
  claimed: Claimed[];
  /** Receivers that have deliveries waiting but are off: these are to be held. */
  stopped: string[];
  /** Whether more might have been claimed if there had been places for it. */
  isLimited: boolean;
  /** Whether more is due for some receiver than may be on its way to it, from here and from other workers. */
  isCrowded: boolean;
  /** The database's time. */
  nowMs: number;
  /** Where the next claim goes on; null when the last receiver has been looked at. */
  next: string | null;
};

/** How many receivers one claim looks at; the next one goes on behind them. */
export const RECEIVER_LIMIT = 200;

type Looked = {
  nowMs: number;
  lastHop: string | null;
  hopCount: number;
  stopped: string[] | null;
  foundCount: number;
  isCrowded: boolean;
};
type ClaimRow = Looked & (Claimed | { [Column in keyof Claimed]: null });

/**
 * Claims due deliveries, a few for each receiver. It hops from receiver to receiver along the index of what is due, and
 * reads of each no more rows than may be in flight: a receiver with a million rows waiting costs as much as one with ten,
 * and one that has all its places in flight is not looked at at all. Retries that wait for their time are not in that
 * index. Workers that claim at the same moment see the same front and take each row once, so that together they do not
 * exceed what one receiver may have in flight.
 */
export async function claimDue(db: Database, request: ClaimRequest): Promise<Claim> {
  const busy = [...request.inFlight];
  const rows = await byIndex<ClaimRow>(
    db,
    sql`
    with recursive clock as (
      select ${clockTime(request.now)} as now
    ), hops as (
      (select integration_id, 1 as hop from deliveries
       where status in ('pending', 'failed') and not is_waiting and integration_id > ${request.after}
       order by integration_id, due_at limit 1)
      union all
      select next.integration_id, hops.hop + 1 from hops cross join lateral (
        select integration_id from deliveries
        where status in ('pending', 'failed') and not is_waiting and integration_id > hops.integration_id
        order by integration_id, due_at limit 1) next
      where hops.hop < ${RECEIVER_LIMIT}
    ), receivers as materialized (
      select hops.integration_id, r.url, r.is_sending,
        ${request.perReceiver} - coalesce((${JSON.stringify(Object.fromEntries(busy))}::jsonb ->> hops.integration_id)::integer, 0) as room,
        ${request.front} + coalesce((${JSON.stringify(Object.fromEntries(request.ended))}::jsonb ->> hops.integration_id)::integer, 0) as front,
        (select string_agg(s.ciphertext, ' ' order by s.id desc) from webhook_secrets s
         where s.integration_id = hops.integration_id
           and (s.expires_at is null or s.expires_at > (select now from clock))) as secrets
      from hops cross join lateral (
        select url, is_sending from webhook_receivers where integration_id = hops.integration_id limit 1) r
      order by hops.hop
    ), found as materialized (
      select locked.row, locked.url, locked.secrets, event.type, event.body,
        sum(octet_length(event.body)) over (rows unbounded preceding) - octet_length(event.body) as bytes_before
      from (
        select locked.row, locked.event_id, receivers.integration_id, receivers.url, receivers.secrets
        from receivers cross join lateral (
          select locked.row, locked.event_id from (
            select d.ctid as row, d.leased_until from deliveries d
            where d.status in ('pending', 'failed') and not d.is_waiting and d.integration_id = receivers.integration_id
              and d.due_at <= (select now from clock)
            order by d.due_at limit receivers.front) front
          cross join lateral (
            select d.ctid as row, d.event_id from deliveries d
            where d.ctid = front.row and d.status in ('pending', 'failed')
              and (d.leased_until is null or d.leased_until <= (select now from clock))
            for update of d skip locked) locked
          where front.leased_until is null or front.leased_until <= (select now from clock)
          limit greatest(receivers.room, 0)) locked
        where receivers.is_sending and receivers.room > 0
          and receivers.integration_id <> all (${request.resting}::text[])
        limit ${request.limit}) locked
      cross join lateral (
        select e.type, e.body from events e
        where e.integration_id = locked.integration_id and e.id = locked.event_id limit 1) event
    ), claimed as (
      update deliveries d set
        lease_token = ${request.leaseToken}, leased_until = clock.now + make_interval(secs => ${request.leaseMs / 1000}),
        takeovers = case when d.lease_token is null then 0 else d.takeovers + 1 end, dispatches = d.dispatches + 1
      from found, clock where d.ctid = found.row and found.bytes_before < ${request.bytes}
      returning d.integration_id, d.id, d.ctid as row, d.event_id, d.attempts, d.dispatches - 1 as dispatches, d.takeovers, found.url,
        found.secrets, found.type, found.body
    )
    select looked.now_ms as "nowMs", looked.last_hop as "lastHop", looked.hop_count as "hopCount", looked.stopped,
      looked.found_count as "foundCount", looked.is_crowded as "isCrowded", c.integration_id as "integrationId", c.id, c.row, c.event_id as "eventId", c.type,
      c.body, c.url, c.attempts, c.dispatches, c.takeovers, c.secrets, ${request.leaseToken}::bigint as "leaseToken"
    from (
      select (select extract(epoch from now) * 1000 from clock)::float8 as now_ms, max(integration_id) as last_hop,
        count(*) as hop_count, array_agg(integration_id) filter (where not is_sending) as stopped,
        (select count(*) from found) as found_count,
        not ${request.isAlone}::boolean and exists (
          select from receivers cross join lateral (
            select d.due_at from deliveries d
            where d.status in ('pending', 'failed') and not d.is_waiting and d.integration_id = receivers.integration_id
              and d.due_at <= (select now from clock)
            order by d.due_at offset receivers.front limit 1) beyond
          where receivers.is_sending and receivers.room > 0) as is_crowded
      from receivers) looked
    left join claimed c on true
    order by c.integration_id`,
  );
  const claimed = rows.filter((row) => row.id !== null);
  const [looked] = rows;
  if (looked === undefined) throw new Error('a claim always answers with one row at least');
  const isCut = looked.foundCount === request.limit || claimed.length < looked.foundCount;
  return {
    claimed,
    stopped: looked.stopped ?? [],
    isLimited: isCut || looked.isCrowded || isAnyFull(busy, claimed, request.perReceiver),
    isCrowded: looked.isCrowded,
    nowMs: looked.nowMs,
    next: nextAfter(claimed, looked, isCut),
  };
}

function isAnyFull(busy: [string, number][], claimed: Claimed[], perReceiver: number): boolean {
  const counts = new Map(busy);
  for (const { integrationId } of claimed) counts.set(integrationId, (counts.get(integrationId) ?? 0) + 1);
  return counts.values().some((count) => count >= perReceiver);
}

function nextAfter(claimed: Claimed[], looked: Looked, isCut: boolean): string | null {
  if (isCut) return claimed.at(-1)?.integrationId ?? null;
  return looked.hopCount < RECEIVER_LIMIT ? null : looked.lastHop;
}
