import type { Queryable } from './database.ts';
import { sql } from './sql.ts';

/**
 * Sends notices to the listeners of a channel, in a transaction of their own: a NOTIFY inside a write would make all
 * commits of the server wait for each other. The commit of a notice waits for no disk, since nothing is lost with it
 * that a reader would not find in the tables. One that can't be sent is dropped.
 */
export async function notify(db: Queryable, channel: string, payloads: readonly string[]): Promise<void> {
  await db
    .query(sql`
      with without_flush as materialized (select set_config('synchronous_commit', 'off', true))
      select pg_notify(${channel}, payload) from without_flush, unnest(${payloads}::text[]) as payload`)
    .catch(() => {});
}
