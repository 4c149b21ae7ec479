import type { ChannelContext } from '../channel/context.ts';
import { NEVER_SUPPRESSED, NO_CHANGE, refreshItems } from '../channel/refresh.ts';
import { sql } from '../db/sql.ts';
import { DealerError } from '../dealers/dealer-error.ts';

/** The beginning of every order and customer that was made in test mode. */
const ABOUT_TEST_DATA = '^\\{"id":"[a-z]+_[0-9a-z]+","object":"[a-z]+",("status":"[a-z]+",)?"is_test":true';

export type DeletedTestData = { orders: number; customers: number };

/**
 * Deletes what an integration made in test mode: its test orders with their sales, and the test customers that no other
 * integration knows. Their channel_order_ids are free again. Offered when the integration goes live.
 */
export async function deleteTestData(
  context: ChannelContext,
  organizationId: string,
  integrationId: string,
): Promise<DeletedTestData> {
  return await context.db.transaction(async (tx) => {
    const rows = await tx.query(sql`
      select id from integrations where id = ${integrationId} and organization_id = ${organizationId}`);
    if (rows.length === 0) throw new DealerError('not_found', 'There is no such integration.');
    const orders = await tx.query(sql`
      select id from orders where integration_id = ${integrationId} and is_test order by id for update`);
    // What a client can read changes, so its clock moves: an answer cached before must not be served again.
    await refreshItems(tx, context, {
      itemIds: [],
      integrationIds: [integrationId],
      stampAlso: [integrationId],
      change: NO_CHANGE,
      isSuppressed: NEVER_SUPPRESSED,
    });
    await tx.query(sql`
      delete from sales where organization_id = ${organizationId} and is_test and id in (
        select l.sale_id from order_lines l join orders o on o.integration_id = l.integration_id and o.id = l.order_id
        where o.integration_id = ${integrationId} and o.is_test)`);
    await tx.query(sql`delete from orders where integration_id = ${integrationId} and is_test`);
    // A retry must not be answered with something that is gone; the keys of live writes stay.
    await tx.query(sql`
      delete from idempotency_records
      where integration_id = ${integrationId} and body ~ ${ABOUT_TEST_DATA}`);
    const customers = await tx.query(sql`
      delete from customers c where c.organization_id = ${organizationId} and c.is_test
        and not exists (select from customer_external_ids x where x.customer_id = c.id and x.integration_id <> ${integrationId})
        and not exists (select from orders o where o.customer_id = c.id)
      returning c.id`);
    await tx.query(sql`delete from customer_external_ids where integration_id = ${integrationId} and is_test`);
    return { orders: orders.length, customers: customers.length };
  });
}
