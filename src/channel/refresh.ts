import type { EventType } from '../contract/events.ts';
import type { ApiVersion, JsonObject } from '../contract/versions.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { openOutbox } from '../webhooks/outbox.ts';
import { advanceClocks, lockClocks, nextStamp } from './clock.ts';
import type { ChannelContext } from './context.ts';
import { bodyOf, type Publication, RENDERER_REVISION, type Rendering, render, withStamp } from './documents.ts';
import { pairKey, readItems, readPublications, readSettings } from './sources.ts';
import { type Change, type Projected, transition } from './transitions.ts';

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
  change: Change;
  /** Whether an event is an echo for its receiver: recorded, never sent. */
  isSuppressed: (integrationId: string, type: EventType) => boolean;
  /** Only the bytes change, as under a new base URL: documents keep their stamps and nobody is told. */
  isQuiet?: boolean;
};

export type RefreshResult = {
  /** Documents that got a new stamp. */
  changed: number;
  /** The stamp of each integration that changed. */
  stamps: Map<string, Date>;
};

export const NO_CHANGE: Change = { isDeleted: false, isQuantityEdit: false };
export const NEVER_SUPPRESSED = () => false;

type StoredRow = {
  integration_id: string;
  api_version: string;
  item_id: string;
  kind: 'listing' | 'part';
  status: string;
  quantity: number;
  document: string;
  is_unpriceable: boolean;
  valid_until: Date | null;
  updated_at: Date;
};

type DocumentRow = Rendering & {
  integrationId: string;
  version: string;
  itemId: string;
  document: string;
  stamp: Date;
};

type Removal = { integrationId: string; version: string; itemId: string };

export async function refreshItems(
  tx: Transaction,
  context: ChannelContext,
  request: RefreshRequest,
): Promise<RefreshResult> {
  const integrationIds = request.integrationIds ?? (await integrationsOf(tx, request.itemIds));
  const clocks = await lockClocks(tx, integrationIds);
  if (clocks.size === 0) return { changed: 0, stamps: new Map() };
  const sources = await readSources(tx, context, [...clocks.keys()], request.itemIds);
  const { now, settings, itemsById, publications, stored } = sources;

  const outbox = openOutbox();
  const stamps = new Map<string, Date>();
  const documents: DocumentRow[] = [];
  const removals: Removal[] = [];
  let changed = 0;

  for (const channel of settings) {
    const { integrationId } = channel;
    const stamp = nextStamp(clocks.get(integrationId) ?? now, now);
    // A change of settings or of time that nobody was told of yet must not slip through quietly.
    const isQuiet = request.isQuiet === true && !(await hasUntoldChange(tx, integrationId, request.itemIds, now));
    for (const itemId of request.itemIds) {
      const item = itemsById.get(itemId);
      const publication = publications.get(pairKey(integrationId, itemId)) ?? null;
      let isPinnedChanged = false;
      for (const version of channel.versions) {
        const isPinned = version === channel.receiver.apiVersion;
        const before = stored.get(pairKey(integrationId, version, itemId)) ?? null;
        // A roll brings this document beside the pinned one, with the pinned one's stamp.
        if (before === null && !isPinned && !isPinnedChanged) continue;
        const present = presenter(context.versions, version);
        const after = item === undefined ? null : render(item, channel, publication, present, now.getTime());
        const place = { integrationId, version, itemId };
        const outcome = transition(projectedOf(before), after, request.change);

        if (before !== null && after !== null && (isQuiet || !outcome.isChanged)) {
          if (!isQuiet && !isOtherFuture(before, after)) continue;
          // The document is the same but its future is not, as when a promotion is planned. The clock moves, since
          // what was cached at the old stamp would be served too long; the document keeps its own stamp.
          if (!isQuiet) stamps.set(integrationId, stamp);
          const document = withStamp(after.body, before.updated_at);
          documents.push({ ...after, ...place, document, stamp: before.updated_at });
          continue;
        }
        if (!outcome.isChanged) continue;
        stamps.set(integrationId, stamp);
        if (after === null) removals.push(place);
        else documents.push({ ...after, ...place, document: withStamp(after.body, stamp), stamp });
        // The other version is the same change once more; the pinned one tells it.
        if (!isPinned) continue;
        isPinnedChanged = true;
        changed += 1;
        for (const { type, extra, previous } of outcome.events) {
          outbox.add(channel.receiver, {
            type,
            object: { id: itemId, object: (after ?? before)?.kind, ...extra },
            previous,
            createdAt: stamp,
            isSuppressed: request.isSuppressed(integrationId, type),
          });
        }
      }
    }
  }
  await advanceClocks(tx, stamps);
  await writeDocuments(tx, documents, rendererKey(context));
  await removeDocuments(tx, removals);
  await outbox.write(tx);
  return { changed, stamps };
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

async function readSources(tx: Transaction, context: ChannelContext, integrationIds: string[], itemIds: string[]) {
  const { settings, now: databaseNow } = await readSettings(tx, integrationIds, context.publicUrl);
  const items = await readItems(tx, itemIds);
  const publications: Map<string, Publication> = await readPublications(tx, integrationIds, itemIds);
  const rows = await tx.query<StoredRow>(sql`
    select integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable, valid_until, updated_at
    from channel_documents
    where integration_id = any(${integrationIds}::text[]) and item_id = any(${itemIds}::text[])`);
  return {
    settings,
    now: context.now() ?? databaseNow ?? new Date(),
    itemsById: new Map(items.map((item) => [item.id, item])),
    publications,
    stored: new Map(rows.map((row) => [pairKey(row.integration_id, row.api_version, row.item_id), row])),
  };
}

function projectedOf(row: StoredRow | null): Projected | null {
  if (row === null) return null;
  return { kind: row.kind, status: row.status, quantity: row.quantity, body: bodyOf(row.document) };
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

function isOtherFuture(before: StoredRow, after: Rendering): boolean {
  return (
    (before.valid_until?.getTime() ?? null) !== after.validUntilMs || before.is_unpriceable !== after.isUnpriceable
  );
}

async function writeDocuments(tx: Transaction, rows: DocumentRow[], renderer: string): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(sql`
    insert into channel_documents
      (integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable, valid_until, updated_at, renderer)
    select integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable, valid_until, updated_at,
      ${renderer}
    from unnest(
      ${rows.map((row) => row.integrationId)}::text[], ${rows.map((row) => row.version)}::text[],
      ${rows.map((row) => row.itemId)}::text[], ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => row.status)}::text[], ${rows.map((row) => row.quantity)}::integer[],
      ${rows.map((row) => row.document)}::text[], ${rows.map((row) => row.isUnpriceable)}::boolean[],
      ${rows.map((row) => (row.validUntilMs === null ? null : new Date(row.validUntilMs)))}::timestamptz[],
      ${rows.map((row) => row.stamp)}::timestamptz[])
      as rows (integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable, valid_until, updated_at)
    on conflict (integration_id, api_version, item_id) do update set
      status = excluded.status, quantity = excluded.quantity, document = excluded.document,
      is_unpriceable = excluded.is_unpriceable, valid_until = excluded.valid_until, updated_at = excluded.updated_at,
      renderer = excluded.renderer`);
}

async function removeDocuments(tx: Transaction, removals: Removal[]): Promise<void> {
  if (removals.length === 0) return;
  await tx.query(sql`
    delete from channel_documents d
    using unnest(
      ${removals.map((row) => row.integrationId)}::text[], ${removals.map((row) => row.version)}::text[],
      ${removals.map((row) => row.itemId)}::text[]) as rows (integration_id, api_version, item_id)
    where d.integration_id = rows.integration_id and d.api_version = rows.api_version and d.item_id = rows.item_id`);
}
