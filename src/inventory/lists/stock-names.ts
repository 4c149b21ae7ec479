import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** How people call items, business units and locations, by their ids, as far as they are this dealer's. */
export async function namesOfStock(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; name: string }>(sql`
    select id, title || ' (' || stock_number || ')' as name from items
    where organization_id = ${organizationId} and id = any(${ids}::text[])
    union all
    select id, name from locations where organization_id = ${organizationId} and id = any(${ids}::text[])
    union all
    select id, name from business_units where organization_id = ${organizationId} and id = any(${ids}::text[])`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
