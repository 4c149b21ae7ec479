import type { Order } from '../../contract/resources/order.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { inPages } from '../../db/large-pages.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import type { LockedOrder } from './rewrite-orders.ts';

/**
 * How many bytes of orders are in memory at a time. One order may have a megabyte, and there may be any number of them. The
 * event loop does nothing else while a page is parsed and written: 1 MiB takes 10 ms of CPU time, 4 MiB took 44.
 */
const PAGE_BYTES_MAX = 1_048_576;
const PAGE_ORDERS_MAX = 500;

/** An order and how long its document is. */
export type OrderKey = { integrationId: string; id: string; bytes: number };

/**
 * Reads orders whose rows are locked, page by page within the caller's transaction, and hands each page on to be changed.
 * A cursor walks over keys and sizes alone, so a change of the orders on the way does not disturb it, and the cost grows
 * with their number and not faster.
 */
export async function forEachOrderPage(
  tx: Transaction,
  which: Sql,
  change: (orders: LockedOrder[]) => Promise<void>,
): Promise<void> {
  await tx.query(
    plannedAnew(sql`
      declare order_pages no scroll cursor for
      select integration_id as "integrationId", id, octet_length(document) as bytes
      from orders where ${which} order by integration_id, id`),
  );
  for (;;) {
    const keys = await tx.query<OrderKey>(rawSql(`fetch ${PAGE_ORDERS_MAX} from order_pages`));
    if (keys.length === 0) break;
    for (const page of inPages(keys, PAGE_BYTES_MAX)) await change(await readOrders(tx, page));
  }
  await tx.query(rawSql('close order_pages'));
}

async function readOrders(tx: Transaction, keys: OrderKey[]): Promise<LockedOrder[]> {
  const rows = await readOrderDocuments(tx, keys);
  return rows.map(({ integrationId, document }) => ({ integrationId, order: JSON.parse(document) as Order }));
}

/** The documents of a page, in the order of their ids. */
export async function readOrderDocuments(
  db: Queryable,
  keys: OrderKey[],
): Promise<{ integrationId: string; document: string }[]> {
  return await db.query(sql`
    select o.integration_id as "integrationId", o.document
    from ${unnestRows('wanted', keys, { integrationId: 'text', id: 'text' })}
    join orders o on o.integration_id = wanted.integration_id and o.id = wanted.id
    order by o.id`);
}
