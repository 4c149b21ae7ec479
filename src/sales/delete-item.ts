import type { Actor } from '../audit/actor.ts';
import { recordAudit, type Values } from '../audit/record-audit.ts';
import { commitAndWake } from '../channel/commit-and-wake.ts';
import type { ChannelContext } from '../channel/context.ts';
import type { Order } from '../contract/resources/order.ts';
import type { Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { lockItems, missingItems } from '../inventory/change.ts';
import { removeItem } from '../inventory/items.ts';
import { lockFreeOrders, lockInOrder, lockOrders } from './lock-in-order.ts';
import { type LockedOrder, rewriteOrders } from './rewrite-orders.ts';

/**
 * Deletes an item for ever: it reads 404 everywhere, and channels that ever had it get an event. Orders that were waiting
 * for it are matched to nothing again, for the dealer to match them otherwise; sales, fulfilled and cancelled orders are
 * history and keep naming it.
 */
export async function deleteItem(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
): Promise<void> {
  const { photoIds } = await commitAndWake(context, async (tx) => {
    const orders = await lockWaitingOrders(tx, organizationId, itemId);
    const changed = await letGo(tx, orders, itemId);
    const integrationIds = [...new Set(changed.map((order) => order.integrationId))];
    const [old] = await tx.query<Values>(sql`
      select kind, stock_number as "stockNumber", title, price_amount as "priceAmount", units
      from items where id = ${itemId}`);
    const removed = await removeItem(tx, context, itemId, integrationIds);
    await rewriteOrders(tx, changed, removed.stamps);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'item.deleted',
      object: { kind: 'item', id: itemId },
      old: old ?? {},
      at: context.now(),
    });
    return { touched: [...removed.stamps.keys()], photoIds: removed.photoIds };
  });
  if (photoIds.length > 0) context.onPhotosRemoved?.(photoIds);
}

/** And the item, under whose lock no further order can take it. */
async function lockWaitingOrders(tx: Transaction, organizationId: string, itemId: string): Promise<Sql> {
  const orders = sql`
    organization_id = ${organizationId} and status = 'received' and (integration_id, id) in (
      select integration_id, order_id from order_lines where item_id = ${itemId})`;
  await lockInOrder(tx, async () => {
    await lockOrders(tx, orders);
    const items = await lockItems(tx, organizationId, [itemId]);
    if (items.length === 0) throw missingItems([itemId]);
    return await lockFreeOrders(tx, orders);
  });
  return orders;
}

async function letGo(tx: Transaction, orders: Sql, itemId: string): Promise<LockedOrder[]> {
  const rows = await tx.query<{ integration_id: string; document: string }>(sql`
    select integration_id, document from orders where ${orders}`);
  if (rows.length === 0) return [];
  const lines = await tx.query<{ id: string }>(sql`
    update order_lines set item_id = null, is_holding = false
    where item_id = ${itemId} and (integration_id, order_id) in (select integration_id, id from orders where ${orders})
    returning id`);
  const freed = new Set(lines.map((line) => line.id));
  return rows.map(({ integration_id: integrationId, document }) => {
    const order = JSON.parse(document) as Order;
    for (const line of order.lines) if (freed.has(line.id)) line.match = null;
    return { integrationId, order };
  });
}
