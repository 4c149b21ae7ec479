import type { ChannelContext } from '../../channel/context.ts';
import { type ReservationStatus, reservationStep } from '../../contract/states/reservation-states.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import type { OrderScope } from '../orders/order-draft.ts';

/** The reservations that the lines of orders name, and what becomes of them. */
export type NamedReservations = {
  /** The one that a line may take: the client's own, of this item and mode, which is active or has expired. */
  find(id: string, itemId: string): NamedReservation | null;
  use(reservation: NamedReservation, orderId: string): void;
  release(reservation: NamedReservation): void;
  write(stamp: Date): void;
};

export type NamedReservation = {
  id: string;
  itemId: string;
  units: number;
  status: ReservationStatus;
  orderId: string | null;
};

/** Their items and the integration's clock are locked. */
export async function readNamedReservations(
  tx: Transaction,
  context: ChannelContext,
  scope: OrderScope,
  ids: string[],
  /** Live ones that end in this transaction, because their time is over. */
  overdue: { id: string }[],
): Promise<NamedReservations> {
  const rows = ids.length === 0 ? [] : await readRows(tx, context, scope, ids);
  const over = new Set(overdue.map(({ id }) => id));
  for (const row of rows) if (over.has(row.id)) row.status = 'expired';
  const byId = new Map(rows.map((row) => [row.id, row]));
  const changed = new Set<NamedReservation>();
  return {
    find(id, itemId) {
      const row = byId.get(id);
      return row?.itemId === itemId && reservationStep('use', row.status) !== 'refused' ? row : null;
    },
    use(reservation, orderId) {
      Object.assign(reservation, { status: 'used', orderId });
      changed.add(reservation);
    },
    release(reservation) {
      reservation.status = 'released';
      changed.add(reservation);
    },
    write(stamp) {
      if (changed.size === 0) return;
      tx.defer(sql`
        update reservations r set status = rows.status, order_id = rows.order_id, updated_at = ${stamp}
        from ${unnestRows('rows', [...changed], { id: 'text', status: 'text', orderId: 'text' })}
        where r.integration_id = ${scope.integrationId} and r.id = rows.id`);
    },
  };
}

/** Nobody has ended a test reservation when its item was locked; a live one is what its row says, since it holds units. */
async function readRows(
  tx: Transaction,
  context: ChannelContext,
  scope: OrderScope,
  ids: string[],
): Promise<NamedReservation[]> {
  return await tx.query<NamedReservation>(sql`
    select id, item_id as "itemId", units, order_id as "orderId",
      case when is_test and status = 'active' and expires_at <= (select ${clockTime(context.now())}) then 'expired' else status end
        as status
    from reservations
    where integration_id = ${scope.integrationId} and is_test = ${scope.isTest} and id = any(${ids}::text[])`);
}
