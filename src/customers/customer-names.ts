import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** What a page shows of a customer that it only names. */
export type CustomerName = {
  id: string;
  isTest: boolean;
  firstName: string | null;
  lastName: string | null;
  company: string | null;
  email: string | null;
  phone: string | null;
};

/** The customers of this dealer among those ids, by their ids. */
export async function namesOfCustomers(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, CustomerName>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<CustomerName>(sql`
    select id, is_test as "isTest", first_name as "firstName", last_name as "lastName", company, email, phone from customers
    where organization_id = ${organizationId} and id = any(${[...new Set(ids)]}::text[]) and erased_at is null`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Customers whose name, company, email or phone begins with the words, for a choice. Test and live never mix. */
export async function searchCustomerNames(
  db: Queryable,
  { organizationId, isTest, search, limit }: { organizationId: string; isTest: boolean; search: string; limit: number },
): Promise<CustomerName[]> {
  const text = search
    .trim()
    .toLowerCase()
    .replaceAll(/[%_\\]/g, '');
  return await db.query<CustomerName>(sql`
    select id, is_test as "isTest", first_name as "firstName", last_name as "lastName", company, email, phone from customers
    where organization_id = ${organizationId} and is_test = ${isTest} and (
      email_key like ${`${text}%`} or phone like ${`${text.replaceAll(/[\s()./-]/g, '') || '-'}%`}
      or lower(concat_ws(' ', first_name, last_name)) like ${`${text}%`} or lower(last_name) like ${`${text}%`}
      or lower(company) like ${`${text}%`})
    order by id desc limit ${limit}`);
}
