import type { Actor } from '../audit/actor.ts';
import { recordAudit, type Values } from '../audit/record-audit.ts';
import { lockClocks } from '../channel/clock.ts';
import { commitAndWake } from '../channel/commit-and-wake.ts';
import type { ChannelContext } from '../channel/context.ts';
import { integrationsOf } from '../channel/projection/project-items.ts';
import type { Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { lockItems, missingItems } from '../inventory/change-items.ts';
import { removeItem } from '../inventory/items/item-operations.ts';
import { integrationsReserving, nextStamps, releaseWithItems } from '../inventory/units/item-reservations.ts';
import { integrationsWith, lockFreeOrders, lockInOrder, lockOrdersWhere } from './lock-in-order.ts';
import { forEachOrderPage } from './orders/order-pages.ts';
import { type LockedOrder, rewriteOrders } from './orders/rewrite-orders.ts';

/**
 * Deletes an item for ever: it reads 404 everywhere, and channels that ever had it get an event. Orders that were waiting
 * for it are matched to nothing again, for the dealer to match them otherwise; sales, fulfilled and cancelled orders are
 * history and keep naming it. Reservations of it are released.
 */
export async function deleteItem(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
): Promise<void> {
  const { photoIds } = await commitAndWake(context, async (tx) => {
    const deleted = await deleteItemIn(tx, context, organizationId, itemId);
    if (deleted === null) throw missingItems([itemId]);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'item.deleted',
      object: { kind: 'item', id: itemId },
      old: deleted.old,
      at: context.now(),
    });
    return deleted;
  });
  if (photoIds.length > 0) context.onPhotosRemoved?.(photoIds);
}

export type DeletedItem = {
  /** What it was, for the audit log. */
  old: Values;
  /** Integrations with new events. */
  touched: string[];
  /** Their files go after the commit. */
  photoIds: string[];
};

/** The same in the caller's transaction, which has locked nothing yet; null if the dealer has no such item. */
export async function deleteItemIn(
  tx: Transaction,
  context: ChannelContext,
  organizationId: string,
  itemId: string,
): Promise<DeletedItem | null> {
  const orders = await lockWaitingOrders(tx, organizationId, itemId);
  if (orders === null) return null;
  const concerned = [
    ...new Set([...(await integrationsWith(tx, orders)), ...(await integrationsReserving(tx, [itemId]))]),
  ];
  const clocks = await lockClocks(tx, [...new Set([...concerned, ...(await integrationsOf(tx, [itemId]))])].sort());
  const stamps = await nextStamps(tx, context, clocks, concerned);
  await releaseWithItems(tx, [itemId], stamps);
  await forEachOrderPage(tx, orders, async (page) => {
    await letGo(tx, page, itemId);
    await rewriteOrders(tx, page, stamps);
  });
  const [old] = await tx.query<Values>(sql`
    select kind, stock_number as "stockNumber", title, price_amount as "priceAmount", units
    from items where id = ${itemId}`);
  // The item's events come after the orders: its stamps are later than theirs, and the clocks stand there.
  const removed = await removeItem(tx, context, itemId, concerned, new Map([...clocks, ...stamps]));
  return { old: old ?? {}, touched: [...removed.stamps.keys()], photoIds: removed.photoIds };
}

/** And the item, under whose lock no further order can take it; null if there is none. */
async function lockWaitingOrders(tx: Transaction, organizationId: string, itemId: string): Promise<Sql | null> {
  const orders = sql`
    organization_id = ${organizationId} and status = 'received' and (integration_id, id) in (
      select integration_id, order_id from order_lines where item_id = ${itemId})`;
  let isThere = true;
  await lockInOrder(tx, async () => {
    await lockOrdersWhere(tx, orders);
    isThere = (await lockItems(tx, organizationId, [itemId])).length > 0;
    return await lockFreeOrders(tx, orders);
  });
  return isThere ? orders : null;
}

/** The lines that were matched to the item are matched to nothing, in the rows and in what clients read. */
async function letGo(tx: Transaction, orders: LockedOrder[], itemId: string): Promise<void> {
  const page = orders.map(({ integrationId, order }) => ({ integrationId, orderId: order.id }));
  const lines = await tx.query<{ id: string }>(sql`
    update order_lines l set item_id = null, is_holding = false
    from ${unnestRows('page', page, { integrationId: 'text', orderId: 'text' })}
    where l.integration_id = page.integration_id and l.order_id = page.order_id and l.item_id = ${itemId}
    returning l.id`);
  const freed = new Set(lines.map((line) => line.id));
  for (const { order } of orders) {
    for (const line of order.lines) if (freed.has(line.id)) line.match = null;
  }
}
