import type { EventType } from '../contract/events.ts';
import type { ApiVersion, JsonObject } from '../contract/versions.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { type Endpoint, type Outbox, openOutbox } from '../webhooks/outbox.ts';
import { advanceClocks, lockClocks, nextStamp } from './clock.ts';
import type { ChannelContext } from './context.ts';
import {
  type ItemSource,
  type Publication,
  RENDERER_REVISION,
  type Rendering,
  render,
  withStamp,
} from './documents.ts';
import { type ChannelSettings, pairKey, readItems, readPublications, readSettings } from './sources.ts';
import {
  isOther,
  type Place,
  projectedOf,
  readStored,
  removeDocuments,
  type StoredDocument,
  writeDocuments,
} from './stored-documents.ts';
import { type EventDraft, type Projected, transition } from './transitions.ts';

/**
 * The heart: recomputes what clients can read of some items and, where that differs from what is stored, writes the
 * new documents, their stamps and the events they are, all in the caller's transaction.
 *
 * The caller holds the locks of the stock rows that it changed. This takes the clocks, then reads, then writes.
 */
export type RefreshRequest = {
  itemIds: string[];
  /** Null refreshes every integration that the items are or were published on. */
  integrationIds: string[] | null;
  /** The dealer typed another quantity; otherwise a change of units is a movement of stock. */
  isQuantityEdit?: boolean;
  /** Whether an event is an echo of what its own client did: recorded, never sent. */
  isSuppressed?: (integrationId: string, type: EventType) => boolean;
  /**
   * The units of items as they were before the caller changed them. What differed already then, as a new price that a
   * mass change has not come to, is nobody's echo and is told.
   */
  unitsBefore?: Map<string, Units>;
  /** Clocks that the caller has locked already; these are then all the integrations that are refreshed. */
  clocks?: Map<string, Date>;
  /** Integrations to stamp in any case: something else of theirs changes in this transaction. */
  stampAlso?: string[];
  /** Only the bytes change, as under a new base URL: documents keep their stamps and nobody is told. */
  isQuiet?: boolean;
};

export type Units = Pick<ItemSource, 'units' | 'reservedUnits'>;

export type RefreshResult = {
  /** Documents that got a new stamp. */
  changed: number;
  /** The stamp of each integration that changed. */
  stamps: Map<string, Date>;
  /** For the caller's own events, in the same transaction. */
  endpoints: Map<string, Endpoint>;
};

export async function refreshItems(
  tx: Transaction,
  context: ChannelContext,
  request: RefreshRequest,
): Promise<RefreshResult> {
  const itemIds = [...new Set(request.itemIds)];
  const clocks =
    request.clocks ?? (await lockClocks(tx, request.integrationIds ?? (await integrationsOf(tx, itemIds))));
  const writes: Writes = { stamps: new Map(), documents: [], removals: [], outbox: openOutbox(), changed: 0 };
  if (clocks.size === 0) return { changed: 0, stamps: writes.stamps, endpoints: new Map() };

  const sources = await readSources(tx, context, [...clocks.keys()], itemIds);
  // Also where nothing is projected, as for a detached integration: its orders change all the same.
  for (const integrationId of request.stampAlso ?? []) {
    const newest = clocks.get(integrationId);
    if (newest !== undefined) writes.stamps.set(integrationId, nextStamp(newest, sources.now));
  }
  for (const channel of sources.settings) {
    const { integrationId } = channel;
    const stamp = nextStamp(clocks.get(integrationId) ?? sources.now, sources.now);
    // A change of settings or of time that nobody was told of yet must not slip through quietly.
    const isQuiet = request.isQuiet === true && !(await hasUntoldChange(tx, integrationId, itemIds, sources.now));
    for (const itemId of itemIds) {
      projectItem({ context, request, sources, channel, itemId, stamp, isQuiet }, writes);
    }
  }
  await advanceClocks(tx, writes.stamps);
  await writeDocuments(tx, writes.documents, rendererKey(context));
  await removeDocuments(tx, writes.removals);
  await writes.outbox.write(tx);
  const endpoints = new Map(sources.settings.map((channel) => [channel.integrationId, channel.endpoint]));
  return { changed: writes.changed, stamps: writes.stamps, endpoints };
}

/** Identifies the bytes that this code and base URL render; a difference calls for rendering anew. */
export function rendererKey(context: ChannelContext): string {
  return `${RENDERER_REVISION} ${context.publicUrl}`;
}

export function presenter(versions: readonly ApiVersion[], date: string): (document: JsonObject) => JsonObject {
  const version = versions.find((candidate) => candidate.date === date);
  if (version === undefined) throw new Error(`this release does not know the API version ${date}`);
  return version.present;
}

export async function integrationsOf(tx: Transaction, itemIds: string[]): Promise<string[]> {
  const rows = await tx.query<{ integration_id: string }>(sql`
    select distinct integration_id from publications where item_id = any(${itemIds}::text[])`);
  return rows.map((row) => row.integration_id);
}

/** What a refresh is going to write, gathered over all its items and channels. */
type Writes = {
  stamps: Map<string, Date>;
  documents: StoredDocument[];
  removals: Place[];
  outbox: Outbox;
  changed: number;
};

type Sources = Awaited<ReturnType<typeof readSources>>;

type Projection = {
  context: ChannelContext;
  request: RefreshRequest;
  sources: Sources;
  channel: ChannelSettings;
  itemId: string;
  stamp: Date;
  isQuiet: boolean;
};

/** Projects one item onto one channel: the pinned version decides and tells, the one of a roll follows it. */
function projectItem(projection: Projection, writes: Writes): void {
  const { request, sources, channel, itemId, stamp, isQuiet } = projection;
  const { integrationId, endpoint } = channel;
  const storedIn = (version: string) => sources.stored.get(pairKey(integrationId, version, itemId)) ?? null;
  const before = storedIn(endpoint.apiVersion);
  const after = renderIn(projection, endpoint.apiVersion);
  const { isChanged, events } = tellingOf(projection, before && projectedOf(before), after);
  const isTold = isChanged && !(isQuiet && before !== null && after !== null);

  for (const version of channel.versions) {
    const place = { integrationId, version, itemId };
    const stored = storedIn(version);
    const rendering = version === endpoint.apiVersion ? after : renderIn(projection, version);
    if (rendering === null) {
      if (stored !== null) writes.removals.push(place);
    } else if (isTold) {
      writes.documents.push(documentOf(place, rendering, stamp));
    } else if (before !== null) {
      const isAltered = stored !== null && isOther(stored, rendering);
      // A job that renders anew writes every document, in a batch that tells as well: those that nothing else altered
      // are just as old, and a version that is rolled to has none of them yet.
      if (isAltered || stored === null || request.isQuiet === true) {
        writes.documents.push(documentOf(place, rendering, before.stamp));
      }
      // The same document with another future, as when a promotion is planned: it keeps its stamp, but the clock moves,
      // since what was cached at the old one would be served too long.
      if (isAltered && !isQuiet) writes.stamps.set(integrationId, stamp);
    }
  }
  if (!isTold) return;
  writes.stamps.set(integrationId, stamp);
  writes.changed += 1;
  for (const { type, extra, previous, isSuppressed } of events) {
    const object = { id: itemId, object: (after ?? before)?.kind, ...extra };
    writes.outbox.add(endpoint, { type, object, previous, createdAt: stamp, isSuppressed });
  }
}

type Telling = { isChanged: boolean; events: (EventDraft & { isSuppressed: boolean })[] };

/** The events that a change is, and which of them are echoes of what their own client did. */
function tellingOf(projection: Projection, before: Projected | null, after: Rendering | null): Telling {
  const { request, sources, channel, itemId } = projection;
  const isDeleted = !sources.items.has(pairKey(channel.organizationId, itemId));
  const change = { isQuantityEdit: request.isQuantityEdit ?? false, isDeleted };
  const { isChanged, events } = transition(before, after, change);
  const isEcho = ({ type }: EventDraft) => request.isSuppressed?.(channel.integrationId, type) ?? false;
  const units = request.unitsBefore?.get(itemId);
  if (units === undefined || !events.some(isEcho)) {
    return { isChanged, events: events.map((event) => ({ ...event, isSuppressed: isEcho(event) })) };
  }
  // Two steps: what differed without the caller, then what the caller did.
  const between = renderIn(projection, channel.endpoint.apiVersion, units);
  const told = transition(before, between, change).events.map((event) => ({ ...event, isSuppressed: false }));
  const own = transition(between, after, change).events.map((event) => ({ ...event, isSuppressed: isEcho(event) }));
  return { isChanged, events: [...told, ...own] };
}

function renderIn(projection: Projection, version: string, stock?: Units): Rendering | null {
  const { context, sources, channel, itemId } = projection;
  const item = sources.items.get(pairKey(channel.organizationId, itemId));
  const publication = sources.publications.get(pairKey(channel.integrationId, itemId)) ?? null;
  if (item === undefined) return null;
  const { units, reservedUnits } = stock ?? item;
  const present = presenter(context.versions, version);
  return render({ ...item, units, reservedUnits }, channel, publication, present, sources.now.getTime());
}

function documentOf(place: Place, rendering: Rendering, stamp: Date): StoredDocument {
  const { kind, status, quantity, body, isUnpriceable, validUntilMs } = rendering;
  const validUntil = validUntilMs === null ? null : new Date(validUntilMs);
  return { ...place, kind, status, quantity, document: withStamp(body, stamp), isUnpriceable, validUntil, stamp };
}

async function readSources(tx: Transaction, context: ChannelContext, integrationIds: string[], itemIds: string[]) {
  const { settings, now } = await readSettings(tx, integrationIds, context.publicUrl);
  const hasItems = itemIds.length > 0;
  const stored = hasItems ? await readStored(tx, integrationIds, itemIds) : [];
  return {
    settings,
    now: context.now() ?? now ?? new Date(),
    items: hasItems ? await readItems(tx, itemIds) : new Map<string, ItemSource>(),
    publications: hasItems ? await readPublications(tx, integrationIds, itemIds) : new Map<string, Publication>(),
    stored: new Map(stored.map((row) => [pairKey(row.integrationId, row.version, row.itemId), row])),
  };
}

/** Asked after the settings were read: a snapshot that shows a new setting also shows the job that will tell of it. */
async function hasUntoldChange(tx: Transaction, integrationId: string, itemIds: string[], now: Date): Promise<boolean> {
  const [row] = await tx.query<{ is_untold: boolean }>(sql`
    select exists (select from channel_jobs
        where integration_id = ${integrationId} and kind = 'refresh' and status in ('pending', 'running'))
      or exists (select from channel_documents
        where integration_id = ${integrationId} and item_id = any(${itemIds}::text[]) and valid_until <= ${now})
      as is_untold`);
  return row?.is_untold ?? false;
}
