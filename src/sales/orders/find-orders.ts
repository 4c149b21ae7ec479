import type { OrderStatus } from '../../contract/states/order-states.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export type FoundOrder = {
  id: string;
  integrationId: string;
  channelOrderId: string;
  status: OrderStatus;
  isTest: boolean;
};

/** Orders of these integrations by their id, or by the number that the website gave them; newest first. */
export async function findOrders(
  db: Queryable,
  integrationIds: readonly string[],
  text: string,
  limit: number,
): Promise<FoundOrder[]> {
  if (text === '' || text.includes('\0')) return [];
  const column = text.startsWith('ord_') ? sql`id` : sql`channel_order_id`;
  return await db.query<FoundOrder>(sql`
    select id, integration_id as "integrationId", channel_order_id as "channelOrderId", status, is_test as "isTest"
    from orders where integration_id = any(${[...integrationIds]}::text[]) and ${column} = ${text}
    order by id desc limit ${limit}`);
}

/** The numbers that websites gave to these orders, and the requests that reported and cancelled them, by their ids. */
export async function numbersOfOrders(
  db: Queryable,
  integrationIds: readonly string[],
  ids: readonly string[],
): Promise<Map<string, { channelOrderId: string; requestId: string | null; cancelRequestId: string | null }>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<{
    id: string;
    channelOrderId: string;
    requestId: string | null;
    cancelRequestId: string | null;
  }>(sql`
    select id, channel_order_id as "channelOrderId", request_id as "requestId", cancel_request_id as "cancelRequestId"
    from orders where integration_id = any(${[...integrationIds]}::text[]) and id = any(${[...new Set(ids)]}::text[])`);
  return new Map(rows.map(({ id, ...order }) => [id, order]));
}
