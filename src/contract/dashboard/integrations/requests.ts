import Type, { type Static } from 'typebox';
import {
  DEALER_QUOTA_TIMES,
  LOGGED_ERRORS_PER_MINUTE,
  LOGGED_READS_PER_MINUTE,
  REQUEST_LOG_DAYS,
} from '../../limits.ts';
import { listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { timeFilters } from '../orders/orders.ts';
import { nullable, oneOf } from '../schema-parts.ts';

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;
const LOGGED_METHODS = ['GET', 'POST', 'HEAD'] as const;

export const ApiRequest = Type.Object(
  {
    id: Type.String(),
    at: Type.String({ format: 'date-time' }),
    integration_id: Type.String(),
    method: Type.String(),
    route: nullable(Type.String(), 'Null if the path is none of the API’s.'),
    query: Type.Array(Type.Object({ name: Type.String(), value: nullable(Type.String(), 'Null for a cursor.') }), {
      description: 'Known parameters.',
    }),
    status: nullable(Type.Integer(), 'Null if the client went away before the answer.'),
    code: nullable(Type.String(), 'Of the error.'),
    duration_ms: Type.Integer(),
    key_hint: Type.String({ description: 'How the key begins.' }),
    idempotency_key: nullable(Type.String()),
    object_id: nullable(Type.String(), 'What the request made or changed.'),
    ignored_fields: Type.Array(
      Type.Object({ path: Type.String(), meant: nullable(Type.String(), 'The known name that was probably meant.') }),
    ),
    original_request_id: nullable(Type.String(), 'The first request, if this one was an idempotent replay.'),
  },
  { $id: 'ApiRequest' },
);
export type ApiRequest = Static<typeof ApiRequest>;

const filters = {
  status: Type.Optional(oneOf(STATUS_CLASSES)),
  method: Type.Optional(oneOf(LOGGED_METHODS)),
  route: Type.Optional(Type.String({ maxLength: 200, description: 'Such as `/v1/orders/{id}`.' })),
  integration_id: Type.Optional(Type.String({ maxLength: 50 })),
  ...timeFilters,
};

export const requestOperations = {
  listRequests: operation({
    method: 'GET',
    path: '/requests',
    access: 'staff',
    description: `API requests of the last ${REQUEST_LOG_DAYS} days, newest first: all writes that succeeded, and up to ${LOGGED_READS_PER_MINUTE} reads and ${LOGGED_ERRORS_PER_MINUTE} errors a minute of each integration, ${DEALER_QUOTA_TIMES} times as many of all together. \`q\` is a request id or an idempotency key.`,
    query: listQuery(filters),
    response: listOf(ApiRequest),
  }),
  exportRequests: operation({
    method: 'GET',
    path: '/requests/export.csv',
    access: 'staff',
    description:
      'Requests as CSV, newest first, with the filters of the list; at most 100,000 and 512 MB. Cells that a spreadsheet would run as formulas are text.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), ...filters }),
    response: 'text/csv',
  }),
  getRequestChoices: operation({
    method: 'GET',
    path: '/requests/choices',
    access: 'staff',
    description: 'What the filters of the list offer, and how many requests of the same days are not in it.',
    response: Type.Object({
      integrations: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
      routes: Type.Array(Type.String()),
      reads_not_logged: Type.Integer({ description: 'Beyond the limit of a minute.' }),
      errors_not_logged: Type.Integer({ description: 'Beyond the limit of a minute.' }),
      dropped: Type.Integer({ description: 'Under load.' }),
    }),
  }),
  getRequest: operation({
    method: 'GET',
    path: '/requests/{request_id}',
    access: 'staff',
    description: 'One API request, with the ids of its idempotent replays.',
    params: Type.Object({ request_id: Type.String() }),
    response: Type.Object({
      request: ApiRequest,
      integration_name: Type.String(),
      error: nullable(
        Type.Object({ cause: Type.String(), recovery: Type.String() }),
        'What the code of the error means, and what the client does about it.',
      ),
      is_original_logged: Type.Boolean({ description: 'The original is still in the log.' }),
      replay_ids: Type.Array(Type.String(), { description: 'Newest first.' }),
    }),
  }),
};
