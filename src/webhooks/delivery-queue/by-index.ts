import type { Database } from '../../db/database.ts';
import type { Sql } from '../../db/sql.ts';

/**
 * Runs a statement of the queue, which must never read a whole table. A prepared plan outlives the statistics that it was
 * made with: made while the table was empty it would scan all of it, and go on so until the next analyze, just when a
 * burst has filled it; and planning it each time takes longer than a small claim itself. So sequential scans are off, and rows are
 * found by `ctid` or in lateral subqueries with a limit, which leaves one plan for every size. With it 40,000 deliveries
 * cost the server a tenth of the time.
 */
export async function byIndex<Row extends object>(db: Database, statement: Sql): Promise<Row[]> {
  return await db.transaction((tx) => tx.queryLast<Row>(statement), { planning: 'by index' });
}
