import { stampOf } from '../../channel/clock.ts';
import { withStamp } from '../../channel/projection/documents.ts';
import type { Order } from '../../contract/resources/order.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';

/** An order whose row is locked. */
export type LockedOrder = { integrationId: string; order: Order };

const COLUMNS = {
  integrationId: 'text',
  id: 'text',
  customerId: 'text',
  document: 'text',
  stamp: 'timestamptz',
} as const;

/** Writes what clients read of orders, under their integrations' new stamps. */
export async function rewriteOrders(tx: Transaction, orders: LockedOrder[], stamps: Map<string, Date>): Promise<void> {
  if (orders.length === 0) return;
  const rows = orders.map(({ integrationId, order: { updated_at: _, ...body } }) => {
    const stamp = stampOf(stamps, integrationId);
    const document = withStamp(JSON.stringify(body), stamp);
    return { integrationId, id: body.id, customerId: body.customer_id, document, stamp };
  });
  await tx.query(sql`
    update orders o set customer_id = rows.customer_id, document = rows.document, updated_at = rows.stamp
    from ${unnestRows('rows', rows, COLUMNS)}
    where o.integration_id = rows.integration_id and o.id = rows.id`);
}
