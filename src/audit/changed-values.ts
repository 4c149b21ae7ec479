import type { AuditAction } from '../contract/audit-actions.ts';
import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

const ROWS_LIMIT = 1_000;

/** The new value of one field in all recorded changes of some objects, such as whom customers were merged with. */
export async function newValuesOf(
  db: Queryable,
  organizationId: string,
  { action, objectIds, field }: { action: AuditAction; objectIds: readonly string[]; field: string },
): Promise<string[]> {
  const rows = await db.query<{ value: string }>(sql`
    select new_values ->> ${field} as value from audit_log
    where organization_id = ${organizationId} and object_id = any(${[...objectIds]}::text[]) and action = ${action}
      and new_values ->> ${field} is not null
    limit ${ROWS_LIMIT}`);
  return rows.map(({ value }) => value);
}
