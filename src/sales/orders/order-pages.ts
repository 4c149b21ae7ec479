import type { Order } from '../../contract/resources/order.ts';
import type { Transaction } from '../../db/database.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import type { LockedOrder } from './rewrite-orders.ts';

/**
 * How many bytes of orders are in memory at a time. One order may have a megabyte, and there may be any number of them.
 */
const PAGE_BYTES_MAX = 4 * 1_048_576;
const PAGE_ORDERS_MAX = 500;

type OrderKey = { integrationId: string; id: string; bytes: number };

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
    for (const page of inPages(keys)) await change(await readOrders(tx, page));
  }
  await tx.query(rawSql('close order_pages'));
}

/** Splits keys into pages: as many as the bytes of a page allow, and at least one. */
function inPages(keys: OrderKey[]): OrderKey[][] {
  const pages: OrderKey[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const key of keys) {
    if (bytes + key.bytes > PAGE_BYTES_MAX) {
      pages.push([]);
      bytes = 0;
    }
    pages.at(-1)?.push(key);
    bytes += key.bytes;
  }
  return pages;
}

async function readOrders(tx: Transaction, keys: OrderKey[]): Promise<LockedOrder[]> {
  const rows = await tx.query<{ integration_id: string; document: string }>(sql`
    select o.integration_id, o.document
    from ${unnestRows('wanted', keys, { integrationId: 'text', id: 'text' })}
    join orders o on o.integration_id = wanted.integration_id and o.id = wanted.id`);
  return rows.map((row) => ({ integrationId: row.integration_id, order: JSON.parse(row.document) as Order }));
}
