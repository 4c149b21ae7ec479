import { stampOf } from '../channel/clock.ts';
import type { ChannelContext } from '../channel/context.ts';
import { projectItems, type SourceRows } from '../channel/projection/project-items.ts';
import { isId } from '../contract/ids.ts';
import type { Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { endReservations, overdueReservations, unitsFreed } from '../inventory/units/item-reservations.ts';
import type { OrderScope } from './orders/order-draft.ts';
import { type NamedReservations, readNamedReservations } from './reservations/named-reservations.ts';

/**
 * The stock that orders or reservations ask for, its rows locked; units are held in memory first, and written at once.
 * Reservations whose time is over hold nothing any more.
 */
export type SellableStock = {
  /** As they were found, those that reservations held too long given back. */
  items: Map<string, StockRow>;
  /** The integrations that show any of the items, or did: what is held changes what their clients read. */
  channels: string[];
  /** Items whose units may change. */
  movable: string[];
  /** Goes on under the locks of the clocks: reads the reservations that lines name. */
  open(): Promise<void>;
  /** What is done in test mode reads as if it were live and holds nothing, so the next one finds the stock as this one did. */
  startNext(): void;
  /** An item that this client can read by its id. */
  find(itemId: string, kind: StockRow['kind']): { available: number; isOnSale: boolean } | null;
  /** Holds units of an item; null if it is unknown, sold, or too few are left. */
  hold(request: UnitRequest): { remaining: number } | null;
  touched(): string[];
  /** The units of all items, with what is held now. */
  unitsAfter(): Map<string, Pick<StockRow, 'units' | 'reservedUnits'>>;
  /** Writes what is held, and ends the reservations whose time is over. */
  write(clocks: Map<string, Date>): Promise<void>;
  /** Writes what became of the reservations that lines named. */
  writeReservations(stamp: Date): void;
};

export type StockRow = {
  id: string;
  kind: 'listing' | 'part';
  units: number;
  reservedUnits: number;
  isHidden: boolean;
};

export type UnitRequest = {
  itemId: string;
  kind: StockRow['kind'];
  units: number;
  /** The reservation whose units an order takes. */
  reservation?: { id: string; orderId: string };
};

const HELD_COLUMNS = { id: 'text', units: 'integer' } as const;

export async function lockSellableStock(
  tx: Transaction,
  context: ChannelContext,
  scope: OrderScope,
  wanted: { itemIds: string[]; reservationIds: string[] },
): Promise<SellableStock> {
  const wantedIds = [...new Set(wanted.itemIds.filter(isItemId))];
  // The second is a statement of its own: one that waits for a lock goes on reading what stood when it began.
  const [found, published] = await Promise.all([
    lockStock(tx, scope, wantedIds),
    readItemPublications(tx, context, wantedIds),
  ]);
  const foundIds = found.map((item) => item.id);
  const publications = published.filter((one) => foundIds.includes(one.itemId));
  const own = new Map(
    publications.filter((one) => one.integrationId === scope.integrationId).map((p) => [p.itemId, p]),
  );
  const isOverdue = publications.some((one) => one.hasOverdue);
  const overdue = isOverdue ? await overdueReservations(tx, context, foundIds) : [];
  const freed = unitsFreed(overdue);
  for (const item of found) item.reservedUnits -= freed.get(item.id) ?? 0;

  const items = new Map(found.map((item) => [item.id, item]));
  const reservationIds = wanted.reservationIds.filter((id) => isId('reservation', id));
  // A reservation keeps its item within reach, also after the dealer took it off the channel.
  const isWithinReach = (item: StockRow) => reservationIds.length > 0 || isReadable(item, own.get(item.id));
  const concerned = new Set(found.filter((item) => freed.has(item.id) || isWithinReach(item)).map((item) => item.id));
  const channels = publications.filter((one) => concerned.has(one.itemId)).map((one) => one.integrationId);
  let named: NamedReservations;
  const held = new Map<string, number>();
  const add = (itemId: string, units: number) => held.set(itemId, (held.get(itemId) ?? 0) + units);
  const availableOf = (item: StockRow) => item.units - item.reservedUnits - (held.get(item.id) ?? 0);
  const moved = () => [...held].filter(([, units]) => units !== 0);

  return {
    items,
    channels: scope.isTest ? [] : [...new Set(channels)],
    movable: scope.isTest ? [] : [...concerned],
    async open() {
      named = await readNamedReservations(tx, context, scope, reservationIds, overdue);
    },
    startNext() {
      if (scope.isTest) held.clear();
    },
    find(itemId, kind) {
      const item = items.get(itemId);
      const publication = own.get(itemId);
      if (item === undefined || item.kind !== kind || !isReadable(item, publication)) return null;
      return { available: availableOf(item), isOnSale: publication?.isOn === true && !item.isHidden };
    },
    hold({ itemId, kind, units, reservation }) {
      const item = items.get(itemId);
      if (item === undefined || item.kind !== kind) return null;
      const reserved = reservation === undefined ? null : named.find(reservation.id, itemId);
      if (reserved === null && !isReadable(item, own.get(itemId))) return null;
      const isExact = reserved?.units === units;
      // What an active reservation holds is the line's before anything is counted.
      if (reserved?.status === 'active' && !scope.isTest) add(itemId, -reserved.units);
      const available = availableOf(item);
      // In test mode nobody was kept from taking the units, but the answer is that of a live reservation.
      const isGranted = available >= units || (reserved?.status === 'active' && isExact);
      if (reserved !== null && reservation !== undefined) {
        if (isExact && isGranted) named.use(reserved, reservation.orderId);
        else if (!isExact && reserved.status === 'active') named.release(reserved);
      }
      if (!isGranted) return null;
      add(itemId, units);
      return { remaining: Math.max(0, available - units) };
    },
    touched: () => (scope.isTest ? [] : [...new Set([...moved().map(([id]) => id), ...freed.keys()])].sort()),
    unitsAfter: () =>
      new Map(
        found.map(({ id, units, reservedUnits }) => [
          id,
          { units, reservedUnits: reservedUnits + (held.get(id) ?? 0) },
        ]),
      ),
    async write(clocks) {
      if (scope.isTest) return;
      await endReservations(tx, context, 'expired', overdue, clocks);
      const rows = moved().map(([id, units]) => ({ id, units }));
      if (rows.length === 0) return;
      tx.defer(sql`
        update items i set reserved_units = i.reserved_units + rows.units
        from ${unnestRows('rows', rows, HELD_COLUMNS)}
        where i.id = rows.id`);
    },
    writeReservations: (stamp) => named.write(stamp),
  };
}

/**
 * Writes the units that a client's orders or reservations hold, and projects their items onto the channels whose clocks are
 * locked. The client's own integration is stamped in any case, and its own writes are not echoed to it.
 */
export async function writeHeldUnits(
  tx: Transaction,
  context: ChannelContext,
  { integrationId }: OrderScope,
  stock: SellableStock,
  locked: { clocks: Map<string, Date>; sources: SourceRows },
): Promise<{ stamp: Date; touched: string[] }> {
  await stock.write(locked.clocks);
  const { stamps } = await projectItems(tx, context, {
    itemIds: stock.touched(),
    integrationIds: null,
    ...locked,
    stampAlso: [integrationId],
    unitsBefore: stock.items,
    unitsAfter: stock.unitsAfter(),
    isSuppressed: (id) => id === integrationId,
  });
  return { stamp: stampOf(stamps, integrationId), touched: [...stamps.keys()] };
}

type ItemPublication = { integrationId: string; itemId: string; isOn: boolean; hasOverdue: boolean };

/**
 * A client can buy what it can read by its id: a listing that is or was on its channel, since the sale may have happened
 * before it was held off, and a part while it is on. Anything else is an unknown id.
 */
function isReadable({ kind }: StockRow, publication: ItemPublication | undefined): boolean {
  return publication !== undefined && (kind === 'listing' || publication.isOn);
}

function isItemId(id: string): boolean {
  return isId('listing', id) || isId('part', id);
}

/**
 * What is done in test mode holds nothing, but an order's lines refer to the rows, which locks them weakly: that too has
 * to come before the clocks. The dealer is compared as an expression, so that every plan takes the primary key.
 */
async function lockStock(tx: Transaction, scope: OrderScope, ids: string[]): Promise<StockRow[]> {
  if (ids.length === 0) return [];
  const lock: Sql = scope.isTest ? sql`for key share` : sql`for update`;
  return await tx.query<StockRow>(sql`
    select id, kind, units, reserved_units as "reservedUnits", is_hidden as "isHidden" from items
    where id = any(${ids}::text[]) and (organization_id || '') = ${scope.organizationId} order by id ${lock}`);
}

/** Also whether a reservation is over, so that there is a statement for those only if there are any. */
async function readItemPublications(
  tx: Transaction,
  context: ChannelContext,
  itemIds: string[],
): Promise<ItemPublication[]> {
  if (itemIds.length === 0) return [];
  return await tx.query<ItemPublication>(sql`
    select p.integration_id as "integrationId", p.item_id as "itemId", p.is_on as "isOn",
      exists (select from reservations r where r.item_id = p.item_id and r.status = 'active'
        and r.expires_at <= (select ${clockTime(context.now())})) as "hasOverdue"
    from publications p
    where p.item_id = any(${itemIds}::text[])`);
}
