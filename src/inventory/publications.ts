import type { ChannelContext } from '../channel/context.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { DealerError } from '../dealers/dealer-error.ts';
import { changeItems } from './change.ts';

/** Switches items on or off for one integration. */
export async function setPublished(
  context: ChannelContext,
  organizationId: string,
  integrationId: string,
  itemIds: string[],
  isOn: boolean,
  onProgress?: (done: number) => void,
): Promise<void> {
  await assertIntegration(context, organizationId, integrationId);
  const request = { organizationId, itemIds, integrationIds: [integrationId] };
  const toggle = (tx: Transaction, ids: string[]) =>
    isOn ? switchOn(tx, context, integrationId, ids) : switchOff(tx, integrationId, ids);
  await changeItems(context, request, toggle, onProgress);
}

/**
 * Switching on again is a new publication; an item that is on already keeps its date. Stored times would be rounded,
 * and one must not lie after the document's stamp.
 */
async function switchOn(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  itemIds: string[],
): Promise<void> {
  await tx.query(sql`
    insert into publications (integration_id, item_id, is_on, published_at)
    select ${integrationId}, id, true, coalesce(${context.now()}::timestamptz, date_trunc('milliseconds', now()))
    from unnest(${itemIds}::text[]) as id
    on conflict (integration_id, item_id) do update set is_on = true, published_at = excluded.published_at
    where not publications.is_on`);
}

async function switchOff(tx: Transaction, integrationId: string, itemIds: string[]): Promise<void> {
  await tx.query(sql`
    update publications set is_on = false
    where integration_id = ${integrationId} and item_id = any(${itemIds}::text[])`);
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
