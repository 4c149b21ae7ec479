import type { UnmatchedReason } from '../../../contract/dashboard/orders/order-labels.ts';
import type { Order } from '../../../contract/resources/order.ts';
import type { Queryable } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

import type { ItemSummary } from '../../../inventory/lists/item-summaries.ts';
import { readChannelPublications } from '../../../inventory/publications.ts';
import { holdingReservations } from '../../../inventory/units/item-reservations.ts';

/** Why a line has no item, as it stands now: stock that was taken when the order came may be free again. */
export type Unmatched = {
  reason: UnmatchedReason;
  /** Units of the named item that can be sold. */
  available: number;
  /** Other orders that hold its units. */
  heldBy: { orderId: string; channelOrderId: string }[];
  /** Reservations of clients that hold its units for a checkout. */
  reservedBy: { reservationId: string; reference: string | null; expiresAt: Date }[];
};

type Line = Order['lines'][number];

/** The reasons of those lines that are matched to nothing, by the lines' ids. `items` are those that the lines name. */
export async function unmatchedReasons(
  db: Queryable,
  integrationId: string,
  order: Order,
  items: Map<string, ItemSummary>,
): Promise<Map<string, Unmatched>> {
  const lines = order.lines.filter(({ match }) => match === null);
  const named = lines.flatMap((line) => namedItem(line, items)?.id ?? []);
  const publications = await readChannelPublications(db, integrationId, named);
  const holders = await holdersOf(db, named, order.id);
  const reservations = await reservationsHolding(db, named);
  return new Map(
    lines.map((line) => {
      const item = namedItem(line, items);
      const reserving = reservations.get(item?.id ?? '') ?? [];
      const available = item === null ? 0 : availableOf(item, reserving);
      return [
        line.id,
        {
          reason: reasonOf(line, item, available, publications),
          available,
          heldBy: holders.get(item?.id ?? '') ?? [],
          reservedBy: reserving.flatMap(({ isOver, reservationId, reference, expiresAt }) =>
            isOver ? [] : { reservationId, reference, expiresAt },
          ),
        },
      ];
    }),
  );
}

/** A reservation whose time is over holds nothing, whether or not anybody has ended it yet. */
function availableOf({ units, reservedUnits }: ItemSummary, reserving: Reserving[]): number {
  const overdue = reserving.reduce((sum, { isOver, units }) => (isOver ? sum + units : sum), 0);
  return units - reservedUnits + overdue;
}

/** A client can buy a watch that is or was on its channel, and a part while it is on; sellable-stock.ts asks the same. */
function reasonOf(
  line: Line,
  item: ItemSummary | null,
  available: number,
  publications: Map<string, boolean>,
): UnmatchedReason {
  if (line.listing_id === null && line.part_id === null) return 'unnamed';
  if (item === null) return 'unknown';
  const isOn = publications.get(item.id);
  if (isOn === undefined || (item.kind === 'part' && !isOn)) return 'off_channel';
  if (available >= line.quantity) return 'free';
  if (available > 0) return 'too_few';
  return item.units === 0 ? 'sold' : 'taken';
}

/** The item that a line names, if it is one of the dealer's and of the kind that the line says. */
function namedItem(line: Line, items: Map<string, ItemSummary>): ItemSummary | null {
  const item = items.get(line.listing_id ?? line.part_id ?? '');
  const kind = line.listing_id === null ? 'part' : 'listing';
  return item?.kind === kind ? item : null;
}

const HOLDERS_LIMIT = 100;

async function holdersOf(db: Queryable, itemIds: string[], orderId: string): Promise<Map<string, Unmatched['heldBy']>> {
  if (itemIds.length === 0) return new Map();
  const rows = await db.query<{ itemId: string; orderId: string; channelOrderId: string }>(sql`
    select l.item_id as "itemId", o.id as "orderId", o.channel_order_id as "channelOrderId"
    from order_lines l join orders o on o.integration_id = l.integration_id and o.id = l.order_id
    where l.item_id = any(${itemIds}::text[]) and l.is_holding and o.id <> ${orderId}
    order by o.id limit ${HOLDERS_LIMIT}`);
  const holders = new Map<string, Unmatched['heldBy']>();
  for (const { itemId, ...holder } of rows) holders.set(itemId, [...(holders.get(itemId) ?? []), holder]);
  return holders;
}

type Reserving = Unmatched['reservedBy'][number] & { units: number; isOver: boolean };

/** The reservations that hold units of items, those that end last first: until then somebody else has to wait. */
async function reservationsHolding(db: Queryable, itemIds: string[]): Promise<Map<string, Reserving[]>> {
  if (itemIds.length === 0) return new Map();
  const rows = await db.query<Reserving & { itemId: string }>(sql`
    select item_id as "itemId", id as "reservationId", reference, units, expires_at as "expiresAt",
      expires_at <= clock_timestamp() as "isOver"
    from reservations where ${holdingReservations(itemIds)} order by expires_at desc, id limit ${HOLDERS_LIMIT}`);
  return Map.groupBy(rows, ({ itemId }) => itemId);
}
