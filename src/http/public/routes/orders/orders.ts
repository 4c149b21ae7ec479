import { rendererKey } from '../../../../channel/projection/project-items.ts';
import { valuesOf } from '../../../../contract/enumerations.ts';
import { ApiError } from '../../../../contract/errors.ts';
import { isId } from '../../../../contract/ids.ts';
import type { OPERATIONS } from '../../../../contract/operations.ts';
import type { Queryable } from '../../../../db/database.ts';
import { assertPiece, firstPiece, type PageRest, PIECE_DOCUMENTS } from '../../../../db/large-pages.ts';
import { presentOrder } from '../../../../sales/orders/change-order.ts';
import {
  findOrder,
  findOrderOfChannel,
  listOrders as findOrders,
  type OrderReader,
  type ReadOrder,
  readOrderPiece,
} from '../../../../sales/orders/read-orders.ts';
import { isStorable } from '../../../json/unstorable.ts';
import { reading } from '../../database-faults.ts';
import type { Call, Handler } from '../../handler.ts';
import { listBody } from '../../reads/list-body.ts';
import { type ListQuery, parseChoices, readListQuery } from '../../reads/list-query.ts';

type ListCall = Call<typeof OPERATIONS.listOrders>;

const STATUSES = valuesOf('order_status');
/** Orders change only with the clock. */
const UNTIL_THE_CLOCK_MOVES = { validUntilMs: null, isCurrent: true };

export const listOrders: Handler<typeof OPERATIONS.listOrders> = async (call) => {
  const { context, integration, query, request, reply } = call;
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
  if (query.channel_order_id !== undefined) return await findByChannelOrderId(call, query.channel_order_id, wanted);
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

/** A list of none or one. */
async function findByChannelOrderId(call: ListCall, channelOrderId: string, wanted: ListQuery): Promise<unknown> {
  const { context, integration, request, reply } = call;
  const { filter: statuses, since: updatedAfter, before } = wanted;
  if (before !== null) {
    throw new ApiError('invalid_request', {
      param: 'channel_order_id',
      message: `channel_order_id can't be combined with after: it names one order, so there is no next page.`,
    });
  }
  const key = `${wanted.key} ${JSON.stringify(channelOrderId)}`;
  return await context.readCache.serve({ request, reply, integration, key }, async () => {
    // No order can have an id that the database can't hold.
    const document = isStorable(channelOrderId)
      ? await reading(() => findOrderOfChannel(context.db, { ...integration, channelOrderId, statuses, updatedAfter }))
      : null;
    const present = (text: string) => Buffer.from(presentOrder(context.channel, integration.apiVersion, text));
    const documents = document === null ? [] : [present(document)];
    return { ...listBody({ documents, rest: null, nextCursor: null }, ''), ...UNTIL_THE_CLOCK_MOVES };
  });
}

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
      const wanted = orders.slice(from, from + PIECE_DOCUMENTS);
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
