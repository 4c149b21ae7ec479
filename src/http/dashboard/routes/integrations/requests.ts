import type { ApiRequest, requestOperations } from '../../../../contract/dashboard/integrations/requests.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import { ERRORS, type ErrorCode } from '../../../../contract/errors.ts';
import type { Operation } from '../../../../contract/operations/operation.ts';
import { OPERATIONS } from '../../../../contract/operations.ts';
import { type ChannelName, listChannels } from '../../../../dealers/integrations/integrations.ts';
import {
  countApiRequests,
  findApiRequest,
  type ListedRequest,
  listApiRequests,
  type RequestFilter,
  replaysOf,
  sumUnlogged,
} from '../../../logging/api-requests.ts';
import type { Call, DashboardContext, Handlers } from '../../call.ts';
import { sendCsv } from '../../lists/csv-export.ts';
import { pageRequestOf, readPage, sortOf } from '../../lists/list-page.ts';
import { timesOf } from '../../presenters/order-presenters.ts';

/** The log has one order. */
const SORTS = ['-at'] as const;
/** Open operations need no key, so they are in nobody's log. */
const ROUTES = [
  ...new Set((Object.values(OPERATIONS) as Operation[]).filter(({ isOpen }) => !isOpen).map(({ path }) => path)),
];

export const requestHandlers: Handlers<typeof requestOperations> = {
  async listRequests({ context, user, query }) {
    const sort = sortOf(query.sort, SORTS);
    const request = pageRequestOf(query, sort);
    const channels = await listChannels(context.db, user.organizationId);
    const filter = filterOf(context, channels, query);
    const { rows, page } = await readPage(request, sort, {
      read: () => listApiRequests(context.db, { ...filter, start: request.from, limit: request.limit + 1 }),
      count: () => countApiRequests(context.db, filter),
      positionOf: (row) => ({ value: row.position, id: row.requestId }),
    });
    return { data: rows.map(present), ...page };
  },

  async exportRequests({ context, user, query, reply }) {
    const { db } = context;
    const channels = await listChannels(db, user.organizationId);
    const filter = filterOf(context, channels, query);
    return await sendCsv({ user, reply }, 'requests.csv', {
      header: REQUEST_HEADER,
      async read(start, limit) {
        const rows = await listApiRequests(db, { ...filter, start, limit });
        return rows.map((row) => ({ ...row, id: row.requestId }));
      },
      cellsOf: async (rows) => rows.map((row) => requestCells(row, channels)),
    });
  },

  async getRequestChoices({ context, user }) {
    const channels = await listChannels(context.db, user.organizationId);
    const unlogged = await sumUnlogged(
      context.db,
      channels.map(({ id }) => id),
    );
    return {
      integrations: channels.map(({ id, name }) => ({ id, name })),
      routes: ROUTES,
      reads_not_logged: unlogged.reads,
      errors_not_logged: unlogged.errors,
      dropped: unlogged.dropped,
    };
  },

  async getRequest({ context, user, params }) {
    const channels = await listChannels(context.db, user.organizationId);
    const ids = channels.map(({ id }) => id);
    const found = await findApiRequest(context.db, ids, params.request_id);
    if (found === null) throw new DomainError('not_found', 'There is no such request in the log.');
    const { originalRequestId, integrationId } = found;
    const original = originalRequestId === null ? null : await findApiRequest(context.db, ids, originalRequestId);
    return {
      request: present(found),
      integration_name: channels.find(({ id }) => id === integrationId)?.name ?? '',
      error: meaningOf(found.code),
      is_original_logged: original !== null,
      replay_ids: await replaysOf(context.db, found),
    };
  },
};

type RequestQuery = Pick<
  Call<typeof requestOperations.listRequests>['query'],
  'q' | 'status' | 'method' | 'route' | 'integration_id' | 'period' | 'from' | 'to'
>;

function filterOf(context: DashboardContext, channels: ChannelName[], query: RequestQuery): RequestFilter {
  const isWanted = (id: string) => query.integration_id === undefined || id === query.integration_id;
  return {
    integrationIds: channels.map(({ id }) => id).filter(isWanted),
    statusClass: query.status === undefined ? null : Number(query.status[0]),
    method: query.method ?? null,
    route: query.route ?? null,
    search: query.q ?? '',
    ...timesOf(context, query),
  };
}

const REQUEST_HEADER = [
  'time',
  'method',
  'route',
  'status',
  'code',
  'integration',
  'duration_ms',
  'idempotency_key',
  'made',
  'replay_of',
  'id',
];

function requestCells(row: ListedRequest, channels: ChannelName[]): string[] {
  return [
    row.at.toISOString(),
    row.method,
    row.route ?? '',
    String(row.status ?? ''),
    row.code ?? '',
    channels.find(({ id }) => id === row.integrationId)?.name ?? '',
    String(row.durationMs),
    row.idempotencyKey ?? '',
    row.objectId ?? '',
    row.originalRequestId ?? '',
    row.requestId,
  ];
}

function meaningOf(code: string | null) {
  const entry = code === null ? undefined : ERRORS[code as ErrorCode];
  return entry === undefined ? null : { cause: entry.cause, recovery: entry.recovery };
}

function present(row: ListedRequest): ApiRequest {
  return {
    id: row.requestId,
    at: row.at.toISOString(),
    integration_id: row.integrationId,
    method: row.method,
    route: row.route,
    query: row.query === null ? [] : JSON.parse(row.query),
    status: row.status,
    code: row.code,
    duration_ms: row.durationMs,
    key_hint: row.keyHint,
    idempotency_key: row.idempotencyKey,
    object_id: row.objectId,
    ignored_fields: row.ignoredFields === null ? [] : JSON.parse(row.ignoredFields),
    original_request_id: row.originalRequestId,
  };
}
