import { ApiError } from '../../../contract/errors.ts';
import { isId } from '../../../contract/ids.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import { orderStep } from '../../../contract/order-states.ts';
import { changeOrder, presentOrder } from '../../../sales/change-order.ts';
import { cancelByClient } from '../../../sales/order-operations.ts';
import type { Handler } from '../handler.ts';
import { answerWrite } from '../writes/answer-write.ts';
import type { WriteKind } from '../writes/write-kind.ts';

type Cancellation = { orderId: string; reason: string | null };

const cancellation: WriteKind<Cancellation> = {
  failureCode: 'cancel_failed',
  lockOf: ({ integrationId }) => `clock ${integrationId}`,
  batchLimit: 1,
  transaction: { planning: 'once' },
  async work(tx, channel, items) {
    const [{ integration, input }] = items;
    const { organizationId, integrationId, apiVersion } = integration;
    const changed = await changeOrder(
      tx,
      channel,
      { organizationId, integrationId },
      input.orderId,
      (open) => {
        if (orderStep('cancel', open.order.status) === 'refused') throw new ApiError('order_matched');
        return cancelByClient(open, input.reason);
      },
      // The client's own writes are not echoed to it.
      { isSuppressed: (id) => id === integrationId },
    );
    if (changed === null) throw new ApiError('order_not_found');
    const { order, touched } = changed;
    const body = presentOrder(channel, apiVersion, JSON.stringify(order));
    // An order that was made in test mode stays a test, also when the integration has gone live since.
    return { results: [{ status: 200, body, isTest: order.is_test }], touched };
  },
};

export const cancelOrder: Handler<typeof OPERATIONS.cancelOrder> = async (call) => {
  if (!isId('order', call.params.id)) throw new ApiError('order_not_found');
  return await answerWrite(call, cancellation, { orderId: call.params.id, reason: call.body.reason ?? null });
};
