import { ApiError } from '../../../../contract/errors.ts';
import { isId } from '../../../../contract/ids.ts';
import type { OPERATIONS } from '../../../../contract/operations.ts';
import { orderStep } from '../../../../contract/states/order-states.ts';
import { changeOrders, type OpenOrder, presentOrder } from '../../../../sales/orders/change-order.ts';
import { cancelByClient } from '../../../../sales/orders/order-operations.ts';
import type { Handler } from '../../handler.ts';
import { answerWrite } from '../../writes/answer-write.ts';
import type { WriteKind } from '../../writes/write-kind.ts';

type Cancellation = { orderId: string; reason: string | null; requestId: string };

const cancellation: WriteKind<Cancellation> = {
  failureCode: 'cancel_failed',
  lockOf: ({ integrationId }) => `clock ${integrationId}`,
  batchLimit: 25,
  transaction: { planning: 'once' },
  async work(tx, channel, items) {
    const { organizationId, integrationId } = items[0].integration;
    const isMatched = items.map(() => false);
    const changes = items.map(({ input: { orderId, reason, requestId } }, index) => ({
      orderId,
      alter(open: OpenOrder) {
        isMatched[index] = orderStep('cancel', open.order.status) === 'refused';
        return isMatched[index] ? false : cancelByClient(open, reason, requestId);
      },
    }));
    // The client's own writes are not echoed to it.
    const isSuppressed = (id: string) => id === integrationId;
    const changed = await changeOrders(tx, channel, { organizationId, integrationId }, changes, { isSuppressed });
    // Fewer than the items if the orders are large.
    const results = changed.orders.map((changedOrder, index) => {
      if (changedOrder === null) return new ApiError('order_not_found');
      if (isMatched[index]) return new ApiError('order_matched');
      const { order, document } = changedOrder;
      const body = presentOrder(channel, items[index]?.integration.apiVersion ?? '', document);
      // An order that was made in test mode stays a test, also when the integration has gone live since.
      return { status: 200, body, isTest: order.is_test };
    });
    return { results, touched: changed.touched };
  },
};

export const cancelOrder: Handler<typeof OPERATIONS.cancelOrder> = async (call) => {
  if (!isId('order', call.params.id)) throw new ApiError('order_not_found');
  const input = { orderId: call.params.id, reason: call.body.reason ?? null, requestId: call.request.id };
  return await answerWrite(call, cancellation, input);
};
