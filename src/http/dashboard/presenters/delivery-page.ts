import type { ChannelName } from '../../../dealers/integrations/integrations.ts';
import type { DeliveryPage, ShownAttempt } from '../../../webhooks/dealer/delivery-details.ts';
import type { DeliverySummary } from '../../../webhooks/delivery-queue/delivery-log.ts';
import { REPLAYABLE_STATUSES } from '../../../webhooks/delivery-queue/replay.ts';
import { readEndpointStatuses } from '../../../webhooks/endpoints/endpoint-status.ts';
import type { DashboardContext, SignedIn } from '../call.ts';
import { presentDelivery } from './delivery-presenters.ts';
import { presentStop } from './endpoint-stop.ts';
import { nameOf, objectsOf } from './event-objects.ts';

/** Everything that the page of a delivery shows. */
export async function presentDeliveryPage(
  context: DashboardContext,
  user: SignedIn,
  channels: readonly ChannelName[],
  { integrationId, delivery, finishedAt, event, attempts }: DeliveryPage,
) {
  const [objectOf, [endpoint]] = await Promise.all([
    objectsOf(context, user, channels, [event.objectId]),
    readEndpointStatuses(context.db, [integrationId]),
  ]);
  const row = { ...delivery, integrationId, objectId: event.objectId, finishedAt };
  return {
    ...presentDelivery(row, objectOf(event.objectId)),
    integration_name: nameOf(channels, integrationId) ?? '',
    event_created_at: event.createdAt.toISOString(),
    body: event.body,
    finished_at: finishedAt?.toISOString() ?? null,
    attempts_log: attempts.map(presentAttempt),
    can_replay: canReplay(delivery),
    ...(await presentStop(context.db, user.organizationId, endpoint)),
  };
}

function presentAttempt(attempt: ShownAttempt) {
  return {
    attempt: attempt.attempt,
    delivery_id: attempt.dispatchId,
    is_success: attempt.isSuccess,
    url: attempt.url,
    signed_at: attempt.startedAt === null ? null : Math.floor(attempt.startedAt.getTime() / 1000),
    ended_at: attempt.endedAt.toISOString(),
    duration_ms: attempt.durationMs,
    response_code: attempt.responseCode,
    response_body: attempt.responseBody,
    error: attempt.error,
    headers: attempt.headers,
    signature: { verified_with: attempt.signature.verifiedWith, problem: attempt.signature.problem },
  };
}

function canReplay({ status, isInFlight }: Pick<DeliverySummary, 'status' | 'isInFlight'>): boolean {
  return !isInFlight && REPLAYABLE_STATUSES.some((one) => one === status);
}
