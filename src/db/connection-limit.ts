import { AsyncLocalStorage } from 'node:async_hooks';
import { createSemaphore } from '../concurrency/limits/semaphore.ts';
import type { Database, QueryLimits } from './database.ts';
import type { Sql } from './sql.ts';

/** How many connections one task may use at once. */
export const CONNECTIONS_PER_TASK = 2;
/** More than any operation has; whatever starts more at once is wrong. */
const WAITING_LIMIT = 10_000;

/** A transaction of the task, for whatever runs inside of its work. */
type OpenTransaction = { isOpen: boolean };

/**
 * Makes databases that share the connections of one task, for instance those of one HTTP request: however many queries it
 * starts at once, they use at most CONNECTIONS_PER_TASK connections of the pool. The others wait in the process, in the order
 * of their start. A transaction takes one connection until it ends.
 *
 * The work of a transaction must not use the database beside it: it throws. If it waited for another connection, tasks
 * that each hold one could take all of a small pool and wait for each other.
 */
export function createConnectionLimit(): (db: Database) => Database {
  const connections = createSemaphore({ limit: CONNECTIONS_PER_TASK, waitingLimit: WAITING_LIMIT });
  const surrounding = new AsyncLocalStorage<OpenTransaction>();

  /** Work that has outlived its transaction is work of its own. */
  function assertOutside(): void {
    if (surrounding.getStore()?.isOpen !== true) return;
    throw new Error('A transaction uses the database beside itself. Pass the transaction on to whatever it calls.');
  }

  async function asTransaction<Result>(run: () => Promise<Result>): Promise<Result> {
    const own = { isOpen: true };
    try {
      return await surrounding.run(own, run);
    } finally {
      own.isOpen = false;
    }
  }

  return (db) => ({
    ...db,
    async query<Row extends object>(statement: Sql, limits?: QueryLimits): Promise<Row[]> {
      assertOutside();
      return await connections.run(() => db.query<Row>(statement, limits));
    },
    async transaction(work, options) {
      assertOutside();
      return await connections.run(() => asTransaction(() => db.transaction(work, options)));
    },
  });
}
