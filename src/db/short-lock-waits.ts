import { type Database, LOCK_NOT_AVAILABLE, sqlState } from './database.ts';

/**
 * How long a loop that serves all dealers waits for a lock of one of them. An order holds a clock for some milliseconds, and the
 * server serves a lock in the order of those who ask for it, so a job among ordinary writes gets its turn within this time. Who
 * holds it longer, such as a large change, makes only its own dealer wait: the loop goes on with the next one.
 */
export const SHORT_LOCK_WAIT_MS = 250;

/** The same context, whose transactions wait so long for a lock and then fail by a lock timeout. */
export function withShortLockWaits<Context extends { db: Database }>(context: Context): Context {
  const { db } = context;
  const transaction: Database['transaction'] = (work, options) =>
    db.transaction(work, { ...options, lockTimeoutMs: SHORT_LOCK_WAIT_MS });
  return { ...context, db: { ...db, transaction } };
}

/** Whether somebody else kept a lock for too long; also when the work has kept that error as the cause of its own. */
export function isLockTimeout(error: unknown): boolean {
  if (sqlState(error) === LOCK_NOT_AVAILABLE) return true;
  return error instanceof Error && error.cause !== undefined && isLockTimeout(error.cause);
}
