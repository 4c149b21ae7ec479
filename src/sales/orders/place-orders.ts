import { addActivity } from '../../activity/activity-counts.ts';
import { lockClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { withStamp } from '../../channel/projection/documents.ts';
import { readSources } from '../../channel/projection/project-items.ts';
import type { Order } from '../../contract/resources/order.ts';
import { lockCustomers, openCustomerUpserts } from '../../customers/upsert-customers.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { newId } from '../../ids/new-id.ts';
import { lockSellableStock, type SellableStock, writeHeldUnits } from '../sellable-stock.ts';
import type { OrderDraft, OrderLineDraft, OrderScope } from './order-draft.ts';

export type Placed = {
  /** Each order as JSON text; null where nothing was stored, because the channel_order_id is taken. */
  documents: (string | null)[];
  /** The id of the order that has each channel_order_id now. */
  orderIds: ReadonlyMap<string, string>;
  touched: string[];
};

/**
 * Stores reported orders, in their order, in the caller's transaction. A live order takes its stock at once. A sale
 * that happened on the client's site is never refused: what can't be matched is stored unmatched, for the dealer.
 *
 * Many orders of one integration go together, because each needs its clock until the commit: one after the other they
 * would wait for a commit each.
 */
export async function placeOrders(
  tx: Transaction,
  context: ChannelContext,
  scope: OrderScope,
  drafts: OrderDraft[],
): Promise<Placed> {
  // All locks first, in the one order that holds everywhere: customers, stock, clocks.
  if (drafts.some((draft) => draft.customer !== null)) lockCustomers(tx, scope.organizationId);
  const stock = await lockSellableStock(tx, context, scope, wantedBy(drafts));
  const channels = [...new Set([scope.integrationId, ...stock.channels])].sort();
  const [clocks, taken, sources] = await Promise.all([
    lockClocks(tx, channels),
    takenOrderIds(tx, scope, drafts),
    readSources(tx, context, channels, stock.movable),
    stock.open(),
  ]);
  const fresh = drafts.filter((draft) => {
    if (taken.has(draft.channelOrderId)) return false;
    taken.set(draft.channelOrderId, newId('order'));
    return true;
  });
  if (fresh.length === 0) return { documents: drafts.map(() => null), orderIds: taken, touched: [] };
  const orders = fresh.map((draft) => {
    stock.startNext();
    const id = taken.get(draft.channelOrderId) ?? newId('order');
    return { draft, id, lines: draft.lines.map((line) => matched(stock, id, line)) };
  });
  const { stamp, touched } = await writeHeldUnits(tx, context, scope, stock, { clocks, sources });
  stock.writeReservations(stamp);
  const customers = await resolveCustomers(tx, scope, fresh, stamp);
  const rows = orders.map(({ draft, id, lines }) => orderRow(draft, id, lines, customers.get(draft), scope, stamp));
  insertOrders(tx, scope, rows, stamp);
  const byDraft = new Map(rows.map((row) => [row.draft, row.document]));
  const documents = drafts.map((draft) => byDraft.get(draft) ?? null);
  return { documents, orderIds: taken, touched };
}

type MatchedLine = { id: string; draft: OrderLineDraft; match: Order['lines'][number]['match'] };
type CustomerLink = { id: string | null; hasConflict: boolean };
type OrderRow = { draft: OrderDraft; id: string; lines: MatchedLine[]; customer: CustomerLink; document: string };

function wantedBy(drafts: OrderDraft[]): { itemIds: string[]; reservationIds: string[] } {
  const lines = drafts.flatMap((draft) => draft.lines);
  return {
    itemIds: lines.flatMap((line) => line.listing_id ?? line.part_id ?? []),
    reservationIds: lines.flatMap((line) => line.reservation_id ?? []),
  };
}

function matched(stock: SellableStock, orderId: string, draft: OrderLineDraft): MatchedLine {
  const kind = draft.listing_id === null ? 'part' : 'listing';
  const itemId = draft.listing_id ?? draft.part_id;
  const reservation = draft.reservation_id === null ? {} : { reservation: { id: draft.reservation_id, orderId } };
  const held = itemId === null ? null : stock.hold({ itemId, kind, units: draft.quantity, ...reservation });
  return {
    id: newId('orderLine'),
    draft,
    match: itemId === null || held === null ? null : { object: kind, id: itemId, remaining_quantity: held.remaining },
  };
}

/** Safe without a second look: every order of the integration is inserted under its clock's lock, which is held. */
async function takenOrderIds(tx: Transaction, scope: OrderScope, drafts: OrderDraft[]): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; channel_order_id: string }>(sql`
    select id, channel_order_id from orders
    where integration_id = ${scope.integrationId}
      and channel_order_id = any(${drafts.map((draft) => draft.channelOrderId)}::text[])`);
  return new Map(rows.map((row) => [row.channel_order_id, row.id]));
}

/** A customer that would conflict is left to the dealer; the order is stored all the same. */
async function resolveCustomers(
  tx: Transaction,
  scope: OrderScope,
  drafts: OrderDraft[],
  now: Date,
): Promise<Map<OrderDraft, CustomerLink>> {
  const links = new Map<OrderDraft, CustomerLink>();
  const described = drafts.flatMap((draft) => (draft.customer === null ? [] : [{ draft, customer: draft.customer }]));
  if (described.length === 0) return links;
  const upserts = await openCustomerUpserts(
    tx,
    scope,
    described.map(({ customer }) => customer),
    now,
  );
  for (const { draft, customer } of described) {
    const outcome = upserts.upsert(customer);
    const hasConflict = outcome.result === 'conflict';
    links.set(draft, { id: hasConflict ? null : outcome.customer.id, hasConflict });
  }
  await upserts.write();
  return links;
}

function orderRow(
  draft: OrderDraft,
  id: string,
  lines: MatchedLine[],
  customer: CustomerLink | undefined,
  scope: OrderScope,
  stamp: Date,
): OrderRow {
  const { reported } = draft;
  const order: Omit<Order, 'updated_at'> = {
    id,
    object: 'order',
    status: 'received',
    is_test: scope.isTest,
    channel_order_id: reported.channel_order_id,
    currency: reported.currency,
    placed_at: reported.placed_at,
    customer: reported.customer,
    customer_id: customer?.id ?? null,
    shipping_address: reported.shipping_address,
    billing_address: reported.billing_address,
    lines: lines.map((line) => ({
      id: line.id,
      listing_id: line.draft.listing_id,
      part_id: line.draft.part_id,
      quantity: line.draft.quantity,
      ...(line.draft.reservation_id === null ? {} : { reservation_id: line.draft.reservation_id }),
      unit_amount: line.draft.unit_amount,
      discount_amount: line.draft.discount_amount,
      title: line.draft.title,
      match: line.match,
    })),
    shipping_amount: reported.shipping_amount,
    discount_amount: reported.discount_amount,
    tax_amount: reported.tax_amount,
    subtotal_amount: reported.subtotal_amount,
    total_amount: reported.total_amount,
    metadata: reported.metadata,
    fulfilled_at: null,
    cancelled_at: null,
    cancellation: null,
    created_at: stamp.toISOString(),
  };
  const document = withStamp(JSON.stringify(order), stamp);
  return { draft, id, lines, customer: customer ?? { id: null, hasConflict: false }, document };
}

const ORDER_COLUMNS = {
  id: 'text',
  channelOrderId: 'text',
  requestId: 'text',
  customerId: 'text',
  hasConflict: 'boolean',
  document: 'text',
} as const;
const LINE_COLUMNS = { id: 'text', orderId: 'text', position: 'integer', itemId: 'text', units: 'integer' } as const;

function insertOrders(tx: Transaction, scope: OrderScope, rows: OrderRow[], stamp: Date): void {
  const orders = rows.map(({ id, draft, customer, document }) => ({
    id,
    channelOrderId: draft.channelOrderId,
    requestId: draft.requestId,
    customerId: customer.id,
    hasConflict: customer.hasConflict,
    document,
  }));
  const lines = rows.flatMap((row) =>
    row.lines.map(({ id, match, draft }, position) => {
      return { id, orderId: row.id, position, itemId: match?.id ?? null, units: draft.quantity };
    }),
  );
  const live = scope.isTest ? [] : rows;
  const activity = addActivity(sql`
    values (${scope.integrationId}::text, 'orders', ${stamp}::timestamptz, ${live.length}::bigint),
      (${scope.integrationId}, 'conflicts', ${stamp}, ${live.filter(({ customer }) => customer.hasConflict).length})`);
  tx.defer(sql`
    with new_orders as (
      insert into orders (integration_id, organization_id, is_test, status, created_at, updated_at, id, channel_order_id,
        request_id, customer_id, has_customer_conflict, document)
      select ${scope.integrationId}, ${scope.organizationId}, ${scope.isTest}, 'received', ${stamp}::timestamptz,
        ${stamp}::timestamptz, id, channel_order_id, request_id, customer_id, has_conflict, document
      from ${unnestRows('rows', orders, ORDER_COLUMNS)}
    ), activity as (${activity})
    insert into order_lines (integration_id, id, order_id, position, item_id, units, is_holding)
    select ${scope.integrationId}, id, order_id, position, item_id, units, item_id is not null and not ${scope.isTest}
    from ${unnestRows('rows', lines, LINE_COLUMNS)}`);
}
