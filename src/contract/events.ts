/** The event catalogue: what can happen, and which names a subscription may hold. */
export const EVENT_TYPES = {
  'listing.published': 'A listing was put on the channel.',
  'listing.updated': 'Something readable of a listing on the channel changed.',
  'listing.unpublished': 'A listing was taken off the channel, or deleted for ever (`deleted: true`).',
  'listing.sold': 'A listing became sold.',
  'listing.in_stock': 'A sold listing returned to active stock.',
  'part.published': 'A part was put on the channel.',
  'part.updated': 'Something readable of a part on the channel changed.',
  'part.unpublished': 'A part was taken off the channel or deleted; it can no longer be fetched.',
  'part.sold_out': 'A part reached zero units.',
  'part.in_stock': 'The number of units changed and some remain; `quantity` is the new number.',
  'order.fulfilled': 'The dealer fulfilled an order.',
  'order.cancelled': 'The dealer dismissed an order.',
  'integration.test_event': 'A test, fired by the client or from the dashboard. Always delivered.',
} as const;

export type EventType = keyof typeof EVENT_TYPES;

export const TEST_EVENT: EventType = 'integration.test_event';

/** Names that stay valid in a subscription although nothing is sent under them any more. */
const RETIRED_NAMES = ['order.received', 'customer.matched'];

/** Whether a name may stand in `subscribed_events`. */
export function isSubscription(name: string): boolean {
  return name === '*' || wildcards().has(name) || Object.hasOwn(EVENT_TYPES, name) || RETIRED_NAMES.includes(name);
}

/** Whether a subscription wants an event. The test event is always wanted. */
export function isSubscribed(subscriptions: readonly string[], type: EventType): boolean {
  if (type === TEST_EVENT) return true;
  const [namespace = ''] = type.split('.', 1);
  return subscriptions.some((name) => name === '*' || name === type || name === `${namespace}.*`);
}

function wildcards(): Set<string> {
  return new Set([...Object.keys(EVENT_TYPES), ...RETIRED_NAMES].map((name) => `${name.split('.', 1)[0]}.*`));
}
