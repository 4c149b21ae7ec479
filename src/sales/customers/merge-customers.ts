import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { advanceClocks, lockClocks, nextStamp } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { CustomerDraft } from '../../customers/customer-draft.ts';
import { rememberedContacts } from '../../customers/former-contacts.ts';
import { PERSONAL_FIELDS } from '../../customers/merged-fields.ts';
import { lockCustomers, openCustomerUpserts } from '../../customers/upsert-customers.ts';
import type { Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { integrationsWith, lockOrdersWhere } from '../lock-in-order.ts';
import { draftBuyer } from '../orders/order-draft.ts';
import { forEachOrderPage } from '../orders/order-pages.ts';
import { type LockedOrder, rewriteOrders } from '../orders/rewrite-orders.ts';
import { type ConflictingOrder, conflictingOrders } from './customer-conflicts.ts';
import { assertMergeable, CONFLICT_LIMIT } from './merge-preview.ts';

/** The two customers to merge, of one dealer and one mode. */
type Pair = { organizationId: string; keptId: string; mergedId: string; isTest: boolean };

/**
 * Makes one customer of two: the kept one takes over the other's orders and external ids, and whatever details it lacks
 * itself. This is how a dealer resolves a contact conflict: orders whose buyer matched both then belong to the kept
 * one.
 */
export async function mergeCustomers(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  keptId: string,
  mergedId: string,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    lockCustomers(tx, organizationId);
    const isTest = await areTests(tx, organizationId, keptId, mergedId);
    const pair = { organizationId, keptId, mergedId, isTest };
    const orders = ordersOf(pair);
    // None can be added while the customers are locked.
    await lockOrdersWhere(tx, sql`${orders.moved} or ${orders.conflicting}`);
    const clocks = await lockClocks(tx, await integrationsWith(tx, sql`${orders.moved} or ${orders.conflicting}`));
    const now = context.now() ?? (await timeOf(tx));
    const kept = keeper(tx, keptId, new Map([...clocks].map(([id, newest]) => [id, nextStamp(newest, now)])));
    await forEachOrderPage(tx, orders.moved, kept.give);
    const moved = kept.count();
    await joinRows(tx, pair, now);
    await forEachOrderPage(tx, await resolvedOrders(tx, pair, now), kept.give);
    advanceClocks(tx, kept.stamps());
    await recordAudit(tx, actor, {
      organizationId,
      action: 'customer.merged',
      object: { kind: 'customer', id: keptId },
      new: { mergedId, movedOrders: moved, resolvedOrders: kept.count() - moved },
      personal: [...PERSONAL_FIELDS],
      at: context.now(),
    });
  });
}

async function areTests(tx: Transaction, organizationId: string, ...ids: [string, string]): Promise<boolean> {
  const [first, second = first] = await tx.query<{ id: string; isTest: boolean }>(sql`
    select id, is_test as "isTest" from customers
    where organization_id = ${organizationId} and id = any(${ids}::text[]) and erased_at is null order by id for update`);
  const isMissing = ids.some((id) => id !== first?.id && id !== second?.id);
  if (first === undefined || second === undefined || isMissing) {
    throw new DomainError('not_found', 'There is no such customer.');
  }
  assertMergeable(first, second);
  return first.isTest;
}

/** The merged one's orders, and the newest of those whose buyer is in conflict. */
function ordersOf({ organizationId, mergedId, isTest }: Pair): { moved: Sql; conflicting: Sql } {
  return {
    moved: sql`customer_id = ${mergedId}`,
    conflicting: sql`
      (integration_id, id) in (
        select integration_id, id from orders
        where organization_id = ${organizationId} and is_test = ${isTest} and has_customer_conflict
        order by id desc limit ${CONFLICT_LIMIT})`,
  };
}

async function joinRows(tx: Transaction, { keptId, mergedId }: Pair, now: Date): Promise<void> {
  await tx.query(sql`update customer_external_ids set customer_id = ${keptId} where customer_id = ${mergedId}`);
  await tx.query(sql`
    insert into test_customers (customer_id, integration_id)
    select ${keptId}, integration_id from test_customers where customer_id = ${mergedId} on conflict do nothing`);
  await tx.query(sql`update sales set customer_id = ${keptId} where customer_id = ${mergedId}`);
  // Deleted before its keys pass on: an email or phone belongs to one customer at a time.
  const [merged] = await tx.query<{ details: string }>(sql`
    delete from customers where id = ${mergedId} returning to_jsonb(customers)::text as details`);
  const dropped = sql`
    array[case when c.email is not null then m.email end, case when c.phone is not null then m.phone end] || m.former_contacts`;
  await tx.query(sql`
    update customers c set
      email = coalesce(c.email, m.email), email_key = coalesce(c.email_key, m.email_key),
      phone = coalesce(c.phone, m.phone), first_name = coalesce(c.first_name, m.first_name),
      last_name = coalesce(c.last_name, m.last_name), company = coalesce(c.company, m.company),
      address = coalesce(c.address, m.address),
      former_contacts = ${rememberedContacts(sql`(${dropped})`, sql`c.former_contacts`)}, updated_at = ${now}
    from jsonb_populate_record(null::customers, ${merged?.details ?? '{}'}::jsonb) m
    where c.id = ${keptId}`);
}

/** The orders in conflict whose buyer is the kept customer and nobody else, now that there are no longer two. */
async function resolvedOrders(tx: Transaction, pair: Pair, now: Date): Promise<Sql> {
  const resolved: ConflictingOrder[] = [];
  for await (const page of conflictingOrders(tx, pair.organizationId, [pair.isTest], CONFLICT_LIMIT)) {
    resolved.push(...(await resolvedBy(tx, pair, page, now)));
  }
  return sql`
    customer_id is null and (integration_id, id) in (
      select integration_id, id from ${unnestRows('resolved', resolved, { integrationId: 'text', id: 'text' })})`;
}

async function resolvedBy(
  tx: Transaction,
  pair: Pair,
  orders: ConflictingOrder[],
  now: Date,
): Promise<ConflictingOrder[]> {
  const resolved: ConflictingOrder[] = [];
  for (const [integrationId, conflicting] of Map.groupBy(orders, (order) => order.integrationId)) {
    // The phone stands in the order with its country; no default is needed to read it.
    const buyers = conflicting.map((order) => ({ order, draft: draftBuyer(order.buyer, null) }));
    const drafts = buyers.flatMap(({ draft }) => draft ?? []);
    // Only asked: what the customer's details are has been decided by the merge, not by an order from before.
    const upserts = await openCustomerUpserts(tx, { ...pair, integrationId }, drafts, now);
    const isKept = (draft: CustomerDraft | null) => draft !== null && upserts.identify(draft) === pair.keptId;
    resolved.push(...buyers.filter(({ draft }) => isKept(draft)).map(({ order }) => order));
  }
  return resolved;
}

/** Gives orders to the kept customer. Clients read the customer's id in their orders, so the orders get a new stamp. */
function keeper(tx: Transaction, keptId: string, stamps: Map<string, Date>) {
  const touched = new Set<string>();
  let count = 0;
  return {
    async give(orders: LockedOrder[]): Promise<void> {
      for (const { integrationId, order } of orders) {
        order.customer_id = keptId;
        touched.add(integrationId);
      }
      await rewriteOrders(tx, orders, stamps);
      await tx.query(sql`
        update orders set has_customer_conflict = false
        where id = any(${orders.map(({ order }) => order.id)}::text[]) and customer_id = ${keptId}
          and has_customer_conflict`);
      count += orders.length;
    },
    count: () => count,
    /** Of the integrations whose orders were given; the others' clocks stand still. */
    stamps: () => new Map([...stamps].filter(([integrationId]) => touched.has(integrationId))),
  };
}

async function timeOf(tx: Transaction): Promise<Date> {
  const [row] = await tx.query<{ now: Date }>(sql`select date_trunc('milliseconds', clock_timestamp()) as now`);
  return row?.now ?? new Date();
}
