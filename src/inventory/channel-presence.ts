import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** Items that are on a channel or were once, and whether they are now. */
export async function presenceOn(
  db: Queryable,
  integrationId: string,
  itemIds: readonly string[],
): Promise<Map<string, boolean>> {
  const rows = await db.query<{ itemId: string; isOn: boolean }>(sql`
    select item_id as "itemId", is_on as "isOn" from publications
    where integration_id = ${integrationId} and item_id = any(${[...itemIds]}::text[])`);
  return new Map(rows.map(({ itemId, isOn }) => [itemId, isOn]));
}
