import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { byIndex } from './by-index.ts';
import { EVENT_LOG_DAYS } from './event-log.ts';

const BATCH_LIMIT = 1_000;

/**
 * Deletes a batch of what is finished and past its age: events whose delivery succeeded, with the delivery, and events
 * that had none. Dead letters and their events stay, and so does everything that is still to be sent. Returns how many
 * events went; the caller goes on until there are none.
 */
export async function pruneWebhooks(db: Database, now: Date | null): Promise<number> {
  const cutoff = sql`coalesce(${now}::timestamptz, clock_timestamp()) - make_interval(days => ${EVENT_LOG_DAYS})`;
  const delivered = await byIndex(
    db,
    sql`
    with old as materialized (
      select integration_id, event_id from deliveries
      where status = 'succeeded' and finished_at < ${cutoff}
      order by finished_at limit ${BATCH_LIMIT} for update skip locked
    )
    delete from events e
    using old cross join lateral (
      select ctid as row from events where integration_id = old.integration_id and id = old.event_id limit 1) found
    where e.ctid = found.row returning e.id`,
  );
  const undelivered = await byIndex(
    db,
    sql`
    delete from events e
    using (
      select ctid as row from events where not has_delivery and created_at < ${cutoff}
      order by created_at limit ${BATCH_LIMIT} for update skip locked) old
    where e.ctid = old.row returning e.id`,
  );
  return delivered.length + undelivered.length;
}
