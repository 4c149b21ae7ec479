import type { Queryable } from './database.ts';
import { rawSql, type Sql, sql } from './sql.ts';
import { clockTime } from './sql-time.ts';

const BATCH_LIMIT = 1_000;

/** A table whose rows are kept for some days, by one of its times. An index must lead with that column. */
export type AgingTable = { table: string; time: string };

/** Deletes a batch of each table's rows that are older than so many days; returns how many. */
export async function pruneByAge(
  db: Queryable,
  tables: readonly AgingTable[],
  keptDays: number,
  now: Date | null,
): Promise<number> {
  // Asked for once: compared with a function whose value may change from row to row, all rows would be read.
  const cutoff = sql`(select ${clockTime(now)} - make_interval(days => ${keptDays}))`;
  let pruned = 0;
  for (const aging of tables) {
    const rows = await db.query(batchOf(aging, cutoff));
    pruned += rows.length;
  }
  return pruned;
}

function batchOf({ table, time }: AgingTable, cutoff: Sql): Sql {
  const rows = rawSql(table);
  return sql`
    delete from ${rows} where ctid = any(array(
      select ctid from ${rows} where ${rawSql(time)} < ${cutoff} limit ${BATCH_LIMIT} for update skip locked))
    returning 1`;
}
