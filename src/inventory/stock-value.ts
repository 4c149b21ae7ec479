import type { Queryable } from '../db/database.ts';
import { plannedAnew, sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { safeSum } from '../db/values/safe-sum.ts';

/** Stock of one range of ages: how many items, and what all their units cost at the dealer's own prices. */
export type StockOfAge = { fromDays: number; items: number; amount: number; unpriced: number };

/**
 * `ageDays` are the days at which the ranges of age begin, the first at 0. Reads every item in stock, so cache the
 * result.
 */
export async function readStockValue(
  db: Queryable,
  organizationId: string,
  ageDays: readonly number[],
  now: Date | null,
): Promise<StockOfAge[]> {
  const rows = await db.query<{ age: number; items: number; amount: number; unpriced: number }>(
    plannedAnew(sql`
      select width_bucket(extract(day from (select ${clockTime(now)}) - created_at)::integer, ${ageDays}::integer[]) as age,
        count(*) as items, ${safeSum(sql`units * price_amount`)} as amount,
        count(*) filter (where price_amount is null) as unpriced
      from items where organization_id = ${organizationId} and units > 0
      group by 1`),
  );
  const byAge = new Map(rows.map((row) => [row.age, row]));
  return ageDays.map((fromDays, index) => {
    const { items = 0, amount = 0, unpriced = 0 } = byAge.get(index + 1) ?? {};
    return { fromDays, items, amount, unpriced };
  });
}
