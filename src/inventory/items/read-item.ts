import type { StockStatus } from '../../contract/dashboard/stock/stock.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** An item with everything that the dealer typed or did to it, private fields included. Amounts are minor units. */
export type ItemDetails = {
  id: string;
  kind: 'listing' | 'part';
  stockNumber: string;
  title: string;
  description: string;
  priceAmount: number | null;
  taxTreatment: string | null;
  locationId: string | null;
  attributes: Record<string, unknown>;
  serialNumber: string | null;
  costAmount: number | null;
  privateNotes: string;
  revision: number;
  units: number;
  reservedUnits: number;
  status: StockStatus;
  isHidden: boolean;
  missing: string[];
  createdAt: Date;
  editedAt: Date | null;
  photos: { id: string; width: number; height: number }[];
  promotions: { id: string; priceAmount: number; startsAt: string; endsAt: string | null }[];
};

/** Photos are in their order; promotions are those that run or are planned, and some that have ended, earliest first. */
export async function readItem(db: Queryable, organizationId: string, itemId: string): Promise<ItemDetails> {
  const [row] = await db.query<ItemDetails>(sql`
    select i.id, i.kind, i.stock_number as "stockNumber", i.title, i.description, i.price_amount as "priceAmount",
      i.tax_treatment as "taxTreatment", i.location_id as "locationId", i.attributes,
      i.serial_number as "serialNumber", i.cost_amount as "costAmount", i.private_notes as "privateNotes", i.revision,
      i.units, i.reserved_units as "reservedUnits", i.stock_status as status, i.is_hidden as "isHidden", i.missing,
      i.created_at as "createdAt", i.edited_at as "editedAt",
      coalesce((select json_agg(json_build_object('id', p.id, 'width', p.width, 'height', p.height)
        order by p.position) from photos p where p.item_id = i.id), '[]'::json) as photos,
      coalesce((select json_agg(json_build_object('id', m.id, 'priceAmount', m.price_amount,
          'startsAt', m.starts_at, 'endsAt', m.ends_at) order by m.starts_at)
        from (select id, price_amount, starts_at, ends_at from promotions where item_id = i.id
          order by starts_at desc limit ${PROMOTIONS_LIMIT}) m), '[]'::json) as promotions
    from items i where i.id = ${itemId} and i.organization_id = ${organizationId}`);
  if (row === undefined) throw noItem();
  return row;
}

/** Refuses an item that the dealer does not have. */
export async function assertItem(db: Queryable, organizationId: string, itemId: string): Promise<void> {
  const rows = await db.query(sql`select id from items where id = ${itemId} and organization_id = ${organizationId}`);
  if (rows.length === 0) throw noItem();
}

function noItem(): DomainError {
  return new DomainError('not_found', 'There is no such item.');
}

const PROMOTIONS_LIMIT = 50;
