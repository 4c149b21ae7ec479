import type { StockStatus } from '../../contract/dashboard/stock/stock.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** An item with everything that a job can change, as it stands. */
export type StockValues = {
  id: string;
  kind: 'listing' | 'part';
  stockNumber: string;
  title: string;
  description: string;
  priceAmount: number | null;
  taxTreatment: string | null;
  locationId: string | null;
  serialNumber: string | null;
  costAmount: number | null;
  privateNotes: string;
  attributes: Record<string, unknown>;
  /** The units that are free to sell, without those that are reserved. */
  units: number;
  reservedUnits: number;
  status: StockStatus;
  isHidden: boolean;
  revision: number;
  /** The ids of the photos, in their order. */
  photoIds: string[];
  /** The channels that it is or was on. */
  channels: Record<string, boolean>;
};

/** Reads those of the items that belong to the dealer, in the order of their ids. */
export async function readStockValues(
  db: Queryable,
  organizationId: string,
  itemIds: string[],
): Promise<StockValues[]> {
  return await db.query<StockValues>(sql`
    select i.id, i.kind, i.stock_number as "stockNumber", i.title, i.description, i.price_amount as "priceAmount",
      i.tax_treatment as "taxTreatment", i.location_id as "locationId", i.serial_number as "serialNumber",
      i.cost_amount as "costAmount", i.private_notes as "privateNotes", i.attributes,
      i.units - i.reserved_units as units, i.reserved_units as "reservedUnits", i.stock_status as status,
      i.is_hidden as "isHidden", i.revision, 
      array(select p.id from photos p where p.item_id = i.id order by p.position) as "photoIds",
      coalesce((select jsonb_object_agg(p.integration_id, p.is_on) from publications p where p.item_id = i.id),
        '{}'::jsonb) as channels
    from items i
    where i.organization_id = ${organizationId} and i.id = any(${itemIds}::text[]) order by i.id`);
}

/** How many bytes the long texts of these items have. Each text may have 20,000 characters. */
export async function stockSizes(
  db: Queryable,
  organizationId: string,
  itemIds: string[],
): Promise<Map<string, number>> {
  const rows = await db.query<{ id: string; bytes: number }>(sql`
    select id, octet_length(description) + coalesce(octet_length(private_notes), 0) + octet_length(attributes::text) as bytes
    from items where organization_id = ${organizationId} and id = any(${itemIds}::text[])`);
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}
