import { type Sql, sql } from '../sql.ts';

/**
 * The sum of amounts, as an int8 that JavaScript can hold: beyond the largest such number, or below the smallest, it is that one.
 * No dealer has so much, and somebody who types such prices still sees their pages. Null adds nothing.
 */
export function safeSum(amount: Sql): Sql {
  const limit = sql`${Number.MAX_SAFE_INTEGER}::numeric`;
  return sql`greatest(-${limit}, least(${limit}, coalesce(sum(${amount}), 0)))::bigint`;
}
