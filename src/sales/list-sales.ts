import { type CappedCount, LONG_LIST_COUNT_LIMIT } from '../contract/dashboard/list.ts';
import type { Queryable } from '../db/database.ts';
import { FOUND_LIMIT, type Matches, matchWords } from '../db/search-words.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../db/sql.ts';
import { safeSum } from '../db/values/safe-sum.ts';
import {
  countListed,
  type ListedFilter,
  type ListedPosition,
  type ListedTable,
  listedRows,
  readListed,
  readsDescending,
} from './order-and-sale-lists.ts';
import { reportedBuyer } from './orders/reported-buyer.ts';

/** What a dealer sold, over the counter and by orders of all integrations. */

export type SaleFilter = {
  organizationId: string;
  /** An integration, or "counter"; null is every channel. */
  channel: string | null;
  statuses: readonly ('completed' | 'voided')[];
  isTest: readonly boolean[];
  from: Date | null;
  to: Date | null;
  /** Words of the title or the stock number, or the id of a sale or an order. */
  search: string;
};

export type SalePage = SaleFilter & {
  isDescending: boolean;
  start: { position: ListedPosition; isBackwards: boolean } | null;
  limit: number;
};

export type ListedSale = {
  id: string;
  itemId: string | null;
  title: string;
  stockNumber: string;
  units: number;
  status: 'completed' | 'voided';
  isTest: boolean;
  amount: number | null;
  currency: string | null;
  channel: string;
  orderId: string | null;
  channelOrderId: string | null;
  /** The order's or the counter's; the reported buyer of an order may be no customer. */
  customerId: string | null;
  reportedBuyer: { first_name: string | null; last_name: string | null; email: string | null } | null;
  createdAt: Date;
  voidedAt: Date | null;
  position: string;
};

const SALES: ListedTable = { table: 'sales', channelColumn: 'channel' };
/** The index of the list, from its end. */
const SALES_NEWEST = sql`r.channel desc, r.status desc, r.is_test desc, r.created_at desc, r.id desc`;

export async function listSales(db: Queryable, page: SalePage): Promise<ListedSale[]> {
  const filter = await listedFilter(db, page);
  const request = { ...filter, isDescending: page.isDescending, start: page.start, limit: page.limit };
  const direction = rawSql(readsDescending(request) ? 'desc' : 'asc');
  const read = async (ids: Sql) =>
    await db.query<ListedSale>(
      plannedAnew(sql`
      with page as materialized (${ids})
      select s.id, s.item_id as "itemId", s.title, s.stock_number as "stockNumber", s.units, s.status,
        s.is_test as "isTest", s.amount, s.currency, s.channel, s.order_id as "orderId",
        o.channel_order_id as "channelOrderId", coalesce(o.customer_id, s.customer_id) as "customerId",
        ${reportedBuyer(sql`o.document`)} as "reportedBuyer", s.created_at as "createdAt", s.voided_at as "voidedAt",
        s.created_at::text as position
      from page p
      join sales s on s.id = p.id
      left join orders o on o.integration_id = s.channel and o.id = s.order_id
      order by s.created_at ${direction}, s.id ${direction}`),
    );
  const rows = await readListed(SALES, request, read);
  return page.start?.isBackwards ? rows.reverse() : rows;
}

export async function countSales(db: Queryable, filter: SaleFilter): Promise<CappedCount> {
  return await countListed(db, SALES, await listedFilter(db, filter));
}

export type SaleTotal = { currency: string; amount: number };

export type SaleTotals = {
  totals: SaleTotal[];
  /** Sales of which nobody said what they brought. */
  unpriced: number;
};

/** What the completed sales that match come to, by currency; null if they are too many to add up. */
export async function totalSales(db: Queryable, filter: SaleFilter): Promise<SaleTotals | null> {
  const completed = await listedFilter(db, { ...filter, statuses: ['completed'] });
  const limit = LONG_LIST_COUNT_LIMIT + 1;
  const rows = await db.query<{ currency: string | null; amount: number; count: number; unpriced: number }>(
    plannedAnew(sql`
      select s.currency, ${safeSum(sql`s.amount`)} as amount, count(*)::integer as count,
        (count(*) - count(s.amount))::integer as unpriced
      from (${listedRows(SALES, { ...completed, isDescending: true, start: null, limit })}) page
      join sales s on s.id = page.id
      group by s.currency order by s.currency`),
  );
  if (rows.reduce((sum, { count }) => sum + count, 0) > LONG_LIST_COUNT_LIMIT) return null;
  return {
    totals: rows.flatMap(({ currency, amount }) => (currency === null || amount === 0 ? [] : [{ currency, amount }])),
    unpriced: rows.reduce((sum, row) => sum + row.unpriced, 0),
  };
}

async function listedFilter(db: Queryable, filter: SaleFilter): Promise<ListedFilter> {
  const { organizationId, channel, statuses, isTest, from, to, search } = filter;
  const found = search.trim() === '' ? null : await searched(db, organizationId, search.trim());
  return { organizationId, channel, statuses, isTest, from, to, found };
}

async function searched(db: Queryable, organizationId: string, search: string): Promise<Matches> {
  if (/^sal_\w{26}$/.test(search)) return { ids: [search] };
  if (/^ord_\w{26}$/.test(search)) {
    return { ids: await idsOf(db.query(sql`select id from sales where order_id = ${search} limit ${FOUND_LIMIT}`)) };
  }
  return await matchWords(db, organizationId, search, {
    table: sql`sales`,
    condition: sql`r.organization_id = ${organizationId}`,
    order: SALES_NEWEST,
  });
}

async function idsOf(rows: Promise<{ id: string }[]>): Promise<string[]> {
  return (await rows).map(({ id }) => id);
}
