import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { byIndex } from './by-index.ts';

export const PROMOTE_LIMIT = 1_000;

/**
 * Makes retries due whose time has come. They join the end of their receiver's queue: at its front they would push out
 * what is on its way there. Returns how many; the caller goes on while there are as many as the limit.
 */
export async function promoteRetries(db: Database, now: Date | null): Promise<number> {
  const rows = await byIndex(
    db,
    sql`
    with clock as (
      select ${clockTime(now)} as now
    ), ripe as (
      select d.ctid as row from deliveries d
      where d.is_waiting and d.due_at <= (select now from clock)
      order by d.due_at limit ${PROMOTE_LIMIT} for update of d skip locked
    )
    update deliveries d set is_waiting = false, due_at = clock.now
    from ripe, clock where d.ctid = ripe.row returning d.id`,
  );
  return rows.length;
}
