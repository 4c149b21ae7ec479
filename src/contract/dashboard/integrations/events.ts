import Type, { type Static } from 'typebox';
import { AUDIT_ACTION_LABELS, type AuditAction } from '../../audit-actions.ts';
import { listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { timeFilters } from '../orders/orders.ts';
import { NamedIntegration, nullable, oneOf } from '../schema-parts.ts';
import { DeliveryRow, DeliveryStatus, EventObject, EventTypeName, UnsentReasonName } from './deliveries.ts';
import { EVENT_OUTCOME_LABELS, type EventOutcome } from './delivery-labels.ts';
import { endpointStop } from './integrations.ts';

const Time = Type.String({ format: 'date-time' });

/** What became of an event. */
export const eventOutcome = {
  unsent_reason: nullable(UnsentReasonName, 'Null if it was sent, or is on its way.'),
  delivery: nullable(
    Type.Object({ id: Type.String(), status: DeliveryStatus, attempts: Type.Integer() }),
    'Null if it was never to be sent.',
  ),
};

export const EventRow = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    object: nullable(EventObject),
    integration_id: Type.String(),
    ...eventOutcome,
    created_at: Time,
  },
  { $id: 'EventRow' },
);
export type EventRow = Static<typeof EventRow>;

export const EventPage = Type.Object(
  {
    ...EventRow.properties,
    delivery: nullable(DeliveryRow, 'Null if it was never to be sent.'),
    ...endpointStop,
    integration_name: Type.String(),
    body: Type.String(),
    cause: Type.Object(
      {
        request_ids: Type.Array(Type.String(), {
          description: 'The API request that reported or cancelled the order, or those of the website at that moment.',
        }),
        changes: Type.Array(
          Type.Object({
            id: Type.String(),
            at: Time,
            action: Type.Unsafe<AuditAction>({ type: 'string', enum: Object.keys(AUDIT_ACTION_LABELS) }),
            what: Type.String({ description: 'The action in words.' }),
            by: nullable(Type.String(), 'Null if the person left.'),
          }),
        ),
      },
      { description: 'What was done to the object at the time of the event.' },
    ),
  },
  { $id: 'EventPage' },
);
export type EventPage = Static<typeof EventPage>;

const filters = {
  type: Type.Optional(EventTypeName),
  outcome: Type.Optional(oneOf(Object.keys(EVENT_OUTCOME_LABELS) as EventOutcome[])),
  object_id: Type.Optional(Type.String({ maxLength: 50 })),
  integration_id: Type.Optional(Type.String({ maxLength: 50 })),
  ...timeFilters,
};

export const eventOperations = {
  listEvents: operation({
    method: 'GET',
    path: '/events',
    access: 'staff',
    description:
      'Events of all integrations, newest first, also those that were never sent. `q` finds the id of an event or an object, a stock number, or an order number.',
    query: listQuery(filters),
    response: listOf(EventRow),
  }),
  exportEvents: operation({
    method: 'GET',
    path: '/events/export.csv',
    access: 'staff',
    description:
      'Events as CSV, newest first, with the filters of the list; at most 100,000 and 512 MB. Cells that a spreadsheet would run as formulas are text.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), ...filters }),
    response: 'text/csv',
  }),
  getEventChoices: operation({
    method: 'GET',
    path: '/events/choices',
    access: 'staff',
    description: 'What the filters of the list offer.',
    response: Type.Object({
      integrations: Type.Array(NamedIntegration),
    }),
  }),
  getEvent: operation({
    method: 'GET',
    path: '/events/{event_id}',
    access: 'staff',
    description: 'An event with its body, its delivery, and what was done to its object at that time.',
    params: Type.Object({ event_id: Type.String() }),
    response: EventPage,
  }),
};
