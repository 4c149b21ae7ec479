import type { Queryable } from '../../db/database.ts';
import { documentsWithin, PIECE_BYTES, pageDocuments } from '../../db/large-pages.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';

/** Whose orders a client reads: those of its integration, as long as they are of the dealer whose it is. */
export type OrderReader = { integrationId: string; organizationId: string };

export type OrderQuery = OrderReader & {
  limit: number;
  statuses: string[] | null;
  updatedAfter: Date | null;
  before: { id: string; at: Date } | null;
};

export type ReadOrder = {
  id: string;
  updatedAt: Date;
  /** Null if the page is large and this is beyond its first piece: read it with `readOrderPiece`. */
  document: string | null;
};

/** The orders of one integration, newest change first. */
export async function listOrders(db: Queryable, query: OrderQuery): Promise<ReadOrder[]> {
  const { statuses, updatedAfter, before, limit } = query;
  const since = updatedAfter === null ? sql`` : sql`and updated_at > ${updatedAfter}`;
  const from = before === null ? sql`` : sql`and (updated_at, id) < (${before.at}, ${before.id})`;
  const pageOf = (whose: Sql) => sql`
    select id, updated_at, document from orders
    where ${whose} and organization_id = ${query.organizationId} ${since} ${from}`;
  const order = sql`updated_at desc, id desc`;
  // One page of each status, from its own end of the index; then the newest of them all. Nothing but that index knows
  // the integration and the status as one value, so the planner has no other to choose.
  const ofStatus = sql`
    (integration_id || ' ' || orders.status) collate "C" = ${query.integrationId} || ' ' || wanted.status`;
  const rows =
    statuses === null
      ? sql`${pageOf(sql`integration_id = ${query.integrationId}`)} order by ${order} limit ${limit}`
      : sql`
        select page.id, page.updated_at, page.document from unnest(${statuses}::text[]) as wanted (status)
        cross join lateral (${pageOf(ofStatus)} order by ${order} limit ${limit}) page
        order by ${order} limit ${limit}`;
  return await db.query<ReadOrder>(sql`
    select id, updated_at as "updatedAt", ${pageDocuments(sql`document`, order)} as document
    from (${rows}) rows order by ${order}`);
}

/** These orders again, as far as their documents make a piece. One that has changed since is not among them. */
export async function readOrderPiece(
  db: Queryable,
  reader: OrderReader,
  orders: { id: string; updatedAt: Date }[],
): Promise<ReadOrder[]> {
  const order = sql`orders.updated_at desc, orders.id desc`;
  return await db.query<ReadOrder>(sql`
    select orders.id, orders.updated_at as "updatedAt",
      ${documentsWithin(PIECE_BYTES, sql`orders.document`, order)} as document
    from ${unnestRows('wanted', orders, { id: 'text', updatedAt: 'timestamptz' })}
    join orders on orders.id = wanted.id and orders.updated_at = wanted.updated_at
    where orders.integration_id = ${reader.integrationId} and orders.organization_id = ${reader.organizationId}
    order by ${order}`);
}

export async function findOrder(db: Queryable, reader: OrderReader, orderId: string): Promise<string | null> {
  const [row] = await db.query<{ document: string }>(sql`
    select document from orders
    where integration_id = ${reader.integrationId} and id = ${orderId} and organization_id = ${reader.organizationId}`);
  return row?.document ?? null;
}

/** The order that the client reported under its own id, with its document, if it passes the other filters. */
export async function findOrderOfChannel(
  db: Queryable,
  query: OrderReader & Pick<OrderQuery, 'statuses' | 'updatedAfter'> & { channelOrderId: string },
): Promise<string | null> {
  const { statuses, updatedAfter } = query;
  const [row] = await db.query<{ document: string }>(sql`
    select document from orders
    where integration_id = ${query.integrationId} and channel_order_id = ${query.channelOrderId}
      and organization_id = ${query.organizationId}
      ${statuses === null ? sql`` : sql`and status = any(${statuses}::text[])`}
      ${updatedAfter === null ? sql`` : sql`and updated_at > ${updatedAfter}`}`);
  return row?.document ?? null;
}
