import { DomainError } from '../contract/domain-error.ts';
import { countLock, lockByName } from '../db/advisory-locks.ts';
import type { Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';

/** How many rows an owner may have. `rows` selects those that count, such as "select from locations where …". */
export type RowLimit = {
  /** What is counted and whose: the lock's name, such as "locations org_1". */
  name: string;
  rows: Sql;
  limit: number;
  /** The message for the person who asked for one more. */
  message: string;
  /** The input that is to blame, if one is. */
  field?: string;
};

/**
 * Refuses one row more than the limit. Until the transaction ends nobody else counts the same rows, so that any number of
 * requests at once can't pass the limit together. Lock what others may hold before it, not after (ARCHITECTURE.md, lock
 * order).
 */
export async function assertBelowLimit(tx: Transaction, limit: RowLimit): Promise<void> {
  await lockCount(tx, limit.name);
  if (await isAtLimit(tx, limit)) throw new DomainError('limit_reached', limit.message, limit.field);
}

/** A statement of its own: one that waits for a lock sees rows as they were before it waited. */
export async function lockCount(tx: Transaction, name: string): Promise<void> {
  await tx.query(lockByName(countLock(name)));
}

/** Reads at most as many rows as the limit. The caller holds the lock of the count. */
export async function isAtLimit(tx: Transaction, { rows, limit }: Pick<RowLimit, 'rows' | 'limit'>): Promise<boolean> {
  const found = await tx.query(sql`select from (${rows} offset ${limit - 1} limit 1) counted`);
  return found.length > 0;
}

/** The name of the lock of a dealer's unfinished jobs on stock: who holds it sees none begin. */
export function stockJobsOf(organizationId: string): string {
  return `stock_jobs ${organizationId}`;
}
