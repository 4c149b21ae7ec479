import {
  type deliveryOperations,
  REPLAY_AT_ONCE_LIMIT,
} from '../../../../contract/dashboard/integrations/deliveries.ts';
import {
  DELIVERY_STATUS_LABELS,
  type DeliveryStatusName,
  UNSENT_REASON_LABELS,
  type UnsentReason,
} from '../../../../contract/dashboard/integrations/delivery-labels.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import { type ChannelName, listChannels } from '../../../../dealers/integrations/integrations.ts';
import { type DeliveryPage, readDealerDelivery } from '../../../../webhooks/dealer/delivery-details.ts';
import {
  countDealerDeliveries,
  countDeliveriesByIntegration,
  type DeliveryFilter,
  EVERY_DELIVERY,
  type ListedDelivery,
  listDealerDeliveries,
} from '../../../../webhooks/dealer/list-deliveries.ts';
import { countDealerEvents } from '../../../../webhooks/dealer/list-events.ts';
import type { DeliverySummary } from '../../../../webhooks/delivery-queue/delivery-log.ts';
import {
  cancelReplay,
  listRunningReplays,
  REPLAYABLE_STATUSES,
  REPLAYED_DELIVERY_BYTES,
  replayDeliveries,
  startReplay,
} from '../../../../webhooks/delivery-queue/replay.ts';
import { readEndpointStatuses } from '../../../../webhooks/endpoints/endpoint-status.ts';
import type { Call, DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { sendCsv } from '../../lists/csv-export.ts';
import { deliveryFilterOf, idPageOf, idsFrom } from '../../lists/delivery-filters.ts';
import { pageRequestOf, presentCount, readPage } from '../../lists/list-page.ts';
import { presentDeliveryPage } from '../../presenters/delivery-page.ts';
import { DELIVERY_HEADER, deliveryCells, presentDelivery } from '../../presenters/delivery-presenters.ts';
import { presentStops } from '../../presenters/endpoint-stop.ts';
import { nameOf, objectsOf } from '../../presenters/event-objects.ts';

/** Deliveries have one order. */
const SORT = '-created';
const UNSENT_REASONS = Object.keys(UNSENT_REASON_LABELS) as UnsentReason[];
const STATUSES = Object.keys(DELIVERY_STATUS_LABELS) as DeliveryStatusName[];

export const deliveryHandlers: Handlers<typeof deliveryOperations> = {
  async listDeliveries({ context, user, query }) {
    const request = pageRequestOf(query, SORT);
    const channels = await listChannels(context.db, user.organizationId);
    const filter = await deliveryFilterOf(context, user, channels, query);
    const { rows, page } = await readPage(request, SORT, {
      read: () => listDealerDeliveries(context.db, filter, idPageOf(request)),
      count: () => countDealerDeliveries(context.db, filter),
      positionOf: ({ id }) => ({ value: null, id }),
    });
    const objects = rows.map(({ objectId }) => objectId);
    const objectOf = await objectsOf(context, user, channels, objects);
    return { data: rows.map((row) => presentDelivery(row, objectOf(row.objectId))), ...page };
  },

  async exportDeliveries({ context, user, query, reply }) {
    const channels = await listChannels(context.db, user.organizationId);
    const filter = await deliveryFilterOf(context, user, channels, query);
    return await sendCsv({ user, reply }, 'deliveries.csv', {
      header: DELIVERY_HEADER,
      read: (start, limit) => listDealerDeliveries(context.db, filter, idsFrom(start, limit)),
      async cellsOf(rows) {
        const ids = rows.map(({ objectId }) => objectId);
        const objectOf = await objectsOf(context, user, channels, ids);
        return rows.map((row) => deliveryCells(presentDelivery(row, objectOf(row.objectId)), channels));
      },
    });
  },

  async getDeliveryChoices({ context, user, query }) {
    const { db } = context;
    const channels = await listChannels(db, user.organizationId);
    const integrationIds = channels.map(({ id }) => id);
    const filter = await deliveryFilterOf(context, user, channels, query);
    const statuses: [string, ReturnType<typeof presentCount>][] = [];
    for (const status of STATUSES) statuses.push([status, await countOf(context, { ...filter, statuses: [status] })]);
    const endpoints = await readEndpointStatuses(db, integrationIds);
    const stopOf = await presentStops(db, user.organizationId, endpoints);
    const heldOf = await countDeliveriesByIntegration(db, integrationIds, 'held');
    const integrations = endpoints.map((endpoint) => ({
      integration_id: endpoint.integrationId,
      name: nameOf(channels, endpoint.integrationId) ?? '',
      url: endpoint.url,
      is_enabled: endpoint.isEnabled,
      ...stopOf(endpoint.integrationId),
      held: presentCount(heldOf(endpoint.integrationId)),
    }));
    const replays = await listRunningReplays(db, integrationIds);
    return {
      integrations,
      statuses: Object.fromEntries(statuses),
      unsent: await countUnsent(context, filter),
      replays: replays.map(({ id, integrationId, done, total }) => ({
        id,
        integration_id: integrationId,
        done,
        total,
      })),
    };
  },

  async getDelivery({ context, user, params }) {
    const channels = await listChannels(context.db, user.organizationId);
    return await presentDeliveryPage(context, user, channels, await deliveryOf(context, channels, params.delivery_id));
  },

  async replayDelivery(call) {
    const { context, user, actor, params } = call;
    const channels = await listChannels(context.db, user.organizationId);
    const { integrationId, delivery } = await deliveryOf(context, channels, params.delivery_id);
    const now = context.channel.now();
    if ((await replayDeliveries(context.db, actor, integrationId, [delivery.id], now)) === 0) {
      throw new DomainError('wrong_status', `This delivery ${whyNotNow(delivery)}`);
    }
    await call.countStorage(REPLAYED_DELIVERY_BYTES);
    notify(call, [integrationId]);
    return null;
  },

  async replayDeliveries(call) {
    const { context, user, body } = call;
    const channels = await listChannels(context.db, user.organizationId);
    if ((body.delivery_ids === undefined) === (body.match === undefined)) {
      throw new DomainError('invalid_input', 'Name the deliveries, or what they match.', 'delivery_ids');
    }
    const filter: DeliveryFilter =
      body.delivery_ids === undefined
        ? await deliveryFilterOf(context, user, channels, body.match ?? {})
        : { ...EVERY_DELIVERY, integrationIds: channels.map(({ id }) => id), deliveryIds: body.delivery_ids };
    const found = await listDealerDeliveries(context.db, filter, { from: null, limit: REPLAY_AT_ONCE_LIMIT + 1 });
    if (found.length > REPLAY_AT_ONCE_LIMIT) {
      const total = await startJobs(call, filter);
      await call.countStorage(total * REPLAYED_DELIVERY_BYTES);
      return { queued: 0, skipped: 0, in_jobs: total };
    }
    const queued = await replayFound(call, found);
    await call.countStorage(queued * REPLAYED_DELIVERY_BYTES);
    return { queued, skipped: found.length - queued, in_jobs: 0 };
  },

  async cancelReplay({ context, user, actor, params }) {
    const channels = await listChannels(context.db, user.organizationId);
    const integrationIds = channels.map(({ id }) => id);
    const replays = await listRunningReplays(context.db, integrationIds);
    const replay = replays.find(({ id }) => id === params.replay_id);
    if (replay === undefined || !(await cancelReplay(context.db, actor, replay.integrationId, replay.id))) {
      throw new DomainError('not_found', 'There is no such replay, or it is done.');
    }
    context.dashboard.feed.notify(user.organizationId, 'delivery', null);
    return null;
  },
};

async function countOf({ db }: DashboardContext, filter: DeliveryFilter) {
  return presentCount(await countDealerDeliveries(db, filter));
}

/** Events that a search for deliveries can't find, since they were never to be sent. */
async function countUnsent({ db }: DashboardContext, filter: DeliveryFilter) {
  const { integrationIds, types, objectIds, eventIds, deliveryIds, from, to } = filter;
  // A search for a delivery id looks for that delivery alone.
  if (deliveryIds !== null) return {};
  const counts = UNSENT_REASONS.map(async (outcome) => {
    const wanted = { integrationIds, types, outcome, objectIds, eventIds, from, to };
    return [outcome, presentCount(await countDealerEvents(db, wanted))] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

async function deliveryOf(
  { db, webhooks }: DashboardContext,
  channels: readonly ChannelName[],
  id: string,
): Promise<DeliveryPage> {
  const integrationIds = channels.map((channel) => channel.id);
  const page = await readDealerDelivery(db, webhooks.encryption, integrationIds, id);
  if (page === null) throw new DomainError('not_found', 'There is no such delivery.');
  return page;
}

type ReplayCall = Pick<Call, 'context'> & { user: SignedIn; actor: Exclude<Call['actor'], null> };

async function replayFound(call: ReplayCall, found: readonly ListedDelivery[]): Promise<number> {
  const { context, actor } = call;
  const byIntegration = Map.groupBy(found, ({ integrationId }) => integrationId);
  let queued = 0;
  for (const [integrationId, deliveries] of byIntegration) {
    const ids = deliveries.map(({ id }) => id);
    queued += await replayDeliveries(context.db, actor, integrationId, ids, context.channel.now());
  }
  notify(call, [...byIntegration.keys()]);
  return queued;
}

/**
 * Starts a job for each integration, which replays more deliveries than are queued at once and leaves live events their
 * share.
 */
async function startJobs(call: ReplayCall, filter: DeliveryFilter): Promise<number> {
  const { context, actor } = call;
  const { objectIds, eventIds, deliveryIds, response, from, to, types } = filter;
  if ((objectIds ?? eventIds ?? deliveryIds ?? response) !== null) {
    throw new DomainError(
      'invalid_input',
      `More than ${REPLAY_AT_ONCE_LIMIT} match. Narrow it down by time, or filter by status and event alone.`,
      'match',
    );
  }
  const statuses = REPLAYABLE_STATUSES.filter((status) => filter.statuses?.includes(status) ?? true);
  if (statuses.length === 0) throw new DomainError('wrong_status', 'These wait to be sent already.');
  const wanted = { since: from, until: to, types: types === null ? null : [...types], statuses: [...statuses] };
  let total = 0;
  for (const integrationId of filter.integrationIds) {
    total += (await startReplay(context.db, actor, integrationId, wanted)).total;
  }
  notify(call, [...filter.integrationIds]);
  return total;
}

/** A replay commits by itself, so the delivery workers are woken here, after it. */
function notify({ context, user }: Pick<ReplayCall, 'context' | 'user'>, integrationIds: string[]): void {
  context.channel.onEvents(integrationIds);
  context.dashboard.feed.notify(user.organizationId, 'delivery', null);
  context.dashboard.feed.notify(user.organizationId, 'audit', null);
}

function whyNotNow({ status, isInFlight }: Pick<DeliverySummary, 'status' | 'isInFlight'>): string {
  if (isInFlight) return 'is being sent right now.';
  return status === 'held' ? 'is held, and sent as soon as webhooks are on again.' : 'waits to be sent already.';
}
