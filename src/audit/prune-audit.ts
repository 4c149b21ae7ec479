import { DAY_MS } from '../contract/timestamps.ts';
import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';

/** Rows in one statement, so that pruning never holds much at a time. */
const PRUNE_LIMIT = 1_000;

/** Deletes rows that are older than they are kept for, some at a time; returns how many there were. */
export async function pruneAudit(db: Queryable, keptDays: number, now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    delete from audit_log where (organization_id, id) in (
      select organization_id, id from audit_log
      where at < ${clockTime(now)} - make_interval(secs => ${(keptDays * DAY_MS) / 1_000})
      limit ${PRUNE_LIMIT})
    returning id`);
  return rows.length;
}
