import { stampOf } from '../channel/clock.ts';
import { withStamp } from '../channel/documents.ts';
import type { Order } from '../contract/resources/order.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** An order whose row is locked. */
export type LockedOrder = { integrationId: string; order: Order };

/** Writes what clients read of orders, under their integrations' new stamps. */
export async function rewriteOrders(tx: Transaction, orders: LockedOrder[], stamps: Map<string, Date>): Promise<void> {
  if (orders.length === 0) return;
  const rows = orders.map(({ integrationId, order: { updated_at: _, ...body } }) => {
    const stamp = stampOf(stamps, integrationId);
    return { integrationId, id: body.id, customerId: body.customer_id, stamp, body };
  });
  await tx.query(sql`
    update orders o set customer_id = rows.customer_id, document = rows.document, updated_at = rows.stamp
    from unnest(${rows.map((row) => row.integrationId)}::text[], ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.customerId)}::text[],
      ${rows.map((row) => withStamp(JSON.stringify(row.body), row.stamp))}::text[],
      ${rows.map((row) => row.stamp)}::timestamptz[]) as rows (integration_id, id, customer_id, document, stamp)
    where o.integration_id = rows.integration_id and o.id = rows.id`);
}
