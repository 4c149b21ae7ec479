import type { DeliveryRow } from '../../../contract/dashboard/integrations/deliveries.ts';
import type { ListedDelivery } from '../../../webhooks/dealer/list-deliveries.ts';

export function presentDelivery(row: ListedDelivery, object: DeliveryRow['object']): DeliveryRow {
  const { createdAt, finishedAt } = row;
  return {
    id: row.id,
    event_id: row.eventId,
    type: row.type,
    object,
    integration_id: row.integrationId,
    status: row.status,
    is_in_flight: row.isInFlight,
    attempts: row.attempts,
    response_code: row.lastResponseCode,
    error: row.lastError,
    // A stamp can be some milliseconds ahead of the time.
    delay_ms: finishedAt === null ? null : Math.max(0, finishedAt.getTime() - createdAt.getTime()),
    next_attempt_at: row.dueAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  };
}
