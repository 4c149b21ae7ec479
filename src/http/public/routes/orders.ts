import { valuesOf } from '../../../contract/catalogue.ts';
import { ApiError } from '../../../contract/errors.ts';
import { isId } from '../../../contract/ids.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import { presentOrder } from '../../../sales/change-order.ts';
import { findOrder, listOrders as findOrders } from '../../../sales/read-orders.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';
import { listEnvelope, parseChoices, readListQuery } from '../list-query.ts';

const STATUSES = valuesOf('order_status');
/** Orders change only with the clock. */
const UNTIL_THE_CLOCK_MOVES = { validUntilMs: null, isCurrent: true };

export const listOrders: Handler<typeof OPERATIONS.listOrders> = async ({
  context,
  integration,
  query,
  request,
  reply,
}) => {
  const { integrationId, organizationId, apiVersion } = integration;
  const wanted = readListQuery({
    list: 'orders',
    integrationId,
    cursors: context.cursors,
    limit: query.limit,
    after: query.after,
    since: { name: 'updated_after', text: query.updated_after },
    filter: { name: 'status', text: query.status, parse: (text) => parseChoices('status', STATUSES, text) },
  });
  return await context.readCache.serve(request, reply, integration, async () => {
    const { limit, filter: statuses, since: updatedAfter, before } = wanted;
    const orders = await reading(() =>
      findOrders(context.db, { integrationId, organizationId, limit: limit + 1, statuses, updatedAfter, before }),
    );
    const shown = orders.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = orders.length > shown.length && last !== undefined;
    const cursor = hasMore ? wanted.cursorAfter({ id: last.id, atMs: last.updatedAt.getTime() }) : null;
    const documents = shown.map((order) => Buffer.from(presentOrder(context.channel, apiVersion, order.document)));
    return { body: listEnvelope(documents, cursor), ...UNTIL_THE_CLOCK_MOVES };
  });
};

export const getOrder: Handler<typeof OPERATIONS.getOrder> = async ({
  context,
  integration,
  params,
  request,
  reply,
}) => {
  if (!isId('order', params.id)) throw new ApiError('order_not_found');
  return await context.readCache.serve(request, reply, integration, async () => {
    const document = await reading(() => findOrder(context.db, integration, params.id));
    if (document === null) throw new ApiError('order_not_found');
    return {
      body: Buffer.from(presentOrder(context.channel, integration.apiVersion, document)),
      ...UNTIL_THE_CLOCK_MOVES,
    };
  });
};
