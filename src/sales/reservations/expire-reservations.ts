import { lockClocks, stampOf } from '../../channel/clock.ts';
import { commitAndWake } from '../../channel/commit-and-wake.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { projectItems } from '../../channel/projection/project-items.ts';
import { countFitting } from '../../channel/projection/projection-budget.ts';
import { RESERVATION_RETENTION_DAYS } from '../../contract/limits.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { isLockTimeout } from '../../db/short-lock-waits.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { clockTime, transactionTime } from '../../db/sql-time.ts';
import {
  endReservations,
  lockReservationClocks,
  overdueReservations,
} from '../../inventory/units/item-reservations.ts';

/** So many are looked at in one go. */
const BATCH_LIMIT = 100;
/** A worker looks after so many batches whether it is wanted elsewhere; what is left is due in the next round. */
const BATCHES_LIMIT = 1_000;
/** So many channels in test mode are looked at in one turn of a dealer. */
const TURN_TEST_CHANNELS = 4;
const PRUNE_LIMIT = 1_000;

type DueRow = { organizationId: string; integrationId: string; itemId: string; isTest: boolean };

/**
 * Ends the reservations whose time is over; returns how many. Dealers take turns: in each round some of every dealer's. Any number
 * of workers may do it: an item that somebody else has locked is passed over, because whoever locks an item ends what is over,
 * and the next call looks again. So it is with a dealer whose clocks are locked for long. One that fails does not keep the
 * others waiting.
 */
export async function expireDueReservations(context: ChannelContext, signal?: AbortSignal): Promise<number> {
  const faults = new Map<string, unknown>();
  /** Dealers of whom nothing could be ended now. */
  const locked = new Set<string>();
  /** Dealers who had their turn in this round. */
  const served = new Set<string>();
  let expired = 0;
  for (let batch = 0; batch < BATCHES_LIMIT && !signal?.aborted; batch++) {
    const due = await findDue(context, [...faults.keys(), ...locked, ...served]);
    if (due.length === 0 && served.size === 0) break;
    if (due.length === 0) served.clear();
    for (const [organizationId, rows] of Map.groupBy(due, (row) => row.organizationId)) {
      served.add(organizationId);
      try {
        const ended = await expireSome(context, organizationId, rows);
        if (ended === 0) locked.add(organizationId);
        expired += ended;
      } catch (error) {
        if (isLockTimeout(error)) locked.add(organizationId);
        else faults.set(organizationId, error);
      }
    }
  }
  if (faults.size > 0) throw new AggregateError(faults.values(), `reservations of ${faults.size} dealers stay`);
  return expired;
}

/** Ends what is over of some items, for a read that met them. */
export async function expireReservationsOf(
  context: ChannelContext,
  organizationId: string,
  itemIds: string[],
): Promise<void> {
  for (let left = itemIds; left.length > 0; ) {
    const some = await fittingItems(context.db, left);
    await expireLive(context, organizationId, some, sql`for update`);
    left = left.slice(some.length);
  }
}

/** Ends the test reservations of an integration that are over. They hold nothing, so its own clock is all that is needed. */
export async function expireTestReservations(context: ChannelContext, integrationId: string): Promise<number> {
  const { ended } = await commitAndWake(context, async (tx) => {
    const clocks = await lockClocks(tx, [integrationId]);
    const over = sql`
      integration_id = ${integrationId} and status = 'active' and is_test
        and expires_at <= (select ${clockTime(context.now())})`;
    const rows = await tx.query<{ id: string }>(sql`select id from reservations where ${over}`);
    if (rows.length === 0) return { ended: 0, touched: [] };
    const { stamps } = await projectItems(tx, context, {
      itemIds: [],
      integrationIds: [integrationId],
      clocks,
      stampAlso: [integrationId],
    });
    await tx.query(sql`
      update reservations set status = 'expired', updated_at = ${stampOf(stamps, integrationId)}
      where integration_id = ${integrationId} and id = any(${rows.map((row) => row.id)}::text[])`);
    return { ended: rows.length, touched: [] };
  });
  return ended;
}

/** When the next reservation ends, in milliseconds from now; null if none is active. */
export async function nextExpiryMs(context: ChannelContext): Promise<number | null> {
  const [row] = await context.db.query<{ ms: number }>(sql`
    select greatest(0, extract(epoch from expires_at - (select ${clockTime(context.now())})) * 1000)::float8 as ms
    from reservations where status = 'active' order by expires_at limit 1`);
  return row?.ms ?? null;
}

/** Deletes a batch of reservations that ended long ago; returns how many. */
export async function pruneReservations(db: Queryable, now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    delete from reservations where ctid = any(array(
      select ctid from reservations
      where status <> 'active'
        and updated_at < ${transactionTime(now)} - make_interval(days => ${RESERVATION_RETENTION_DAYS})
      limit ${PRUNE_LIMIT} for update skip locked))
    returning id`);
  return rows.length;
}

async function findDue(context: ChannelContext, except: string[]): Promise<DueRow[]> {
  return await context.db.query<DueRow>(sql`
    select organization_id as "organizationId", integration_id as "integrationId", item_id as "itemId",
      is_test as "isTest"
    from reservations
    where status = 'active' and expires_at <= ${transactionTime(context.now())}
      and organization_id <> all(${except}::text[])
    order by expires_at limit ${BATCH_LIMIT}`);
}

async function expireSome(context: ChannelContext, organizationId: string, due: DueRow[]): Promise<number> {
  let ended = 0;
  const inTestMode = new Set(due.flatMap((row) => (row.isTest ? row.integrationId : [])));
  // Each is a transaction, and a dealer may have a hundred of them; the others have their turn in the next round.
  for (const integrationId of [...inTestMode].slice(0, TURN_TEST_CHANNELS)) {
    ended += await expireTestReservations(context, integrationId);
  }
  const itemIds = [...new Set(due.flatMap((row) => (row.isTest ? [] : row.itemId)))];
  if (itemIds.length === 0) return ended;
  // The others have their turn in the next round.
  const some = await fittingItems(context.db, itemIds);
  return ended + (await expireLive(context, organizationId, some, sql`for update skip locked`));
}

/** As many as one transaction may project. */
async function fittingItems(db: Queryable, itemIds: string[]): Promise<string[]> {
  const count = await countFitting(
    db,
    itemIds.map((itemId) => ({ itemId })),
  );
  return itemIds.slice(0, count);
}

async function expireLive(
  context: ChannelContext,
  organizationId: string,
  itemIds: string[],
  lock: Sql,
): Promise<number> {
  const { ended } = await commitAndWake(context, async (tx) => {
    const locked = await lockSome(tx, organizationId, itemIds, lock);
    const overdue = await overdueReservations(tx, context, locked);
    if (overdue.length === 0) return { ended: 0, touched: [] };
    const clocks = await lockReservationClocks(tx, overdue);
    await endReservations(tx, context, 'expired', overdue, clocks);
    const { stamps } = await projectItems(tx, context, {
      itemIds: [...new Set(overdue.map((one) => one.itemId))].sort(),
      integrationIds: null,
      clocks,
    });
    return { ended: overdue.length, touched: [...stamps.keys()] };
  });
  return ended;
}

async function lockSome(tx: Transaction, organizationId: string, itemIds: string[], lock: Sql): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    select id from items
    where id = any(${itemIds}::text[]) and (organization_id || '') = ${organizationId} order by id ${lock}`);
  return rows.map((row) => row.id);
}
