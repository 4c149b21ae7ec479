/** What a client must know about one type of event. */
type EventDescription = {
  /** When it is sent. */
  when: string;
  /** What `data.object` holds. */
  object: string;
  /** What `data.previous_attributes` holds; null if the event does not have it. */
  previous: string | null;
};

const LISTING = 'The listing’s `id` and `object`. Read the rest with `GET /v1/listings/{id}`.';
const PART = 'The part’s `id` and `object`. Read the rest with `GET /v1/parts/{id}`.';
const ORDER = 'The whole order, as `GET /v1/orders/{id}` answers it.';

/** The event catalogue: what can happen, and which names a subscription may hold. */
export const EVENT_TYPES = {
  'listing.published': {
    when: 'The dealer put a listing on the channel, or shows one again that was taken off.',
    object: LISTING,
    previous: null,
  },
  'listing.updated': {
    when: 'Something that you can read of a listing on sale changed: price, a promotion that starts, changes or ends, photos, quantity, attributes, stock number, place, the dealer’s address or tax treatment, or the integration’s currency, markup, rounding or image format. Also when it becomes `reserved`, or is `active` again.',
    object: LISTING,
    previous: 'Always empty: read the listing and compare it with your copy.',
  },
  'listing.unpublished': {
    when: 'The dealer took a listing off the channel, or deleted it for ever.',
    object:
      'The listing’s `id` and `object`. It can still be read, with the status `unpublished`; with `deleted: true` it is gone, and reads answer `listing_not_found`.',
    previous: null,
  },
  'listing.sold': {
    when: 'A listing was sold, by the dealer or through an order that was matched.',
    object: LISTING,
    previous: null,
  },
  'listing.in_stock': {
    when: 'A listing that was sold is on sale again, as when its sale was voided.',
    object: LISTING,
    previous: null,
  },
  'part.published': { when: 'The dealer put a part on the channel.', object: PART, previous: null },
  'part.updated': {
    when: 'Something that you can read of a part on the channel changed, such as its price, photos, compatibility or a promotion, or the dealer typed another quantity or hid it for a while.',
    object: PART,
    previous: 'The top-level fields that changed, with their old values.',
  },
  'part.unpublished': {
    when: 'The dealer took a part off the channel, or deleted it for ever.',
    object:
      'The part’s `id` and `object`, and `deleted: true` if it was deleted. Either way it is gone: reads answer `part_not_found`.',
    previous: null,
  },
  'part.sold_out': {
    when: 'A part came to zero units. It can still be read, with the status `sold_out`.',
    object: PART,
    previous: null,
  },
  'part.in_stock': {
    when: 'The number of units changed and some remain: restocked, returned, fitted, sold in part, or given back by an order.',
    object: 'The part’s `id` and `object`, and its new `quantity`.',
    previous: 'The old `quantity`.',
  },
  'order.fulfilled': { when: 'The dealer fulfilled an order.', object: ORDER, previous: 'The old `status`.' },
  'order.cancelled': {
    when: 'The dealer dismissed an order. An order that you cancel yourself is no event.',
    object: ORDER,
    previous: 'Always empty; the order has its new `status`.',
  },
  'integration.test_event': {
    when: 'You or the dealer asked for a test. It is sent whatever the subscriptions are.',
    object: 'The integration’s `id` and `object`, and a `message`.',
    previous: null,
  },
} as const satisfies Record<string, EventDescription>;

export type EventType = keyof typeof EVENT_TYPES;

export const TEST_EVENT: EventType = 'integration.test_event';

/** Names that are still valid in a subscription, although no event has them any more. */
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
