import type { Queryable } from '../db/database.ts';
import { pruneByAge } from '../db/prune-by-age.ts';
import { type Sql, sql } from '../db/sql.ts';

/**
 * What happens on integrations, counted by the hour as it happens. Each kind has one writer, which adds to its rows in the
 * statement that records the thing itself, so that both are committed or neither is:
 *
 * | kind | counted by | who else waits for the row |
 * |---|---|---|
 * | `orders`, `conflicts` | the insert of orders | nobody: the integration's clock is locked |
 * | `attempts_…`, `dead_letters`, `webhooks_off` | the record of a batch of attempts | nobody: the endpoint is locked |
 * | `requests`, `request_errors` | the request log, once a second for each node | the other nodes, for one statement |
 *
 * Orders of test mode are not counted. Sales are counted by a trigger, see migration 0070.
 */
export const ACTIVITY_KINDS = [
  'orders',
  /** Orders whose buyer may be two customers. */
  'conflicts',
  'attempts_succeeded',
  'attempts_failed',
  'dead_letters',
  /** Endpoints that were switched off because they answered 410 Gone too often. */
  'webhooks_off',
  'requests',
  'request_errors',
] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/**
 * Adds to the counts: a statement, or a part of one. `happened` selects integration_id, kind, at and count. In the order of
 * the key, so that two nodes never wait for each other. What comes a moment after its integration was deleted is not
 * counted, since the deletion would leave it behind.
 */
export function addActivity(happened: Sql): Sql {
  return sql`
    insert into activity_counts (integration_id, kind, hour, count)
    select happened.integration_id, happened.kind, date_trunc('hour', happened.at, 'UTC'), sum(happened.count)::bigint
    from (${happened}) as happened (integration_id, kind, at, count)
    where happened.count > 0
      and exists (select from integrations i where i.id = happened.integration_id and i.deleted_at is null)
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (integration_id, kind, hour) do update set count = activity_counts.count + excluded.count`;
}

/** The plots show 30 days. */
const KEPT_DAYS = 90;

/** Deletes a batch of rows whose retention is over; returns how many. */
export async function pruneActivity(db: Queryable, now: Date | null): Promise<number> {
  const tables = [
    { table: 'activity_counts', time: 'hour' },
    { table: 'sales_counts', time: 'hour' },
  ];
  return await pruneByAge(db, tables, KEPT_DAYS, now);
}
