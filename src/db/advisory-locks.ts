import { createHash } from 'node:crypto';
import { type Sql, sql } from './sql.ts';

/**
 * Every advisory lock of the service. A lock that there is once has a number. Of the others there is one for each thing
 * that is locked: they have names, which PostgreSQL hashes to 64 bits, and each kind of name begins with its own word.
 *
 * That hash can be inverted. So nothing that a client chooses stands in a name as it is: in less than a second of computing, a client
 * finds a key whose lock is any number that it likes, such as that of another dealer's customers.
 */

/** One node migrates and the others wait for it. */
export const MIGRATION_LOCK = 7_262_001;
/** Keeps two nodes from making the demo data twice. */
export const DEMO_LOCK = 7_262_002;
/** Whoever claims a mail: two at once could both take one of the same dealer. */
export const MAIL_CLAIM_LOCK = 7_262_003;

/** All customers of an organization: one writer at a time. */
export function customersLock(organizationId: string): string {
  return `customers ${organizationId}`;
}

/** What is counted before a row is added, and whose, such as "locations org_1". */
export function countLock(counted: string): string {
  return `count of ${counted}`;
}

/** A write under its Idempotency-Key. It is tried, never waited for. */
export function idempotencyLock(integrationId: string, key: string): string {
  return `idempotency ${integrationId} ${createHash('sha256').update(key).digest('hex')}`;
}

/** Waits for the lock of this name, which is released when the transaction ends. */
export function lockByName(name: string): Sql {
  return sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}
