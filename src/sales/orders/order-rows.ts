import type { Order } from '../../contract/resources/order.ts';
import type { Transaction } from '../../db/database.ts';
import { documentsWithin, PIECE_BYTES } from '../../db/large-pages.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import type { LockedItem } from '../../inventory/change-items.ts';

/** What a change of orders reads and writes: orders, their lines, the stock they hold, and sales. */

/** Who asks for an order: the dealer for any of the organization's, a client for those of its integration alone. */
export type OrderOwner = { organizationId: string; integrationId?: string };

export type OrderRow = {
  id: string;
  integrationId: string;
  document: string;
  isTest: boolean;
  hasCustomerConflict: boolean;
  now: Date;
};

/** If the documents are large together, only the first of them are read; the others are null. */
export type FoundOrderRow = Omit<OrderRow, 'document'> & { document: string | null };

export type StoredLine = {
  id: string;
  itemId: string | null;
  units: number;
  /** Whether the order holds these units back in stock. */
  isHolding: boolean;
  saleId: string | null;
};

export type Sale = {
  id: string;
  itemId: string;
  title: string;
  stockNumber: string;
  units: number;
  amount: number | null;
};

/** The order that a sale comes from. */
export type SaleSource = { organizationId: string; integrationId: string; order: Order };

/** Locks those orders that there are, in the order of their ids as every transaction does. */
export async function lockOrderRows(tx: Transaction, owner: OrderOwner, orderIds: string[]): Promise<FoundOrderRow[]> {
  const reported = owner.integrationId === undefined ? sql`` : sql`and integration_id = ${owner.integrationId}`;
  const asked = sql`array_position(${orderIds}::text[], id)`;
  return await tx.query<FoundOrderRow>(sql`
    select id, integration_id as "integrationId", ${documentsWithin(PIECE_BYTES, sql`document`, asked)} as document,
      is_test as "isTest", has_customer_conflict as "hasCustomerConflict", now
    from (
      select id, integration_id, document, is_test, has_customer_conflict,
        date_trunc('milliseconds', clock_timestamp()) as now
      from orders where id = any(${orderIds}::text[]) and organization_id = ${owner.organizationId} ${reported}
      order by id for update
    ) locked`);
}

/** The lines of some orders of one integration, by order. */
export async function readLines(
  tx: Transaction,
  integrationId: string,
  orderIds: string[],
): Promise<Map<string, StoredLine[]>> {
  const rows = await tx.query<StoredLine & { orderId: string }>(sql`
    select order_id as "orderId", id, item_id as "itemId", units, is_holding as "isHolding", sale_id as "saleId"
    from order_lines
    where integration_id = ${integrationId} and order_id = any(${orderIds}::text[]) order by order_id, position`);
  const linesOf = new Map<string, StoredLine[]>(orderIds.map((id) => [id, []]));
  for (const { orderId, ...line } of rows) linesOf.get(orderId)?.push(line);
  return linesOf;
}

const ITEM_COLUMNS = { id: 'text', units: 'integer', reservedUnits: 'integer' } as const;

export function writeItems(tx: Transaction, items: LockedItem[]): void {
  if (items.length === 0) return;
  tx.defer(sql`
    update items i set units = rows.units, reserved_units = rows.reserved_units
    from ${unnestRows('rows', items, ITEM_COLUMNS)}
    where i.id = rows.id`);
}

const SALE_COLUMNS = {
  id: 'text',
  itemId: 'text',
  title: 'text',
  stockNumber: 'text',
  units: 'integer',
  amount: 'bigint',
} as const;

export function writeSales(
  tx: Transaction,
  { organizationId, integrationId, order }: SaleSource,
  sales: Sale[],
  voided: string[],
  at: Date,
): void {
  if (sales.length > 0) {
    tx.defer(sql`
      insert into sales (id, organization_id, is_test, created_at, item_id, title, stock_number, units, amount, currency,
        channel, order_id)
      select id, ${organizationId}, ${order.is_test}, ${at}, item_id, title, stock_number, units, amount, ${order.currency},
        ${integrationId}, ${order.id}
      from ${unnestRows('rows', sales, SALE_COLUMNS)}`);
  }
  if (voided.length > 0) {
    tx.defer(sql`
      update sales set status = 'voided', voided_at = ${at} where id = any(${voided}::text[]) and status = 'completed'`);
  }
}

export type ChangedOrder = {
  order: Order;
  document: string;
  lines: StoredLine[];
  hasCustomerConflict: boolean;
  cancelRequestId: string | null;
};

const ORDER_COLUMNS = {
  id: 'text',
  status: 'text',
  customerId: 'text',
  hasCustomerConflict: 'boolean',
  cancelRequestId: 'text',
  document: 'text',
} as const;
const LINE_COLUMNS = {
  orderId: 'text',
  id: 'text',
  position: 'integer',
  itemId: 'text',
  units: 'integer',
  isHolding: 'boolean',
  saleId: 'text',
} as const;

/** Writes changed orders of one integration and their lines. */
export function writeOrders(tx: Transaction, integrationId: string, changed: ChangedOrder[], stamp: Date): void {
  const orders = changed.map(({ order, hasCustomerConflict, cancelRequestId, document }) => ({
    id: order.id,
    status: order.status,
    customerId: order.customer_id,
    hasCustomerConflict,
    cancelRequestId,
    document,
  }));
  tx.defer(sql`
    update orders o set status = rows.status, customer_id = rows.customer_id,
      has_customer_conflict = rows.has_customer_conflict,
      cancel_request_id = coalesce(rows.cancel_request_id, o.cancel_request_id), document = rows.document, updated_at = ${stamp}
    from ${unnestRows('rows', orders, ORDER_COLUMNS)}
    where o.integration_id = ${integrationId} and o.id = rows.id`);
  const lines = changed.flatMap(({ order, lines }) =>
    lines.map((line, position) => ({ ...line, orderId: order.id, position })),
  );
  if (lines.length === 0) return;
  // A line that the dealer added by hand is new; the others change what they hold.
  tx.defer(sql`
    insert into order_lines (integration_id, order_id, id, position, item_id, units, is_holding, sale_id)
    select ${integrationId}, order_id, id, position, item_id, units, is_holding, sale_id
    from ${unnestRows('rows', lines, LINE_COLUMNS)}
    on conflict (integration_id, id) do update set
      item_id = excluded.item_id, units = excluded.units, is_holding = excluded.is_holding, sale_id = excluded.sale_id`);
}
