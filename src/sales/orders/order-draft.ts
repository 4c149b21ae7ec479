import { DomainError } from '../../contract/domain-error.ts';
import { textOrNull } from '../../contract/resources/customer.ts';
import type { Order, OrderAddress, OrderInput } from '../../contract/resources/order.ts';
import { parseTimestamp } from '../../contract/timestamps.ts';
import {
  addressOf,
  assertMetadata,
  type CustomerDraft,
  draftCustomer,
  parsePhone,
} from '../../customers/customer-draft.ts';
import { isCurrency } from '../../dealers/rates/currencies.ts';

/** Where orders come from, and in which mode. */
export type OrderScope = { integrationId: string; organizationId: string; isTest: boolean };

/** An order as the client reported it, checked, with what follows from it alone. */
export type OrderDraft = {
  channelOrderId: string;
  /** The API request that reported it, if one did. */
  requestId: string | null;
  customer: CustomerDraft | null;
  lines: OrderLineDraft[];
  /** The fields of the order that are simply what was reported. */
  reported: Pick<
    Order,
    | 'channel_order_id'
    | 'currency'
    | 'placed_at'
    | 'customer'
    | 'shipping_address'
    | 'billing_address'
    | 'shipping_amount'
    | 'discount_amount'
    | 'tax_amount'
    | 'subtotal_amount'
    | 'total_amount'
    | 'metadata'
  >;
};

export type OrderLineDraft = {
  listing_id: string | null;
  part_id: string | null;
  quantity: number;
  reservation_id: string | null;
  unit_amount: number | null;
  discount_amount: number | null;
  title: string | null;
};

type Defaults = { currency: string; country: string | null };

/** Checks what a schema can't, and puts the report into the form in which it is read back. */
export function draftOrder(input: OrderInput, defaults: Defaults, requestId: string | null = null): OrderDraft {
  const currency = textOrNull(input.currency) ?? defaults.currency;
  if (!isCurrency(currency)) throw invalid('currency', 'currency must be an ISO 4217 code.');
  assertMetadata(input.metadata, 'metadata');
  const customer = draftBuyer(input.customer, defaults.country);
  const lines = (input.lines ?? []).map(draftLine);
  const subtotal = subtotalOf(lines);
  return {
    channelOrderId: input.channel_order_id,
    requestId,
    customer,
    lines,
    reported: {
      channel_order_id: input.channel_order_id,
      currency,
      placed_at: timeOf(textOrNull(input.placed_at)),
      customer: customerOf(input.customer, customer),
      shipping_address: recipientOf(input.shipping_address),
      billing_address: recipientOf(input.billing_address),
      shipping_amount: input.shipping_amount ?? null,
      discount_amount: input.discount_amount ?? null,
      tax_amount: input.tax_amount ?? null,
      subtotal_amount: subtotal,
      total_amount: totalOf(subtotal, lines, input),
      metadata: input.metadata ?? null,
    },
  };
}

/**
 * The reported buyer as a customer; null if nothing identifies one. An order adds to what is known of its buyer: what it
 * leaves empty clears nothing. A phone that nobody could call identifies nobody, and is no reason to refuse a sale.
 */
export function draftBuyer(customer: OrderInput['customer'], country: string | null): CustomerDraft | null {
  if (customer == null) return null;
  const { external_id, email, phone: reportedPhone, first_name, last_name } = reportedCustomer(customer);
  const phone = reportedPhone === null ? null : parsePhone(reportedPhone, country);
  if (external_id === null && email === null && phone === null) return null;
  const fields = Object.entries({ external_id, email, phone, first_name, last_name });
  return draftCustomer(Object.fromEntries(fields.filter(([, value]) => value !== null)), country, 'customer.');
}

function draftLine(line: NonNullable<OrderInput['lines']>[number], index: number): OrderLineDraft {
  const listingId = textOrNull(line.listing_id) ?? null;
  const partId = textOrNull(line.part_id) ?? null;
  if (listingId !== null && partId !== null) {
    const path = `lines[${index}]`;
    throw invalid(`${path}.part_id`, `${path} names both a listing and a part; a line names one or neither.`);
  }
  return {
    listing_id: listingId,
    part_id: partId,
    quantity: line.quantity ?? 1,
    reservation_id: textOrNull(line.reservation_id) ?? null,
    unit_amount: line.unit_amount ?? null,
    discount_amount: line.discount_amount ?? null,
    title: textOrNull(line.title) ?? null,
  };
}

/** Null as soon as one line does not say what a unit cost; an order without lines comes to nothing, which is 0. */
function subtotalOf(lines: OrderLineDraft[]): number | null {
  let subtotal = 0;
  for (const { unit_amount, quantity } of lines) {
    if (unit_amount === null) return null;
    subtotal += unit_amount * quantity;
  }
  return exact(subtotal);
}

function totalOf(subtotal: number | null, lines: OrderLineDraft[], input: OrderInput): number | null {
  if (subtotal === null) return null;
  const lineDiscounts = lines.reduce((sum, line) => sum + (line.discount_amount ?? 0), 0);
  return exact(
    subtotal - lineDiscounts - (input.discount_amount ?? 0) + (input.shipping_amount ?? 0) + (input.tax_amount ?? 0),
  );
}

/** Each amount is within its limit, but their sum may be past what JSON's numbers carry exactly. */
function exact(sum: number): number {
  if (Number.isSafeInteger(sum)) return sum;
  throw invalid('lines', 'The amounts of the lines add up to more than can be kept.');
}

function customerOf(input: OrderInput['customer'], draft: CustomerDraft | null): Order['customer'] {
  if (input == null) return null;
  const reported = reportedCustomer(input);
  return { ...reported, phone: draft?.phone ?? reported.phone };
}

function reportedCustomer(input: NonNullable<OrderInput['customer']>): NonNullable<Order['customer']> {
  return {
    external_id: textOrNull(input.external_id) ?? null,
    email: textOrNull(input.email) ?? null,
    phone: textOrNull(input.phone) ?? null,
    first_name: textOrNull(input.first_name) ?? null,
    last_name: textOrNull(input.last_name) ?? null,
  };
}

function recipientOf(input: OrderInput['shipping_address']): OrderAddress | null {
  return input == null ? null : { name: textOrNull(input.name) ?? null, ...addressOf(input) };
}

function timeOf(text: string | null | undefined): string | null {
  return text == null ? null : new Date(parseTimestamp(text, 'placed_at')).toISOString();
}

function invalid(field: string, message: string): DomainError {
  return new DomainError('invalid_input', message, field);
}
