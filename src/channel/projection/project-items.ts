import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { type Endpoint, openOutbox } from '../../webhooks/outbox.ts';
import { advanceClocks, lockClocks } from '../clock.ts';
import type { ChannelContext } from '../context.ts';
import { type ItemSource, type Publication, RENDERER_REVISION } from './documents.ts';
import {
  type ProjectedChange,
  type ProjectionPlan,
  type ProjectionSources,
  planProjection,
} from './plan-projection.ts';
import { pairKey, readItems, readPublications, readSettings } from './sources.ts';
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
};

export type ProjectionResult = {
  /** Documents that got a new stamp. */
  changed: number;
  /** The stamp of each integration that changed. */
  stamps: Map<string, Date>;
  /** For the caller's own events, in the same transaction. */
  endpoints: Map<string, Endpoint>;
};

export async function projectItems(
  tx: Transaction,
  context: ChannelContext,
  request: ProjectionRequest,
): Promise<ProjectionResult> {
  const itemIds = [...new Set(request.itemIds)];
  const clocks =
    request.clocks ?? (await lockClocks(tx, request.integrationIds ?? (await integrationsOf(tx, itemIds))));
  if (clocks.size === 0) return { changed: 0, stamps: new Map(), endpoints: new Map() };

  const sources = await readSources(tx, context, clocks, itemIds, request);
  const plan = planProjection(sources, request);
  await applyPlan(tx, plan, rendererKey(context));
  const endpoints = new Map(sources.settings.map((channel) => [channel.integrationId, channel.endpoint]));
  return { changed: plan.changed, stamps: plan.stamps, endpoints };
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

async function applyPlan(tx: Transaction, plan: ProjectionPlan, renderer: string): Promise<void> {
  await advanceClocks(tx, plan.stamps);
  await writeDocuments(tx, plan.documents, renderer);
  await removeDocuments(tx, plan.removals);
  const outbox = openOutbox();
  for (const { endpoint, event } of plan.events) outbox.add(endpoint, event);
  await outbox.write(tx);
}

async function readSources(
  tx: Transaction,
  context: ChannelContext,
  clocks: Map<string, Date>,
  itemIds: string[],
  { mode }: ProjectedChange,
): Promise<ProjectionSources> {
  const integrationIds = [...clocks.keys()];
  const { settings, now: databaseNow } = await readSettings(tx, integrationIds, context.publicUrl);
  const now = context.now() ?? databaseNow ?? new Date();
  const hasItems = itemIds.length > 0;
  const stored = hasItems ? await readStored(tx, integrationIds, itemIds) : [];
  const items = hasItems ? await readItems(tx, itemIds) : new Map<string, ItemSource>();
  const publications = hasItems ? await readPublications(tx, integrationIds, itemIds) : new Map<string, Publication>();
  const unannounced = new Set<string>();
  for (const { integrationId } of mode === 'rerender' ? settings : []) {
    if (await hasUnannouncedChange(tx, integrationId, itemIds, now)) unannounced.add(integrationId);
  }
  return {
    itemIds,
    clocks,
    settings,
    items,
    publications,
    stored: new Map(stored.map((row) => [pairKey(row.integrationId, row.version, row.itemId), row])),
    unannounced,
    versions: context.versions,
    now,
  };
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
