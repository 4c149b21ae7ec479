import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export const HEARTBEAT_EVERY_MS = 5_000;
/** A worker whose last heartbeat is older than this counts as dead. */
const HEARTBEAT_TIMEOUT_SECONDS = 15;

/**
 * Sends this worker's heartbeat, and returns how many workers are alive, this one included. They share the slots of
 * each endpoint; otherwise the first worker would keep all of them. The number is a hint; an endpoint's limit holds
 * without it.
 */
export async function sendHeartbeat(db: Queryable, workerId: number): Promise<number> {
  const [row] = await db.query<{ others: number }>(sql`
    with dead as (
      delete from webhook_workers
      where seen_at < clock_timestamp() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS})
    ), heartbeat as (
      insert into webhook_workers (id, seen_at) values (${workerId}, clock_timestamp())
      on conflict (id) do update set seen_at = excluded.seen_at
    )
    select count(*) as others from webhook_workers
    where id <> ${workerId} and seen_at >= clock_timestamp() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS})`);
  return 1 + (row?.others ?? 0);
}

export async function removeHeartbeat(db: Queryable, workerId: number): Promise<void> {
  await db.query(sql`delete from webhook_workers where id = ${workerId}`);
}
