import { EVENT_LOG_DAYS } from '../../contract/limits.ts';
import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime, transactionTime } from '../../db/sql-time.ts';
import { byIndex } from './by-index.ts';

const BATCH_LIMIT = 1_000;

/**
 * Deletes a batch of what is finished and past its age: events whose delivery succeeded, with the delivery, and events
 * that had none. Dead letters and their events stay, and so does everything that is still to be sent. Returns how many
 * events went; the caller goes on until there are none.
 */
export async function pruneWebhooks(db: Database, now: Date | null): Promise<number> {
  // Asked for once: compared with a function whose value may change from row to row, all rows would be read.
  const cutoff = sql`(select ${clockTime(now)} - make_interval(days => ${EVENT_LOG_DAYS}))`;
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
      select ctid from events where integration_id = old.integration_id and id = old.event_id limit 1) found
    where e.ctid = found.ctid returning e.id`,
  );
  const undelivered = await byIndex(
    db,
    sql`
    delete from events e
    using (
      select ctid from events where not has_delivery and created_at < ${cutoff}
      order by created_at limit ${BATCH_LIMIT} for update skip locked) old
    where e.ctid = old.ctid returning e.id`,
  );
  return delivered.length + undelivered.length;
}

/** Deletes what nobody needs any more beside events: secrets that sign no longer, and replays that ended long ago. */
export async function pruneLeftovers(db: Database, now: Date | null): Promise<number> {
  const secrets = await db.query(sql`
    delete from webhook_secrets where expires_at <= ${clockTime(now)} returning id`);
  const replays = await db.query(sql`
    delete from replay_jobs
    where status <> 'running'
      and finished_at < ${transactionTime(now)} - make_interval(days => ${EVENT_LOG_DAYS}) returning id`);
  return secrets.length + replays.length;
}
