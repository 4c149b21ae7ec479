import type { Static } from 'typebox';
import type { EventObject } from '../../../contract/dashboard/integrations/deliveries.ts';
import { isId } from '../../../contract/ids.ts';
import type { Queryable } from '../../../db/database.ts';
import type { ChannelName } from '../../../dealers/integrations/integrations.ts';
import { findStock } from '../../../inventory/lists/find-stock.ts';
import { summariesOf } from '../../../inventory/lists/item-summaries.ts';
import { findOrders, numbersOfOrders } from '../../../sales/orders/find-orders.ts';
import type { ListedEvent } from '../../../webhooks/dealer/list-events.ts';
import type { DashboardContext, SignedIn } from '../call.ts';
import { photoUrl } from './photo-urls.ts';

type Shown = Static<typeof EventObject>;

/** What events are about, as people recognise it: a photo and a title, or the number of an order. */
export async function objectsOf(
  { db, publicUrl }: DashboardContext,
  { organizationId }: SignedIn,
  channels: readonly ChannelName[],
  ids: readonly (string | null)[],
): Promise<(id: string | null) => Shown | null> {
  const known = ids.flatMap((id) => id ?? []);
  const startsWith = (...prefixes: string[]) => known.filter((id) => prefixes.some((prefix) => id.startsWith(prefix)));
  const integrationIds = channels.map(({ id }) => id);
  const [items, orders] = await Promise.all([
    summariesOf(db, organizationId, startsWith('lst_', 'prt_')),
    numbersOfOrders(db, integrationIds, startsWith('ord_')),
  ]);
  return (id) => {
    if (id === null) return null;
    const item = items.get(id);
    if (item !== undefined) {
      return { id, name: item.title, detail: item.stockNumber, photo_url: photoUrl(publicUrl, item.photoId, 'small') };
    }
    const order = orders.get(id);
    const name = order === undefined ? nameOf(channels, id) : `Order ${order.channelOrderId}`;
    return { id, name, detail: null, photo_url: null };
  };
}

export function nameOf(channels: readonly ChannelName[], integrationId: string): string | null {
  return channels.find(({ id }) => id === integrationId)?.name ?? null;
}

/** What a search text may mean: an id, or the number of an item or an order. Of each list at most so many. */
export type EventSearch = { eventIds: string[] } | { deliveryIds: string[] } | { objectIds: string[] };

const FOUND_LIMIT = 20;
const OBJECT_PREFIXES = ['lst_', 'prt_', 'ord_', 'int_'];

export async function searchObjects(
  db: Queryable,
  organizationId: string,
  channels: readonly ChannelName[],
  text: string,
): Promise<EventSearch> {
  if (isId('event', text)) return { eventIds: [text] };
  if (isId('delivery', text)) return { deliveryIds: [text] };
  if (OBJECT_PREFIXES.some((prefix) => text.startsWith(prefix))) return { objectIds: [text] };
  const integrationIds = channels.map(({ id }) => id);
  const [items, orders] = await Promise.all([
    findStock(db, organizationId, text, FOUND_LIMIT),
    findOrders(db, integrationIds, text, FOUND_LIMIT),
  ]);
  return { objectIds: [...orders, ...items].map(({ id }) => id) };
}

export function presentOutcome({ unsentReason, delivery }: Pick<ListedEvent, 'unsentReason' | 'delivery'>) {
  return {
    unsent_reason: unsentReason,
    delivery: delivery === null ? null : { id: delivery.id, status: delivery.status, attempts: delivery.attempts },
  };
}
