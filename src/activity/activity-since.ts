import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import type { ActivityKind } from './activity-counts.ts';

/** How far somebody has been notified of what was counted: of all before an hour, and so many of that hour. */
export type NotifiedUpTo = { organizationId: string; kind: ActivityKind; notifiedHour: Date; notifiedCount: number };

/** What was counted since, and how far that is. */
export type ActivitySince = { fresh: number; notifiedHour: Date; notifiedCount: number };

const NOTIFIED_COLUMNS = {
  organizationId: 'text',
  kind: 'text',
  notifiedHour: 'timestamptz',
  notifiedCount: 'bigint',
} as const;

/** In the order of what is asked for. */
export async function activitySince(db: Queryable, notified: readonly NotifiedUpTo[]): Promise<ActivitySince[]> {
  if (notified.length === 0) return [];
  return await db.query<ActivitySince>(sql`
    select greatest(coalesce(counted.total, 0) - notified.notified_count, 0)::bigint as fresh,
      coalesce(counted.hour, notified.notified_hour) as "notifiedHour", coalesce(counted.newest, 0)::bigint as "notifiedCount"
    from ${unnestRows('notified', notified, NOTIFIED_COLUMNS, 'number')}
    left join lateral (
      select sum(hours.count) as total, max(hours.hour) as hour,
        (array_agg(hours.count order by hours.hour desc))[1] as newest
      from (
        select a.hour, sum(a.count) as count
        from integrations i join activity_counts a on a.integration_id = i.id
        where i.organization_id = notified.organization_id and i.deleted_at is null
          and a.kind = notified.kind and a.hour >= notified.notified_hour
        group by a.hour) hours) counted on true
    order by notified.number`);
}
