import { type AuditRow, listAudit } from '../../../../audit/read-audit.ts';
import {
  AUDIT_ACTOR_LABELS,
  type AuditObjectKind,
  auditActionText,
  auditJobName,
} from '../../../../contract/audit-actions.ts';
import type { EventPage, EventRow, eventOperations } from '../../../../contract/dashboard/integrations/events.ts';
import { LIST_PAGE_BYTES } from '../../../../contract/dashboard/list.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import { isId } from '../../../../contract/ids.ts';
import { type ChannelName, listChannels } from '../../../../dealers/integrations/integrations.ts';
import { namesOfPeople } from '../../../../dealers/people-names.ts';
import { numbersOfOrders } from '../../../../sales/orders/find-orders.ts';
import { EVERY_DELIVERY, listDealerDeliveries } from '../../../../webhooks/dealer/list-deliveries.ts';
import {
  countDealerEvents,
  EVERY_EVENT,
  type EventFilter,
  type ListedEvent,
  listDealerEvents,
} from '../../../../webhooks/dealer/list-events.ts';
import { readEndpointStatuses } from '../../../../webhooks/endpoints/endpoint-status.ts';
import { readEventPiece } from '../../../../webhooks/event-log.ts';
import { findWritesAt } from '../../../logging/api-requests.ts';
import type { Call, DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { sendCsv } from '../../lists/csv-export.ts';
import { bothObjects, idPageOf, idsFrom, integrationsOf } from '../../lists/delivery-filters.ts';
import { pageRequestOf, readPage } from '../../lists/list-page.ts';
import { presentDelivery } from '../../presenters/delivery-presenters.ts';
import { presentStop } from '../../presenters/endpoint-stop.ts';
import { nameOf, objectsOf, presentOutcome, searchObjects } from '../../presenters/event-objects.ts';
import { timesOf } from '../../presenters/order-presenters.ts';

/** Events have one order. */
const SORT = '-created';
/** Changes this near to an event may have caused it: a stamp can be a little ahead of the time. */
const CAUSE_WITHIN_MS = 2_000;
const CAUSES_LIMIT = 10;
const OBJECT_KINDS: Record<string, AuditObjectKind> = {
  lst: 'item',
  prt: 'item',
  ord: 'order',
  int: 'integration',
};

export const eventHandlers: Handlers<typeof eventOperations> = {
  async listEvents({ context, user, query }) {
    const request = pageRequestOf(query, SORT);
    const channels = await listChannels(context.db, user.organizationId);
    const filter = await filterOf(context, user, channels, query);
    const { rows, page } = await readPage(request, SORT, {
      read: () => listDealerEvents(context.db, filter, idPageOf(request)),
      count: () => countDealerEvents(context.db, filter),
      positionOf: ({ id }) => ({ value: null, id }),
    });
    const objects = rows.map(({ objectId }) => objectId);
    const objectOf = await objectsOf(context, user, channels, objects);
    return { data: rows.map((row) => presentRow(row, objectOf(row.objectId))), ...page };
  },

  async exportEvents({ context, user, query, reply }) {
    const channels = await listChannels(context.db, user.organizationId);
    const filter = await filterOf(context, user, channels, query);
    return await sendCsv({ user, reply }, 'events.csv', {
      header: EVENT_HEADER,
      read: (start, limit) => listDealerEvents(context.db, filter, idsFrom(start, limit)),
      async cellsOf(rows) {
        const ids = rows.map(({ objectId }) => objectId);
        const objectOf = await objectsOf(context, user, channels, ids);
        return rows.map((row) => eventCells(row, objectOf(row.objectId)?.name ?? row.objectId, channels));
      },
    });
  },

  async getEventChoices({ context, user }) {
    const channels = await listChannels(context.db, user.organizationId);
    return { integrations: channels.map(({ id, name }) => ({ integration_id: id, name })) };
  },

  async getEvent({ context, user, params }) {
    const channels = await listChannels(context.db, user.organizationId);
    const event = isId('event', params.event_id) ? await findEvent(context, channels, params.event_id) : null;
    if (event === null) throw new DomainError('not_found', 'There is no such event.');
    const [objectOf, cause, deliveries, [endpoint]] = await Promise.all([
      objectsOf(context, user, channels, [event.objectId]),
      causeOf(context, user, channels, event),
      deliveriesOf(context, event),
      readEndpointStatuses(context.db, [event.integrationId]),
    ]);
    const object = objectOf(event.objectId);
    const [delivery] = deliveries;
    return {
      ...presentRow(event, object),
      delivery: delivery === undefined ? null : presentDelivery(delivery, object),
      ...(await presentStop(context.db, user.organizationId, endpoint)),
      integration_name: nameOf(channels, event.integrationId) ?? '',
      body: event.body,
      cause,
    };
  },
};

type EventQuery = Pick<
  Call<typeof eventOperations.listEvents>['query'],
  'q' | 'type' | 'outcome' | 'object_id' | 'integration_id' | 'period' | 'from' | 'to'
>;

async function filterOf(
  context: DashboardContext,
  user: SignedIn,
  channels: ChannelName[],
  query: EventQuery,
): Promise<EventFilter> {
  const search = query.q?.trim() ?? '';
  const found = search === '' ? {} : await searchObjects(context.db, user.organizationId, channels, search);
  return {
    ...EVERY_EVENT,
    integrationIds: integrationsOf(channels, query.integration_id),
    types: query.type === undefined ? null : [query.type],
    outcome: query.outcome ?? null,
    objectIds: query.object_id === undefined ? null : [query.object_id],
    ...timesOf(context, query),
    // The id of a delivery matches no event.
    ...('deliveryIds' in found ? { eventIds: [] } : found),
    ...bothObjects(query.object_id, found),
  };
}

const EVENT_HEADER = ['event', 'outcome', 'object', 'integration', 'created', 'id', 'delivery_id'];

function eventCells(row: ListedEvent, object: string | null, channels: ChannelName[]): string[] {
  return [
    row.type,
    row.unsentReason ?? row.delivery?.status ?? '',
    object ?? '',
    nameOf(channels, row.integrationId) ?? '',
    row.createdAt.toISOString(),
    row.id,
    row.delivery?.id ?? '',
  ];
}

type FoundEvent = ListedEvent & { body: string };

async function findEvent(
  { db }: DashboardContext,
  channels: readonly ChannelName[],
  eventId: string,
): Promise<FoundEvent | null> {
  const filter = { ...EVERY_EVENT, integrationIds: channels.map(({ id }) => id), eventIds: [eventId] };
  const [event] = await listDealerEvents(db, filter, { from: null, limit: 1 });
  if (event === undefined) return null;
  const [piece] = await readEventPiece(db, event.integrationId, [event.id]);
  return { ...event, body: piece?.body ?? '' };
}

async function deliveriesOf({ db }: DashboardContext, { integrationId, delivery }: ListedEvent) {
  if (delivery === null) return [];
  const filter = { ...EVERY_DELIVERY, integrationIds: [integrationId], deliveryIds: [delivery.id] };
  return await listDealerDeliveries(db, filter, { from: null, limit: 1 });
}

/** What people did to the object at that time, and the website's request: of the order, or else at that moment. */
async function causeOf(
  { db }: DashboardContext,
  { organizationId }: SignedIn,
  channels: readonly ChannelName[],
  { objectId, createdAt, type, integrationId, unsentReason }: ListedEvent,
): Promise<EventPage['cause']> {
  const objectKind = OBJECT_KINDS[objectId?.split('_', 1)[0] ?? ''];
  if (objectId === null || objectKind === undefined) return { request_ids: [], changes: [] };
  const [from, to] = [-CAUSE_WITHIN_MS, CAUSE_WITHIN_MS].map((ms) => new Date(createdAt.getTime() + ms));
  const times = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const filter = { organizationId, objectKind, objectId, ...times };
  const [{ rows }, orders] = await Promise.all([
    listAudit(db, { ...filter, start: null, limit: CAUSES_LIMIT, bytesLimit: LIST_PAGE_BYTES }),
    numbersOfOrders(
      db,
      channels.map(({ id }) => id),
      objectId.startsWith('ord_') ? [objectId] : [],
    ),
  ]);
  const people = rows.flatMap(({ actorKind, actorId }) => (actorKind === 'person' ? (actorId ?? []) : []));
  const names = people.length === 0 ? new Map<string, string>() : await namesOfPeople(db, organizationId, people);
  const order = orders.get(objectId);
  const requestId = (type === 'order.cancelled' ? order?.cancelRequestId : order?.requestId) ?? null;
  const own = requestId === null ? [] : [requestId];
  const isEcho = unsentReason === 'echo';
  // An item does not say which request of the website reserved or released it.
  const near = isEcho && own.length === 0 ? await findWritesAt(db, integrationId, createdAt) : own;
  return {
    request_ids: rows.length > 0 && !isEcho ? [] : near,
    changes: rows.map((row) => ({
      id: row.id,
      at: row.at.toISOString(),
      action: row.action,
      what: auditActionText(row.action, row.newValues),
      by: actorOf(row, names),
    })),
  };
}

function actorOf({ actorKind, actorId }: AuditRow, names: ReadonlyMap<string, string>): string | null {
  if (actorKind === 'job') return auditJobName(actorId);
  return actorKind === 'person' ? (names.get(actorId ?? '') ?? null) : AUDIT_ACTOR_LABELS[actorKind];
}

function presentRow(row: ListedEvent, object: EventRow['object']): EventRow {
  return {
    id: row.id,
    type: row.type,
    object,
    integration_id: row.integrationId,
    ...presentOutcome(row),
    created_at: row.createdAt.toISOString(),
  };
}
