import type { Actor } from '../audit/actor.ts';
import { lockClocks } from '../channel/clock.ts';
import type { ChannelContext } from '../channel/context.ts';
import { DomainError } from '../contract/domain-error.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { type BulkAudit, changeItems } from './change-items.ts';
import { notSwitchedSince } from './items/later-switch.ts';
import { summarizeItems } from './lists/stock-summary.ts';

/**
 * Publishes items on one integration's channel, or takes them off. With `undoes`, only if nobody has done either since that
 * change. Returns the audit row, or null if nothing changed.
 */
export async function setPublished(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  integrationId: string,
  itemIds: string[],
  isOn: boolean,
  { onProgress, undoes }: { onProgress?: (done: number) => void; undoes?: string } = {},
): Promise<string | null> {
  const request = { organizationId, itemIds, integrationIds: [integrationId] };
  const change = { integrationId, isOn };
  const audit: BulkAudit = {
    actor,
    action: 'item.publication_changed',
    new: change,
    about: { integrationId },
    undo: { operation: 'set_published' },
    ...(undoes === undefined ? {} : { undoes }),
  };
  return await changeItems(
    context,
    request,
    audit,
    async (tx, found) => {
      await lockChannel(tx, organizationId, integrationId);
      const undone = { what: { integrationId }, left: !isOn, auditId: undoes ?? '' };
      const ids = undoes === undefined ? found : await notSwitchedSince(tx, organizationId, found, undone);
      const changed = isOn ? await switchOn(tx, context, integrationId, ids) : await switchOff(tx, integrationId, ids);
      return changed.map((id) => ({ id, old: { integrationId, isOn: !isOn }, new: change }));
    },
    onProgress,
  );
}

/** Items that are on a channel or were once, and whether they are now. */
export async function readChannelPublications(
  db: Queryable,
  integrationId: string,
  itemIds: readonly string[],
): Promise<Map<string, boolean>> {
  const rows = await db.query<{ itemId: string; isOn: boolean }>(sql`
    select item_id as "itemId", is_on as "isOn" from publications
    where integration_id = ${integrationId} and item_id = any(${[...itemIds]}::text[])`);
  return new Map(rows.map(({ itemId, isOn }) => [itemId, isOn]));
}

/**
 * Locks the channel's clock before a row refers to the integration: whoever deletes or detaches it holds the clock, and
 * wants what such a row would keep. Under the clock the channel stays the dealer's.
 */
async function lockChannel(tx: Transaction, organizationId: string, integrationId: string): Promise<void> {
  await lockClocks(tx, [integrationId]);
  const rows = await tx.query(sql`
    select id from integrations where id = ${integrationId} and organization_id = ${organizationId}`);
  if (rows.length === 0) throw new DomainError('not_found', 'There is no such integration.');
}

/**
 * Switching on again is a new publication; an item that is on already keeps its date. Stored times would be rounded,
 * and one must not lie after the document's stamp.
 */
export async function switchOn(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  itemIds: string[],
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    insert into publications (integration_id, item_id, is_on, published_at)
    select ${integrationId}, id, true, coalesce(${context.now()}::timestamptz, date_trunc('milliseconds', now()))
    from unnest(${itemIds}::text[]) as id
    on conflict (integration_id, item_id) do update set is_on = true, published_at = excluded.published_at
    where not publications.is_on returning item_id as id`);
  return rows.map((row) => row.id);
}

export async function switchOff(tx: Transaction, integrationId: string, itemIds: string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    update publications set is_on = false
    where integration_id = ${integrationId} and item_id = any(${itemIds}::text[]) and is_on returning item_id as id`);
  return rows.map((row) => row.id);
}

/**
 * Removes some of a channel's toggles, and counts the channels of their items anew. The items come first, in the order in
 * which everybody locks several; one that somebody else has locked is passed over and met again in a later batch. Returns
 * how many went.
 */
export async function removePublications(tx: Transaction, integrationId: string, limit: number): Promise<number> {
  const items = await tx.query<{ id: string }>(sql`
    select i.id from items i
    where i.id in (select item_id from publications where integration_id = ${integrationId} limit ${limit})
    order by i.id for update skip locked`);
  const ids = items.map((item) => item.id);
  await tx.query(sql`
    delete from publications where integration_id = ${integrationId} and item_id = any(${ids}::text[])`);
  await summarizeItems(tx, ids);
  return ids.length;
}
