import type { Order } from '../../contract/resources/order.ts';
import type { CustomerDraft } from '../../customers/customer-draft.ts';
import { type FoundCustomers, readCustomers, type StoredCustomer } from '../../customers/customer-rows.ts';
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { draftBuyer } from '../orders/order-draft.ts';
import { reportedBuyer } from '../orders/reported-buyer.ts';

/** What is read of an order whose buyer is in conflict. Its document may have 0.8 MB, and there may be a thousand of them. */
export type ConflictingOrder = {
  id: string;
  integrationId: string;
  channelOrderId: string;
  isTest: boolean;
  createdAt: Date;
  buyer: Order['customer'];
};

/** An order whose reported buyer is several of the dealer's customers, or somebody else's external id. */
export type CustomerConflict = {
  order: ConflictingOrder;
  /** Whom the buyer may be, by the external id, the email or the phone. */
  customers: StoredCustomer[];
  /** Merging all these customers decides it. */
  isDecidedByMerge: boolean;
};

/** So many are read and compared at a time. A buyer may have 15 KB of text, and be three customers with as much. */
const PAGE_CONFLICTS_MAX = 100;

/** The newest orders in conflict of these modes. */
export async function listConflicts(
  db: Database,
  organizationId: string,
  isTest: readonly boolean[],
  limit: number,
): Promise<CustomerConflict[]> {
  const conflicts: CustomerConflict[] = [];
  await forEachConflictPage(db, organizationId, isTest, limit, (page) => {
    conflicts.push(...page);
  });
  return conflicts;
}

/** The same in pages, so that a long list is never held as a whole. */
export async function forEachConflictPage(
  db: Database,
  organizationId: string,
  isTest: readonly boolean[],
  limit: number,
  look: (conflicts: CustomerConflict[]) => void,
): Promise<void> {
  await db.transaction(async (tx) => {
    for await (const orders of conflictingOrders(tx, organizationId, isTest, limit)) {
      const found = new Map<string, CustomerConflict>();
      for (const group of Map.groupBy(orders, (order) => `${order.integrationId} ${order.isTest}`).values()) {
        for (const conflict of await withCustomers(tx, organizationId, group)) found.set(conflict.order.id, conflict);
      }
      look(orders.flatMap(({ id }) => found.get(id) ?? []));
    }
  });
}

/** The newest orders in conflict, page by page. */
export async function* conflictingOrders(
  tx: Transaction,
  organizationId: string,
  isTest: readonly boolean[],
  limit: number,
): AsyncGenerator<ConflictingOrder[]> {
  let left = limit;
  let before: string | null = null;
  while (left > 0) {
    const size = Math.min(left, PAGE_CONFLICTS_MAX);
    const older = before === null ? sql`` : sql`and id < ${before}`;
    const page: ConflictingOrder[] = await tx.query<ConflictingOrder>(sql`
      select id, integration_id as "integrationId", channel_order_id as "channelOrderId", is_test as "isTest",
        created_at as "createdAt", ${reportedBuyer(sql`document`)} as buyer
      from (
        select id, integration_id, channel_order_id, is_test, created_at, document from orders
        where organization_id = ${organizationId} and has_customer_conflict and is_test = any(${[...isTest]}::boolean[])
          ${older}
        order by id desc limit ${size}) page
      order by id desc`);
    if (page.length > 0) yield page;
    if (page.length < size) return;
    left -= size;
    before = page.at(-1)?.id ?? null;
  }
}

/** How many orders wait for a decision; counting stops at the limit. */
export async function countConflicts(
  db: Queryable,
  organizationId: string,
  isTest: readonly boolean[],
  limit: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::integer as count from (
      select from orders
      where organization_id = ${organizationId} and has_customer_conflict and is_test = any(${[...isTest]}::boolean[])
      limit ${limit}) found`);
  return row?.count ?? 0;
}

/** Orders of one integration and one mode, with the customers that each may mean. */
async function withCustomers(
  tx: Transaction,
  organizationId: string,
  orders: ConflictingOrder[],
): Promise<CustomerConflict[]> {
  const [first] = orders;
  if (first === undefined) return [];
  const scope = { organizationId, integrationId: first.integrationId, isTest: first.isTest };
  // An order holds the phone with its country code.
  const drafted = orders.map((order) => ({ order, draft: draftBuyer(order.buyer, null) }));
  const drafts = drafted.flatMap(({ draft }) => draft ?? []);
  const found = await readCustomers(tx, scope, drafts);
  const meantBy = customersByKey(found);
  const linkedIds = new Set(found.links.values());
  return drafted.map(({ order, draft }) => {
    const customers = draft === null ? [] : meantBy(draft);
    return { order, customers, isDecidedByMerge: isDecidedByMerge(draft, customers, found.links, linkedIds) };
  });
}

/** Looks up whom a draft may mean. An external id, an email and a phone are one customer's each. */
function customersByKey({ customers, links }: FoundCustomers): (draft: CustomerDraft) => StoredCustomer[] {
  const byId = new Map(customers.map((customer) => [customer.id, customer]));
  const byEmail = new Map(customers.flatMap((one) => (one.emailKey === null ? [] : [[one.emailKey, one] as const])));
  const byPhone = new Map(customers.flatMap((one) => (one.phone === null ? [] : [[one.phone, one] as const])));
  return ({ externalId, emailKey, phone }) => {
    const linked = externalId == null ? undefined : byId.get(links.get(externalId) ?? '');
    const meant = [linked, byEmail.get(emailKey ?? ''), byPhone.get(phone ?? '')];
    return [...new Set(meant.filter((customer) => customer !== undefined))];
  };
}

/** Not if the buyer's external id is new and the site calls one of them otherwise: then it says that they are others. */
function isDecidedByMerge(
  draft: CustomerDraft | null,
  meant: StoredCustomer[],
  links: Map<string, string>,
  linkedIds: Set<string>,
): boolean {
  if (draft === null || meant.length < 2) return false;
  if (draft.externalId == null || links.has(draft.externalId)) return true;
  return !meant.some(({ id }) => linkedIds.has(id));
}
