import {
  type PreparedTestEvents,
  prepareTestEvents,
  recordPings,
  recordTestEvents,
  type TestEvent,
} from '../../../channel/record-test-events.ts';
import { ApiError, type ErrorCode } from '../../../contract/errors.ts';
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import { textOrNull } from '../../../contract/resources/customer.ts';
import { shownText } from '../../../contract/shown-value.ts';
import { PIECE_BYTES } from '../../../db/large-pages.ts';
import { describeTestEvent, subjectOf, type TestEventRequest } from '../../../sales/test-mode/describe-test-event.ts';
import type { Endpoint, RecordedEvent } from '../../../webhooks/outbox.ts';
import type { AdmittedIntegration } from '../authentication.ts';
import type { Handler } from '../handler.ts';
import { answerWrite } from '../writes/answer-write.ts';
import type { WriteKind, WriteSuccess } from '../writes/write-kind.ts';

const ping: WriteKind<null, PreparedTestEvents> = {
  failureCode: 'ping_failed',
  lockOf: ({ integrationId }) => `clock ${integrationId}`,
  batchLimit: 100,
  transaction: { planning: 'once' },
  prepare: (tx, channel, { integrationId }) => prepareTestEvents(tx, channel, integrationId),
  async work(tx, channel, items, prepared) {
    const [{ integration }] = items;
    const events = await recordPings(tx, channel, integration.integrationId, items.length, prepared);
    return { results: events.map((event) => answerOf(integration, event)), touched: [integration.integrationId] };
  },
};

/**
 * An event of any type, as the real one would be. It may carry a whole order, so fewer of them go together, and those after
 * a large one are left for the next transaction.
 */
const trigger: WriteKind<TestEventRequest, PreparedTestEvents> = {
  ...ping,
  batchLimit: 10,
  async work(tx, channel, items, prepared) {
    const [{ integration }] = items;
    if (!integration.isTestMode) return { results: items.map(() => onlyInTestMode()), touched: [] };
    const { integrationId, organizationId } = integration;
    const describe = async (endpoint: Endpoint, createdAt: Date) => {
      const described: (TestEvent | null)[] = [];
      const testContext = { context: channel, endpoint, organizationId, createdAt };
      let bytes = 0;
      for (const { input } of items) {
        if (bytes >= PIECE_BYTES) break;
        const event = await describeTestEvent(tx, testContext, input);
        if (typeof event?.object.json === 'string') bytes += Buffer.byteLength(event.object.json);
        described.push(event);
      }
      return described;
    };
    const events = await recordTestEvents(tx, channel, integrationId, describe, prepared);
    const results = items.slice(0, events.length).map(({ input }, index) => {
      const event = events[index] ?? null;
      return event === null ? unknownObject(input) : answerOf(integration, event);
    });
    return { results, touched: [integrationId] };
  },
};

export const pingWebhook: Handler<typeof OPERATIONS.pingWebhook> = async (call) => {
  const type = textOrNull(call.body.type ?? null);
  const objectId = textOrNull(call.body.object_id ?? null);
  if (type === null && objectId !== null) throw badType('type is required where object_id is sent.');
  if (type === null) return await answerWrite(call, ping, null);
  if (!isEventType(type))
    throw badType(`type must be the name of an event, such as listing.sold, not ${shownText(type)}.`);
  return await answerWrite(call, trigger, { type, objectId });
};

function answerOf(integration: AdmittedIntegration, { id, deliveryId }: RecordedEvent): WriteSuccess {
  const body = { object: 'webhook_ping', delivery_id: deliveryId, event_id: id, enqueued: deliveryId !== null };
  return { status: 200, body: JSON.stringify(body), isTest: integration.isTestMode };
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENT_TYPES, type);
}

function badType(message: string): ApiError {
  return new ApiError('invalid_request', { param: 'type', message });
}

function onlyInTestMode(): ApiError {
  return badType('type can be sent only while the integration is in test mode. A plain ping has no type.');
}

const NOT_FOUND: Record<string, ErrorCode> = {
  listing: 'listing_not_found',
  part: 'part_not_found',
  order: 'order_not_found',
};

function unknownObject({ type }: TestEventRequest): ApiError {
  return new ApiError(NOT_FOUND[subjectOf(type)] ?? 'internal_error', { param: 'object_id' });
}
