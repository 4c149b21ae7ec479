import { eventLoopSlices, runAtOnce, type Steps } from '../../concurrency/time-slices.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { type Endpoint, openOutbox } from '../../webhooks/outbox.ts';
import { advanceClocks, lockClocks } from '../clock.ts';
import type { ChannelContext } from '../context.ts';
import { RENDERER_REVISION } from './documents.ts';
import {
  type ProjectedChange,
  type ProjectionPlan,
  type ProjectionSources,
  planProjection,
} from './plan-projection.ts';
import { type ChannelSettings, pairKey, readChannelSettings, readItems, readPublications } from './sources.ts';
import { readStored, removeDocuments, writeDocuments } from './stored-documents.ts';

/**
 * The core of the service: recomputes what clients can read of some items. Where that differs from what is stored, it
 * writes the new documents, their stamps and the events, all in the caller's transaction. plan-projection.ts decides
 * what to write; this file reads the sources and writes the result.
 *
 * The caller holds the locks of the stock rows that it changed. This takes the clocks, then reads, then writes.
 */
export type ProjectionRequest = ProjectedChange & {
  itemIds: string[];
  /** Null projects onto every integration that the items are or were published on. */
  integrationIds: string[] | null;
  /** Clocks that the caller has locked already; these are then all the integrations that are projected onto. */
  clocks?: Map<string, Date>;
  /** What the caller has read already by `readSources`, behind the lock of these clocks. */
  sources?: SourceRows;
};

export type ProjectionResult = {
  /** Documents that got a new stamp. */
  changed: number;
  /** The stamp of each integration that changed. */
  stamps: Map<string, Date>;
  /** The endpoints of the integrations, for the caller's own events in the same transaction. */
  endpoints: Map<string, Endpoint>;
};

export async function projectItems(
  tx: Transaction,
  context: ChannelContext,
  request: ProjectionRequest,
): Promise<ProjectionResult> {
  const itemIds = [...new Set(request.itemIds)];
  const integrationIds =
    request.clocks === undefined
      ? (request.integrationIds ?? (await integrationsOf(tx, itemIds)))
      : [...request.clocks.keys()];
  if (integrationIds.length === 0) return nothingProjected();
  const pieces = piecesOf(itemIds, integrationIds.length);
  // What is read stands in statements of its own behind the lock, in the same round trip.
  const [clocks, rows] = await Promise.all([
    request.clocks ?? lockClocks(tx, integrationIds),
    request.sources ?? readSources(tx, context, integrationIds, pieces[0] ?? []),
  ]);
  if (clocks.size === 0) return nothingProjected();

  const unannounced = await unannouncedChannels(tx, rows, itemIds, request);
  const common = { ...rows, clocks, unannounced, versions: context.versions };
  const readPiece = (ids: string[]) => request.sources ?? readItemRows(tx, integrationIds, ids);
  const isShort = pieces.length === 1 && isShortPiece(rows, itemIds.length * integrationIds.length);
  const result = await projectPieces(tx, pieces, { readPiece, first: rows, isShort }, async (piece, itemRows) => {
    const steps = planProjection({ ...common, ...itemRows, itemIds: piece }, request);
    const plan = isShort ? runAtOnce(steps) : await planInSlices(rows.settings, steps);
    await writeInParts(tx, plan.documents, rendererKey(context));
    removeDocuments(tx, plan.removals);
    return plan;
  });
  return { ...result, endpoints: new Map(rows.settings.map((channel) => [channel.integrationId, channel.endpoint])) };
}

/**
 * Items with about so many documents are read, planned and written at a time. While the server writes one piece and reads the
 * next, a third is planned here. Pieces of 12 cost more CPU time, since each statement costs something however few rows it is
 * for.
 */
const PIECE_DOCUMENTS = 24;

/**
 * A piece takes 6 ms, and somebody whose orders have 200 lines has one after the other: other dealers are served meanwhile. A
 * change of a single piece is planned at once: in slices, reports of orders were a sixth slower.
 */
export async function planInSlices<Result>(
  [channel]: readonly ChannelSettings[],
  steps: Steps<Result>,
): Promise<Result> {
  if (channel === undefined) return runAtOnce(steps);
  return await eventLoopSlices.run({ group: channel.organizationId, key: channel.integrationId }, steps);
}

/** One item can be a long piece, too: a part that fits 200 watches, on a hundred channels, took the event loop 1.7 s in one go. */
const SHORT_CHARACTERS = 262_144;

function isShortPiece({ stored }: SourceRows, documents: number): boolean {
  let characters = 0;
  for (const { document } of stored.values()) characters += document.length;
  return documents <= PIECE_DOCUMENTS && characters <= SHORT_CHARACTERS;
}

/** What one statement carries of documents; a single one may be longer. Others are served while the server writes it. */
const STATEMENT_CHARACTERS = 1_048_576;

async function writeInParts(tx: Transaction, documents: ProjectionPlan['documents'], renderer: string): Promise<void> {
  let part: ProjectionPlan['documents'] = [];
  let characters = 0;
  for (const row of documents) {
    if (characters >= STATEMENT_CHARACTERS) {
      writeDocuments(tx, part, renderer);
      await tx.flush();
      [part, characters] = [[], 0];
    }
    part.push(row);
    characters += row.document.length;
  }
  writeDocuments(tx, part, renderer);
}

/** At least one, which may be empty: an integration can be stamped without any item. */
function piecesOf(itemIds: string[], channelCount: number): string[][] {
  const size = Math.max(1, Math.floor(PIECE_DOCUMENTS / channelCount));
  const pieces = [itemIds.slice(0, size)];
  for (let from = size; from < itemIds.length; from += size) pieces.push(itemIds.slice(from, from + size));
  return pieces;
}

/**
 * Plans one piece after the other, then writes what they have in common: the clocks, and the events unless these are so large
 * that they go with their piece. What is in memory is that of some pieces, however many there are.
 */
async function projectPieces(
  tx: Transaction,
  pieces: string[][],
  {
    readPiece,
    first,
    isShort,
  }: { readPiece(itemIds: string[]): ItemRows | Promise<ItemRows>; first: ItemRows; isShort: boolean },
  project: (itemIds: string[], rows: ItemRows) => Promise<ProjectionPlan>,
): Promise<Omit<ProjectionResult, 'endpoints'>> {
  const stamps = new Map<string, Date>();
  const outbox = openOutbox();
  let changed = 0;
  let rows = first;
  let written: Promise<void> = Promise.resolve();
  for (const [index, itemIds] of pieces.entries()) {
    const nextIds = pieces[index + 1];
    const reading = nextIds === undefined ? rows : readPiece(nextIds);
    if (pieces.length > 1) {
      // Without the results: they would keep what all pieces have read until the last one is written.
      written = Promise.all([written, reading, tx.flush()]).then(() => {});
      // Nobody waits for it if this piece fails.
      written.catch(() => {});
    }
    const plan = await project(itemIds, rows);
    for (const [integrationId, stamp] of plan.stamps) stamps.set(integrationId, stamp);
    for (const { endpoint, event } of plan.events) {
      outbox.add(endpoint, event);
      if (!isShort && outbox.writeIfLarge(tx)) await tx.flush();
    }
    changed += plan.changed;
    if (nextIds !== undefined) outbox.writeIfLarge(tx);
    rows = await reading;
  }
  await written;
  advanceClocks(tx, stamps);
  outbox.write(tx);
  return { changed, stamps };
}

function nothingProjected(): ProjectionResult {
  return { changed: 0, stamps: new Map(), endpoints: new Map() };
}

/** Identifies the bytes that this code and base URL render; a difference calls for rendering anew. */
export function rendererKey(context: ChannelContext): string {
  return `${RENDERER_REVISION} ${context.publicUrl}`;
}

export async function integrationsOf(tx: Transaction, itemIds: string[]): Promise<string[]> {
  const rows = await tx.query<{ integration_id: string }>(sql`
    select distinct integration_id from publications where item_id = any(${itemIds}::text[])`);
  return rows.map((row) => row.integration_id);
}

/** The same for each item. */
export async function channelsOf(
  tx: Transaction,
  itemIds: string[],
): Promise<{ itemId: string; integrationId: string }[]> {
  return await tx.query<{ itemId: string; integrationId: string }>(sql`
    select item_id as "itemId", integration_id as "integrationId" from publications
    where item_id = any(${itemIds}::text[])`);
}

export type ItemRows = Pick<ProjectionSources, 'items' | 'publications' | 'stored'>;
export type SourceRows = ItemRows & Pick<ProjectionSources, 'settings' | 'now'>;

/**
 * Reads what a projection is made of. If it is called right after `lockClocks`, both go in one round trip, and it reads what
 * was committed before the locks were free. A caller that changes units afterwards says so by `unitsAfter`.
 */
export async function readSources(
  tx: Transaction,
  context: ChannelContext,
  integrationIds: string[],
  itemIds: string[],
): Promise<SourceRows> {
  const [{ settings, now }, rows] = await Promise.all([
    readChannelSettings(tx, integrationIds, context.publicUrl),
    readItemRows(tx, integrationIds, itemIds),
  ]);
  return { ...rows, settings, now: context.now() ?? now ?? new Date() };
}

async function readItemRows(tx: Transaction, integrationIds: string[], itemIds: string[]): Promise<ItemRows> {
  if (itemIds.length === 0) return { items: new Map(), publications: new Map(), stored: new Map() };
  const [stored, items, publications] = await Promise.all([
    readStored(tx, integrationIds, itemIds),
    readItems(tx, itemIds),
    readPublications(tx, integrationIds, itemIds),
  ]);
  return {
    items,
    publications,
    stored: new Map(stored.map((row) => [pairKey(row.integrationId, row.version, row.itemId), row])),
  };
}

async function unannouncedChannels(
  tx: Transaction,
  { settings, now }: SourceRows,
  itemIds: string[],
  { mode }: ProjectedChange,
): Promise<Set<string>> {
  const unannounced = new Set<string>();
  for (const { integrationId } of mode === 'rerender' ? settings : []) {
    if (await hasUnannouncedChange(tx, integrationId, itemIds, now)) unannounced.add(integrationId);
  }
  return unannounced;
}

/** Asked after the settings were read: a snapshot that shows a new setting also shows the job that will announce it. */
async function hasUnannouncedChange(
  tx: Transaction,
  integrationId: string,
  itemIds: string[],
  now: Date,
): Promise<boolean> {
  const [row] = await tx.query<{ is_unannounced: boolean }>(sql`
    select exists (select from channel_jobs
        where integration_id = ${integrationId} and kind = 'refresh' and status in ('pending', 'running'))
      or exists (select from channel_documents
        where integration_id = ${integrationId} and item_id = any(${itemIds}::text[]) and valid_until <= ${now})
      as is_unannounced`);
  return row?.is_unannounced ?? false;
}
