import type { ChannelContext } from '../channel/context.ts';
import { sql } from '../db/sql.ts';
import { DealerError } from '../dealers/dealer-error.ts';
import { changeItems } from './change.ts';

/** Each batch holds the channel's clock, which that integration's orders wait for. */
const BATCH_LIMIT = 100;

/**
 * Switches items on or off for one integration. Many at once go in batches of a transaction each; a batch that fails
 * leaves the earlier ones in place, and repeating the call completes it.
 */
export async function setPublished(
  context: ChannelContext,
  organizationId: string,
  integrationId: string,
  itemIds: string[],
  isOn: boolean,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  await assertIntegration(context, organizationId, integrationId);
  const ids = [...new Set(itemIds)].sort();
  for (let start = 0; start < ids.length; start += BATCH_LIMIT) {
    const batch = ids.slice(start, start + BATCH_LIMIT);
    await publishBatch(context, organizationId, integrationId, batch, isOn);
    onProgress(start + batch.length);
  }
}

async function publishBatch(
  context: ChannelContext,
  organizationId: string,
  integrationId: string,
  itemIds: string[],
  isOn: boolean,
): Promise<void> {
  await changeItems(context, { organizationId, itemIds, integrationIds: [integrationId] }, async (tx) => {
    if (isOn) {
      // Switching on again is a new publication; an item that is on already keeps its date. Stored times would be
      // rounded, and one must not lie after the document's stamp.
      await tx.query(sql`
        insert into publications (integration_id, item_id, is_on, published_at)
        select ${integrationId}, id, true, coalesce(${context.now()}::timestamptz, date_trunc('milliseconds', now()))
        from unnest(${itemIds}::text[]) as id
        on conflict (integration_id, item_id) do update set is_on = true, published_at = excluded.published_at
        where not publications.is_on`);
    } else {
      await tx.query(sql`
        update publications set is_on = false
        where integration_id = ${integrationId} and item_id = any(${itemIds}::text[])`);
    }
  });
}

async function assertIntegration(
  context: ChannelContext,
  organizationId: string,
  integrationId: string,
): Promise<void> {
  const rows = await context.db.query(sql`
    select id from integrations where id = ${integrationId} and organization_id = ${organizationId}`);
  if (rows.length === 0) throw new DealerError('not_found', 'There is no such integration.');
}
