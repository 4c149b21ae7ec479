import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { advanceClocks, lockClocks, nextStamp } from './clock.ts';
import type { ChannelContext } from './context.ts';
import { render, withStamp } from './documents.ts';
import { enqueueJob } from './job-queue.ts';
import { presenter, rendererKey } from './refresh.ts';
import { pairKey, readItems, readPublications, readSettings } from './sources.ts';

/**
 * Moves an integration to another version: its documents are rendered in the new version beside the old, and when all
 * are there the pin moves, in one commit. Clients read the old version to the last moment. No stamp changes.
 */
export async function rollVersion(context: ChannelContext, integrationId: string, version: string): Promise<boolean> {
  presenter(context.versions, version);
  return await context.db.transaction(async (tx) => {
    await lockClocks(tx, [integrationId]);
    const rows = await tx.query(sql`
      update integrations set rolling_to_version = ${version}
      where id = ${integrationId} and api_version <> ${version} returning id`);
    if (rows.length > 0) await enqueueJob(tx, 'roll', [integrationId], `version ${version}`);
    return rows.length > 0;
  });
}

/** Renders some documents in the version that the roll is moving to, with the stamps of the pinned ones. */
export async function renderBeside(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  itemIds: string[],
): Promise<void> {
  await lockClocks(tx, [integrationId]);
  const { settings, now } = await readSettings(tx, [integrationId], context.publicUrl);
  const [channel] = settings;
  const target = channel?.versions[1];
  if (channel === undefined || target === undefined) return;
  const items = await readItems(tx, itemIds);
  const publications = await readPublications(tx, [integrationId], itemIds);
  const nowMs = (context.now() ?? now ?? new Date()).getTime();
  const pinned = await tx.query<{ item_id: string; updated_at: Date }>(sql`
    select item_id, updated_at from channel_documents
    where integration_id = ${integrationId} and api_version = ${channel.receiver.apiVersion}
      and item_id = any(${itemIds}::text[])`);
  const stampOf = new Map(pinned.map((row) => [row.item_id, row.updated_at]));
  const rows = items.flatMap((item) => {
    const publication = publications.get(pairKey(integrationId, item.id)) ?? null;
    const rendering = render(item, channel, publication, presenter(context.versions, target), nowMs);
    const stamp = stampOf.get(item.id);
    return rendering === null || stamp === undefined
      ? []
      : [{ itemId: item.id, document: withStamp(rendering.body, stamp) }];
  });
  // Everything but the text is as in the pinned version, so it is copied from there.
  await tx.query(sql`
    insert into channel_documents
      (integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable, valid_until, updated_at, renderer)
    select d.integration_id, ${target}, d.item_id, d.kind, d.status, d.quantity, rows.document, d.is_unpriceable,
      d.valid_until, d.updated_at, ${rendererKey(context)}
    from channel_documents d
    join unnest(${rows.map((row) => row.itemId)}::text[], ${rows.map((row) => row.document)}::text[])
      as rows (item_id, document) on rows.item_id = d.item_id
    where d.integration_id = ${integrationId} and d.api_version = ${channel.receiver.apiVersion}
    on conflict (integration_id, api_version, item_id) do update set
      document = excluded.document, status = excluded.status, quantity = excluded.quantity,
      is_unpriceable = excluded.is_unpriceable, valid_until = excluded.valid_until, updated_at = excluded.updated_at,
      renderer = excluded.renderer`);
}

/** Moves the pin; called in the last batch's transaction. The clock moves, so that nothing cached outlives the pin. */
export async function finishRoll(tx: Transaction, context: ChannelContext, integrationId: string): Promise<void> {
  const clocks = await lockClocks(tx, [integrationId]);
  const [clock] = [...clocks.values()];
  const rows = await tx.query<{ old_version: string }>(sql`
    update integrations i set api_version = i.rolling_to_version, rolling_to_version = null
    from integrations old
    where i.id = ${integrationId} and old.id = i.id and i.rolling_to_version is not null
    returning old.api_version as old_version`);
  const [row] = rows;
  if (row === undefined || clock === undefined) return;
  await advanceClocks(tx, new Map([[integrationId, nextStamp(clock, context.now() ?? new Date())]]));
  await tx.query(sql`
    delete from channel_documents where integration_id = ${integrationId} and api_version = ${row.old_version}`);
}
