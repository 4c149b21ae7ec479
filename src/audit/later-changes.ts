import type { Queryable } from '../db/database.ts';
import { plannedAnew, sql } from '../db/sql.ts';
import type { Values } from './record-audit.ts';

/** So many changes of one item are looked at. */
const CHANGES_LIMIT = 1_000;

/** A change of an item, alone or with others. */
export type LaterChange = { id: string; undoes: string | null; values: Values };

/**
 * What was done to items after a change, oldest first: the new values of some fields, where a change has one of them. Null for an
 * item with more changes since than are looked at.
 */
export async function readLaterChanges(
  db: Queryable,
  { organizationId, auditId }: { organizationId: string; auditId: string },
  itemIds: readonly string[],
  fields: readonly string[],
): Promise<Map<string, LaterChange[] | null>> {
  const isLater = sql`(a.at, a.id) > (since.at, since.id)`;
  const rows = await db.query<LaterChange & { itemId: string; isTooMany: boolean }>(
    plannedAnew(sql`
      select wanted.id as "itemId", later.id, later.undoes, later.found > ${CHANGES_LIMIT} as "isTooMany",
        (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(later.new_values)
          where key = any(${[...fields]}::text[])) as values
      from (select at, id from audit_log where organization_id = ${organizationId} and id = ${auditId}) since
      cross join unnest(${[...itemIds]}::text[]) as wanted (id)
      cross join lateral (
        select id, at, undoes, new_values, count(*) over () as found, row_number() over (order by at, id) as number
        from (
          select a.id, a.at, a.undoes, a.new_values from audit_log a
          where a.organization_id = ${organizationId} and a.object_kind = 'item' and a.object_id = wanted.id and ${isLater}
          union all
          select a.id, a.at, a.undoes, o.new_values
          from audit_log_objects o join audit_log a on a.organization_id = o.organization_id and a.id = o.audit_id
          where o.organization_id = ${organizationId} and o.object_id = wanted.id and ${isLater}
          limit ${CHANGES_LIMIT + 1}) found) later
      where later.new_values ?| ${[...fields]}::text[] or later.found > ${CHANGES_LIMIT} and later.number = 1
      order by later.at, later.id`),
  );
  const byItem = new Map<string, LaterChange[] | null>();
  for (const { itemId, isTooMany, ...change } of rows) {
    if (isTooMany) byItem.set(itemId, null);
    else byItem.set(itemId, [...(byItem.get(itemId) ?? []), change]);
  }
  return byItem;
}
