import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { EVENT_LOG_DAYS } from './event-log.ts';

const BATCH_LIMIT = 1_000;

/**
 * Deletes a batch of what is finished and past its age: events whose delivery succeeded, with the delivery, and events
 * that had none. Dead letters and their events stay, and so does everything that is still to be sent. Returns how many
 * events went; the caller goes on until there are none.
 */
export async function pruneWebhooks(db: Queryable, now: Date | null): Promise<number> {
  const cutoff = sql`coalesce(${now}::timestamptz, clock_timestamp()) - make_interval(days => ${EVENT_LOG_DAYS})`;
  const delivered = await db.query(sql`
    delete from events e using (
      select integration_id, event_id from deliveries
      where status = 'succeeded' and finished_at < ${cutoff}
      order by finished_at limit ${BATCH_LIMIT} for update skip locked) old
    where e.integration_id = old.integration_id and e.id = old.event_id returning e.id`);
  const undelivered = await db.query(sql`
    delete from events e using (
      select integration_id, id from events
      where not has_delivery and created_at < ${cutoff}
      order by created_at limit ${BATCH_LIMIT} for update skip locked) old
    where e.integration_id = old.integration_id and e.id = old.id returning e.id`);
  return delivered.length + undelivered.length;
}
