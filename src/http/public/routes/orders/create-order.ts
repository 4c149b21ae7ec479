import { ApiError } from '../../../../contract/errors.ts';
import type { OPERATIONS } from '../../../../contract/operations.ts';
import { presentOrder } from '../../../../sales/orders/change-order.ts';
import { draftOrder, type OrderDraft } from '../../../../sales/orders/order-draft.ts';
import { placeOrders } from '../../../../sales/orders/place-orders.ts';
import { openTransactionBudget } from '../../../../sales/orders/transaction-budget.ts';
import type { Handler } from '../../handler.ts';
import { answerWrite } from '../../writes/answer-write.ts';
import type { WriteItem, WriteKind } from '../../writes/write-kind.ts';

const orderReport: WriteKind<OrderDraft> = {
  failureCode: 'insert_failed',
  lockOf: ({ integrationId }) => `orders ${integrationId}`,
  batchLimit: 25,
  transaction: { planning: 'once' },
  async work(tx, channel, items) {
    const [first] = items;
    const { integrationId, organizationId, isTestMode: isTest } = first.integration;
    const firstItems = firstOrders(items);
    const drafts = firstItems.map(({ input }) => input);
    const placed = await placeOrders(tx, channel, { integrationId, organizationId, isTest }, drafts);
    const results = firstItems.map(({ integration, input }, index) => {
      const document = placed.documents[index] ?? null;
      if (document === null) return duplicate(placed.orderIds.get(input.channelOrderId));
      return { status: 201, body: presentOrder(channel, integration.apiVersion, document), isTest };
    });
    return { results, touched: placed.touched };
  },
};

export const createOrder: Handler<typeof OPERATIONS.createOrder> = async (call) =>
  await answerWrite(call, orderReport, draftOrder(call.body, call.integration, call.request.id));

/** The orders that a transaction takes; the others are left for the next one. */
function firstOrders(items: WriteItem<OrderDraft>[]): WriteItem<OrderDraft>[] {
  const budget = openTransactionBudget();
  const end = items.findIndex(({ input: { lines } }) => {
    const itemIds = lines.flatMap((line) => line.listing_id ?? line.part_id ?? []);
    // Large bodies run alone anyhow.
    return !budget.takes({ documentBytes: 0, lines: lines.length, itemIds });
  });
  return end === -1 ? items : items.slice(0, end);
}

/** Names the order that is there already: a client that lost its id has it again. */
function duplicate(existingId: string | undefined): ApiError {
  return new ApiError('duplicate_channel_order_id', {
    param: 'channel_order_id',
    ...(existingId === undefined ? {} : { facts: { existing_id: existingId } }),
  });
}
