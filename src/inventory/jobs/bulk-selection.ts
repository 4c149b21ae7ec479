import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { countAllStock, findStockIds, type StockFilter } from '../lists/stock-list.ts';

/** What a bulk change works on: items that were picked, or all that match a filter and were there when it was asked for. */
export type StockSelection =
  | { itemIds: string[] }
  | {
      filter: Omit<StockFilter, 'organizationId'> /** Ids up to this one: later items are not touched. */;
      until: string;
    };

export async function countSelected(db: Queryable, organizationId: string, selection: StockSelection): Promise<number> {
  if ('filter' in selection) {
    return await countAllStock(db, { ...selection.filter, organizationId }, selection.until);
  }
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::integer as count from items
    where organization_id = ${organizationId} and id = any(${selection.itemIds}::text[])`);
  return row?.count ?? 0;
}

/**
 * The next items behind an id. A change may take items out of the filter that chose them; in the order of ids nothing is
 * met twice or left out.
 */
export async function nextSelected(
  db: Queryable,
  organizationId: string,
  selection: StockSelection,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  if ('filter' in selection) {
    const { filter, until } = selection;
    return await findStockIds(db, { ...filter, organizationId }, { after, until, limit });
  }
  return selection.itemIds
    .filter((id) => id > after)
    .sort()
    .slice(0, limit);
}
