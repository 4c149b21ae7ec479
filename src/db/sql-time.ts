import { type Sql, sql } from './sql.ts';

/**
 * The time in SQL: the database's, so that all nodes share one clock, or the one that a test owns. Where it is compared
 * with an indexed column, ask for it once, as `(select …)`: a function whose value may differ from row to row makes the
 * server read all rows.
 */
export function clockTime(testTime: Date | null): Sql {
  return sql`coalesce(${testTime}::timestamptz, clock_timestamp())`;
}

/** The same at the beginning of the transaction: one value for all its statements. */
export function transactionTime(testTime: Date | null): Sql {
  return sql`coalesce(${testTime}::timestamptz, now())`;
}

/** The UTC day of a time. */
export function utcDay(time: Sql): Sql {
  return sql`(${time} at time zone 'UTC')::date`;
}
