import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { changeItem, type LockedItem } from '../../inventory/change-items.ts';
import {
  endReservations,
  type HoldingReservation,
  holdingReservations,
  lockReservationClocks,
} from '../../inventory/units/item-reservations.ts';

/** What the dealer sees of the reservations of an item and does with them. Those made in test mode hold nothing. */
export type ItemReservation = HoldingReservation & { reference: string | null; createdAt: Date; expiresAt: Date };

const SHOWN_LIMIT = 200;

/** The reservations that hold units of an item now, those that end first in front. */
export async function reservationsOf(
  db: Queryable,
  organizationId: string,
  itemId: string,
  testTime: Date | null,
): Promise<ItemReservation[]> {
  return await db.query<ItemReservation>(sql`
    select integration_id as "integrationId", id, item_id as "itemId", units, reference, created_at as "createdAt",
      expires_at as "expiresAt"
    from reservations
    where ${holdingReservations([itemId])} and organization_id = ${organizationId}
      and expires_at > (select ${clockTime(testTime)})
    order by expires_at, id limit ${SHOWN_LIMIT}`);
}

/** Ends a reservation before its time. Its client is told like every other. */
export async function releaseReservation(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  reservationId: string,
): Promise<void> {
  await changeItem(context, { organizationId, itemId }, async (tx, item) => {
    const found = await reservationsHolding(tx, itemId);
    const reservation = found.find((one) => one.id === reservationId);
    if (reservation === undefined) {
      throw new DomainError('not_found', 'There is no such reservation, or it has ended already.');
    }
    await releaseAll(tx, context, actor, organizationId, item, [reservation]);
  });
}

/** Releases as many reservations of a locked item as a sale of so many units needs, those that end first in front. */
export async function releaseForSale(
  tx: Transaction,
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  item: LockedItem,
  units: number,
): Promise<void> {
  let missing = units - (item.units - item.reservedUnits);
  const released: HoldingReservation[] = [];
  for (const reservation of await reservationsHolding(tx, item.id)) {
    if (missing <= 0) break;
    released.push(reservation);
    missing -= reservation.units;
  }
  await releaseAll(tx, context, actor, organizationId, item, released);
}

async function reservationsHolding(tx: Transaction, itemId: string): Promise<HoldingReservation[]> {
  return await tx.query<HoldingReservation>(sql`
    select integration_id as "integrationId", id, item_id as "itemId", units from reservations
    where ${holdingReservations([itemId])} order by expires_at, id`);
}

/** The item is locked; whoever locked it projects it. */
async function releaseAll(
  tx: Transaction,
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  item: LockedItem,
  reservations: HoldingReservation[],
): Promise<void> {
  if (reservations.length === 0) return;
  const clocks = await lockReservationClocks(tx, reservations);
  await endReservations(tx, context, 'released', reservations, clocks);
  for (const { id, integrationId, units } of reservations) {
    await recordAudit(tx, actor, {
      organizationId,
      action: 'reservation.released',
      object: { kind: 'item', id: item.id },
      old: { reservedUnits: item.reservedUnits },
      new: { reservedUnits: item.reservedUnits - units, reservationId: id, integrationId },
      at: context.now(),
    });
    item.reservedUnits -= units;
  }
}
