import { AsyncLocalStorage } from 'node:async_hooks';
import { createSemaphore } from '../concurrency/limits/semaphore.ts';
import type { Database, QueryLimits } from './database.ts';
import type { Sql } from './sql.ts';

/**
 * How many connections one task may use at once. With one, a transaction whose work also queries the database itself would
 * wait for its own end.
 */
export const CONNECTIONS_PER_TASK = 2;
/** The last connection is for queries, so that transactions can't take all and then wait for each other's queries. */
const TRANSACTIONS_PER_TASK = CONNECTIONS_PER_TASK - 1;
/** More than any operation has; whatever starts more at once is wrong. */
const WAITING_LIMIT = 10_000;

/** A transaction of the task, for whatever runs inside of its work. */
type OpenTransaction = { isOpen: boolean; depth: number };

/**
 * Makes databases that share the connections of one task, for instance those of one HTTP request: however many queries it
 * starts at once, they use at most CONNECTIONS_PER_TASK connections of the pool. The others wait in the process, in the order
 * of their start. A transaction takes one connection until it ends.
 *
 * A query or a transaction inside of a transaction's work takes the second connection. A third level would wait for itself
 * for ever, so it throws.
 */
export function createConnectionLimit(): (db: Database) => Database {
  const connections = createSemaphore({ limit: CONNECTIONS_PER_TASK, waitingLimit: WAITING_LIMIT });
  const transactions = createSemaphore({ limit: TRANSACTIONS_PER_TASK, waitingLimit: WAITING_LIMIT });
  const surrounding = new AsyncLocalStorage<OpenTransaction>();

  /** How many connections the caller holds itself; 0 for work that has outlived its transaction. */
  function heldByCaller(): number {
    const around = surrounding.getStore();
    const depth = around?.isOpen === true ? around.depth : 0;
    if (depth < CONNECTIONS_PER_TASK) return depth;
    throw new Error('A query inside of two transactions has no connection left. Pass the inner transaction on to it.');
  }

  async function asTransaction<Result>(depth: number, run: () => Promise<Result>): Promise<Result> {
    const own = { isOpen: true, depth };
    try {
      return await surrounding.run(own, run);
    } finally {
      own.isOpen = false;
    }
  }

  return (db) => ({
    ...db,
    async query<Row extends object>(statement: Sql, limits?: QueryLimits): Promise<Row[]> {
      heldByCaller();
      return await connections.run(() => db.query<Row>(statement, limits));
    },
    async transaction(work, options) {
      const held = heldByCaller();
      const run = () => connections.run(() => asTransaction(held + 1, () => db.transaction(work, options)));
      return await (held === 0 ? transactions.run(run) : run());
    },
  });
}
