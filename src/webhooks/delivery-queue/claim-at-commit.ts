import type { Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import type { EndpointIds } from '../endpoints/endpoint-ids.ts';
import type { Claimed } from './claim.ts';
import { isDue, isUnleased } from './due.ts';

/**
 * The claim of deliveries by the commit that writes them. If the process that records an event also has a delivery worker,
 * the row of the delivery is inserted with that worker's lease, and the worker sends it as soon as the commit is
 * confirmed. Nobody has to look for it: that saves a round trip, a version of the row and a commit (decision 26).
 *
 * A delivery gets the lease only if it may be sent now by the rules of every other claim:
 *
 * | rule | who checks it |
 * |---|---|
 * | the worker runs, records in time and can sign for the endpoint | the worker, when slots are taken |
 * | the worker has a free slot, and the endpoint and its dealer their share of them | the worker, when slots are taken |
 * | webhooks of the endpoint are on | the change that writes the delivery; otherwise it is `held` |
 * | nothing of the endpoint waits in the queue, which it would overtake | the insert |
 * | fewer deliveries of the endpoint than its limit are in flight in all workers together | the insert |
 *
 * Every other delivery is inserted without a lease, and the next claim takes it in its turn. The integration's clock is
 * locked until the commit, so two commits never count the same queue.
 */
export type CommitClaims = {
  readonly leaseToken: number;
  readonly leaseMs: number;
  /** How many deliveries of one endpoint may be in flight in all workers together. */
  readonly allSlotsPerEndpoint: number;
  readonly now: Date | null;
  /** Takes slots for deliveries of an endpoint, whose bodies have these sizes; returns for how many of them, from the first on. */
  takeSlots(endpoint: EndpointIds, bodyBytes: readonly number[]): number;
  /** The insert gave these the lease, if it is committed. */
  add(claimed: Claimed[]): void;
  /** Some of the transaction's deliveries wait in the queue for a claim. */
  noteQueued(): void;
  hasQueued(): boolean;
  /** The transaction is committed: sends what was claimed. */
  send(): void;
  /** The transaction is not committed, or nobody knows: gives the slots back. */
  cancel(): void;
};

const CLAIMS = Symbol('claims');
type ClaimingTransaction = Transaction & { [CLAIMS]?: CommitClaims };

/** From now on the deliveries that are written in this transaction may be claimed by it. */
export function claimWith(tx: ClaimingTransaction, claims: CommitClaims): void {
  tx[CLAIMS] = claims;
}

export function claimsOf(tx: ClaimingTransaction): CommitClaims | null {
  return tx[CLAIMS] ?? null;
}

/** A delivery to be inserted, with all that is needed to send it. */
export type NewDelivery = EndpointIds & {
  id: string;
  eventId: string;
  status: 'pending' | 'held';
  createdAt: Date;
  type: string;
  body: string;
  url: string;
};

/** A transaction with more deliveries leaves them to the queue, where each endpoint and each dealer has its share; so does a large one. */
const CLAIM_LIMIT = 100;

/** Takes slots for the deliveries of one statement: the slot of each among those of its endpoint, from 1; null without one. */
export function takeSlots(claims: CommitClaims, deliveries: readonly NewDelivery[]): (number | null)[] {
  const pending = deliveries.filter(({ status }) => status === 'pending');
  const slots = new Map<string, number>();
  if (pending.length <= CLAIM_LIMIT) {
    for (const [integrationId, own] of Map.groupBy(pending, (delivery) => delivery.integrationId)) {
      const [endpoint] = own;
      const sizes = own.map(({ body }) => body.length);
      if (endpoint !== undefined) slots.set(integrationId, claims.takeSlots(endpoint, sizes));
    }
  }
  const used = new Map<string, number>();
  return deliveries.map(({ integrationId, status }) => {
    if (status !== 'pending') return null;
    const slot = (used.get(integrationId) ?? 0) + 1;
    used.set(integrationId, slot);
    return slot <= (slots.get(integrationId) ?? 0) ? slot : null;
  });
}

const DELIVERY_COLUMNS = {
  integrationId: 'text',
  id: 'text',
  eventId: 'text',
  status: 'text',
  createdAt: 'timestamptz',
  slot: 'integer',
} as const;

const ENDPOINT_COLUMNS = { integrationId: 'text', slots: 'integer' } as const;

/** What the insert returns of each delivery that got the lease. */
export type ClaimedRow = { id: string; ctid: string; secrets: string | null };

/**
 * Inserts deliveries together with their events: those with a slot get the lease if nothing of their endpoint waits. It
 * returns a row for each that got it.
 */
export function insertClaimed(
  claims: CommitClaims,
  deliveries: readonly NewDelivery[],
  slots: readonly (number | null)[],
  eventsInserted: Sql,
): Sql {
  const rows = deliveries.map((delivery, index) => ({ ...delivery, slot: slots[index] ?? null }));
  const byEndpoint = new Map<string, number>();
  for (const { integrationId, slot } of rows) if (slot !== null) byEndpoint.set(integrationId, slot);
  const endpoints = [...byEndpoint].map(([integrationId, slots]) => ({ integrationId, slots }));
  const now = sql`(select now from clock)`;
  return sql`
    with new_events as (${eventsInserted}
    ), clock as materialized (
      select ${clockTime(claims.now)} as now
    ), endpoints as materialized (
      select given.integration_id,
        case when queue.unleased = 0 then least(given.slots, ${claims.allSlotsPerEndpoint} - queue.length) else 0 end as slots,
        (select string_agg(s.ciphertext, ' ' order by s.id desc) from webhook_secrets s
         where s.integration_id = given.integration_id and (s.expires_at is null or s.expires_at > ${now})) as secrets
      from ${unnestRows('given', endpoints, ENDPOINT_COLUMNS)}
      cross join lateral (
        select count(*) as length, count(*) filter (where ${isUnleased(now)}) as unleased
        from (
          select d.leased_until from deliveries d
          where d.integration_id = given.integration_id and ${isDue(now)}
          order by d.due_at limit ${claims.allSlotsPerEndpoint}) d) queue
    ), inserted as (
      insert into deliveries (integration_id, id, event_id, status, created_at, due_at, lease_token, leased_until, dispatches)
      select rows.integration_id, rows.id, rows.event_id, rows.status, rows.created_at, least(rows.created_at, now()),
        case when rows.slot <= e.slots then ${claims.leaseToken}::bigint end,
        case when rows.slot <= e.slots then ${now} + make_interval(secs => ${claims.leaseMs / 1000}) end,
        case when rows.slot <= e.slots then 1 else 0 end
      from ${unnestRows('rows', rows, DELIVERY_COLUMNS)}
      left join endpoints e on e.integration_id = rows.integration_id
      returning integration_id, id, ctid, lease_token
    )
    select i.id, i.ctid, e.secrets from inserted i
    join endpoints e on e.integration_id = i.integration_id
    where i.lease_token is not null`;
}
