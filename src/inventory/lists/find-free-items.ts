import type { Queryable } from '../../db/database.ts';
import { searchPrefixOf } from '../../db/search-words.ts';
import { plannedAnew, sql } from '../../db/sql.ts';

/** Finds free stock that an order may be about, when the order does not say so by its id. */

type Kind = 'listing' | 'part';

/**
 * Items with units that can be sold and one of these words among their own: a stock number, a reference or a part number,
 * in lower case and without punctuation. Those whose price is nearest come first.
 */
export async function findFreeByWords(
  db: Queryable,
  organizationId: string,
  { kinds, words, nearAmount, limit }: { kinds: Kind[]; words: string[]; nearAmount: number | null; limit: number },
): Promise<string[]> {
  const plain = words.filter((word) => /^[a-z0-9]+$/.test(word));
  if (plain.length === 0) return [];
  const prefix = searchPrefixOf(organizationId);
  const query = plain.map((word) => `'${prefix}:${word}'`).join(' | ');
  const rows = await db.query<{ id: string }>(
    plannedAnew(sql`
      select id from items
      where search_words @@ ${query}::tsquery and organization_id = ${organizationId} and kind = any(${kinds}::text[])
        and units > reserved_units
      order by abs(price_amount - ${nearAmount}::bigint) nulls last, id limit ${limit}`),
  );
  return rows.map(({ id }) => id);
}

/** Items with units that can be sold whose price, or promotion at a time, lies between two amounts, the nearest first. */
export async function findFreeByPrice(
  db: Queryable,
  organizationId: string,
  { kinds, from, to, at, limit }: { kinds: Kind[]; from: number; to: number; at: Date; limit: number },
): Promise<string[]> {
  const middle = Math.round((from + to) / 2);
  const rows = await db.query<{ id: string }>(
    plannedAnew(sql`
      select id from (
        select id, price_amount as amount from items
        where organization_id = ${organizationId} and kind = any(${kinds}::text[])
          and price_amount between ${from} and ${to} and units > reserved_units
        union all
        select i.id, p.price_amount from promotions p join items i on i.id = p.item_id
        where p.organization_id = ${organizationId} and p.price_amount between ${from} and ${to}
          and p.starts_at <= ${at} and coalesce(p.ends_at, 'infinity') > ${at}
          and i.kind = any(${kinds}::text[]) and i.units > i.reserved_units) found
      order by abs(amount - ${middle}), id limit ${limit}`),
  );
  return rows.map(({ id }) => id);
}
