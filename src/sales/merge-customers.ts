import { advanceClocks, lockClocks, nextStamp } from '../channel/clock.ts';
import type { ChannelContext } from '../channel/context.ts';
import { withStamp } from '../channel/documents.ts';
import type { Order } from '../contract/resources/order.ts';
import { lockCustomers } from '../customers/customer-book.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { DealerError } from '../dealers/dealer-error.ts';

/**
 * Makes one customer of two: the kept one takes over the other's orders and external ids, and whatever details it lacks
 * itself. This is how a dealer resolves a contact conflict.
 */
export async function mergeCustomers(
  context: ChannelContext,
  organizationId: string,
  keptId: string,
  mergedId: string,
): Promise<void> {
  if (keptId === mergedId)
    throw new DealerError('invalid_input', 'A customer cannot be merged with itself.', 'mergedId');
  await context.db.transaction(async (tx) => {
    await lockCustomers(tx, organizationId);
    await assertMergeable(tx, organizationId, keptId, mergedId);
    await tx.query(sql`update customer_external_ids set customer_id = ${keptId} where customer_id = ${mergedId}`);
    await moveOrders(tx, context, keptId, mergedId);
    // Deleted before its keys pass on: an email or phone belongs to one customer at a time.
    const [merged] = await tx.query<{ details: string }>(sql`
      delete from customers where id = ${mergedId} returning to_jsonb(customers)::text as details`);
    await tx.query(sql`
      update customers c set
        email = coalesce(c.email, m.email), email_key = coalesce(c.email_key, m.email_key),
        phone = coalesce(c.phone, m.phone), first_name = coalesce(c.first_name, m.first_name),
        last_name = coalesce(c.last_name, m.last_name), company = coalesce(c.company, m.company),
        address = coalesce(c.address, m.address), updated_at = coalesce(${context.now()}::timestamptz, now())
      from jsonb_populate_record(null::customers, ${merged?.details ?? '{}'}::jsonb) m
      where c.id = ${keptId}`);
  });
}

async function assertMergeable(tx: Transaction, organizationId: string, ...ids: [string, string]): Promise<void> {
  const [first, second] = await tx.query<{ is_test: boolean }>(sql`
    select is_test from customers
    where organization_id = ${organizationId} and id = any(${ids}::text[]) order by id for update`);
  if (first === undefined || second === undefined) throw new DealerError('not_found', 'There is no such customer.');
  if (first.is_test !== second.is_test) {
    throw new DealerError('wrong_kind', 'A test customer and a live customer cannot be merged.', 'mergedId');
  }
}

/** Clients read the customer's id in their orders, so the orders get a new stamp. */
async function moveOrders(tx: Transaction, context: ChannelContext, keptId: string, mergedId: string): Promise<void> {
  const orders = await tx.query<{ integration_id: string; id: string; document: string }>(sql`
    select integration_id, id, document from orders where customer_id = ${mergedId}
    order by integration_id, id for update`);
  if (orders.length === 0) return;
  const clocks = await lockClocks(tx, [...new Set(orders.map((order) => order.integration_id))]);
  const [clock] = await tx.query<{ now: Date }>(sql`
    select date_trunc('milliseconds', coalesce(${context.now()}::timestamptz, clock_timestamp())) as now`);
  const now = clock?.now ?? new Date();
  const stamps = new Map([...clocks].map(([id, newest]) => [id, nextStamp(newest, now)]));
  const rows = orders.map((order) => {
    const stamp = stamps.get(order.integration_id) ?? now;
    const { updated_at: _, ...body } = JSON.parse(order.document) as Order;
    return { ...order, stamp, document: withStamp(JSON.stringify({ ...body, customer_id: keptId }), stamp) };
  });
  await advanceClocks(tx, stamps);
  await tx.query(sql`
    update orders o set customer_id = ${keptId}, document = rows.document, updated_at = rows.stamp
    from unnest(${rows.map((row) => row.integration_id)}::text[], ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.document)}::text[], ${rows.map((row) => row.stamp)}::timestamptz[])
      as rows (integration_id, id, document, stamp)
    where o.integration_id = rows.integration_id and o.id = rows.id`);
}
