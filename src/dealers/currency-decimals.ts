import { valueAt } from '../audit/read-audit.ts';
import { exponentOf } from '../contract/currencies.ts';
import { type CappedCount, COUNT_LIMIT, cappedCount } from '../contract/dashboard/list.ts';
import { DomainError } from '../contract/domain-error.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { lockCount, stockJobsOf } from './row-limit.ts';

/**
 * A dealer's amounts are stored in minor units of the dealer's currency: 890000 is 8,900.00 dollars, 890,000 yen or 890.000
 * dinars. A currency with as many decimals keeps them; another one would change every amount, also those in jobs and in the audit
 * log. So it is refused while there are amounts, and nothing is converted. Filters by price in saved views are left as they are:
 * they show other rows, and change none.
 */
export async function assertAmountsStay(
  tx: Transaction,
  organizationId: string,
  from: string,
  to: string,
  now: Date | null,
): Promise<void> {
  if (exponentOf(from) === exponentOf(to)) return;
  const why = `${from} has ${exponentOf(from)} decimals and ${to} has ${exponentOf(to)}, so your amounts would not stay as they are.`;
  const refused = (what: string) => new DomainError('not_empty', `${why} ${what}`, 'currency');
  // Held until the commit, so that no job begins meanwhile. First the jobs: they may write amounts.
  await lockCount(tx, stockJobsOf(organizationId));
  const jobs = await tx.query(sql`
    select from stock_jobs where organization_id = ${organizationId} and status in ('queued', 'running') limit 1`);
  if (jobs.length > 0) throw refused('A job is waiting or running. Wait for it, or cancel it.');
  const priced = await countUpTo(
    tx,
    sql`select from items where organization_id = ${organizationId} and (price_amount > 0 or cost_amount > 0)`,
  );
  if (priced.value > 0) {
    throw refused(
      `${itemsHave(priced)} a price or a cost price. Export your stock, import it with “none” in these columns, change the currency and import the prices again.`,
    );
  }
  // One that is over changes no price any more, and no page shows it: nobody could end it.
  const promoted = await countUpTo(
    tx,
    sql`
      select distinct item_id from promotions
      where organization_id = ${organizationId} and price_amount > 0
        and coalesce(ends_at, 'infinity') > ${clockTime(now)}`,
  );
  if (promoted.value > 0) throw refused(`${itemsHave(promoted)} a promotion. End it on the page of the item.`);
}

/** The fields of an item that hold amounts. */
export const AMOUNT_FIELDS = ['priceAmount', 'costAmount'] as const;

/** Whether amounts that the audit log has from a change would mean others now. */
export async function haveDecimalsChangedSince(
  db: Queryable,
  organizationId: string,
  auditId: string,
): Promise<boolean> {
  const organization = { organizationId, kind: 'organization', id: organizationId } as const;
  const then = await valueAt(db, organization, 'currency', auditId);
  if (typeof then !== 'string') return false;
  const [row] = await db.query<{ currency: string }>(sql`
    select currency from organizations where id = ${organizationId}`);
  return row !== undefined && exponentOf(row.currency) !== exponentOf(then);
}

async function countUpTo(tx: Transaction, rows: Sql): Promise<CappedCount> {
  const [row] = await tx.query<{ count: number }>(sql`
    select count(*)::integer as count from (${rows} limit ${COUNT_LIMIT + 1}) counted`);
  return cappedCount(row?.count ?? 0, COUNT_LIMIT);
}

function itemsHave({ value, isCapped }: CappedCount): string {
  return value === 1 ? '1 item has' : `${isCapped ? 'More than ' : ''}${value} items have`;
}
