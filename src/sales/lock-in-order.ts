import type { Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';

/** Each attempt but the first waits for the transaction that blocked the one before. */
const ATTEMPT_LIMIT = 50;

/**
 * Locks in the one order that holds everywhere, where the first rows are known for sure only under the last lock: an
 * order can come in until the clock is locked. `attempt` waits for its locks in their order, then takes without waiting
 * what came in meanwhile, and answers whether it has everything. If not, all of it is let go, because whoever holds the
 * rest may be waiting for it, and it is tried again.
 */
export async function lockInOrder(tx: Transaction, attempt: () => Promise<boolean>): Promise<void> {
  await tx.query(sql`savepoint before_locks`);
  for (let attempts = 1; !(await attempt()); attempts++) {
    if (attempts === ATTEMPT_LIMIT) throw new Error('others kept changing what was to be locked');
    await tx.query(sql`rollback to savepoint before_locks`);
  }
  await tx.query(sql`release savepoint before_locks`);
}

/** Locks orders, in the order in which every transaction locks several. */
export async function lockOrdersWhere(tx: Transaction, which: Sql): Promise<void> {
  await tx.query(sql`
    select count(*) from (select from orders where ${which} order by integration_id, id for update) locked`);
}

/** The integrations that have such orders, in the order in which their clocks are locked. */
export async function integrationsWith(tx: Transaction, which: Sql): Promise<string[]> {
  const rows = await tx.query<{ integration_id: string }>(sql`
    select distinct integration_id from orders where ${which} order by integration_id`);
  return rows.map((row) => row.integration_id);
}

/** Locks orders without waiting; false if somebody else has locked one of them. */
export async function lockFreeOrders(tx: Transaction, which: Sql): Promise<boolean> {
  return await areAllFree(tx, sql`select from orders where ${which}`);
}

/** Locks rows without waiting; false if somebody else has locked one of them. */
async function areAllFree(tx: Transaction, rows: Sql): Promise<boolean> {
  const [free] = await tx.query<{ count: number }>(sql`
    select count(*) from (${rows} for update skip locked) locked`);
  const [all] = await tx.query<{ count: number }>(sql`select count(*) from (${rows}) rows`);
  return free?.count === all?.count;
}
