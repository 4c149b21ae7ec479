import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { listStock, type StockPage, type StockRow } from './stock-list.ts';

export type FoundItem = Pick<StockRow, 'id' | 'kind' | 'title' | 'stockNumber' | 'reference' | 'photoId'>;

/** Watches and parts by their id or exact stock number first, then by words as the lists search. */
export async function findStock(
  db: Queryable,
  organizationId: string,
  text: string,
  limit: number,
): Promise<FoundItem[]> {
  if (text === '' || text.includes('\0')) return [];
  const exact = await db.query<FoundItem>(sql`
    select i.id, i.kind, i.title, i.stock_number as "stockNumber",
      coalesce(i.attributes ->> 'reference_number', i.attributes ->> 'part_number') as reference,
      (select p.id from photos p where p.item_id = i.id order by p.position limit 1) as "photoId"
    from items i
    where i.organization_id = ${organizationId} and i.stock_number = any(${[text, text.toUpperCase()]}::text[])
    union all
    select i.id, i.kind, i.title, i.stock_number,
      coalesce(i.attributes ->> 'reference_number', i.attributes ->> 'part_number'),
      (select p.id from photos p where p.item_id = i.id order by p.position limit 1)
    from items i where i.organization_id = ${organizationId} and i.id = ${text}`);
  const found = new Map(exact.map((item) => [item.id, item]));
  // An id is not searched by words.
  if (/^(lst|prt)_/.test(text)) return [...found.values()];
  for (const kind of ['listing', 'part'] as const) {
    const page: StockPage = { organizationId, kind, search: text, sort: '-created', from: null, limit };
    for (const row of await listStock(db, page, null)) if (!found.has(row.id)) found.set(row.id, row);
  }
  return [...found.values()].slice(0, limit);
}
