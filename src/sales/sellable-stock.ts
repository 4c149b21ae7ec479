import { isId } from '../contract/ids.ts';
import type { Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { unnestRows } from '../db/unnest-rows.ts';
import type { OrderDraft, OrderScope } from './orders/order-draft.ts';

/** The stock that the orders ask for, its rows locked; units are held in memory first, and written at once. */
export type OrderStock = {
  /** As they were found. */
  items: Map<string, StockRow>;
  /** The integrations that show any of the items, or did: what is held changes what their clients read. */
  channels: string[];
  /** A test order reads as a live one would and holds nothing, so the next one finds the stock as this one did. */
  startOrder(): void;
  /** Holds units of an item that this client can know; null if it is unknown, sold, or too few are left. */
  hold(itemId: string, kind: StockRow['kind'], units: number): { remaining: number } | null;
  touched(): string[];
  write(): Promise<void>;
};

export type StockRow = { id: string; kind: 'listing' | 'part'; units: number; reservedUnits: number };

const HELD_COLUMNS = { id: 'text', units: 'integer' } as const;

export async function lockOrderStock(tx: Transaction, scope: OrderScope, drafts: OrderDraft[]): Promise<OrderStock> {
  const found = await lockStock(tx, scope, wantedIds(drafts));
  // A statement of its own: one that waits for a lock goes on reading what stood when it began.
  const publications = await readPublications(
    tx,
    found.map((item) => item.id),
  );
  const own = new Map(
    publications.filter((one) => one.integrationId === scope.integrationId).map((p) => [p.itemId, p]),
  );
  const items = new Map(found.filter((item) => isReadable(item, own.get(item.id))).map((item) => [item.id, item]));
  const channels = publications.filter((one) => items.has(one.itemId)).map((one) => one.integrationId);
  const held = new Map<string, number>();
  return {
    items,
    channels: scope.isTest ? [] : [...new Set(channels)],
    startOrder() {
      if (scope.isTest) held.clear();
    },
    hold(itemId, kind, units) {
      const item = items.get(itemId);
      if (item === undefined || item.kind !== kind) return null;
      const available = item.units - item.reservedUnits - (held.get(itemId) ?? 0);
      if (available < units) return null;
      held.set(itemId, (held.get(itemId) ?? 0) + units);
      return { remaining: available - units };
    },
    touched: () => (scope.isTest ? [] : [...held.keys()].sort()),
    async write() {
      if (scope.isTest || held.size === 0) return;
      const rows = [...held].map(([id, units]) => ({ id, units }));
      await tx.query(sql`
        update items i set reserved_units = i.reserved_units + rows.units
        from ${unnestRows('rows', rows, HELD_COLUMNS)}
        where i.id = rows.id`);
    },
  };
}

type ItemPublication = { integrationId: string; itemId: string; isOn: boolean };

/**
 * A client can buy what it can read by its id: a listing that is or was on its channel, since the sale may have happened
 * before it was held off, and a part while it is on. Anything else is an unknown id.
 */
function isReadable({ kind }: StockRow, publication: ItemPublication | undefined): boolean {
  return publication !== undefined && (kind === 'listing' || publication.isOn);
}

function wantedIds(drafts: OrderDraft[]): string[] {
  const wanted = new Set<string>();
  for (const { lines } of drafts) {
    for (const { listing_id, part_id } of lines) {
      if (listing_id !== null && isId('listing', listing_id)) wanted.add(listing_id);
      if (part_id !== null && isId('part', part_id)) wanted.add(part_id);
    }
  }
  return [...wanted];
}

/**
 * A test order holds nothing, but its lines refer to the rows, which locks them weakly: that too has to come before the
 * clocks.
 */
async function lockStock(tx: Transaction, scope: OrderScope, ids: string[]): Promise<StockRow[]> {
  if (ids.length === 0) return [];
  const lock: Sql = scope.isTest ? sql`for key share` : sql`for update`;
  return await tx.query<StockRow>(sql`
    select id, kind, units, reserved_units as "reservedUnits" from items
    where id = any(${ids}::text[]) and organization_id = ${scope.organizationId} order by id ${lock}`);
}

async function readPublications(tx: Transaction, itemIds: string[]): Promise<ItemPublication[]> {
  if (itemIds.length === 0) return [];
  return await tx.query<ItemPublication>(sql`
    select integration_id as "integrationId", item_id as "itemId", is_on as "isOn" from publications
    where item_id = any(${itemIds}::text[])`);
}
