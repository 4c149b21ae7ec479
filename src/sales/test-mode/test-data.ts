import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { lockClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { projectItems } from '../../channel/projection/project-items.ts';
import { lockCustomers } from '../../customers/upsert-customers.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { cancelTestDeliveries } from '../../webhooks/delivery-queue/cancel-test-deliveries.ts';
import { lockFreeOrders, lockInOrder, lockOrdersWhere } from '../lock-in-order.ts';
import { assertOwner, deleteMostTestData } from './test-data-batches.ts';
import { areTestSalesOf } from './test-rows.ts';

export type DeletedTestData = { orders: number; customers: number };

/**
 * Deletes what an integration made in test mode: its test orders with their sales, and the test customers that no other
 * integration has made or written. Their channel_order_ids are free again. Offered when the integration goes live.
 */
export async function deleteTestData(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  integrationId: string,
): Promise<DeletedTestData> {
  const before = await deleteMostTestData(context, organizationId, integrationId);
  return await context.db.transaction(
    async (tx) => await deleteRestOfTestData(tx, context, actor, { organizationId, integrationId, before }),
  );
}

/**
 * Deletes what is left after `deleteMostTestData`, and records all of it, in a transaction that has locked nothing yet. It
 * holds the customers' lock and the clock until its end, for which the dealer's other writes wait.
 */
export async function deleteRestOfTestData(
  tx: Transaction,
  context: ChannelContext,
  actor: Actor,
  { organizationId, integrationId, before }: { organizationId: string; integrationId: string; before: DeletedTestData },
): Promise<DeletedTestData> {
  await assertOwner(tx, { organizationId, integrationId });
  // In the one order that holds everywhere: customers, orders, clocks.
  lockCustomers(tx, organizationId);
  const clocks = await lockTestOrders(tx, integrationId);
  // What a client can read changes, so its clock moves: an answer cached before must not be served again.
  await projectItems(tx, context, {
    itemIds: [],
    integrationIds: [integrationId],
    clocks,
    stampAlso: [integrationId],
  });
  await cancelTestDeliveries(tx, integrationId);
  const orders = await tx.query(sql`
      delete from orders where integration_id = ${integrationId} and is_test returning id`);
  await tx.query(sql`delete from reservations where integration_id = ${integrationId} and is_test`);
  await tx.query(sql`delete from sales where ${areTestSalesOf(integrationId)}`);
  // A retry must not be answered with something that is gone; the keys of live writes stay.
  await tx.query(sql`delete from idempotency_records where integration_id = ${integrationId} and is_test`);
  await tx.query(sql`delete from test_customers where integration_id = ${integrationId}`);
  const customers = await tx.query(sql`
      delete from customers c where c.organization_id = ${organizationId} and c.is_test
        and not exists (select from test_customers t where t.customer_id = c.id)
        and not exists (select from orders o where o.customer_id = c.id)
      returning c.id`);
  await tx.query(sql`delete from customer_external_ids where integration_id = ${integrationId} and is_test`);
  const deleted = { orders: before.orders + orders.length, customers: before.customers + customers.length };
  await recordAudit(tx, actor, {
    organizationId,
    action: 'integration.test_data_deleted',
    object: { kind: 'integration', id: integrationId },
    new: deleted,
    at: context.now(),
  });
  return deleted;
}

/** Counting stops here. */
const COUNT_LIMIT = 10_000;

/** How much `deleteTestData` would delete: at most so many customers, since some may belong to other integrations, too. */
export async function countTestData(db: Queryable, integrationId: string): Promise<DeletedTestData> {
  const [row] = await db.query<DeletedTestData>(sql`
    select
      (select count(*) from (
        select from orders where integration_id = ${integrationId} and is_test limit ${COUNT_LIMIT}) o) as orders,
      (select count(*) from (
        select from test_customers where integration_id = ${integrationId} limit ${COUNT_LIMIT}) c) as customers`);
  return row ?? { orders: 0, customers: 0 };
}

/** And the clock, under which no further one can come in. */
async function lockTestOrders(tx: Transaction, integrationId: string): Promise<Map<string, Date>> {
  const orders = sql`integration_id = ${integrationId} and is_test`;
  let clocks = new Map<string, Date>();
  await lockInOrder(tx, async () => {
    await lockOrdersWhere(tx, orders);
    clocks = await lockClocks(tx, [integrationId]);
    return await lockFreeOrders(tx, orders);
  });
  return clocks;
}
