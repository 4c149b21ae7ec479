import type { DeliveryRow } from '../../../contract/dashboard/integrations/deliveries.ts';
import type { ChannelName } from '../../../dealers/integrations/integrations.ts';
import type { ListedDelivery } from '../../../webhooks/dealer/list-deliveries.ts';
import { nameOf } from './event-objects.ts';

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

/** Deliveries as the lines of a CSV file. */
export const DELIVERY_HEADER = [
  'event',
  'status',
  'object',
  'integration',
  'answer',
  'error',
  'attempts',
  'delay_ms',
  'next_try',
  'created',
  'id',
  'event_id',
];

export function deliveryCells(row: DeliveryRow, channels: ChannelName[]): string[] {
  return [
    row.type,
    row.status,
    row.object?.name ?? row.object?.id ?? '',
    nameOf(channels, row.integration_id) ?? '',
    String(row.response_code ?? ''),
    row.error ?? '',
    String(row.attempts),
    String(row.delay_ms ?? ''),
    row.next_attempt_at ?? '',
    row.created_at,
    row.id,
    row.event_id,
  ];
}
