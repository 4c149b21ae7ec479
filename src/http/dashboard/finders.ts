import { ORDER_STATUS_LABELS } from '../../contract/dashboard/orders/order-labels.ts';
import type { FoundKind } from '../../contract/dashboard/search.ts';
import { findCustomers } from '../../customers/find-customers.ts';
import { listCustomers } from '../../customers/list-customers.ts';
import type { Queryable } from '../../db/database.ts';
import { type ChannelName, listChannels } from '../../dealers/integrations/integrations.ts';
import { findStock } from '../../inventory/lists/find-stock.ts';
import { findOrders } from '../../sales/orders/find-orders.ts';
import { findDelivery } from '../../webhooks/delivery-queue/delivery-log.ts';
import { findEvent } from '../../webhooks/event-log.ts';
import { findApiRequest } from '../logging/api-requests.ts';
import { fullName } from './presenters/order-presenters.ts';

/** One result of the command palette. */
export type Found = { kind: FoundKind; id: string; title: string; detail: string; photoId?: string | null };

type Search = { organizationId: string; text: string; channels: readonly ChannelName[] };
type Finder = (db: Queryable, search: Search) => Promise<Found[]>;

/** How many results of each kind are shown. Whoever needs more opens the list. */
const FOUND_LIMIT = 6;

/**
 * Everything that Ctrl-K finds, in the order in which it is shown. Whoever brings a kind of thing adds its finder: by exact
 * id or number always, by words where an index finds them.
 */
const FINDERS: readonly Finder[] = [
  async (db, { organizationId, text }) => {
    const items = await findStock(db, organizationId, text, FOUND_LIMIT);
    return items.map(({ id, kind, title, stockNumber, reference, photoId }) => ({
      kind: kind === 'part' ? 'part' : 'watch',
      id,
      title,
      detail: [stockNumber, reference].filter((part) => part !== null).join(' · '),
      photoId,
    }));
  },
  async (db, { text, channels }) => {
    const orders = await findOrders(
      db,
      channels.map(({ id }) => id),
      text,
      FOUND_LIMIT,
    );
    return orders.map(({ id, channelOrderId, integrationId, status, isTest }) => ({
      kind: 'order',
      id,
      title: `Order ${channelOrderId}`,
      detail: [nameOf(channels, integrationId), ORDER_STATUS_LABELS[status], ...(isTest ? ['test'] : [])].join(' · '),
    }));
  },
  async (db, { organizationId, text, channels }) => {
    const integrationIds = channels.map(({ id }) => id);
    const exact = await findCustomers(db, { organizationId, integrationIds, text }, FOUND_LIMIT);
    const filter = { organizationId, integrationIds, isTest: [false, true], search: text, country: null };
    const byWords = await listCustomers(db, { ...filter, isDescending: true, start: null, limit: FOUND_LIMIT });
    const others = byWords
      .filter(({ id }) => exact.every((one) => one.id !== id))
      .map(({ id, firstName, lastName, company, email }) => ({
        id,
        name: fullName(firstName, lastName) ?? company ?? '',
        email: email ?? '',
      }));
    return [...exact, ...others].slice(0, FOUND_LIMIT).map(({ id, name, email }) => ({
      kind: 'customer',
      id,
      title: name || email || id,
      detail: email,
    }));
  },
  async (_db, { text, channels }) => {
    const words = text.toLowerCase();
    const isMeant = ({ id, name }: ChannelName) => id === text || name.toLowerCase().includes(words);
    return channels
      .filter(isMeant)
      .slice(0, FOUND_LIMIT)
      .map(({ id, name, currency }) => ({ kind: 'integration', id, title: name, detail: `Integration · ${currency}` }));
  },
  async (db, { text, channels }) => {
    const event = await findEvent(
      db,
      channels.map(({ id }) => id),
      text,
    );
    if (event === null) return [];
    const detail = `Event · ${nameOf(channels, event.integrationId)}`;
    return [{ kind: 'event', id: event.id, title: event.type, detail }];
  },
  async (db, { text, channels }) => {
    if (!text.startsWith('dlv_')) return [];
    for (const { id, name } of channels) {
      const delivery = await findDelivery(db, id, text);
      if (delivery === null) continue;
      return [
        { kind: 'delivery', id: delivery.id, title: delivery.type, detail: `Delivery · ${name} · ${delivery.status}` },
      ];
    }
    return [];
  },
  async (db, { text, channels }) => {
    if (!text.startsWith('req_')) return [];
    const ids = channels.map(({ id }) => id);
    const request = await findApiRequest(db, ids, text);
    if (request === null) return [];
    const { requestId, integrationId, method, route, status } = request;
    const title = `${method} ${route ?? 'unknown path'}`;
    const detail = `Request · ${nameOf(channels, integrationId)} · ${status ?? 'aborted'}`;
    return [{ kind: 'request', id: requestId, title, detail }];
  },
];

/** Runs every finder on a text. */
export async function findAnything(db: Queryable, organizationId: string, text: string): Promise<Found[]> {
  const channels = await listChannels(db, organizationId);
  const search = { organizationId, text: text.trim(), channels };
  const found: Found[] = [];
  // The finders run one after the other, so that typing does not take several connections for each letter.
  for (const find of FINDERS) found.push(...(await find(db, search)));
  return found;
}

function nameOf(channels: readonly ChannelName[], integrationId: string): string {
  return channels.find(({ id }) => id === integrationId)?.name ?? '';
}
