import type { EventType } from '../../contract/event-types.ts';

/** What of an item's projection decides about events: before and after a change, null where nothing is readable. */
export type Projected = {
  kind: 'listing' | 'part';
  status: string;
  quantity: number;
  /** The rendered JSON without its stamp. */
  body: string;
  /** Reads answer an error instead of the body. */
  isUnpriceable: boolean;
};

export type Change = {
  /** The item was deleted for ever. */
  isDeleted: boolean;
  /** The dealer typed another quantity; otherwise a change of units is a movement of stock. */
  isQuantityEdit: boolean;
};

export type EventDraft = {
  type: EventType;
  /** What stands in `data.object` beside `id` and `object`. */
  extra: Record<string, unknown>;
  /** `data.previous_attributes`; absent if undefined. */
  previous: Record<string, unknown> | undefined;
};

export type Transition = {
  /** Whether the row gets a new stamp. */
  isChanged: boolean;
  events: EventDraft[];
};

const UNCHANGED: Transition = { isChanged: false, events: [] };
const ON_SALE = new Set(['active', 'reserved']);

/** The transition table: it alone decides which events a change is. */
export function transition(before: Projected | null, after: Projected | null, change: Change): Transition {
  if (before === null && after === null) return UNCHANGED;
  if (before !== null && after !== null && isSame(before, after)) return UNCHANGED;
  const kind = (after ?? before)?.kind;
  return {
    isChanged: true,
    events: kind === 'part' ? partEvents(before, after, change) : listingEvents(before, after, change),
  };
}

/** No client could see a difference. */
function isSame(before: Projected, after: Projected): boolean {
  return before.body === after.body && before.isUnpriceable === after.isUnpriceable;
}

function listingEvents(before: Projected | null, after: Projected | null, change: Change): EventDraft[] {
  if (after === null) {
    return [event('listing.unpublished', change.isDeleted ? { deleted: true } : {})];
  }
  const wasOnSale = before !== null && ON_SALE.has(before.status);
  const wasSold = before?.status === 'sold';
  if (ON_SALE.has(after.status)) {
    if (wasOnSale) return [event('listing.updated', {}, {})];
    return [event(wasSold ? 'listing.in_stock' : 'listing.published')];
  }
  if (after.status === 'sold') return wasOnSale ? [event('listing.sold')] : [];
  if (after.status === 'unpublished') return wasOnSale || wasSold ? [event('listing.unpublished')] : [];
  return [];
}

function partEvents(before: Projected | null, after: Projected | null, change: Change): EventDraft[] {
  if (after === null) return [event('part.unpublished', change.isDeleted ? { deleted: true } : {})];
  if (before === null) return [event('part.published')];
  const isMoved = before.quantity !== after.quantity;
  const differences = changedFields(before, after);
  // A movement of stock has its own event; what merely follows from it is not announced again.
  const isMore = Object.keys(differences).some((field) => !FOLLOWS_QUANTITY.has(field)) || isOtherStatus(before, after);
  const events: EventDraft[] = [];
  if (!isMoved || change.isQuantityEdit || isMore) events.push(event('part.updated', {}, differences));
  if (isMoved && after.quantity === 0) events.push(event('part.sold_out'));
  else if (isMoved) events.push(event('part.in_stock', { quantity: after.quantity }, { quantity: before.quantity }));
  return events;
}

const FOLLOWS_QUANTITY = new Set(['quantity', 'status', 'labels']);

/** Hiding and showing changes the status too, but not as a consequence of the quantity. */
function isOtherStatus(before: Projected, after: Projected): boolean {
  return (before.status === 'unpublished') !== (after.status === 'unpublished');
}

/** The top-level fields that differ, with their old values. */
function changedFields(before: Projected, after: Projected): Record<string, unknown> {
  const old = JSON.parse(before.body) as Record<string, unknown>;
  const fresh = JSON.parse(after.body) as Record<string, unknown>;
  const names = new Set([...Object.keys(old), ...Object.keys(fresh)]);
  const changed = [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]));
  // What nobody can price and what is priced on request both render null, but only the latter can be read.
  if (before.isUnpriceable !== after.isUnpriceable && !changed.includes('price')) changed.push('price');
  return Object.fromEntries(changed.map((name) => [name, old[name] ?? null]));
}

function event(type: EventType, extra: Record<string, unknown> = {}, previous?: Record<string, unknown>): EventDraft {
  return { type, extra, previous };
}
