import { rendererKey } from '../../../channel/projection/project-items.ts';
import { valuesOf } from '../../../contract/catalogue.ts';
import { ApiError } from '../../../contract/errors.ts';
import { isId } from '../../../contract/ids.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import type { Queryable } from '../../../db/database.ts';
import { assertPiece, firstPiece, type PageRest } from '../../../db/page-bytes.ts';
import { presentOrder } from '../../../sales/orders/change-order.ts';
import {
  findOrder,
  listOrders as findOrders,
  type OrderReader,
  type ReadOrder,
  readOrderPiece,
} from '../../../sales/orders/read-orders.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';
import { listBody } from '../list-body.ts';
import { parseChoices, readListQuery } from '../list-query.ts';

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
  const { limit, filter: statuses, since: updatedAfter, before, key } = wanted;
  return await context.readCache.serve({ request, reply, integration, key }, async () => {
    const orders = await reading(() =>
      findOrders(context.db, { integrationId, organizationId, limit: limit + 1, statuses, updatedAfter, before }),
    );
    const shown = orders.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = orders.length > shown.length && last !== undefined;
    const nextCursor = hasMore ? wanted.cursorAfter({ id: last.id, atMs: last.updatedAt.getTime() }) : null;
    const present = (document: string | null | undefined) =>
      document == null ? null : Buffer.from(presentOrder(context.channel, apiVersion, document));
    const documents = firstPiece(shown.map((order) => present(order.document)));
    const rest = documents.length === shown.length ? null : restOf(context.db, integration, shown, present);
    const body = listBody({ documents, rest, nextCursor }, `${apiVersion} ${rendererKey(context.channel)}`);
    return { ...body, ...UNTIL_THE_CLOCK_MOVES };
  });
};

function restOf(
  db: Queryable,
  reader: OrderReader,
  orders: ReadOrder[],
  present: (document: string | null | undefined) => Buffer | null,
): PageRest {
  return {
    count: orders.length,
    identity: orders.map((order) => `${order.id} ${order.updatedAt.getTime()}`),
    read: async (from) => {
      const wanted = orders.slice(from);
      const piece = await readOrderPiece(db, reader, wanted);
      const byId = new Map(piece.map((order) => [order.id, order.document]));
      return assertPiece(wanted.map((order) => present(byId.get(order.id))));
    },
  };
}

export const getOrder: Handler<typeof OPERATIONS.getOrder> = async ({
  context,
  integration,
  params,
  request,
  reply,
}) => {
  if (!isId('order', params.id)) throw new ApiError('order_not_found');
  return await context.readCache.serve({ request, reply, integration, key: params.id }, async () => {
    const document = await reading(() => findOrder(context.db, integration, params.id));
    if (document === null) throw new ApiError('order_not_found');
    return {
      body: Buffer.from(presentOrder(context.channel, integration.apiVersion, document)),
      ...UNTIL_THE_CLOCK_MOVES,
    };
  });
};
