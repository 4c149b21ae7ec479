import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** How often a worker says that it is there, and after what silence it is taken for gone. */
export const HEARTBEAT_EVERY_MS = 5_000;
const SILENCE_SECONDS = 15;

/**
 * Says that this worker is there, and returns how many are, itself included. They share the places of each receiver: the
 * first to come would else keep all of them. It is a hint; that a receiver's limit holds does not depend on it.
 */
export async function sendHeartbeat(db: Queryable, workerId: number): Promise<number> {
  const [row] = await db.query<{ others: number }>(sql`
    with gone as (
      delete from webhook_workers where seen_at < clock_timestamp() - make_interval(secs => ${SILENCE_SECONDS})
    ), seen as (
      insert into webhook_workers (id, seen_at) values (${workerId}, clock_timestamp())
      on conflict (id) do update set seen_at = excluded.seen_at
    )
    select count(*) as others from webhook_workers
    where id <> ${workerId} and seen_at >= clock_timestamp() - make_interval(secs => ${SILENCE_SECONDS})`);
  return 1 + (row?.others ?? 0);
}

export async function removeHeartbeat(db: Queryable, workerId: number): Promise<void> {
  await db.query(sql`delete from webhook_workers where id = ${workerId}`);
}
