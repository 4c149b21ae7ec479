import type { Order } from '../../contract/resources/order.ts';
import { type CustomerDraft, emailKey } from '../../customers/customer-draft.ts';
import { readCustomers, type StoredCustomer } from '../../customers/customer-rows.ts';
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { draftBuyer } from '../orders/order-draft.ts';

/** An order whose reported buyer is several of the dealer's customers, or somebody else's external id. */
export type CustomerConflict = {
  order: Order;
  integrationId: string;
  /** Whom the buyer may be, by the external id, the email or the phone. */
  customers: StoredCustomer[];
  /** Merging all these customers decides it. */
  isDecidedByMerge: boolean;
};

/** The newest orders in conflict of these modes. */
export async function listConflicts(
  db: Database,
  organizationId: string,
  isTest: readonly boolean[],
  limit: number,
): Promise<CustomerConflict[]> {
  return await db.transaction(async (tx) => {
    const rows = await tx.query<{ document: string; integrationId: string }>(sql`
      select document, integration_id as "integrationId" from orders
      where organization_id = ${organizationId} and has_customer_conflict and is_test = any(${[...isTest]}::boolean[])
      order by id desc limit ${limit}`);
    const orders = rows.map(({ document, integrationId }) => ({ order: JSON.parse(document) as Order, integrationId }));
    const found = new Map<string, CustomerConflict>();
    for (const group of Map.groupBy(orders, (one) => `${one.integrationId} ${one.order.is_test}`).values()) {
      for (const conflict of await withCustomers(tx, organizationId, group)) found.set(conflict.order.id, conflict);
    }
    return orders.flatMap(({ order }) => found.get(order.id) ?? []);
  });
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

type Reported = { order: Order; integrationId: string };

/** Orders of one integration and one mode, with the customers that each may mean. */
async function withCustomers(tx: Transaction, organizationId: string, orders: Reported[]): Promise<CustomerConflict[]> {
  const [first] = orders;
  if (first === undefined) return [];
  const scope = { organizationId, integrationId: first.integrationId, isTest: first.order.is_test };
  // An order holds the phone with its country code.
  const drafted = orders.map((one) => ({ ...one, draft: draftBuyer(one.order.customer, null) }));
  const drafts = drafted.flatMap(({ draft }) => draft ?? []);
  const { customers, links } = await readCustomers(tx, scope, drafts);
  const linkedIds = new Set(links.values());
  return drafted.map(({ order, integrationId, draft }) => {
    const meant = draft === null ? [] : customers.filter((customer) => mayMean(draft, customer, links));
    return {
      order,
      integrationId,
      customers: meant,
      isDecidedByMerge: isDecidedByMerge(draft, meant, links, linkedIds),
    };
  });
}

function mayMean(draft: CustomerDraft, { id, email, phone }: StoredCustomer, links: Map<string, string>): boolean {
  if (draft.externalId != null && links.get(draft.externalId) === id) return true;
  if (draft.email != null && email !== null && emailKey(draft.email) === emailKey(email)) return true;
  return draft.phone != null && draft.phone === phone;
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
