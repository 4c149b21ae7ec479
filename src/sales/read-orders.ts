import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** Whose orders a client reads: those of its integration, as long as they are of the dealer whose it is. */
export type OrderReader = { integrationId: string; organizationId: string };

export type OrderQuery = OrderReader & {
  limit: number;
  statuses: string[] | null;
  updatedAfter: Date | null;
  before: { id: string; at: Date } | null;
};

export type ReadOrder = { id: string; updatedAt: Date; document: string };

/** The orders of one integration, newest change first. */
export async function listOrders(db: Queryable, query: OrderQuery): Promise<ReadOrder[]> {
  const { statuses, updatedAfter, before } = query;
  const status = statuses === null ? sql`` : sql`and status = any(${statuses}::text[])`;
  const since = updatedAfter === null ? sql`` : sql`and updated_at > ${updatedAfter}`;
  const from = before === null ? sql`` : sql`and (updated_at, id) < (${before.at}, ${before.id})`;
  return await db.query<ReadOrder>(sql`
    select id, updated_at as "updatedAt", document from orders
    where integration_id = ${query.integrationId} and organization_id = ${query.organizationId} ${status} ${since} ${from}
    order by updated_at desc, id desc limit ${query.limit}`);
}

export async function findOrder(db: Queryable, reader: OrderReader, orderId: string): Promise<string | null> {
  const [row] = await db.query<{ document: string }>(sql`
    select document from orders
    where integration_id = ${reader.integrationId} and id = ${orderId} and organization_id = ${reader.organizationId}`);
  return row?.document ?? null;
}
