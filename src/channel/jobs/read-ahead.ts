import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ChannelContext } from '../context.ts';
import { renderAhead } from '../projection/plan-projection.ts';
import { readSources, type SourceRows } from '../projection/project-items.ts';
import { type ChannelSettings, lockItemSources, readSettings } from '../projection/sources.ts';

/**
 * A batch that is read and rendered before its clock is locked, while the batch before it is written. Its items are locked from the
 * first to the last: who changes an item, its photos, promotions or publications locks it first. What may change meanwhile
 * is checked again under the clock: the settings, and the documents, which other jobs and due promotions write too. A
 * change of a location's name or of a rate makes the job start over, which shows in the job's position.
 */
export type ReadAhead = {
  itemIds: string[];
  sources: SourceRows;
  /** Which versions of the rows the documents were read from. */
  rowVersions: string;
};

export async function readAhead(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  itemIds: string[],
): Promise<ReadAhead> {
  const [, rowVersions, sources] = await Promise.all([
    lockItemSources(tx, itemIds),
    // Before the documents themselves: one that is written in between then counts as changed.
    readRowVersions(tx, integrationId, itemIds),
    readSources(tx, context, [integrationId], itemIds),
  ]);
  const rendered = await renderAhead({
    ...sources,
    itemIds,
    clocks: new Map(),
    unannounced: new Set(),
    versions: context.versions,
  });
  return { itemIds, rowVersions, sources: { ...sources, rendered } };
}

/** Under the clock: what was read ahead, with the time and the settings of now; null if it has to be read anew. */
export async function checkAgain(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  { itemIds, rowVersions, sources }: ReadAhead,
): Promise<SourceRows | null> {
  const [{ settings, now }, versionsNow] = await Promise.all([
    readSettings(tx, [integrationId], context.publicUrl),
    readRowVersions(tx, integrationId, itemIds),
  ]);
  const isSame =
    versionsNow === rowVersions && isDeepStrictEqual(settings.map(renderedOf), sources.settings.map(renderedOf));
  return isSame ? { ...sources, settings, now: context.now() ?? now ?? new Date() } : null;
}

/** What of the settings a rendering depends on. Where webhooks go is read under the clock alone. */
function renderedOf({ endpoint: _, ...rendered }: ChannelSettings): Omit<ChannelSettings, 'endpoint'> {
  return rendered;
}

async function readRowVersions(tx: Transaction, integrationId: string, itemIds: string[]): Promise<string> {
  const [row] = await tx.query<{ versions: string | null }>(sql`
    select string_agg(item_id || ' ' || api_version || ' ' || xmin::text, ',' order by item_id, api_version) as versions
    from channel_documents where integration_id = ${integrationId} and item_id = any(${itemIds}::text[])`);
  return row?.versions ?? '';
}
