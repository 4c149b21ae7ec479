import type { ChannelContext } from '../../channel/context.ts';
import { integrationsOf, projectItems } from '../../channel/projection/project-items.ts';
import { countFitting } from '../../channel/projection/projection-budget.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { RemovedBatch } from './deletion-steps.ts';

const ORDER_LIMIT = 50;
/** Fewer if they hold items with many documents, which are projected in this transaction. */
const HELD_LINE_LIMIT = 100;

/**
 * Removes some orders of an integration that is being deleted. What they held is free again, and the dealer's other
 * channels get their events in the same commit. Locks in the one order that holds everywhere: orders, stock, clocks.
 */
export async function removeOrders(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
): Promise<RemovedBatch> {
  const locked = await tx.query<{ id: string }>(sql`
    select id from orders where integration_id = ${integrationId} limit ${ORDER_LIMIT} for update skip locked`);
  const orderIds = await withinLimits(tx, integrationId, locked.map((order) => order.id).sort());
  const itemIds = await freeStock(tx, integrationId, orderIds);
  const { stamps } = await projectItems(tx, context, {
    itemIds,
    integrationIds: await otherChannels(tx, itemIds),
  });
  const removed = await tx.query(sql`
    delete from orders where integration_id = ${integrationId} and id = any(${orderIds}::text[]) returning id`);
  return { removed: removed.length, touched: [...stamps.keys()] };
}

/** As many of the orders, from the first on, as hold no more than one transaction may free and project; one at least. */
async function withinLimits(tx: Transaction, integrationId: string, orderIds: string[]): Promise<string[]> {
  const lines = await tx.query<{ orderId: string; itemId: string }>(sql`
    select order_id as "orderId", item_id as "itemId" from order_lines
    where integration_id = ${integrationId} and order_id = any(${orderIds}::text[]) and is_holding
    order by order_id limit ${HELD_LINE_LIMIT + 1}`);
  const count = Math.min(HELD_LINE_LIMIT, await countFitting(tx, lines));
  const tooMuch = lines[count]?.orderId;
  return orderIds.filter((id, index) => index === 0 || tooMuch === undefined || id < tooMuch);
}

async function freeStock(tx: Transaction, integrationId: string, orderIds: string[]): Promise<string[]> {
  const lines = sql`
    from order_lines
    where integration_id = ${integrationId} and order_id = any(${orderIds}::text[]) and is_holding`;
  // A statement of its own: a statement that waited for these rows must not also read them.
  await tx.query(sql`
    select count(*) from (
      select from items where id in (select item_id ${lines}) order by id for update) locked`);
  const freed = await tx.query<{ id: string }>(sql`
    update items i set reserved_units = i.reserved_units - held.units
    from (select item_id, sum(units) as units ${lines} group by item_id) held
    where i.id = held.item_id returning i.id`);
  return freed.map((item) => item.id).sort();
}

/** Nobody reads the channels of an integration that is being deleted. */
export async function otherChannels(tx: Transaction, itemIds: string[]): Promise<string[]> {
  if (itemIds.length === 0) return [];
  const channels = await tx.query<{ id: string }>(sql`
    select id from integrations
    where id = any(${await integrationsOf(tx, itemIds)}::text[]) and deleted_at is null order by id`);
  return channels.map((channel) => channel.id);
}
