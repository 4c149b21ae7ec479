import { valuesOf } from '../../../contract/catalogue.ts';
import { ApiError } from '../../../contract/errors.ts';
import { isId } from '../../../contract/ids.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import { changeOrder, presentOrder } from '../../../sales/change-order.ts';
import { draftOrder } from '../../../sales/order-draft.ts';
import { cancel } from '../../../sales/order-operations.ts';
import { findOrder, listOrders as findOrders } from '../../../sales/read-orders.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';
import { listEnvelope, parseChoices, readListQuery } from '../list-query.ts';
import { sendSettled, writeOnce, writeRequest } from '../writes/execute-write.ts';

const STATUSES = valuesOf('order_status');
/** Orders change only with the clock. */
const UNTIL_THE_CLOCK_MOVES = { validUntilMs: null, isCurrent: true };

export const createOrder: Handler<typeof OPERATIONS.createOrder> = async (call) => {
  const { context, integration, body, reply } = call;
  const { integrationId, organizationId, isTestMode, apiVersion } = integration;
  const scope = { integrationId, organizationId, isTest: isTestMode };
  const draft = draftOrder(body, integration);
  const request = writeRequest(call);
  const settled = await context.keyGate.pass(request, (deadlineMs) =>
    context.orderIntake.place({ scope, apiVersion, request, draft, deadlineMs }),
  );
  return await sendSettled(reply, settled);
};

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

export const cancelOrder: Handler<typeof OPERATIONS.cancelOrder> = async (call) => {
  const { context, integration, params, body } = call;
  const { integrationId, organizationId, apiVersion } = integration;
  if (!isId('order', params.id)) throw new ApiError('order_not_found');
  let touched: string[] = [];
  const turn = `clock ${integrationId}`;
  const reply = await writeOnce(call, { failure: 'cancel_failed', turn }, async (tx) => {
    const changed = await changeOrder(
      tx,
      context.channel,
      { organizationId, integrationId },
      params.id,
      (open) => {
        if (open.order.status === 'cancelled') return false;
        if (open.order.status !== 'received') throw new ApiError('order_matched');
        cancel(open, 'api', body.reason ?? null);
        return true;
      },
      // The client's own writes are not echoed to it.
      { isSuppressed: (id) => id === integrationId },
    );
    if (changed === null) throw new ApiError('order_not_found');
    touched = changed.touched;
    const { order } = changed;
    return {
      status: 200,
      body: presentOrder(context.channel, apiVersion, JSON.stringify(order)),
      // An order that was made in test mode stays a test, also when the integration has gone live since.
      isTest: order.is_test,
    };
  });
  if (touched.length > 0) context.channel.onEvents(touched);
  return reply;
};
