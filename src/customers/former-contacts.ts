import type { Queryable } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';

/** Of one customer. More than anybody has; the oldest is forgotten first. */
const FORMER_CONTACTS_LIMIT = 100;
/**
 * With each change of a contact all of them are written anew. A hundred emails of the greatest length are 50 KB: a bulk that changed
 * the emails of a thousand such customers wrote 57 MB to the server's log.
 */
const FORMER_CHARACTERS_LIMIT = 4_000;

/** A customer's former contacts with some more, of which those that are null are none. */
export function rememberedContacts(added: Sql, former: Sql): Sql {
  return sql`array(
    select contact from (
      select contact, min(number) as number, sum(length(contact)) over (order by min(number)) as characters
      from unnest(${added}::text[] || ${former}) with ordinality as known (contact, number)
      where contact is not null group by contact) newest
    where characters <= ${FORMER_CHARACTERS_LIMIT} order by number limit ${FORMER_CONTACTS_LIMIT})`;
}

/** Emails and phones that the customer had before, the newest first. */
export async function readFormerContacts(db: Queryable, customerId: string): Promise<string[]> {
  const [row] = await db.query<{ contacts: string[] }>(sql`
    select former_contacts as contacts from customers where id = ${customerId}`);
  return row?.contacts ?? [];
}
