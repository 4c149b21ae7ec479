import { DomainError } from '../contract/domain-error.ts';
import { type Queryable, sqlState, UNIQUE_VIOLATION } from './database.ts';
import { rawSql, sql } from './sql.ts';

/** What a page calls an attempt of a person, and the SHA-256 of what it asks for. */
export type Attempt = { name: string; fingerprint: Buffer };

/** Rows that hold the name of the attempt that made them, unique for each dealer. */
export type AttemptsTable = 'sales' | 'stock_jobs' | 'audit_log';

/**
 * Does what an attempt asks for. If it comes again, as when its answer was lost, the answer is the id of the row that it made:
 * looked for before anything is locked or checked, since what it is about may have been sold or deleted since. If it runs twice
 * at the same moment, the other one may have made the row, or left too little for this one, so the row is looked for once more.
 */
export async function onlyOnce<Result>(
  db: Queryable,
  table: AttemptsTable,
  organizationId: string,
  attempt: Attempt | undefined,
  work: () => Promise<Result>,
): Promise<Result | string> {
  if (attempt === undefined) return await work();
  const before = await findMade(db, table, organizationId, attempt);
  if (before !== null) return before;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) && sqlState(error) !== UNIQUE_VIOLATION) throw error;
    const meanwhile = await findMade(db, table, organizationId, attempt);
    if (meanwhile === null) throw error;
    return meanwhile;
  }
}

async function findMade(
  db: Queryable,
  table: AttemptsTable,
  organizationId: string,
  { name, fingerprint }: Attempt,
): Promise<string | null> {
  const [made] = await db.query<{ id: string; fingerprint: Buffer | null }>(sql`
    select id, attempt_fingerprint as fingerprint from ${rawSql(table)}
    where organization_id = ${organizationId} and attempt = ${name}`);
  if (made === undefined) return null;
  if (made.fingerprint !== null && !fingerprint.equals(made.fingerprint)) {
    const message = 'This attempt was made before, and asked for something else. Try again with another name.';
    throw new DomainError('invalid_input', message, 'attempt');
  }
  return made.id;
}
