import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** What a customer has ordered and paid for. */
export type CustomerSpend = {
  orderCount: number;
  /** There are more orders than `orderCount` says. */
  isCapped: boolean;
  lastOrderAt: Date | null;
  /** Completed sales by currency, by order or over the counter; null if the orders are too many to add up. */
  spent: { amount: number; currency: string }[] | null;
};

/** Orders of one customer that are counted and added up. */
const ORDERS_LIMIT = 1_000;
/** In a list, of each customer: few have more, and a page has many customers. */
export const LISTED_ORDERS_LIMIT = 100;

/** By the customers' ids, each of which is there. The caller has checked whose they are. */
export async function spendOfCustomers(
  db: Queryable,
  customerIds: readonly string[],
  limit = ORDERS_LIMIT,
): Promise<Map<string, CustomerSpend>> {
  if (customerIds.length === 0) return new Map();
  const rows = await db.query<{
    id: string;
    orders: number;
    lastOrderAt: Date | null;
    spent: { amount: number; currency: string }[];
  }>(sql`
    select c.id, counted.orders, counted.last_at as "lastOrderAt", coalesce(paid.spent, '[]'::jsonb) as spent
    from unnest(${[...customerIds]}::text[]) as c (id)
    cross join lateral (
      select count(*)::integer as orders, max(o.created_at) as last_at, array_agg(o.id) as order_ids
      from (select id, created_at from orders where customer_id = c.id order by id desc limit ${limit + 1}) o) counted
    cross join lateral (
      select jsonb_agg(jsonb_build_object('amount', sums.amount, 'currency', sums.currency) order by sums.currency) as spent
      from (
        select sum(s.amount) as amount, s.currency from (
          select amount, currency from sales
          where order_id = any(counted.order_ids) and status = 'completed' and amount is not null
          union all
          select amount, currency from sales
          where customer_id = c.id and order_id is null and status = 'completed' and amount is not null) s
        group by s.currency) sums) paid`);
  return new Map(
    rows.map(({ id, orders, lastOrderAt, spent }) => {
      const isCapped = orders > limit;
      return [
        id,
        { orderCount: Math.min(orders, limit), isCapped, lastOrderAt, spent: isCapped ? null : spent },
      ] as const;
    }),
  );
}
