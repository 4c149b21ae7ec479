import type { DeliveryStatusName } from '../../../contract/dashboard/integrations/delivery-labels.ts';
import type { Period } from '../../../contract/dashboard/orders/order-labels.ts';
import type { ChannelName } from '../../../dealers/integrations/integrations.ts';
import { type DeliveryFilter, EVERY_DELIVERY, type IdPage } from '../../../webhooks/dealer/list-deliveries.ts';
import { findDelivery } from '../../../webhooks/delivery-queue/delivery-log.ts';
import type { DashboardContext, SignedIn } from '../call.ts';
import { type EventSearch, searchObjects } from '../presenters/event-objects.ts';
import { timesOf } from '../presenters/order-presenters.ts';
import type { ExportStart } from './csv-export.ts';
import type { PageRequest } from './list-page.ts';

export type DeliveryQuery = {
  q?: string;
  status?: DeliveryStatusName;
  type?: string;
  object_id?: string;
  code?: string;
  integration_id?: string;
  period?: Period;
  from?: string;
  to?: string;
};

/** What a query of the list asks for. Ids of another dealer's integrations match nothing. */
export async function deliveryFilterOf(
  context: DashboardContext,
  user: SignedIn,
  channels: readonly ChannelName[],
  query: DeliveryQuery,
): Promise<DeliveryFilter> {
  const integrationIds = integrationsOf(channels, query.integration_id);
  const filter: DeliveryFilter = {
    ...EVERY_DELIVERY,
    integrationIds,
    statuses: query.status === undefined ? null : [query.status],
    types: query.type === undefined ? null : [query.type],
    objectIds: query.object_id === undefined ? null : [query.object_id],
    response: responseOf(query.code),
    ...timesOf(context, query),
  };
  const text = query.q?.trim() ?? '';
  if (text === '') return filter;
  const found = await searchObjects(context.db, user.organizationId, channels, text);
  if ('deliveryIds' in found) return { ...filter, deliveryIds: await deliveryIdsOf(context, integrationIds, text) };
  return { ...filter, ...found, ...bothObjects(query.object_id, found) };
}

/** A search for objects beside a filter by one of them. */
export function bothObjects(objectId: string | undefined, found: EventSearch | object): { objectIds?: string[] } {
  if (objectId === undefined) return {};
  return { objectIds: !('objectIds' in found) || found.objectIds.includes(objectId) ? [objectId] : [] };
}

export function integrationsOf(channels: readonly ChannelName[], wanted: string | undefined): string[] {
  return channels.flatMap(({ id }) => (wanted === undefined || id === wanted ? [id] : []));
}

/** Each attempt carries an id of its own; a receiver's log has those. */
async function deliveryIdsOf({ db }: DashboardContext, integrationIds: string[], text: string): Promise<string[]> {
  for (const integrationId of integrationIds) {
    const delivery = await findDelivery(db, integrationId, text);
    if (delivery !== null) return [delivery.id];
  }
  return [];
}

function responseOf(code: string | undefined): DeliveryFilter['response'] {
  if (code === undefined) return null;
  if (code === 'none') return 'none';
  const first = Number(code.slice(0, 1));
  return code.endsWith('xx') ? { from: first * 100, to: first * 100 + 99 } : { from: Number(code), to: Number(code) };
}

/** A page by ids alone: the order of a list of deliveries or events is the order of their making. */
/** A batch of an export. */
export function idsFrom(start: ExportStart, limit: number): IdPage {
  return { from: start === null ? null : { id: start.position.id, isBackwards: false }, limit };
}

export function idPageOf({ from, limit }: PageRequest): IdPage {
  return {
    from: from === null ? null : { id: from.position.id, isBackwards: from.isBackwards },
    limit: limit + 1,
  };
}
