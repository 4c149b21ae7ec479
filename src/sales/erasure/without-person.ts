import type { Order } from '../../contract/resources/order.ts';

/** What of an order is about its buyer, or may be. Amounts, lines and the client's own number stay. */
const PERSONAL_ORDER_FIELDS = [
  'customer',
  'shipping_address',
  'billing_address',
  'metadata',
] as const satisfies (keyof Order)[];
const PERSONAL_CUSTOMER_FIELDS = ['external_id', 'email', 'phone', 'first_name', 'last_name', 'company', 'address'];

/** An order without its buyer. A customer that is not among the erased ones keeps the order. */
export function orderWithoutPerson(order: Order, erasedIds: readonly string[]): Order {
  return asOrder(order, erasedIds) as Order;
}

type Json = Record<string, unknown>;

/**
 * The stored answer to a write without the person: an order, a customer, what a bulk made of customers, or a reservation.
 * Fields stay where they are, so that a client that asks again can read the answer as it read the first.
 */
export function answerWithoutPerson(answer: Json, erasedIds: readonly string[]): Json {
  switch (answer.object) {
    case 'order':
      return asOrder(answer, erasedIds);
    case 'customer':
      return emptied(answer, PERSONAL_CUSTOMER_FIELDS);
    case 'reservation':
      return emptied(answer, ['reference']);
    case 'bulk_result':
      return { ...answer, data: (answer.data as Json[]).map((one) => bulkEntry(one, erasedIds)) };
    default:
      return answer;
  }
}

/** The body of an event about an order, without its buyer. */
export function eventWithoutPerson(body: string, erasedIds: readonly string[]): string {
  const event = JSON.parse(body) as { data: { object: Json } };
  event.data.object = asOrder(event.data.object, erasedIds);
  return JSON.stringify(event);
}

function asOrder(order: Json, erasedIds: readonly string[]): Json {
  const { cancellation, customer_id: customerId } = order as Partial<Order>;
  return {
    ...emptied(order, PERSONAL_ORDER_FIELDS),
    ...(typeof customerId === 'string' && erasedIds.includes(customerId) ? { customer_id: null } : {}),
    // People write names into the reason.
    ...(cancellation == null ? {} : { cancellation: { ...cancellation, reason: null } }),
  };
}

function bulkEntry(entry: Json, erasedIds: readonly string[]): Json {
  return erasedIds.includes(String(entry.id)) ? emptied(entry, ['external_id']) : entry;
}

function emptied(object: Json, fields: readonly string[]): Json {
  const present = fields.filter((field) => Object.hasOwn(object, field));
  return { ...object, ...Object.fromEntries(present.map((field) => [field, null])) };
}
