import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** An order that holds units of an item. */
export type HoldingOrder = {
  orderId: string;
  integrationId: string;
  channelOrderId: string;
  units: number;
  createdAt: Date;
};

export type ItemSale = {
  id: string;
  units: number;
  status: 'completed' | 'voided';
  orderId: string | null;
  createdAt: Date;
};

const SHOWN_LIMIT = 50;

export async function ordersHolding(db: Queryable, organizationId: string, itemId: string): Promise<HoldingOrder[]> {
  return await db.query<HoldingOrder>(sql`
    select o.id as "orderId", o.integration_id as "integrationId", o.channel_order_id as "channelOrderId",
      l.units, o.created_at as "createdAt"
    from order_lines l
    join orders o on o.integration_id = l.integration_id and o.id = l.order_id
    where l.item_id = ${itemId} and l.is_holding and o.organization_id = ${organizationId}
    order by o.id desc limit ${SHOWN_LIMIT}`);
}

/** The newest sales of an item, those of test orders left out. */
export async function salesOf(db: Queryable, organizationId: string, itemId: string): Promise<ItemSale[]> {
  return await db.query<ItemSale>(sql`
    select s.id, s.units, s.status, s.created_at as "createdAt",
      (select l.order_id from order_lines l where l.sale_id = s.id limit 1) as "orderId"
    from sales s
    where s.item_id = ${itemId} and s.organization_id = ${organizationId} and not s.is_test
    order by s.id desc limit ${SHOWN_LIMIT}`);
}
