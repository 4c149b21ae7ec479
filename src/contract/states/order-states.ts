import type { EventType } from '../event-types.ts';
import type { Order } from '../resources/order.ts';

/**
 * The states of an order, as one table: who may do what in which status, what the order becomes, and what else happens.
 * The API's cancellation and every operation of the dealer ask it; the docs and the dashboard show it. Nothing in it
 * needs the server.
 */
export type OrderStatus = Order['status'];

export type OrderOperation =
  | 'report'
  | 'match_line'
  | 'unmatch_line'
  | 'assign_customer'
  | 'confirm'
  | 'fulfil'
  | 'dismiss'
  | 'cancel_sale'
  | 'cancel';

export type OrderTransition = {
  /** The client writes through the API. */
  by: 'client' | 'dealer';
  /** The operation, in words for people. */
  label: string;
  /** "An order that is … cannot be …" */
  participle: string;
  /** The statuses in which it can be done; empty for what makes the order. */
  from: readonly OrderStatus[];
  /** Null leaves the status as it is. */
  to: OrderStatus | null;
  /** In the status that it leads to, repeating it changes nothing and is no error. */
  isRepeatable: boolean;
  /** What else happens, in words for people. */
  effect: string;
  /** The event that the order's own client gets. Its own writes are not echoed to it. */
  event: EventType | null;
};

const ANY: readonly OrderStatus[] = ['received', 'matched', 'fulfilled', 'cancelled'];

export const ORDER_TRANSITIONS: Readonly<Record<OrderOperation, OrderTransition>> = {
  report: {
    by: 'client',
    label: 'Report the order',
    participle: 'reported',
    from: [],
    to: 'received',
    isRepeatable: false,
    effect:
      'Each line that names an item in stock is matched to it, and its units are held for the order. A line that names a reservation takes its units.',
    event: null,
  },
  match_line: {
    by: 'dealer',
    label: 'Match a line to an item',
    participle: 'matched by hand',
    from: ['received'],
    to: null,
    isRepeatable: false,
    effect: 'The units are held for the order. What the line held before is free again.',
    event: null,
  },
  unmatch_line: {
    by: 'dealer',
    label: 'Take the item off a line',
    participle: 'taken apart from its items',
    from: ['received'],
    to: null,
    isRepeatable: false,
    effect: 'The units that the line held are free again.',
    event: null,
  },
  assign_customer: {
    by: 'dealer',
    label: 'Say whose order it is',
    participle: 'assigned',
    from: ANY,
    to: null,
    isRepeatable: true,
    effect: 'A conflict about the reported buyer is decided for this order.',
    event: null,
  },
  confirm: {
    by: 'dealer',
    label: 'Confirm the sale',
    participle: 'confirmed',
    from: ['received'],
    to: 'matched',
    isRepeatable: false,
    effect: 'At least one line must be matched. The held units become a completed sale.',
    event: null,
  },
  fulfil: {
    by: 'dealer',
    label: 'Mark as fulfilled',
    participle: 'fulfilled',
    from: ['matched'],
    to: 'fulfilled',
    isRepeatable: false,
    effect: 'The time is kept in fulfilled_at.',
    event: 'order.fulfilled',
  },
  dismiss: {
    by: 'dealer',
    label: 'Dismiss the order',
    participle: 'dismissed',
    from: ['received'],
    to: 'cancelled',
    isRepeatable: false,
    effect: 'The held units are free again.',
    event: 'order.cancelled',
  },
  cancel_sale: {
    by: 'dealer',
    label: 'Cancel the sale',
    participle: 'returned to the queue',
    from: ['matched', 'fulfilled'],
    to: 'received',
    isRepeatable: false,
    effect: 'The sale is voided, its units return to stock, and the lines are matched to nothing.',
    event: null,
  },
  cancel: {
    by: 'client',
    label: 'Cancel the order',
    participle: 'cancelled',
    from: ['received'],
    to: 'cancelled',
    isRepeatable: true,
    effect: 'The held units are free again.',
    event: null,
  },
};

/** What becomes of an order: its new status, `unchanged` where a repetition changes nothing, or `refused`. */
export type OrderStep = { status: OrderStatus } | 'unchanged' | 'refused';

export function orderStep(operation: OrderOperation, status: OrderStatus): OrderStep {
  const { from, to, isRepeatable } = ORDER_TRANSITIONS[operation];
  if (from.includes(status)) return { status: to ?? status };
  return isRepeatable && status === to ? 'unchanged' : 'refused';
}

/** Why an operation can't be done now; null if it can. For a disabled button, and for the refusal itself. */
export function orderRefusal(operation: OrderOperation, status: OrderStatus): string | null {
  if (orderStep(operation, status) !== 'refused') return null;
  return `An order that is ${status} cannot be ${ORDER_TRANSITIONS[operation].participle}.`;
}
