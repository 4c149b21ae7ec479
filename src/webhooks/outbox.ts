import type { UnsentReason } from '../contract/dashboard/integrations/delivery-labels.ts';
import { type EventType, isSubscribed } from '../contract/event-types.ts';
import type { Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { newId } from '../ids/new-id.ts';
import {
  type ClaimedRow,
  type CommitClaims,
  claimsOf,
  insertClaimed,
  type NewDelivery,
  takeSlots,
} from './delivery-queue/claim-at-commit.ts';

/** What the outbox has to know of an endpoint to record an event for it. */
export type Endpoint = {
  integrationId: string;
  /** Null while the integration is detached; nothing is sent then. */
  organizationId: string | null;
  apiVersion: string;
  isTestMode: boolean;
  url: string | null;
  subscriptions: string[];
  /** False while webhooks, the integration, its plan or its organization are off: deliveries are then held. */
  isSending: boolean;
};

export type OutgoingEvent = {
  type: EventType;
  /** `data.object`, either as a value or as JSON text that is already rendered. */
  object: Record<string, unknown> | { json: string };
  previous: Record<string, unknown> | undefined;
  createdAt: Date;
  /** An echo: recorded for the dealer, never sent. */
  isSuppressed: boolean;
};

export type RecordedEvent = { id: string; deliveryId: string | null };

type EventRow = {
  integrationId: string;
  id: string;
  type: string;
  createdAt: Date;
  body: string;
  isSuppressed: boolean;
  hasDelivery: boolean;
  /** What it is about. */
  objectId: string | null;
  unsentReason: UnsentReason | null;
};

/** Events waiting to be written with the change that caused them. */
export type Outbox = {
  add(endpoint: Endpoint, event: OutgoingEvent): RecordedEvent;
  /**
   * Writes them in the caller's transaction, at the latest with its commit: there is no commit without its events. A change
   * that goes on may write when it has many, so that it never has all of them in memory.
   */
  write(tx: Transaction): void;
  /** The same if they are so many bytes that the rest should not be waited for. Says whether they were. */
  writeIfLarge(tx: Transaction): boolean;
};

/** A mass change of ordinary documents stays below it and is one statement. */
const LARGE_BYTES = 262_144;

export function openOutbox(): Outbox {
  let events: EventRow[] = [];
  let deliveries: NewDelivery[] = [];
  let bytes = 0;

  function write(tx: Transaction, isPart: boolean): void {
    if (events.length > 0) insert(tx, events, deliveries, isPart);
    [events, deliveries, bytes] = [[], [], 0];
  }

  return {
    add(endpoint, event) {
      const { integrationId } = endpoint;
      const id = newId('event', event.createdAt.getTime());
      const unsentReason = unsentReasonOf(endpoint, event);
      const isWanted = unsentReason === null;
      const body = envelope(id, endpoint, event);
      bytes += body.length;
      events.push({
        integrationId,
        id,
        type: event.type,
        createdAt: event.createdAt,
        body,
        isSuppressed: event.isSuppressed,
        hasDelivery: isWanted,
        objectId: objectIdOf(event.object),
        unsentReason,
      });
      if (!isWanted || endpoint.url === null) return { id, deliveryId: null };
      const deliveryId = newId('delivery', event.createdAt.getTime());
      deliveries.push({
        integrationId,
        organizationId: endpoint.organizationId ?? '',
        id: deliveryId,
        eventId: id,
        status: endpoint.isSending ? 'pending' : 'held',
        createdAt: event.createdAt,
        type: event.type,
        body,
        url: endpoint.url,
      });
      return { id, deliveryId };
    },
    write: (tx) => write(tx, false),
    writeIfLarge(tx) {
      if (bytes < LARGE_BYTES) return false;
      write(tx, true);
      return true;
    },
  };
}

/** The exact bytes that are signed and sent; they are stored as text and never parsed again. */
export function envelope(id: string, endpoint: Endpoint, event: OutgoingEvent): string {
  const object = 'json' in event.object ? String(event.object.json) : JSON.stringify(event.object);
  const previous = event.previous === undefined ? '' : `,"previous_attributes":${JSON.stringify(event.previous)}`;
  const head = JSON.stringify({
    id,
    object: 'event',
    type: event.type,
    api_version: endpoint.apiVersion,
    created_at: event.createdAt.toISOString(),
    livemode: !endpoint.isTestMode,
  });
  return `${head.slice(0, -1)},"data":{"object":${object}${previous}}}`;
}

/** Null if it is sent. */
function unsentReasonOf(endpoint: Endpoint, { isSuppressed, type }: OutgoingEvent): UnsentReason | null {
  if (isSuppressed) return 'echo';
  if (endpoint.url === null) return 'no_url';
  return isSubscribed(endpoint.subscriptions, type) ? null : 'not_subscribed';
}

/** Every object begins with its id, also one that is JSON text already. */
function objectIdOf(object: OutgoingEvent['object']): string | null {
  if ('json' in object) return /^\{"id":"([^"]+)"/.exec(String(object.json))?.[1] ?? null;
  return typeof object.id === 'string' ? object.id : null;
}

const EVENT_COLUMNS = {
  integrationId: 'text',
  id: 'text',
  type: 'text',
  createdAt: 'timestamptz',
  body: 'text',
  isSuppressed: 'boolean',
  hasDelivery: 'boolean',
  objectId: 'text',
  unsentReason: 'text',
} as const;

const DELIVERY_COLUMNS = {
  integrationId: 'text',
  id: 'text',
  eventId: 'text',
  status: 'text',
  createdAt: 'timestamptz',
} as const;

/** A part of many is left to the queue: what comes later finds it waiting there, and is not claimed before it. */
function insert(tx: Transaction, events: EventRow[], deliveries: NewDelivery[], isPart: boolean): void {
  const claims = claimsOf(tx);
  const slots = claims === null || isPart ? [] : takeSlots(claims, deliveries);
  const isAnyQueued = deliveries.some(({ status }, index) => status === 'pending' && (slots[index] ?? null) === null);
  if (isAnyQueued) claims?.noteQueued();
  if (claims !== null && slots.some((slot) => slot !== null)) {
    const onRows = (rows: ClaimedRow[]) => noteClaimed(claims, deliveries, slots, rows);
    tx.defer(insertClaimed(claims, deliveries, slots, insertEvents(events)), onRows);
    return;
  }
  // A stamp can be ahead of the time by some milliseconds, but no delivery waits for that.
  tx.defer(sql`
    with new_events as (${insertEvents(events)})
    insert into deliveries (integration_id, id, event_id, status, created_at, due_at)
    select integration_id, id, event_id, status, created_at, least(created_at, now())
    from ${unnestRows('rows', deliveries, DELIVERY_COLUMNS)}`);
}

function insertEvents(events: EventRow[]): Sql {
  return sql`
    insert into events (integration_id, id, type, created_at, body, is_suppressed, has_delivery, object_id, unsent_reason)
    select integration_id, id, type, created_at, body, is_suppressed, has_delivery, object_id, unsent_reason
    from ${unnestRows('rows', events, EVENT_COLUMNS)}`;
}

/** The worker learns which deliveries are its own, and whether some that had a slot wait after all. */
function noteClaimed(
  claims: CommitClaims,
  deliveries: NewDelivery[],
  slots: (number | null)[],
  rows: ClaimedRow[],
): void {
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  claims.add(
    deliveries.flatMap(({ createdAt: _, status: __, ...delivery }) => {
      const row = rowOf.get(delivery.id);
      if (row === undefined) return [];
      const { ctid, secrets } = row;
      return [{ ...delivery, ctid, secrets, attempts: 0, dispatches: 0, takeovers: 0, leaseToken: claims.leaseToken }];
    }),
  );
  if (rows.length < slots.filter((slot) => slot !== null).length) claims.noteQueued();
}
