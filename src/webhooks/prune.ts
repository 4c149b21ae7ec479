import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { EVENT_LOG_DAYS } from './event-log.ts';

const BATCH_LIMIT = 1_000;
const BATCHES_AT_ONCE = 20;

/**
 * Deletes what is finished and past its age: deliveries that succeeded, then events that no delivery needs any more.
 * Dead letters and their events stay, and so does everything that is still to be sent.
 */
export async function pruneWebhooks(db: Database, now: Date | null): Promise<{ deliveries: number; events: number }> {
  const cutoff = sql`coalesce(${now}::timestamptz, now()) - make_interval(days => ${EVENT_LOG_DAYS})`;
  const deliveries = await inBatches(() =>
    db.query(sql`
      delete from deliveries d using (
        select integration_id, id from deliveries
        where status = 'succeeded' and finished_at < ${cutoff} limit ${BATCH_LIMIT}) old
      where d.integration_id = old.integration_id and d.id = old.id returning d.id`),
  );
  const events = await inBatches(() =>
    db.query(sql`
      delete from events e using (
        select integration_id, id from events e
        where created_at < ${cutoff}
          and not exists (select from deliveries d where d.integration_id = e.integration_id and d.event_id = e.id)
        order by created_at limit ${BATCH_LIMIT}) old
      where e.integration_id = old.integration_id and e.id = old.id returning e.id`),
  );
  return { deliveries, events };
}

async function inBatches(deleteSome: () => Promise<object[]>): Promise<number> {
  let deleted = 0;
  for (let batch = 0; batch < BATCHES_AT_ONCE; batch++) {
    const rows = await deleteSome();
    deleted += rows.length;
    if (rows.length < BATCH_LIMIT) break;
  }
  return deleted;
}
