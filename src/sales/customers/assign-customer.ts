import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { commitAndWake } from '../../channel/commit-and-wake.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Order } from '../../contract/resources/order.ts';
import { orderCan } from '../../contract/states/order-can.ts';
import { lockCustomers } from '../../customers/upsert-customers.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { changeOrder, missingOrder, type OpenOrder } from '../orders/change-order.ts';
import { assertMay } from '../orders/order-operations.ts';

/**
 * Sets the customer of an order, in any status; null removes it. This decides a conflict of the reported buyer for this
 * one order. What is known of the customer stays as it is: the report may be wrong, and two customers that are one
 * person are merged.
 */
export async function assignCustomer(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  orderId: string,
  customerId: string | null,
): Promise<Order> {
  const { order } = await commitAndWake(context, async (tx) => {
    // So the customer can't be merged away under the order.
    lockCustomers(tx, organizationId);
    const customer = customerId === null ? null : await findCustomer(tx, organizationId, customerId);
    let formerId: string | null = null;
    const alter = (open: OpenOrder) => {
      assertMay(orderCan.assignCustomer(open.order));
      formerId = open.order.customer_id;
      return assign(open, customerId, customer);
    };
    const changed = await changeOrder(tx, context, { organizationId }, orderId, alter);
    if (changed === null) throw missingOrder();
    await recordAudit(tx, actor, {
      organizationId,
      action: 'order.customer_assigned',
      object: { kind: 'order', id: orderId },
      old: { customerId: formerId },
      new: { customerId },
      at: context.now(),
    });
    return changed;
  });
  return order;
}

type FoundCustomer = { is_test: boolean };

function assign(open: OpenOrder, customerId: string | null, customer: FoundCustomer | null): boolean {
  if (customer !== null && customer.is_test !== open.order.is_test) {
    throw new DomainError(
      'wrong_kind',
      'Test orders are test customers’, and live orders live customers’.',
      'customerId',
    );
  }
  if (open.order.customer_id === customerId && !open.hasCustomerConflict) return false;
  open.order.customer_id = customerId;
  open.hasCustomerConflict = false;
  return true;
}

async function findCustomer(tx: Transaction, organizationId: string, customerId: string): Promise<FoundCustomer> {
  const [customer] = await tx.query<FoundCustomer>(sql`
    select is_test from customers where id = ${customerId} and organization_id = ${organizationId} and erased_at is null`);
  if (customer === undefined) throw new DomainError('not_found', 'There is no such customer.', 'customerId');
  return customer;
}
