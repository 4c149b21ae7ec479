import type { Static } from 'typebox';
import { PERIODS, type Period, type TestData } from '../../../contract/dashboard/orders/order-labels.ts';
import type { CustomerGlance, ItemGlance, OrderPage, OrderRow } from '../../../contract/dashboard/orders/orders.ts';
import { DAY_MS } from '../../../contract/timestamps.ts';
import type { CustomerName } from '../../../customers/customer-names.ts';
import type { ItemSummary } from '../../../inventory/lists/item-summaries.ts';
import type { ListedOrder } from '../../../sales/orders/dealer/list-orders.ts';
import type { OrderDetails } from '../../../sales/orders/dealer/order-details.ts';
import type { DashboardContext, SignedIn } from '../call.ts';
import { photoUrl } from './photo-urls.ts';

/** Orders, items and customers as the pages of orders and sales show them. Every public field is named here. */

export function presentItem(item: ItemSummary | undefined, publicUrl: string): Static<typeof ItemGlance> | null {
  if (item === undefined) return null;
  return {
    id: item.id,
    kind: item.kind,
    stock_number: item.stockNumber,
    title: item.title,
    reference: item.reference,
    price_amount: item.priceAmount,
    available_units: item.units - item.reservedUnits,
    status: item.status,
    photo_url: photoUrl(publicUrl, item.photoId, 'small'),
  };
}

export function presentCustomer(customer: CustomerName): Static<typeof CustomerGlance> {
  const { id, firstName, lastName, company, email, phone } = customer;
  return { id, name: fullName(firstName, lastName) ?? company, email, phone };
}

export function fullName(first: string | null | undefined, last: string | null | undefined): string | null {
  const name = [first, last].filter((part) => part != null && part !== '').join(' ');
  return name === '' ? null : name;
}

export function presentRow(
  row: ListedOrder,
  items: Map<string, ItemSummary>,
  publicUrl: string,
): Static<typeof OrderRow> {
  return {
    id: row.id,
    channel_order_id: row.channelOrderId,
    integration_id: row.integrationId,
    status: row.status,
    is_test: row.isTest,
    has_customer_conflict: row.hasCustomerConflict,
    customer_id: row.customerId,
    buyer: { name: fullName(row.buyer?.first_name, row.buyer?.last_name), email: row.buyer?.email ?? null },
    currency: row.currency,
    total_amount: row.totalAmount,
    line_count: row.lineCount,
    matched_count: row.matchedCount,
    lines: row.lines.map(({ title, quantity, itemId }) => ({
      title,
      quantity,
      item: presentItem(items.get(itemId ?? ''), publicUrl),
    })),
    created_at: row.createdAt.toISOString(),
  };
}

type PageParts = {
  channelName: string | null;
  customer: CustomerName | null;
  conflicting: CustomerName[];
  publicUrl: string;
};

export function presentOrderPage(details: OrderDetails, parts: PageParts): OrderPage {
  const { order, integrationId, hasCustomerConflict, requestId, items, unmatched } = details;
  return {
    order,
    channel: { integration_id: integrationId, name: parts.channelName },
    has_customer_conflict: hasCustomerConflict,
    customer: parts.customer === null ? null : presentCustomer(parts.customer),
    conflicting_customers: parts.conflicting.map(presentCustomer),
    lines: order.lines.map((line) => {
      const why = unmatched.get(line.id);
      const itemId = line.match?.id ?? line.listing_id ?? line.part_id ?? '';
      return {
        id: line.id,
        item: presentItem(items.get(itemId), parts.publicUrl),
        unmatched:
          why === undefined
            ? null
            : {
                reason: why.reason,
                available_units: why.available,
                held_by: why.heldBy.map((one) => ({ order_id: one.orderId, channel_order_id: one.channelOrderId })),
                reserved_by: why.reservedBy.map((one) => ({
                  reservation_id: one.reservationId,
                  reference: one.reference,
                  expires_at: one.expiresAt.toISOString(),
                })),
              },
      };
    }),
    request_id: requestId,
  };
}

/** Test data is hidden unless the list asks for it, or the person's account shows it. */
export function modesOf(user: SignedIn, wanted: TestData | undefined): boolean[] {
  const test = wanted ?? (user.showsTestData ? 'show' : 'hide');
  if (test === 'only') return [true];
  return test === 'show' ? [false, true] : [false];
}

/** The ends of the time that a list shows; null is open. */
export function timesOf(
  { channel }: Pick<DashboardContext, 'channel'>,
  query: { period?: Period; from?: string; to?: string },
): { from: Date | null; to: Date | null } {
  const { period, from, to } = query;
  if (period !== undefined) {
    const now = channel.now() ?? new Date();
    return { from: new Date(now.getTime() - PERIODS[period].days * DAY_MS), to: null };
  }
  return { from: from === undefined ? null : new Date(from), to: to === undefined ? null : new Date(to) };
}
