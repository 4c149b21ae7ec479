import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export type FoundOrder = {
  id: string;
  integrationId: string;
  channelOrderId: string;
  status: string;
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
