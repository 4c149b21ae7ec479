import { lockCustomers } from '../../customers/upsert-customers.ts';
import type { Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';

/** What an integration's tests left with the dealer, outside of the integration's own rows. */

/**
 * The sales that were made of an integration's test orders, the voided ones with them: no order refers to those any more.
 * The dealer and both statuses are named for the index.
 */
export function areTestSalesOf(integrationId: string): Sql {
  return sql`
    organization_id = (select data_organization_id from integrations where id = ${integrationId})
      and channel = ${integrationId} and status = any(array['completed', 'voided']) and is_test`;
}

type Owner = { organizationId: string; integrationId: string };

/**
 * Some of the test customers that the integration has made or written: it knows them no more, and those that nobody else
 * knows go. One whose order has come in meanwhile waits until the order is gone.
 */
export async function deleteTestCustomers(
  tx: Transaction,
  { organizationId, integrationId }: Owner,
  limit: number,
): Promise<{ checked: number; deleted: number }> {
  lockCustomers(tx, organizationId);
  const known = await tx.query<{ id: string }>(sql`
    delete from test_customers where ctid = any(array(
      select t.ctid from test_customers t where t.integration_id = ${integrationId}
        and not exists (select from orders o where o.customer_id = t.customer_id and o.integration_id = ${integrationId})
      limit ${limit}))
    returning customer_id as id`);
  const deleted = await tx.query(sql`
    delete from customers c where c.id = any(${known.map((row) => row.id)}::text[]) and c.is_test
      and not exists (select from test_customers t where t.customer_id = c.id)
      and not exists (select from orders o where o.customer_id = c.id)
    returning c.id`);
  return { checked: known.length, deleted: deleted.length };
}
