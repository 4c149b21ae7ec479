import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { emailKey } from './customer-draft.ts';

export type FoundCustomer = { id: string; name: string; email: string };

/** Customers by their id, email address or phone, or by what a website calls them. */
export async function findCustomers(
  db: Queryable,
  { organizationId, integrationIds, text }: { organizationId: string; integrationIds: readonly string[]; text: string },
  limit: number,
): Promise<FoundCustomer[]> {
  if (text === '' || text.includes('\0')) return [];
  const phone = text.replaceAll(/[\s()./-]+/g, '');
  return await db.query<FoundCustomer>(sql`
    select c.id, concat_ws(' ', c.first_name, c.last_name, c.company) as name, coalesce(c.email, '') as email
    from customers c
    where c.organization_id = ${organizationId} and c.erased_at is null and c.id = any(array(
      select id from customers where organization_id = ${organizationId} and id = ${text}
      union
      select id from customers
      where organization_id = ${organizationId} and is_test = any('{f,t}') and email_key = ${emailKey(text)}
      union
      select id from customers
      where organization_id = ${organizationId} and is_test = any('{f,t}') and phone = ${phone}
      union
      select customer_id from customer_external_ids
      where integration_id = any(${[...integrationIds]}::text[]) and is_test = any('{f,t}') and external_id = ${text}))
    order by c.id desc limit ${limit}`);
}

/** Those of some emails and phones that customers of the dealer have, as they are compared. */
export async function takenContacts(
  db: Queryable,
  organizationId: string,
  contacts: readonly string[],
): Promise<Set<string>> {
  if (contacts.length === 0) return new Set();
  const keys = contacts.map(emailKey);
  const rows = await db.query<{ contact: string }>(sql`
    select email_key as contact from customers
    where organization_id = ${organizationId} and is_test = any('{f,t}') and email_key = any(${keys}::text[])
    union all
    select phone from customers
    where organization_id = ${organizationId} and is_test = any('{f,t}') and phone = any(${keys}::text[])`);
  return new Set(rows.map(({ contact }) => contact));
}
