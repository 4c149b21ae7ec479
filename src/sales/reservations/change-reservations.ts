import { lockClocks, stampOf } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { integrationsOf, projectItems } from '../../channel/projection/project-items.ts';
import { RESERVATION_LIFETIME_LIMIT_SECONDS } from '../../contract/limits.ts';
import { reservationStep } from '../../contract/states/reservation-states.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { type LockedItem, lockItems } from '../../inventory/change-items.ts';
import { endReservations, overdueReservations, unitsFreed } from '../../inventory/units/item-reservations.ts';
import { RESERVATION_COLUMNS, type ReservationRow } from './reservation-rows.ts';

/** What a client does with one of its reservations. */
export type ReservationChange = { reservationId: string } & (
  | { operation: 'release' }
  | { operation: 'extend'; ttlSeconds: number }
);

export type ChangedReservations = {
  /** One for each change; null if there is no such reservation. */
  results: ({ row: ReservationRow; isRefused: boolean } | null)[];
  touched: string[];
};

export type ReservationOwner = { integrationId: string; organizationId: string };

/**
 * Releases or extends reservations of one integration, in their order, in the caller's transaction. Whatever is over by
 * now has ended before: it can't be extended, and releasing it changes nothing.
 */
export async function changeReservations(
  tx: Transaction,
  context: ChannelContext,
  owner: ReservationOwner,
  changes: ReservationChange[],
): Promise<ChangedReservations> {
  const ids = changes.map((change) => change.reservationId);
  // Which items they hold never changes, so it can be read before the lock.
  const held = await readReservations(tx, owner, ids);
  const itemIds = [...new Set(held.flatMap((row) => (row.isTest ? [] : row.itemId)))];
  const items = itemIds.length === 0 ? [] : await lockItems(tx, owner.organizationId, itemIds);
  const overdue = await overdueReservations(tx, context, itemIds);
  const channels = itemIds.length === 0 ? [] : await integrationsOf(tx, itemIds);
  const others = overdue.map((one) => one.integrationId);
  const clocks = await lockClocks(tx, [...new Set([owner.integrationId, ...channels, ...others])].sort());
  await endReservations(tx, context, 'expired', overdue, clocks);
  const freed = unitsFreed(overdue);
  for (const item of items) item.reservedUnits -= freed.get(item.id) ?? 0;

  const now = await timeOf(tx, context);
  const rows = new Map((await readReservations(tx, owner, ids)).map((row) => [row.id, row]));
  const work: Work = {
    items: new Map(items.map((item) => [item.id, { ...item }])),
    changed: new Set(),
    answers: [],
    isExtended: false,
    now,
  };
  const results = changes.map((change) => {
    const row = rows.get(change.reservationId);
    if (row === undefined) return null;
    expireTest(work, row);
    const isRefused = !apply(work, row, change);
    return { row: answerOf(work, row), isRefused };
  });
  const touched = await writeChanges(tx, context, owner, {
    ...work,
    before: items,
    clocks,
    freed: [...freed.keys()],
  });
  return { results, touched };
}

type Work = {
  items: Map<string, LockedItem>;
  changed: Set<ReservationRow>;
  /** Changed reservations as each of the changes left them: the next one alters the row further. */
  answers: ReservationRow[];
  isExtended: boolean;
  now: Date;
};

/** Nobody has ended a test reservation when an item was locked, since it holds nothing. */
function expireTest({ changed, now }: Work, row: ReservationRow): void {
  if (!row.isTest || row.status !== 'active' || row.expiresAt > now) return;
  row.status = 'expired';
  changed.add(row);
}

/** False if the reservation is past that. */
function apply(work: Work, row: ReservationRow, change: ReservationChange): boolean {
  const step = reservationStep(change.operation, row.status);
  if (step === 'refused') return false;
  if (step === 'unchanged') return true;
  row.status = step.status;
  work.changed.add(row);
  if (change.operation === 'extend') {
    row.expiresAt = extendedTo(row, work.now, change.ttlSeconds);
    work.isExtended = true;
    return true;
  }
  const item = row.isTest ? undefined : work.items.get(row.itemId);
  if (item !== undefined) item.reservedUnits -= row.units;
  return true;
}

function answerOf({ changed, answers }: Work, row: ReservationRow): ReservationRow {
  const answer = { ...row };
  if (changed.has(row)) answers.push(answer);
  return answer;
}

type Writing = Work & { before: LockedItem[]; clocks: Map<string, Date>; freed: string[] };

async function writeChanges(
  tx: Transaction,
  context: ChannelContext,
  { integrationId }: ReservationOwner,
  { items, before, changed, answers, isExtended, clocks, freed }: Writing,
): Promise<string[]> {
  if (changed.size === 0 && freed.length === 0) return [];
  const unitsBefore = new Map(before.map((item) => [item.id, item]));
  const moved = [...items.values()].filter((item) => item.reservedUnits !== unitsBefore.get(item.id)?.reservedUnits);
  await writeReservedUnits(tx, moved);
  const { stamps } = await projectItems(tx, context, {
    itemIds: [...new Set([...moved.map((item) => item.id), ...freed])].sort(),
    integrationIds: null,
    clocks,
    // An extension may also end it sooner, which no answer that others have cached knows of.
    stampAlso: isExtended ? [...clocks.keys()] : changed.size > 0 ? [integrationId] : [],
    unitsBefore,
    // The client's own writes are not echoed to it.
    isSuppressed: (id) => id === integrationId,
  });
  if (changed.size > 0) {
    const stamp = stampOf(stamps, integrationId);
    for (const row of [...changed, ...answers]) row.updatedAt = stamp;
    await writeRows(tx, integrationId, [...changed]);
  }
  return [...stamps.keys()];
}

/** Counted from now, and at most so long after its making. */
function extendedTo({ createdAt }: ReservationRow, now: Date, ttlSeconds: number): Date {
  const limitMs = createdAt.getTime() + RESERVATION_LIFETIME_LIMIT_SECONDS * 1_000;
  return new Date(Math.min(now.getTime() + ttlSeconds * 1_000, limitMs));
}

async function readReservations(tx: Transaction, owner: ReservationOwner, ids: string[]): Promise<ReservationRow[]> {
  return await tx.query<ReservationRow>(sql`
    select ${RESERVATION_COLUMNS} from reservations
    where integration_id = ${owner.integrationId} and organization_id = ${owner.organizationId}
      and id = any(${ids}::text[])`);
}

async function timeOf(tx: Transaction, context: ChannelContext): Promise<Date> {
  const [row] = await tx.query<{ now: Date }>(
    sql`select date_trunc('milliseconds', ${clockTime(context.now())}) as now`,
  );
  if (row === undefined) throw new Error('the database did not say what time it is');
  return row.now;
}

async function writeReservedUnits(tx: Transaction, items: LockedItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(sql`
    update items i set reserved_units = rows.reserved_units
    from ${unnestRows('rows', items, { id: 'text', reservedUnits: 'integer' })}
    where i.id = rows.id`);
}

const ROW_COLUMNS = { id: 'text', status: 'text', expiresAt: 'timestamptz', updatedAt: 'timestamptz' } as const;

async function writeRows(tx: Transaction, integrationId: string, rows: ReservationRow[]): Promise<void> {
  await tx.query(sql`
    update reservations r set status = rows.status, expires_at = rows.expires_at, updated_at = rows.updated_at
    from ${unnestRows('rows', rows, ROW_COLUMNS)}
    where r.integration_id = ${integrationId} and r.id = rows.id`);
}
