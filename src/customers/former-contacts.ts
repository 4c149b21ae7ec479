import type { Queryable } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';

/** Of one customer. More than anybody has; the oldest is forgotten first. */
const FORMER_CONTACTS_LIMIT = 100;

/** A customer's former contacts with some more, of which those that are null are none. */
export function rememberedContacts(added: Sql, former: Sql): Sql {
  return sql`array(
    select contact from unnest(${added}::text[] || ${former}) with ordinality as known (contact, number)
    where contact is not null group by contact order by min(number) limit ${FORMER_CONTACTS_LIMIT})`;
}

/** Emails and phones that the customer had before, the newest first. */
export async function readFormerContacts(db: Queryable, customerId: string): Promise<string[]> {
  const [row] = await db.query<{ contacts: string[] }>(sql`
    select former_contacts as contacts from customers where id = ${customerId}`);
  return row?.contacts ?? [];
}
