import { advanceClocks, lockClocks, nextStamp, stampOf } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { integrationsOf } from '../../channel/projection/project-items.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';

/**
 * What stock knows of the clients' reservations: they hold units, and whoever locks an item first ends those whose time is
 * over. Only live ones are meant; a test reservation holds nothing. Making and using them is sales/reservations/.
 */
export type HoldingReservation = { integrationId: string; id: string; itemId: string; units: number };

/** Live reservations that hold units of some items. */
export function holdingReservations(itemIds: string[]): Sql {
  return sql`item_id = any(${itemIds}::text[]) and status = 'active' and not is_test`;
}

/** The reservations of locked items whose time is over. A statement of its own, after the lock. */
export async function overdueReservations(
  tx: Transaction,
  context: ChannelContext,
  itemIds: string[],
): Promise<HoldingReservation[]> {
  if (itemIds.length === 0) return [];
  return await tx.query<HoldingReservation>(sql`
    select integration_id as "integrationId", id, item_id as "itemId", units from reservations
    where ${holdingReservations(itemIds)} and expires_at <= (select ${clockTime(context.now())})
    order by integration_id, id`);
}

/** The clocks that ending reservations needs: of their own clients, and of every channel that shows the items or did. */
export async function lockReservationClocks(
  tx: Transaction,
  reservations: HoldingReservation[],
  alsoLock: string[] = [],
): Promise<Map<string, Date>> {
  const channels = await integrationsOf(tx, [...new Set(reservations.map(({ itemId }) => itemId))]);
  const own = reservations.map(({ integrationId }) => integrationId);
  return await lockClocks(tx, [...new Set([...channels, ...own, ...alsoLock])].sort());
}

/**
 * Ends reservations and gives their units back. Their items and clocks are locked; `clocks` then stands at the new stamps.
 * The caller projects the items onto every channel in the same transaction.
 */
export async function endReservations(
  tx: Transaction,
  context: ChannelContext,
  status: 'expired' | 'released',
  ended: HoldingReservation[],
  clocks: Map<string, Date>,
): Promise<void> {
  if (ended.length === 0) return;
  const stamps = await nextStamps(tx, context, clocks, [...new Set(ended.map((one) => one.integrationId))]);
  const rows = ended.map(({ integrationId, id }) => ({ integrationId, id, stamp: stampOf(stamps, integrationId) }));
  tx.defer(sql`
    update reservations r set status = ${status}, updated_at = rows.stamp
    from ${unnestRows('rows', rows, { integrationId: 'text', id: 'text', stamp: 'timestamptz' })}
    where r.integration_id = rows.integration_id and r.id = rows.id`);
  giveBackUnits(tx, ended);
  advanceClocks(tx, stamps);
  for (const [integrationId, stamp] of stamps) clocks.set(integrationId, stamp);
}

/** The integrations that have some items reserved, also in test mode. */
export async function integrationsReserving(tx: Transaction, itemIds: string[]): Promise<string[]> {
  const rows = await tx.query<{ integration_id: string }>(sql`
    select distinct integration_id from reservations where item_id = any(${itemIds}::text[]) and status = 'active'`);
  return rows.map((row) => row.integration_id);
}

/** Releases the reservations of items that are being deleted, also those of test mode; they go on naming the items. */
export async function releaseWithItems(tx: Transaction, itemIds: string[], stamps: Map<string, Date>): Promise<void> {
  const rows = [...stamps].map(([integrationId, stamp]) => ({ integrationId, stamp }));
  await tx.query(sql`
    update reservations r set status = 'released', updated_at = rows.stamp
    from ${unnestRows('rows', rows, { integrationId: 'text', stamp: 'timestamptz' })}
    where r.integration_id = rows.integration_id and r.item_id = any(${itemIds}::text[]) and r.status = 'active'`);
}

/** The items are locked. */
export function giveBackUnits(tx: Transaction, ended: { itemId: string; units: number }[]): void {
  tx.defer(sql`
    update items i set reserved_units = i.reserved_units - freed.units
    from (
      select item_id, sum(units)::integer as units
      from ${unnestRows('rows', ended, { itemId: 'text', units: 'integer' })} group by item_id) freed
    where i.id = freed.item_id`);
}

/** The next stamps of integrations whose clocks are locked. */
export async function nextStamps(
  tx: Transaction,
  context: ChannelContext,
  clocks: Map<string, Date>,
  integrationIds: string[],
): Promise<Map<string, Date>> {
  const [row] = await tx.query<{ now: Date }>(sql`
    select date_trunc('milliseconds', ${clockTime(context.now())}) as now`);
  const now = row?.now ?? new Date();
  return new Map(integrationIds.map((id) => [id, nextStamp(stampOf(clocks, id), now)]));
}

/** The units that ended reservations give back, by item. */
export function unitsFreed(ended: HoldingReservation[]): Map<string, number> {
  const freed = new Map<string, number>();
  for (const { itemId, units } of ended) freed.set(itemId, (freed.get(itemId) ?? 0) + units);
  return freed;
}

/** How many units of an item clients hold by reservations. */
export async function unitsReservedByClients(db: Queryable, itemId: string): Promise<number> {
  const [row] = await db.query<{ units: number }>(sql`
    select coalesce(sum(units), 0)::integer as units from reservations where ${holdingReservations([itemId])}`);
  return row?.units ?? 0;
}
