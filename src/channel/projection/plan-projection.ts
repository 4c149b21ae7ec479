import type { Steps } from '../../concurrency/time-slices.ts';
import type { EventType } from '../../contract/event-types.ts';
import type { ApiVersion, JsonObject } from '../../contract/versions.ts';
import type { Endpoint, OutgoingEvent } from '../../webhooks/outbox.ts';
import { nextStamp } from '../clock.ts';
import { type ItemSource, type Publication, type Rendering, render, withStamp } from './documents.ts';
import { type ChannelSettings, pairKey } from './sources.ts';
import { type DocumentKey, isOther, projectedOf, type StoredDocument } from './stored-documents.ts';
import { type EventDraft, type Projected, transition } from './transitions.ts';

/**
 * The first step of a projection: what follows from rows that were read, as a plan of what to write. It touches no
 * database, so the same rows always make the same plan.
 */
export type ProjectionPlan = {
  /** The new stamp of each integration that changes. */
  stamps: Map<string, Date>;
  documents: StoredDocument[];
  removals: DocumentKey[];
  events: { endpoint: Endpoint; event: OutgoingEvent }[];
  /** Documents that get a new stamp. */
  changed: number;
};

/**
 * `announce`: a document that differs gets a new stamp, and the difference is an event.
 * `rerender`: only the bytes change, as under a new base URL. Every document is written, keeps its stamp and is no event;
 * except on a channel with a change that was not announced yet, which must not get lost.
 */
export type ProjectionMode = 'announce' | 'rerender';

export type Units = Pick<ItemSource, 'units' | 'reservedUnits'>;

/** What the caller knows of the change. */
export type ProjectedChange = {
  mode?: ProjectionMode;
  /** The dealer typed another quantity; otherwise a change of units is a movement of stock. */
  isQuantityEdit?: boolean;
  /** Whether an event is an echo of what its own client did: recorded, never sent. */
  isSuppressed?: (integrationId: string, type: EventType) => boolean;
  /**
   * The units of items as they were before the caller changed them. What differed already then, as a new price that a
   * mass change has not come to, is nobody's echo and is announced.
   */
  unitsBefore?: Map<string, Units>;
  /** The units of items as the caller leaves them, if it has read the sources before it changed them. */
  unitsAfter?: Map<string, Units>;
  /** Integrations to stamp in any case: something else of theirs changes in this transaction. */
  stampAlso?: string[];
};

/** The rows that a projection is made of, read under the locks of stock and clocks. */
export type ProjectionSources = {
  itemIds: string[];
  clocks: Map<string, Date>;
  settings: ChannelSettings[];
  items: Map<string, ItemSource>;
  publications: Map<string, Publication>;
  stored: Map<string, StoredDocument>;
  /** Channels with a change of settings or of time that was not announced yet; asked for only by `rerender`. */
  unannounced: Set<string>;
  versions: readonly ApiVersion[];
  now: Date;
};

/** It can be interrupted after each document, which takes about a quarter of a millisecond. */
export function* planProjection(sources: ProjectionSources, change: ProjectedChange): Steps<ProjectionPlan> {
  const plan: ProjectionPlan = { stamps: new Map(), documents: [], removals: [], events: [], changed: 0 };
  // Also where nothing is projected, as for a detached integration: its orders change all the same.
  for (const integrationId of change.stampAlso ?? []) {
    const newest = sources.clocks.get(integrationId);
    if (newest !== undefined) plan.stamps.set(integrationId, nextStamp(newest, sources.now));
  }
  for (const channel of sources.settings) {
    const stamp = nextStamp(sources.clocks.get(channel.integrationId) ?? sources.now, sources.now);
    for (const itemId of sources.itemIds) {
      planItem({ sources, change, channel, itemId, stamp }, plan);
      yield;
    }
  }
  return plan;
}

/** How an API version presents documents. */
export function presentFor(versions: readonly ApiVersion[], date: string): (document: JsonObject) => JsonObject {
  const version = versions.find((candidate) => candidate.date === date);
  if (version === undefined) throw new Error(`this release does not know the API version ${date}`);
  return version.present;
}

/** One item on one channel. */
type Projection = {
  sources: ProjectionSources;
  change: ProjectedChange;
  channel: ChannelSettings;
  itemId: string;
  stamp: Date;
};

/** The pinned version decides what is announced; the version of a roll follows it. */
function planItem(projection: Projection, plan: ProjectionPlan): void {
  const { sources, change, channel, itemId, stamp } = projection;
  const { integrationId, endpoint } = channel;
  const storedIn = (version: string) => sources.stored.get(pairKey(integrationId, version, itemId)) ?? null;
  const before = storedIn(endpoint.apiVersion);
  const after = renderIn(projection, endpoint.apiVersion);
  const { isChanged, events } = eventsOf(projection, before && projectedOf(before), after);
  const isRerender = change.mode === 'rerender';
  const isChannelAnnounced = !isRerender || sources.unannounced.has(integrationId);
  const isAnnounced = isChanged && (isChannelAnnounced || before === null || after === null);

  for (const version of channel.versions) {
    const key = { integrationId, version, itemId };
    const stored = storedIn(version);
    const rendering = version === endpoint.apiVersion ? after : renderIn(projection, version);
    if (rendering === null) {
      if (stored !== null) plan.removals.push(key);
    } else if (isAnnounced) {
      plan.documents.push(documentOf(key, rendering, stamp));
    } else if (before !== null) {
      const isAltered = stored !== null && isOther(stored, rendering);
      // Rendering anew writes every document, also on a channel that is announced: those that nothing else altered are
      // just as old, and a version that is rolled to has none of them yet.
      if (isAltered || stored === null || isRerender) {
        plan.documents.push(documentOf(key, rendering, before.stamp));
      }
      // The document is the same, but will change at another time, as when a promotion is planned. Its stamp stays, and
      // the clock moves: what was cached at the old one would be served too long.
      if (isAltered && isChannelAnnounced) plan.stamps.set(integrationId, stamp);
    }
  }
  if (!isAnnounced) return;
  plan.stamps.set(integrationId, stamp);
  plan.changed += 1;
  for (const { type, extra, previous, isSuppressed } of events) {
    const object = { id: itemId, object: (after ?? before)?.kind, ...extra };
    plan.events.push({ endpoint, event: { type, object, previous, createdAt: stamp, isSuppressed } });
  }
}

type Announcement = { isChanged: boolean; events: (EventDraft & { isSuppressed: boolean })[] };

/** The events that a change is, and which of them are echoes of what their own client did. */
function eventsOf(projection: Projection, before: Projected | null, after: Rendering | null): Announcement {
  const { sources, change, channel, itemId } = projection;
  const isDeleted = !sources.items.has(pairKey(channel.organizationId, itemId));
  const kind = { isQuantityEdit: change.isQuantityEdit ?? false, isDeleted };
  const { isChanged, events } = transition(before, after, kind);
  const isEcho = ({ type }: EventDraft) => change.isSuppressed?.(channel.integrationId, type) ?? false;
  const units = change.unitsBefore?.get(itemId);
  if (units === undefined || !events.some(isEcho)) {
    return { isChanged, events: events.map((event) => ({ ...event, isSuppressed: isEcho(event) })) };
  }
  // Two steps: what differed without the caller, then what the caller did.
  const between = renderIn(projection, channel.endpoint.apiVersion, units);
  const earlier = transition(before, between, kind).events.map((event) => ({ ...event, isSuppressed: false }));
  const own = transition(between, after, kind).events.map((event) => ({ ...event, isSuppressed: isEcho(event) }));
  return { isChanged, events: [...earlier, ...own] };
}

function renderIn(projection: Projection, version: string, stock?: Units): Rendering | null {
  const { sources, change, channel, itemId } = projection;
  const item = sources.items.get(pairKey(channel.organizationId, itemId));
  const publication = sources.publications.get(pairKey(channel.integrationId, itemId)) ?? null;
  if (item === undefined) return null;
  const { units, reservedUnits } = stock ?? change.unitsAfter?.get(itemId) ?? item;
  const present = presentFor(sources.versions, version);
  return render({ ...item, units, reservedUnits }, channel, publication, present, sources.now.getTime());
}

function documentOf(key: DocumentKey, rendering: Rendering, stamp: Date): StoredDocument {
  const { kind, status, quantity, body, isUnpriceable, validUntilMs } = rendering;
  const validUntil = validUntilMs === null ? null : new Date(validUntilMs);
  return { ...key, kind, status, quantity, document: withStamp(body, stamp), isUnpriceable, validUntil, stamp };
}
