import type { Database } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { clockTime } from '../../../db/sql-time.ts';
import { byIndex } from '../by-index.ts';

export const DUE_RETRIES_LIMIT = 1_000;

/**
 * Makes retries due whose time has come. They join the end of their endpoint's queue: at its head they would push out what
 * is in flight there. Returns how many; the caller goes on while there are as many as the limit.
 */
export async function makeRetriesDue(db: Database, time: Date | null): Promise<number> {
  const rows = await byIndex(
    db,
    sql`
    with clock as (
      select ${clockTime(time)} as now
    ), ready as (
      select d.ctid from deliveries d
      where d.is_waiting and d.due_at <= (select now from clock)
      order by d.due_at limit ${DUE_RETRIES_LIMIT} for update of d skip locked
    )
    update deliveries d set is_waiting = false, due_at = clock.now
    from ready, clock where d.ctid = ready.ctid returning d.id`,
  );
  return rows.length;
}
