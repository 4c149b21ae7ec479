import type { StockStatus } from '../../contract/dashboard/stock/stock.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** What people recognise an item by, and whether it can be sold. */
export type ItemSummary = {
  id: string;
  kind: 'listing' | 'part';
  stockNumber: string;
  title: string;
  brand: string | null;
  /** The reference of a watch, the part number of a part. */
  reference: string | null;
  /** Minor units of the dealer's currency. */
  priceAmount: number | null;
  units: number;
  reservedUnits: number;
  status: StockStatus;
  photoId: string | null;
};

/** The items of this dealer among those ids, by their ids. */
export async function summariesOf(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, ItemSummary>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<ItemSummary>(sql`
    select i.id, i.kind, i.stock_number as "stockNumber", i.title, i.attributes ->> 'brand' as brand,
      coalesce(i.attributes ->> 'reference_number', i.attributes ->> 'part_number') as reference,
      i.price_amount as "priceAmount", i.units, i.reserved_units as "reservedUnits", i.stock_status as status,
      (select p.id from photos p where p.item_id = i.id order by p.position limit 1) as "photoId"
    from items i where i.id = any(${[...new Set(ids)]}::text[]) and i.organization_id = ${organizationId}`);
  return new Map(rows.map((row) => [row.id, row]));
}
