import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** Names of people by their ids, as far as they are of this dealer's team. */
export async function namesOfPeople(
  db: Queryable,
  organizationId: string,
  userIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; name: string }>(sql`
    select id, name from users where organization_id = ${organizationId} and id = any(${userIds}::text[])`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
