import type { ChannelContext } from '../../channel/context.ts';
import { presentFor } from '../../channel/projection/plan-projection.ts';
import type { Reservation } from '../../contract/resources/reservation.ts';
import type { ReservationStatus } from '../../contract/states/reservation-states.ts';
import type { JsonObject } from '../../contract/versions.ts';
import { type Sql, sql } from '../../db/sql.ts';

/** A reservation as it is stored. */
export type ReservationRow = {
  id: string;
  isTest: boolean;
  kind: 'listing' | 'part';
  itemId: string;
  units: number;
  reference: string | null;
  status: ReservationStatus;
  orderId: string | null;
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
};

export const RESERVATION_COLUMNS: Sql = sql`
  id, is_test as "isTest", kind, item_id as "itemId", units, reference, status, order_id as "orderId",
  expires_at as "expiresAt", created_at as "createdAt", updated_at as "updatedAt"`;

/** The reservation as a client of some version reads it. */
export function presentReservation(context: ChannelContext, version: string, row: ReservationRow): string {
  const reservation: Reservation = {
    id: row.id,
    object: 'reservation',
    status: row.status,
    is_test: row.isTest,
    listing_id: row.kind === 'listing' ? row.itemId : null,
    part_id: row.kind === 'part' ? row.itemId : null,
    quantity: row.units,
    reference: row.reference,
    order_id: row.orderId,
    expires_at: row.expiresAt.toISOString(),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
  return JSON.stringify(presentFor(context.versions, version)(reservation as unknown as JsonObject));
}
