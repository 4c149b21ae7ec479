import Type, { type Static, type TSchema } from 'typebox';
import { valuesOf } from './catalogue.ts';
import type { ErrorCode } from './errors.ts';
import { EVENT_TYPES } from './event-types.ts';
import {
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  CHANNEL_ORDER_ID_LENGTH_LIMIT,
  EVENT_LOG_DAYS,
  RESERVATION_RETENTION_DAYS,
} from './limits.ts';
import {
  BulkInput,
  BulkResult,
  bulkResultExample,
  Customer,
  CustomerInput,
  customerExample,
  customerInputExample,
} from './resources/customer.ts';
import { Event, eventExample } from './resources/event.ts';
import { Health, healthExample } from './resources/health.ts';
import { Integration, integrationExample } from './resources/integration.ts';
import {
  afterParameter,
  idsParameter,
  ListOf,
  ListWithMissing,
  limitParameter,
  listExample,
  statusParameter,
  updatedAfterParameter,
} from './resources/list.ts';
import { Listing, listingExample } from './resources/listing.ts';
import { CancelInput, Order, OrderInput, orderExample, orderInputExample } from './resources/order.ts';
import { Part, partExample } from './resources/part.ts';
import { Ping, PingInput, pingExample } from './resources/ping.ts';
import { Ready, readyExample } from './resources/ready.ts';
import {
  Reservation,
  ReservationExtendInput,
  ReservationInput,
  ReservationReleaseInput,
  reservationExample,
  reservationInputExample,
} from './resources/reservation.ts';

/**
 * The table of everything the API does. Routing, validation, token costs, OpenAPI and the docs read it; a handler
 * without an operation, or an operation without a handler, stops the server at start.
 */
export type Operation<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
> = {
  id: string;
  method: 'GET' | 'POST';
  /** Served under {base_url}/api; parameters are written {like_this}. */
  path: string;
  tag: Tag;
  summary: string;
  description: string;
  /** Rate-limit tokens. An open operation needs no key and costs nothing. */
  cost: number;
  isOpen: boolean;
  /** True for every mutating POST: the `Idempotency-Key` header is required. */
  isIdempotent: boolean;
  /** The answer carries an ETag; to a request that names it in If-None-Match the answer is 304. */
  hasEtag: boolean;
  bodyLimitBytes: number;
  params: Params;
  query: Query;
  body: Body | null;
  bodyExample?: unknown;
  /** If no field is required, the body may be left out. */
  isBodyOptional?: boolean;
  success: { status: number; description: string; schema: TSchema; example: unknown };
  /** A second status of success, with the same body. */
  alsoSuccess?: { status: number; description: string };
  /** The error codes of this operation besides those that all of its kind share. */
  errors: readonly ErrorCode[];
};

export const TAGS = {
  Service: 'Open endpoints about the service itself.',
  Integration: 'The integration behind the API key.',
  Listings: 'Watches on the channel.',
  Parts: 'Spare parts on the channel.',
  Orders: 'Orders taken on the client’s site.',
  Reservations: 'Units that are held for the time of a checkout.',
  Customers: 'The people who buy.',
  Events: 'What happened on the dealer’s side: as webhooks, and as a list for catching up.',
} as const;
export type Tag = keyof typeof TAGS;

export type ParamsOf<Op extends Operation> = Static<Op['params']>;
export type QueryOf<Op extends Operation> = Static<Op['query']>;
export type BodyOf<Op extends Operation> = Op['body'] extends TSchema ? Static<Op['body']> : null;

const nothing = Type.Object({});

function read<Params extends TSchema = typeof nothing, Query extends TSchema = typeof nothing>(
  operation: Pick<Operation, 'id' | 'path' | 'tag' | 'summary' | 'description' | 'success' | 'errors'> & {
    isOpen?: boolean;
    hasEtag?: boolean;
    params?: Params;
    query?: Query;
  },
) {
  const isOpen = operation.isOpen ?? false;
  return {
    ...operation,
    method: 'GET' as const,
    isOpen,
    cost: isOpen ? 0 : 1,
    isIdempotent: false,
    hasEtag: operation.hasEtag ?? false,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    params: (operation.params ?? nothing) as Params,
    query: (operation.query ?? nothing) as Query,
    body: null,
  } satisfies Operation<Params, Query, TSchema>;
}

const orderIdParameter = Type.Object({
  id: Type.String({ description: 'Id of the order.', examples: [orderExample.id] }),
});

const reservationIdParameter = Type.Object({
  id: Type.String({ description: 'Id of the reservation.', examples: [reservationExample.id] }),
});

/** A mutating POST: it carries an Idempotency-Key, and may be retried at any time. */
function write<Body extends TSchema, Params extends TSchema = typeof nothing>(
  operation: Pick<
    Operation,
    'id' | 'path' | 'tag' | 'summary' | 'description' | 'success' | 'alsoSuccess' | 'errors' | 'cost'
  > & {
    body: Body;
    bodyExample: unknown;
    isBodyOptional?: boolean;
    bodyLimitBytes?: number;
    params?: Params;
  },
) {
  return {
    ...operation,
    method: 'POST' as const,
    isOpen: false as const,
    isIdempotent: true,
    hasEtag: false,
    bodyLimitBytes: operation.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    params: (operation.params ?? nothing) as Params,
    query: nothing,
    body: operation.body,
  } satisfies Operation<Params, typeof nothing, Body>;
}

export const OPERATIONS = {
  getHealth: read({
    id: 'getHealth',
    path: '/v1/health',
    tag: 'Service',
    summary: 'Probe liveness',
    description: 'Answers as long as the process serves requests. Needs no key and is never limited.',
    isOpen: true,
    success: { status: 200, description: 'The service is up.', schema: Health, example: healthExample },
    errors: [],
  }),
  getReady: read({
    id: 'getReady',
    path: '/v1/ready',
    tag: 'Service',
    summary: 'Probe readiness',
    description:
      'For load balancers: whether to send requests to this process. It answers 503 while it starts, before it stops, and while the database does not answer. Needs no key and is never limited.',
    isOpen: true,
    success: { status: 200, description: 'The process takes requests.', schema: Ready, example: readyExample },
    errors: ['not_ready'],
  }),
  getOpenapi: read({
    id: 'getOpenapi',
    path: '/v1/openapi.json',
    tag: 'Service',
    summary: 'Read this description',
    description: 'The OpenAPI 3.1 description of the API. Needs no key and is never limited.',
    isOpen: true,
    success: {
      status: 200,
      description: 'An OpenAPI 3.1 document.',
      schema: Type.Object({ openapi: Type.String({ description: 'The version of OpenAPI it is written in.' }) }),
      example: { openapi: '3.1.1' },
    },
    errors: [],
  }),
  getMe: read({
    id: 'getMe',
    path: '/v1/me',
    tag: 'Integration',
    summary: 'Read the integration',
    description: 'Describes the integration that the API key belongs to: its mode, version, limit and webhook state.',
    success: { status: 200, description: 'The integration.', schema: Integration, example: integrationExample },
    errors: ['query_failed'],
  }),
  listListings: read({
    id: 'listListings',
    path: '/v1/listings',
    tag: 'Listings',
    summary: 'List listings',
    description:
      'Newest change first (`updated_at`, then `id`, descending). A plain list holds what can be sold now. With `updated_after` it holds every status, so that a client that keeps the newest `updated_at` it saw never misses a change. With `ids` it holds these listings instead, in the order asked and in every status.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      updated_after: updatedAfterParameter,
      status: statusParameter(valuesOf('listing_status'), '`active`, or every status with `updated_after`'),
      ids: idsParameter(listingExample.id),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of listings.',
      schema: ListWithMissing(Listing, 'ListingList'),
      example: listExample(listingExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getListing: read({
    id: 'getListing',
    path: '/v1/listings/{id}',
    tag: 'Listings',
    summary: 'Read a listing',
    description: 'One listing, also when it is sold, reserved or unpublished, as long as it is or was on the channel.',
    params: Type.Object({ id: Type.String({ description: 'Id of the listing.', examples: [listingExample.id] }) }),
    hasEtag: true,
    success: { status: 200, description: 'The listing.', schema: Listing, example: listingExample },
    errors: ['listing_not_found', 'query_failed'],
  }),
  listParts: read({
    id: 'listParts',
    path: '/v1/parts',
    tag: 'Parts',
    summary: 'List parts',
    description:
      'Newest change first. A plain list holds what can be sold now; with `updated_after` it holds every status. A part that was taken off the channel is in no list: its removal is an event. With `ids` the list holds these parts instead, in the order asked and in every status.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      updated_after: updatedAfterParameter,
      status: statusParameter(valuesOf('part_status'), '`active`, or every status with `updated_after`'),
      ids: idsParameter(partExample.id),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of parts.',
      schema: ListWithMissing(Part, 'PartList'),
      example: listExample(partExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getPart: read({
    id: 'getPart',
    path: '/v1/parts/{id}',
    tag: 'Parts',
    summary: 'Read a part',
    description: 'One part, also when it is sold out or hidden, while it is on the channel.',
    params: Type.Object({ id: Type.String({ description: 'Id of the part.', examples: [partExample.id] }) }),
    hasEtag: true,
    success: { status: 200, description: 'The part.', schema: Part, example: partExample },
    errors: ['part_not_found', 'query_failed'],
  }),
  listEvents: read({
    id: 'listEvents',
    path: '/v1/events',
    tag: 'Events',
    summary: 'List events',
    description: `The events of the last ${EVENT_LOG_DAYS} days, newest first, whether or not a webhook carried them. Removals (a part off the channel, a deleted item) are learnt here: a lossless sync reads this list and the lists with \`updated_after\`; after more than ${EVENT_LOG_DAYS} days away it lists anew.`,
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      created_after: Type.Optional(
        Type.String({
          description: 'ISO 8601 time with any offset, or a plain date. Keeps events whose `created_at` is later.',
          examples: ['2026-05-08T09:00:00.123Z'],
        }),
      ),
      type: Type.Optional(
        Type.String({
          description: `A comma-separated list of event names or wildcards such as \`listing.*\`: ${Object.keys(EVENT_TYPES).join(', ')}.`,
          examples: ['part.*,listing.unpublished'],
        }),
      ),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of events.',
      schema: ListOf(Event, 'EventList'),
      example: listExample(eventExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  createOrder: write({
    id: 'createOrder',
    path: '/v1/orders',
    tag: 'Orders',
    summary: 'Report an order',
    description:
      'Reports an order that was taken on your site. Only `channel_order_id` is required. A live order takes its stock at once; a line whose item is unknown, taken or short of stock is stored with `match: null` and left to the dealer: a sale that happened is never refused.',
    cost: 2,
    body: OrderInput,
    bodyExample: orderInputExample,
    success: { status: 201, description: 'The order.', schema: Order, example: orderExample },
    errors: ['duplicate_channel_order_id', 'insert_failed'],
  }),
  listOrders: read({
    id: 'listOrders',
    path: '/v1/orders',
    tag: 'Orders',
    summary: 'List orders',
    description:
      'Newest change first, of every status unless `status` says otherwise. With `channel_order_id` it holds the order that you reported under this id, or nothing.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      updated_after: updatedAfterParameter,
      status: statusParameter(valuesOf('order_status'), 'every status'),
      channel_order_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: CHANNEL_ORDER_ID_LENGTH_LIMIT,
          description: 'Your own id of an order: the list holds that order, or nothing. Not together with `after`.',
          examples: [orderExample.channel_order_id],
        }),
      ),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of orders.',
      schema: ListOf(Order, 'OrderList'),
      example: listExample(orderExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getOrder: read({
    id: 'getOrder',
    path: '/v1/orders/{id}',
    tag: 'Orders',
    summary: 'Read an order',
    description: 'One order that this integration reported.',
    params: orderIdParameter,
    hasEtag: true,
    success: { status: 200, description: 'The order.', schema: Order, example: orderExample },
    errors: ['order_not_found', 'query_failed'],
  }),
  cancelOrder: write({
    id: 'cancelOrder',
    path: '/v1/orders/{id}/cancel',
    tag: 'Orders',
    summary: 'Cancel an order',
    description:
      'Cancels an order that the dealer has not matched to a completed sale, and gives its stock back. Cancelling it again changes nothing and answers the same. The body may be empty.',
    cost: 2,
    params: orderIdParameter,
    body: CancelInput,
    bodyExample: { reason: 'The customer changed her mind.' },
    isBodyOptional: true,
    success: {
      status: 200,
      description: 'The order.',
      schema: Order,
      example: {
        ...orderExample,
        status: 'cancelled',
        cancelled_at: orderExample.updated_at,
        cancellation: { by: 'api', reason: 'The customer changed her mind.' },
      },
    },
    errors: ['order_not_found', 'order_matched', 'cancel_failed'],
  }),
  createReservation: write({
    id: 'createReservation',
    path: '/v1/reservations',
    tag: 'Reservations',
    summary: 'Reserve units',
    description:
      'Holds units of a listing or a part while your buyer checks out, so that nobody else can buy them. When the buyer has paid, report the order and name the reservation in the line’s `reservation_id`. In test mode it answers the same and holds nothing.',
    cost: 1,
    body: ReservationInput,
    bodyExample: reservationInputExample,
    success: { status: 201, description: 'The reservation.', schema: Reservation, example: reservationExample },
    errors: ['listing_not_found', 'part_not_found', 'not_available', 'too_many_reservations', 'reservation_failed'],
  }),
  listReservations: read({
    id: 'listReservations',
    path: '/v1/reservations',
    tag: 'Reservations',
    summary: 'List reservations',
    description:
      'The integration’s reservations, newest change first, of every status unless `status` says otherwise. One whose time is over may be listed as `active` until the service has ended it, about a second later; compare `expires_at`.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      status: statusParameter(valuesOf('reservation_status'), 'every status'),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of reservations.',
      schema: ListOf(Reservation, 'ReservationList'),
      example: listExample(reservationExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getReservation: read({
    id: 'getReservation',
    path: '/v1/reservations/{id}',
    tag: 'Reservations',
    summary: 'Read a reservation',
    description: `One reservation that this integration made. It can be read for ${RESERVATION_RETENTION_DAYS} days after it has ended.`,
    params: reservationIdParameter,
    hasEtag: true,
    success: { status: 200, description: 'The reservation.', schema: Reservation, example: reservationExample },
    errors: ['reservation_not_found', 'query_failed'],
  }),
  releaseReservation: write({
    id: 'releaseReservation',
    path: '/v1/reservations/{id}/release',
    tag: 'Reservations',
    summary: 'Release a reservation',
    description:
      'Gives the units back, as when the buyer leaves. One that is released or expired already is answered unchanged. The body may be empty.',
    cost: 1,
    params: reservationIdParameter,
    body: ReservationReleaseInput,
    bodyExample: {},
    isBodyOptional: true,
    success: {
      status: 200,
      description: 'The reservation.',
      schema: Reservation,
      example: { ...reservationExample, status: 'released' },
    },
    errors: ['reservation_not_found', 'reservation_not_active', 'reservation_failed'],
  }),
  extendReservation: write({
    id: 'extendReservation',
    path: '/v1/reservations/{id}/extend',
    tag: 'Reservations',
    summary: 'Extend a reservation',
    description:
      'Counts the time of an active reservation anew from now. It ends at most two hours after it was made: a longer `ttl_seconds` is cut to that, and the answer’s `expires_at` says when it ends.',
    cost: 1,
    params: reservationIdParameter,
    body: ReservationExtendInput,
    bodyExample: { ttl_seconds: 600 },
    success: {
      status: 200,
      description: 'The reservation.',
      schema: Reservation,
      example: { ...reservationExample, expires_at: '2026-05-08T09:20:00.123Z' },
    },
    errors: ['reservation_not_found', 'reservation_not_active', 'reservation_failed'],
  }),
  upsertCustomer: write({
    id: 'upsertCustomer',
    path: '/v1/customers',
    tag: 'Customers',
    summary: 'Create or update a customer',
    description:
      'Finds the customer by `external_id`, then by email, then by phone, and updates it, or creates it. A field that is absent keeps its value; null clears it.',
    cost: 2,
    body: CustomerInput,
    bodyExample: customerInputExample,
    success: { status: 201, description: 'The customer was created.', schema: Customer, example: customerExample },
    alsoSuccess: { status: 200, description: 'The customer was updated.' },
    errors: ['customer_contact_conflict', 'upsert_failed'],
  }),
  upsertCustomers: write({
    id: 'upsertCustomers',
    path: '/v1/customers/bulk',
    tag: 'Customers',
    summary: 'Create or update up to 1000 customers',
    description:
      'Takes 1 to 1000 records in their order, all or nothing: a record that fails is named in `param`, and nothing of the call is stored.',
    cost: 10,
    bodyLimitBytes: BULK_BODY_LIMIT_BYTES,
    body: BulkInput,
    bodyExample: { customers: [customerInputExample] },
    success: {
      status: 200,
      description: 'What became of each record.',
      schema: BulkResult,
      example: bulkResultExample,
    },
    errors: ['customer_contact_conflict', 'bulk_upsert_failed'],
  }),
  pingWebhook: write({
    id: 'pingWebhook',
    path: '/v1/test/webhook_ping',
    tag: 'Integration',
    summary: 'Fire a test webhook',
    description:
      'Sends `integration.test_event` to the configured URL, whatever the subscriptions. With no URL, or with webhooks off, nothing is enqueued. While the integration is in test mode, `type` sends any other event instead, as the real one would be and with `livemode: false`; nothing else happens.',
    cost: 1,
    body: PingInput,
    bodyExample: {},
    isBodyOptional: true,
    success: { status: 200, description: 'What was enqueued.', schema: Ping, example: pingExample },
    errors: ['listing_not_found', 'part_not_found', 'order_not_found', 'ping_failed'],
  }),
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** The errors that any request can meet before it reaches its operation. */
export const TRANSPORT_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
];

/** The errors of authentication and admission, which every operation with a key shares. */
export const ADMISSION_ERRORS: readonly ErrorCode[] = [
  'missing_authorization',
  'malformed_authorization',
  'invalid_api_key',
  'auth_lookup_failed',
  'integration_disabled',
  'integration_not_provisioned',
  'integration_org_missing',
  'subscription_required',
  'too_many_requests',
];

/** The errors of every mutating POST. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'missing_idempotency_key',
  'invalid_json',
  'request_too_large',
  'key_reused_with_different_body',
  'idempotency_key_in_use',
  'storage_quota_exceeded',
  'lookup_failed',
];

/** The errors of every read with a key. */
const READ_ERRORS: readonly ErrorCode[] = ['overloaded'];

/** Every error code that an operation can answer with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  return [
    ...new Set([
      ...TRANSPORT_ERRORS,
      ...(operation.isOpen ? [] : ADMISSION_ERRORS),
      ...(operation.isIdempotent ? WRITE_ERRORS : []),
      ...(operation.method === 'GET' && !operation.isOpen ? READ_ERRORS : []),
      ...operation.errors,
    ]),
  ];
}
