import Type, { type Static } from 'typebox';
import { EVENT_TYPES } from '../../event-types.ts';
import { EXPECTED_ANNOTATION } from '../../openapi/openapi-schemas.ts';
import { Count, listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { timeFilters } from '../orders/orders.ts';
import { nullable, oneOf } from '../schema-parts.ts';
import {
  DELIVERY_STATUS_LABELS,
  type DeliveryStatusName,
  UNSENT_REASON_LABELS,
  type UnsentReason,
} from './delivery-labels.ts';
import { endpointStop } from './integrations.ts';

const Time = Type.String({ format: 'date-time' });
const OptionalText = nullable(Type.String());
export const DeliveryStatus = oneOf(Object.keys(DELIVERY_STATUS_LABELS) as DeliveryStatusName[]);
export const UnsentReasonName = oneOf(Object.keys(UNSENT_REASON_LABELS) as UnsentReason[]);
export const EventTypeName = oneOf(Object.keys(EVENT_TYPES), 'An event’s name.');

/** The object of an event, if it still exists. */
export const EventObject = Type.Object(
  {
    id: Type.String(),
    name: nullable(Type.String(), 'Null if it is gone.'),
    detail: nullable(Type.String(), 'A stock number, or where an order came from.'),
    photo_url: OptionalText,
  },
  { $id: 'EventObject' },
);

export const DeliveryRow = Type.Object(
  {
    id: Type.String(),
    event_id: Type.String(),
    type: Type.String(),
    object: nullable(EventObject),
    integration_id: Type.String(),
    status: DeliveryStatus,
    is_in_flight: Type.Boolean({ description: 'It is being sent right now.' }),
    attempts: Type.Integer({ description: 'Since it was made, or since it was replayed.' }),
    response_code: nullable(Type.Integer(), 'Of the last attempt; null if nothing answered, or nothing was sent yet.'),
    error: OptionalText,
    delay_ms: nullable(Type.Integer(), 'From the event until it was delivered.'),
    next_attempt_at: nullable(Time),
    created_at: Time,
  },
  { $id: 'DeliveryRow' },
);
export type DeliveryRow = Static<typeof DeliveryRow>;

const Attempt = Type.Object({
  attempt: nullable(Type.Integer(), 'From 1, since the delivery was made or replayed.'),
  delivery_id: nullable(Type.String(), 'The X-SVC-Delivery-Id that it carried.'),
  is_success: Type.Boolean(),
  url: OptionalText,
  signed_at: nullable(Type.Integer(), 'The `t` of its signature.'),
  ended_at: Time,
  duration_ms: nullable(Type.Integer()),
  response_code: nullable(Type.Integer()),
  response_body: nullable(Type.String(), 'The first 1 KiB.'),
  error: OptionalText,
  headers: Type.Record(Type.String(), Type.String(), { description: 'As they were sent.' }),
  signature: Type.Object({
    verified_with: Type.Integer({ description: 'How many secrets of that time exist still and verified it.' }),
    problem: nullable(Type.String(), 'Why it can’t be computed again.'),
  }),
});

export const DeliveryPage = Type.Object(
  {
    ...DeliveryRow.properties,
    integration_name: Type.String(),
    event_created_at: Time,
    body: Type.String({ description: 'The bytes that are signed and sent.' }),
    finished_at: nullable(Time),
    attempts_log: Type.Array(Attempt, { description: 'Every failed attempt and the last one, newest first.' }),
    can_replay: Type.Boolean(),
    ...endpointStop,
  },
  { $id: 'DeliveryPage' },
);
export type DeliveryPage = Static<typeof DeliveryPage>;

const filters = {
  status: Type.Optional(DeliveryStatus),
  type: Type.Optional(EventTypeName),
  object_id: Type.Optional(Type.String({ maxLength: 50, description: 'Of a listing, a part or an order.' })),
  code: Type.Optional(
    Type.String({
      pattern: '^(none|[1-5]xx|[1-5][0-9]{2})$',
      [EXPECTED_ANNOTATION]: 'a status code, 4xx or none',
      description: 'A status code, `4xx`, or `none`.',
    }),
  ),
  integration_id: Type.Optional(Type.String({ maxLength: 50 })),
  ...timeFilters,
};
const match = { q: Type.Optional(Type.String({ maxLength: 200 })), ...filters };

/** How many deliveries one request can replay. For more, it starts a job. */
export const REPLAY_AT_ONCE_LIMIT = 1_000;

export const deliveryOperations = {
  listDeliveries: operation({
    method: 'GET',
    path: '/deliveries',
    access: 'staff',
    description:
      'Deliveries of all integrations, newest first. `q` finds the id of a delivery, an attempt, an event or an object, a stock number, or an order number.',
    query: listQuery(filters),
    response: listOf(DeliveryRow),
  }),
  exportDeliveries: operation({
    method: 'GET',
    path: '/deliveries/export.csv',
    access: 'staff',
    description:
      'Deliveries as CSV, newest first, with the filters of the list; at most 100,000 and 512 MB. Cells that a spreadsheet would run as formulas are text.',
    query: Type.Object(filters),
    response: 'text/csv',
  }),
  getDeliveryChoices: operation({
    method: 'GET',
    path: '/deliveries/choices',
    access: 'staff',
    description:
      'Integrations and whether they send, how many deliveries each status has, and replays that are running.',
    query: Type.Object(match),
    response: Type.Object({
      integrations: Type.Array(
        Type.Object({
          integration_id: Type.String(),
          name: Type.String(),
          url: OptionalText,
          is_enabled: Type.Boolean(),
          ...endpointStop,
          held: Count,
        }),
      ),
      statuses: Type.Record(Type.String(), Count),
      unsent: Type.Record(Type.String(), Count, {
        description: 'How many events match that have no delivery, by the reason; without the filter by code.',
      }),
      replays: Type.Array(
        Type.Object({
          id: Type.String(),
          integration_id: Type.String(),
          done: Type.Integer(),
          total: Type.Integer(),
        }),
      ),
    }),
  }),
  getDelivery: operation({
    method: 'GET',
    path: '/deliveries/{delivery_id}',
    access: 'staff',
    description: 'A delivery with every failed attempt and the last one. Takes the id of any of its attempts, too.',
    params: Type.Object({ delivery_id: Type.String() }),
    response: DeliveryPage,
  }),
  replayDelivery: operation({
    method: 'POST',
    path: '/deliveries/{delivery_id}/replay',
    access: 'staff',
    description: 'Sends a delivery again, with a fresh attempt counter.',
    params: Type.Object({ delivery_id: Type.String() }),
    response: null,
  }),
  replayDeliveries: operation({
    method: 'POST',
    path: '/replays',
    access: 'staff',
    description: `Sends many again: those selected, or all that match. Up to ${REPLAY_AT_ONCE_LIMIT} are queued at once; more of them are a job for each integration, which can’t filter by object or code.`,
    body: Type.Object({
      delivery_ids: Type.Optional(
        Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: REPLAY_AT_ONCE_LIMIT }),
      ),
      match: Type.Optional(Type.Object(match)),
    }),
    response: Type.Object({
      queued: Type.Integer({ description: 'Queued now.' }),
      skipped: Type.Integer({ description: 'Being sent, held, or waiting already.' }),
      in_jobs: Type.Integer({ description: 'Queued step by step by jobs that were started.' }),
    }),
  }),
  cancelReplay: operation({
    method: 'POST',
    path: '/replays/{replay_id}/cancel',
    access: 'staff',
    overQuota: 'served',
    description: 'Ends a replay that is running. What it has queued is sent.',
    params: Type.Object({ replay_id: Type.String() }),
    response: null,
  }),
};
