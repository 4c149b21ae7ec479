import type { Queryable } from '../db/database.ts';
import { plannedAnew, sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { safeSum } from '../db/values/safe-sum.ts';
import { ACTIVITY_KINDS, type ActivityKind } from './activity-counts.ts';

/** The last hours or days. A day begins at midnight of the dealer's time zone. */
export type ActivityRange = { unit: 'hour' | 'day'; length: number; timeZone: string };

export type Activity = {
  /** When each bucket begins; the last one is under way. */
  starts: Date[];
  /** For each kind the count in each bucket. */
  counts: Record<ActivityKind, number[]>;
  /** Sales that are not voided, in each bucket. */
  sales: number[];
  /** What they brought in each bucket, by currency, in minor units; the currency that brought the most sales first. */
  amounts: { currency: string; values: number[] }[];
};

/** What was counted for a dealer: for its integrations, and its sales on all channels. */
export async function readActivity(
  db: Queryable,
  dealer: { organizationId: string; integrationIds: readonly string[] },
  range: ActivityRange,
  now: Date | null,
): Promise<Activity> {
  const starts = await startsOf(db, range, now);
  const bucket = sql`width_bucket(hour, ${starts}::timestamptz[])`;
  const [from] = starts;
  const [counts, sales] = await Promise.all([
    db.query<{ kind: ActivityKind; bucket: number; count: number }>(
      plannedAnew(sql`
        select kind, ${bucket} as bucket, sum(count)::bigint as count from activity_counts
        where integration_id = any(${dealer.integrationIds}::text[]) and kind = any(${ACTIVITY_KINDS}::text[]) and hour >= ${from}
        group by 1, 2`),
    ),
    db.query<{ currency: string; bucket: number; sales: number; amount: number }>(
      plannedAnew(sql`
        select currency, ${bucket} as bucket, sum(sales)::bigint as sales, ${safeSum(sql`amount`)} as amount from sales_counts
        where organization_id = ${dealer.organizationId} and hour >= ${from}
        group by 1, 2`),
    ),
  ]);
  const none = () => starts.map(() => 0);
  const activity: Activity = { starts, counts: countsOf(counts, none), sales: none(), amounts: [] };
  const made = new Map<string, number>();
  for (const { currency, bucket: number, sales: count, amount } of sales) {
    add(activity.sales, number, count);
    if (currency === '') continue;
    if (!made.has(currency)) activity.amounts.push({ currency, values: none() });
    made.set(currency, (made.get(currency) ?? 0) + count);
    add(activity.amounts.find((one) => one.currency === currency)?.values ?? [], number, amount);
  }
  // A sale that was voided leaves zeros.
  activity.amounts = activity.amounts
    .filter(({ currency }) => (made.get(currency) ?? 0) > 0)
    .sort((one, other) => (made.get(other.currency) ?? 0) - (made.get(one.currency) ?? 0));
  return activity;
}

/** Counted in the time zone, because the day on which summer time begins has 23 hours. */
async function startsOf(db: Queryable, { unit, length, timeZone }: ActivityRange, now: Date | null): Promise<Date[]> {
  const local = sql`date_trunc(${unit}, ${clockTime(now)} at time zone ${timeZone})`;
  const step = unit === 'hour' ? sql`make_interval(hours => back)` : sql`make_interval(days => back)`;
  const rows = await db.query<{ start: Date }>(sql`
    select (${local} - ${step}) at time zone ${timeZone} as start from generate_series(${length - 1}, 0, -1) as back`);
  return rows.map(({ start }) => start);
}

type CountRow = { kind: ActivityKind; bucket: number; count: number };

function countsOf(rows: CountRow[], none: () => number[]): Activity['counts'] {
  const counts: Activity['counts'] = {
    orders: none(),
    conflicts: none(),
    attempts_succeeded: none(),
    attempts_failed: none(),
    dead_letters: none(),
    webhooks_off: none(),
    requests: none(),
    request_errors: none(),
  };
  for (const { kind, bucket, count } of rows) add(counts[kind], bucket, count);
  return counts;
}

/** Buckets are numbered from one. */
function add(values: number[], bucket: number, more: number): void {
  values[bucket - 1] = (values[bucket - 1] ?? 0) + more;
}
