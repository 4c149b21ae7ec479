import type { EventType } from '../../event-types.ts';

/**
 * When an event is sent, in the dealer's words. The descriptions of event-types.ts speak to whoever builds the website; here
 * "you" is a person of the dealer.
 */
export const EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  'listing.published': 'You put a watch on the channel, or show one again that was taken off.',
  'listing.updated':
    'Something that the website reads of a watch changed: price, promotion, photos, quantity, attributes, stock number, location, your address or tax treatment, or how the channel shows prices and photos. Also when the watch becomes reserved, or is free again.',
  'listing.unpublished': 'You took a watch off the channel, or deleted it for ever.',
  'listing.sold': 'A watch was sold, by you or through an order of a website.',
  'listing.in_stock': 'A watch that was sold is on sale again, as when its sale was voided.',
  'part.published': 'You put a part on the channel.',
  'part.updated':
    'Something that the website reads of a part changed, such as its price, photos, compatibility or a promotion, or you typed another quantity or hid it for a while.',
  'part.unpublished': 'You took a part off the channel, or deleted it for ever.',
  'part.sold_out': 'A part came to zero units.',
  'part.in_stock':
    'The number of units of a part changed and some remain: restocked, returned, fitted, sold in part, or given back by an order.',
  'order.fulfilled': 'You fulfilled an order of the website.',
  'order.cancelled':
    'You dismissed an order of the website. If the website cancels an order itself, it is not told: there is no event.',
  'integration.test_event': 'You or the website asked for a test. It is sent whatever the subscriptions are.',
};
