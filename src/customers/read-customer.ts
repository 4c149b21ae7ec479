import { DomainError } from '../contract/domain-error.ts';
import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { addressOf } from './customer-draft.ts';
import type { StoredCustomer } from './customer-rows.ts';

export type CustomerDetails = StoredCustomer & { isTest: boolean };

/** The id that a channel has for a customer. */
export type CustomerLink = { customerId: string; integrationId: string; externalId: string };

/** A customer can have several on each channel after merges; a page shows so many. */
const LINKS_LIMIT = 1_000;

/** A customer of another dealer, or one that is being erased, is the same as a missing one. */
export async function readCustomer(
  db: Queryable,
  organizationId: string,
  customerId: string,
  field?: string,
): Promise<CustomerDetails> {
  const [row] = await db.query<CustomerDetails>(sql`
    select id, is_test as "isTest", email, phone, first_name as "firstName", last_name as "lastName", company, address,
      created_at as "createdAt", updated_at as "updatedAt"
    from customers where organization_id = ${organizationId} and id = ${customerId} and erased_at is null`);
  if (row === undefined) throw new DomainError('not_found', 'There is no such customer.', field);
  return { ...row, address: row.address === null ? null : addressOf(row.address) };
}

/** What the channels call these customers. The caller has checked whose they are. */
export async function linksOfCustomers(db: Queryable, customerIds: readonly string[]): Promise<CustomerLink[]> {
  if (customerIds.length === 0) return [];
  return await db.query<CustomerLink>(sql`
    select customer_id as "customerId", integration_id as "integrationId", external_id as "externalId"
    from customer_external_ids where customer_id = any(${[...customerIds]}::text[])
    order by integration_id, external_id limit ${LINKS_LIMIT}`);
}
