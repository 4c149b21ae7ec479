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
