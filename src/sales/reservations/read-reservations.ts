import type { Queryable } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { holdingReservations } from '../../inventory/units/item-reservations.ts';
import type { ReservationOwner } from './change-reservations.ts';
import { RESERVATION_COLUMNS, type ReservationRow } from './reservation-rows.ts';

export type ReservationQuery = ReservationOwner & {
  limit: number;
  statuses: string[] | null;
  before: { id: string; at: Date } | null;
};

const STORED_COLUMNS = sql`
  id, is_test, kind, item_id, units, reference, status, order_id, expires_at, created_at, updated_at`;

/** The reservations of one integration, newest change first. */
export async function listReservations(db: Queryable, query: ReservationQuery): Promise<ReservationRow[]> {
  const { statuses, before, limit } = query;
  const from = before === null ? sql`` : sql`and (updated_at, id) < (${before.at}, ${before.id})`;
  const pageOf = (whose: Sql) => sql`
    select ${STORED_COLUMNS} from reservations
    where ${whose} and organization_id = ${query.organizationId} ${from}`;
  const order = sql`updated_at desc, id desc`;
  // One page of each status, from its own end of the index; then the newest of them all. Nothing but that index knows
  // the integration and the status as one value, so the planner has no other to choose.
  const ofStatus = sql`(integration_id || ' ' || status) collate "C" = ${query.integrationId} || ' ' || wanted.one_status`;
  const rows =
    statuses === null
      ? sql`${pageOf(sql`integration_id = ${query.integrationId}`)} order by ${order} limit ${limit}`
      : sql`
        select ${STORED_COLUMNS} from unnest(${statuses}::text[]) as wanted (one_status)
        cross join lateral (${pageOf(ofStatus)} order by ${order} limit ${limit}) page
        order by ${order} limit ${limit}`;
  return await db.query<ReservationRow>(sql`select ${RESERVATION_COLUMNS} from (${rows}) rows order by ${order}`);
}

export async function findReservation(
  db: Queryable,
  owner: ReservationOwner,
  reservationId: string,
): Promise<ReservationRow | null> {
  const [row] = await db.query<ReservationRow>(sql`
    select ${RESERVATION_COLUMNS} from reservations
    where integration_id = ${owner.integrationId} and id = ${reservationId}
      and organization_id = ${owner.organizationId}`);
  return row ?? null;
}

/** When the first live reservation of each item ends by itself, the earliest in front; items without one are left out. */
export async function reservedUntil(
  db: Queryable,
  organizationId: string,
  itemIds: string[],
): Promise<{ itemId: string; untilMs: number }[]> {
  if (itemIds.length === 0) return [];
  const rows = await db.query<{ itemId: string; until: Date }>(sql`
    select item_id as "itemId", min(expires_at) as until from reservations
    where ${holdingReservations(itemIds)} and organization_id = ${organizationId}
    group by item_id order by until`);
  return rows.map(({ itemId, until }) => ({ itemId, untilMs: until.getTime() }));
}
