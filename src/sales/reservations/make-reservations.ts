import { lockClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { readSources } from '../../channel/projection/project-items.ts';
import { ACTIVE_RESERVATIONS_LIMIT } from '../../contract/limits.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { newId } from '../../ids/new-id.ts';
import type { OrderScope } from '../orders/order-draft.ts';
import { lockSellableStock, type SellableStock, writeHeldUnits } from '../sellable-stock.ts';
import type { ReservationDraft } from './reservation-draft.ts';
import type { ReservationRow } from './reservation-rows.ts';

/** Why units can't be reserved. */
export type ReservationRefusal =
  | { refused: 'not_found' }
  | { refused: 'too_many' }
  | { refused: 'not_available'; remaining: number };

export type Reserved = {
  /** One for each draft. */
  results: (ReservationRow | ReservationRefusal)[];
  touched: string[];
};

/**
 * Reserves units for one integration, in the order of the drafts, in the caller's transaction. A draft that is refused
 * leaves nothing behind. The count of active reservations is exact: each is made and ended under the integration's clock.
 */
export async function makeReservations(
  tx: Transaction,
  context: ChannelContext,
  scope: OrderScope,
  drafts: ReservationDraft[],
): Promise<Reserved> {
  const itemIds = drafts.map((draft) => draft.itemId);
  const stock = await lockSellableStock(tx, context, scope, { itemIds, reservationIds: [] });
  const channels = [...new Set([scope.integrationId, ...stock.channels])].sort();
  const [clocks, { now, count }, sources] = await Promise.all([
    lockClocks(tx, channels),
    countActive(tx, context, scope.integrationId),
    readSources(tx, context, channels, stock.movable),
    stock.open(),
  ]);
  let active = count;
  const decided = drafts.map((draft) => {
    const refusal = refusalOf(stock, draft, active);
    if (refusal === null) active += 1;
    return { draft, refusal };
  });
  const granted = decided.flatMap(({ draft, refusal }) => (refusal === null ? [draft] : []));
  if (granted.length === 0) return { results: decided.flatMap(({ refusal }) => refusal ?? []), touched: [] };

  const { stamp, touched } = await writeHeldUnits(tx, context, scope, stock, { clocks, sources });
  const rows = new Map(granted.map((draft) => [draft, rowOf(draft, scope, now, stamp)]));
  insertRows(tx, scope, [...rows.values()]);
  return {
    results: decided.flatMap(({ draft, refusal }) => refusal ?? rows.get(draft) ?? []),
    touched,
  };
}

/** Holds the units, or says why not: the item first, then the limit, then what is left of it. */
function refusalOf(
  stock: SellableStock,
  { itemId, kind, units }: ReservationDraft,
  active: number,
): ReservationRefusal | null {
  stock.startNext();
  const item = stock.find(itemId, kind);
  if (item === null) return { refused: 'not_found' };
  if (active >= ACTIVE_RESERVATIONS_LIMIT) return { refused: 'too_many' };
  // What the dealer took off the channel or hid is not for sale, though it can still be read by its id.
  if (!item.isOnSale) return { refused: 'not_available', remaining: 0 };
  return stock.hold({ itemId, kind, units }) === null ? { refused: 'not_available', remaining: item.available } : null;
}

/** One that is over and has not been ended yet is not active. */
async function countActive(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
): Promise<{ now: Date; count: number }> {
  const [row] = await tx.query<{ now: Date; count: number }>(sql`
    select clock.now, (
      select count(*) from reservations
      where integration_id = ${integrationId} and status = 'active' and expires_at > clock.now) as count
    from (select date_trunc('milliseconds', ${clockTime(context.now())}) as now) as clock`);
  if (row === undefined) throw new Error('the count of reservations answered no row');
  return row;
}

/** Its time is counted from now: the stamp may be ahead, if the database's clock was set back. */
function rowOf(draft: ReservationDraft, { isTest }: OrderScope, now: Date, stamp: Date): ReservationRow {
  const { kind, itemId, units, reference, ttlSeconds } = draft;
  return {
    id: newId('reservation'),
    isTest,
    kind,
    itemId,
    units,
    reference,
    status: 'active',
    orderId: null,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1_000),
    createdAt: stamp,
    updatedAt: stamp,
  };
}

const COLUMNS = {
  id: 'text',
  kind: 'text',
  itemId: 'text',
  units: 'integer',
  reference: 'text',
  expiresAt: 'timestamptz',
  createdAt: 'timestamptz',
} as const;

function insertRows(tx: Transaction, scope: OrderScope, rows: ReservationRow[]): void {
  tx.defer(sql`
    insert into reservations (integration_id, organization_id, is_test, status, id, kind, item_id, units, reference,
      expires_at, created_at, updated_at)
    select ${scope.integrationId}, ${scope.organizationId}, ${scope.isTest}, 'active', id, kind, item_id, units, reference,
      expires_at, created_at, created_at
    from ${unnestRows('rows', rows, COLUMNS)}`);
}
