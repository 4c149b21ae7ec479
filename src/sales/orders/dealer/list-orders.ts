import type { CappedCount } from '../../../contract/dashboard/list.ts';
import type { OrderStatus } from '../../../contract/states/order-states.ts';
import type { Queryable } from '../../../db/database.ts';
import { FOUND_LIMIT, type Matches, matchWords, rowHasWords } from '../../../db/search-words.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../../../db/sql.ts';
import { findStockIds } from '../../../inventory/lists/stock-list.ts';
import {
  countListed,
  type ListedFilter,
  type ListedPosition,
  type ListedTable,
  readListed,
  readsDescending,
} from '../../order-and-sale-lists.ts';

/** The orders of a dealer, of all integrations together, as the dealer's list shows them. */

export type OrderFilter = {
  organizationId: string;
  integrationId: string | null;
  statuses: readonly OrderStatus[];
  /** Live orders, test orders, or both. */
  isTest: readonly boolean[];
  from: Date | null;
  to: Date | null;
  /** Words of the client's number or of the buyer, an id, or what stock it is about. */
  search: string;
  /** If true, only orders whose reported buyer may be several customers. */
  hasConflict: boolean;
  /** Only orders of this customer. */
  customerId: string | null;
  /** What the search and the last two find, if it is known already: a list and its count need it both. */
  found?: Matches | null;
};

export type OrderPage = OrderFilter & {
  isDescending: boolean;
  start: { position: ListedPosition; isBackwards: boolean } | null;
  limit: number;
};

/** A line as a list shows it. */
export type ListedLine = { title: string | null; quantity: number; itemId: string | null };

export type ListedOrder = {
  id: string;
  integrationId: string;
  channelOrderId: string;
  status: OrderStatus;
  isTest: boolean;
  hasCustomerConflict: boolean;
  customerId: string | null;
  buyer: { first_name: string | null; last_name: string | null; email: string | null; phone: string | null } | null;
  currency: string;
  totalAmount: number | null;
  lineCount: number;
  matchedCount: number;
  /** The first few. */
  lines: ListedLine[];
  createdAt: Date;
  /** The time as the database writes it: what a page goes on from. */
  position: string;
};

const ORDERS: ListedTable = { table: 'orders', channelColumn: 'integration_id' };
/** The index of the list, from its end. */
const ORDERS_NEWEST = sql`r.integration_id desc, r.status desc, r.is_test desc, r.created_at desc, r.id desc`;
const SHOWN_LINES = 3;
/** Stock that a search finds: beyond this the words say too little. */
const FOUND_ITEMS_LIMIT = 200;

export async function listDealerOrders(db: Queryable, page: OrderPage): Promise<ListedOrder[]> {
  const filter = await listedFilter(db, page);
  const request = { ...filter, isDescending: page.isDescending, start: page.start, limit: page.limit };
  const direction = rawSql(readsDescending(request) ? 'desc' : 'asc');
  const read = async (ids: Sql) =>
    await db.query<ListedOrder>(
      plannedAnew(sql`
    with page as materialized (${ids})
    select o.id, o.integration_id as "integrationId", o.channel_order_id as "channelOrderId", o.status,
      o.is_test as "isTest", o.has_customer_conflict as "hasCustomerConflict", o.customer_id as "customerId",
      report.order -> 'customer' as buyer, report.order ->> 'currency' as currency,
      (report.order ->> 'total_amount')::bigint as "totalAmount", lines.count as "lineCount",
      lines.matched as "matchedCount", coalesce(lines.first, '[]'::jsonb) as lines,
      o.created_at as "createdAt", o.created_at::text as position
    from page p
    join orders o on o.integration_id = p.channel and o.id = p.id
    cross join lateral (select o.document::jsonb as "order" offset 0) report
    cross join lateral (
      select count(*)::integer as count, count(*) filter (where line -> 'match' <> 'null')::integer as matched,
        jsonb_agg(jsonb_build_object('title', line -> 'title', 'quantity', line -> 'quantity',
          'itemId', coalesce(line -> 'match' ->> 'id', line ->> 'listing_id', line ->> 'part_id')) order by number)
          filter (where number <= ${SHOWN_LINES}) as first
      from jsonb_array_elements(report.order -> 'lines') with ordinality as reported (line, number)) lines
    order by o.created_at ${direction}, o.id ${direction}`),
    );
  const rows = await readListed(ORDERS, request, read);
  return page.start?.isBackwards ? rows.reverse() : rows;
}

/** How many orders match; counting stops at a limit. */
export async function countDealerOrders(db: Queryable, filter: OrderFilter): Promise<CappedCount> {
  return await countListed(db, ORDERS, await listedFilter(db, filter));
}

async function listedFilter(db: Queryable, filter: OrderFilter): Promise<ListedFilter> {
  const { organizationId, integrationId, statuses, isTest, from, to } = filter;
  const found = filter.found === undefined ? await findOrderIds(db, filter) : filter.found;
  return { organizationId, channel: integrationId, statuses, isTest, from, to, found };
}

/** What the search finds, and among it those in conflict or of one customer; null if nothing narrows the list. */
export async function findOrderIds(db: Queryable, filter: OrderFilter): Promise<Matches | null> {
  const { organizationId, search, hasConflict, customerId } = filter;
  const found = search.trim() === '' ? null : await searched(db, organizationId, search.trim());
  if (!hasConflict && customerId === null) return found;
  const inConflict = hasConflict ? sql`and r.has_customer_conflict` : sql``;
  const ofCustomer = customerId === null ? sql`` : sql`and r.customer_id = ${customerId}`;
  const matching = found === null ? sql`` : sql`and ${isAmong(found)}`;
  const rows = await db.query<{ id: string }>(
    plannedAnew(sql`
      select r.id from orders r where r.organization_id = ${organizationId} ${inConflict} ${ofCustomer} ${matching}
      order by r.id desc limit ${FOUND_LIMIT}`),
  );
  return { ids: rows.map(({ id }) => id) };
}

/** Of a customer's orders, or of those in conflict, there are few: the index of words is not asked again. */
function isAmong(found: Matches): Sql {
  return 'words' in found ? rowHasWords(found.words, sql`r.search_words`) : sql`r.id = any(${[...found.ids]}::text[])`;
}

async function searched(db: Queryable, organizationId: string, search: string): Promise<Matches> {
  if (/^ord_\w{26}$/.test(search)) return { ids: [search] };
  const byWords = await matchWords(db, organizationId, search, {
    table: sql`orders`,
    condition: sql`r.organization_id = ${organizationId}`,
    order: ORDERS_NEWEST,
    hasPhones: true,
  });
  if ('words' in byWords) return byWords;
  const byStock = await ordersOfStock(db, organizationId, search);
  return { ids: [...new Set([...byWords.ids, ...byStock])] };
}

/** Orders with a line that is matched to an item which the search finds: by its stock number, reference or title. */
async function ordersOfStock(db: Queryable, organizationId: string, search: string): Promise<string[]> {
  const page = { after: '', limit: FOUND_ITEMS_LIMIT };
  const itemIds: string[] = [];
  for (const kind of ['listing', 'part'] as const) {
    itemIds.push(...(await findStockIds(db, { organizationId, kind, search }, page)));
  }
  if (itemIds.length === 0) return [];
  const rows = await db.query<{ id: string }>(sql`
    select distinct order_id as id from order_lines where item_id = any(${itemIds}::text[]) limit ${FOUND_LIMIT}`);
  return rows.map(({ id }) => id);
}
