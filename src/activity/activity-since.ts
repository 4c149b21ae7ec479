import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { unnestRows } from '../db/unnest-rows.ts';
import type { ActivityKind } from './activity-counts.ts';

/** How far somebody has been notified of what was counted: of all before an hour, and so many of that hour. */
export type NotifiedUpTo = { organizationId: string; kind: ActivityKind; toldHour: Date; toldCount: number };

/** What was counted since, and how far that is. */
export type ActivitySince = { fresh: number; toldHour: Date; toldCount: number };

const TOLD_COLUMNS = { organizationId: 'text', kind: 'text', toldHour: 'timestamptz', toldCount: 'bigint' } as const;

/** In the order of what is asked for. */
export async function activitySince(db: Queryable, told: readonly NotifiedUpTo[]): Promise<ActivitySince[]> {
  if (told.length === 0) return [];
  return await db.query<ActivitySince>(sql`
    select greatest(coalesce(counted.total, 0) - told.told_count, 0)::bigint as fresh,
      coalesce(counted.hour, told.told_hour) as "toldHour", coalesce(counted.newest, 0)::bigint as "toldCount"
    from ${unnestRows('told', told, TOLD_COLUMNS, 'number')}
    left join lateral (
      select sum(hours.count) as total, max(hours.hour) as hour,
        (array_agg(hours.count order by hours.hour desc))[1] as newest
      from (
        select a.hour, sum(a.count) as count
        from integrations i join activity_counts a on a.integration_id = i.id
        where i.organization_id = told.organization_id and i.deleted_at is null
          and a.kind = told.kind and a.hour >= told.told_hour
        group by a.hour) hours) counted on true
    order by told.number`);
}
