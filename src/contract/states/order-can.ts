import { ORDER_LINES_LIMIT } from '../limits.ts';
import { type OrderOperation, type OrderStatus, orderRefusal } from './order-states.ts';

/** What `orderCan` must know about an order. */
export type OrderFacts = { status: OrderStatus; lines: readonly { match: object | null }[] };

/** Whether an operation is allowed now. The reason is for people: on a disabled button, and in the refusal itself. */
export type Permission =
  | { isAllowed: true; reason: null }
  | { isAllowed: false; reason: string; code: 'wrong_status' | 'nothing_matched' | 'limit_reached' };

const ALLOWED: Permission = { isAllowed: true, reason: null };

const NOT_ALLOWED = { isAllowed: false, code: 'wrong_status' } as const;

function inStatus(operation: OrderOperation) {
  return ({ status }: Pick<OrderFacts, 'status'>): Permission => {
    const reason = orderRefusal(operation, status);
    return reason === null ? ALLOWED : { ...NOT_ALLOWED, reason };
  };
}

/**
 * What the dealer may do with an order: `orderCan.fulfil(order)`. The service asks it before it changes anything, and the
 * dashboard for its buttons. The statuses come from the table in order-states.ts.
 */
export const orderCan = {
  matchLine: inStatus('match_line'),
  addLine(order: OrderFacts): Permission {
    const byStatus = inStatus('match_line')(order);
    if (!byStatus.isAllowed || order.lines.length < ORDER_LINES_LIMIT) return byStatus;
    const reason = `An order can have at most ${ORDER_LINES_LIMIT} lines. Match the item to one of them.`;
    return { isAllowed: false, reason, code: 'limit_reached' };
  },
  unmatchLine: inStatus('unmatch_line'),
  assignCustomer: inStatus('assign_customer'),
  confirm(order: OrderFacts): Permission {
    const byStatus = inStatus('confirm')(order);
    if (!byStatus.isAllowed || order.lines.some(({ match }) => match !== null)) return byStatus;
    const reason = 'Match at least one line to an item before you confirm the order.';
    return { isAllowed: false, reason, code: 'nothing_matched' };
  },
  fulfil: inStatus('fulfil'),
  dismiss: inStatus('dismiss'),
  cancelSale(order: OrderFacts): Permission {
    const byStatus = inStatus('cancel_sale')(order);
    // Whoever reads "cannot be returned to the queue" sees it in the queue.
    return order.status === 'received' ? { ...NOT_ALLOWED, reason: 'There is no sale to cancel yet.' } : byStatus;
  },
} satisfies Record<string, (order: OrderFacts) => Permission>;
