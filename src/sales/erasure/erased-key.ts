import { createHash } from 'node:crypto';
import { type Sql, sql } from '../../db/sql.ts';

/** No client can send it in a key, so a digest is never taken for somebody's key. */
const MARK = '\u007f';

/**
 * What is stored instead of an idempotency key that holds an email or a phone of an erased person. A retry with the key
 * still finds its record, so that the write does not run again.
 */
export function erasedKey(key: string): string {
  return MARK + createHash('sha256').update(key).digest('hex');
}

/** The same in SQL. */
export function erasedKeyOf(column: Sql): Sql {
  return sql`chr(127) || encode(sha256(convert_to(${column}, 'utf8')), 'hex')`;
}
