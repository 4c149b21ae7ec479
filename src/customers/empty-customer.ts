import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { readFormerContacts } from './former-contacts.ts';
import { type CustomerDetails, type CustomerLink, readCustomer } from './read-customer.ts';

/** What was known of a customer that is empty now. */
export type EmptiedCustomer = { customer: CustomerDetails; formerContacts: string[]; links: CustomerLink[] };

/**
 * Takes everything from a customer that is being erased: no write of a client and no person finds it any more. The row
 * stays until no order refers to it. The caller holds the lock of the organization's customers.
 */
export async function emptyCustomer(
  tx: Transaction,
  organizationId: string,
  customerId: string,
  now: Date | null,
): Promise<EmptiedCustomer> {
  const customer = await readCustomer(tx, organizationId, customerId);
  const formerContacts = await readFormerContacts(tx, customerId);
  const links = await tx.query<CustomerLink>(sql`
    delete from customer_external_ids where customer_id = ${customerId}
    returning customer_id as "customerId", integration_id as "integrationId", external_id as "externalId"`);
  await tx.query(sql`
    update customers set email = null, email_key = null, phone = null, first_name = null, last_name = null, company = null,
      address = null, former_contacts = '{}', erased_at = ${clockTime(now)}
    where organization_id = ${organizationId} and id = ${customerId}`);
  return { customer, formerContacts, links };
}

/** Deletes the row of an emptied customer, when no order refers to it any more. */
export async function removeEmptied(tx: Transaction, customerId: string): Promise<void> {
  await tx.query(sql`delete from customers where id = ${customerId} and erased_at is not null`);
}
