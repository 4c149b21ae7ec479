import { ORDER_STATUS_LABELS } from '../../../../src/contract/dashboard/orders/order-labels.ts';
import type { OrderStatus as StatusName } from '../../../../src/contract/states/order-states.ts';
import { Status } from '../../ui/status.tsx';

type Facts = { status: StatusName; line_count: number; matched_count: number };

/** Where an order stands, in the words of whoever has to act: a waiting order needs an item or a confirmation. */
export function OrderStatus({ order }: { order: Facts }) {
  switch (order.status) {
    case 'received':
      return order.line_count > 0 && order.matched_count === order.line_count ? (
        <Status tone="info">Ready to confirm</Status>
      ) : (
        <Status tone="warn">Needs matching</Status>
      );
    case 'matched':
      return <Status tone="busy">{`${ORDER_STATUS_LABELS.matched}${inPart(order)}`}</Status>;
    case 'fulfilled':
      return <Status tone="good">{`${ORDER_STATUS_LABELS.fulfilled}${inPart(order)}`}</Status>;
    case 'cancelled':
      return <Status tone="off">{ORDER_STATUS_LABELS.cancelled}</Status>;
  }
}

/** Lines without an item are not sold. */
function inPart({ line_count, matched_count }: Facts): string {
  return matched_count < line_count ? ' in part' : '';
}
