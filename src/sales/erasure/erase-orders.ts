import { advanceClocks, lockClocks, nextStamp } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import type { Order } from '../../contract/resources/order.ts';
import { emailKey } from '../../customers/customer-draft.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { documentsWithin, WHOLE_PAGE_BYTES } from '../../db/large-pages.ts';
import { searchQueryOf } from '../../db/search-words.ts';
import { plannedAnew, type Sql, sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { reportedBuyer } from '../orders/reported-buyer.ts';
import { type LockedOrder, rewriteOrders } from '../orders/rewrite-orders.ts';
import { type ErasedPerson, ownContacts } from './erase-customer.ts';
import { orderWithoutPerson } from './without-person.ts';

export type ErasureJob = {
  id: string;
  organizationId: string;
  customerId: string;
  isTest: boolean;
  person: ErasedPerson;
};
export type OrderKey = { integrationId: string; id: string };

/** The clocks of all their channels are locked until the commit. */
const ORDERS_LIMIT = 50;
/** Orders that a search finds, of which few are the person's. */
const FOUND_ORDERS_LIMIT = 200;

/** Empties some of the customer's orders; returns how many, and the contacts that stood in them. */
export async function eraseOwnOrders(
  tx: Transaction,
  context: ChannelContext,
  job: ErasureJob,
): Promise<{ erased: number; contacts: string[] }> {
  const keys = await lockOrderKeys(tx, sql`customer_id = ${job.customerId}`);
  const orders = await eraseOrders(tx, context, job, keys);
  const reported = orders.flatMap(({ order: { customer } }) => [customer?.email, customer?.phone]);
  const contacts = reported.filter((contact) => contact != null);
  return { erased: orders.length, contacts: await ownContacts(tx, job.organizationId, contacts) };
}

/**
 * Empties some of the orders that name the person and are not the customer's: the dealer had still to decide whose they
 * are, or has decided otherwise. `position` is the last id that was looked at; null if no more are left.
 */
export async function eraseNamedOrders(
  tx: Transaction,
  context: ChannelContext,
  job: ErasureJob,
  after: string,
): Promise<{ lookedAt: number; erased: number; position: string | null }> {
  const query = await wordsOf(tx, job);
  if (query === null) return { lookedAt: 0, erased: 0, position: null };
  const found = await tx.query<OrderKey & { createdAt: Date; buyer: Order['customer'] }>(
    plannedAnew(sql`
      select integration_id as "integrationId", id, created_at as "createdAt", ${reportedBuyer(sql`document`)} as buyer
      from (
        -- The buyers of these alone: the server may otherwise read that of each match before it sorts them.
        select integration_id, id, created_at, document from orders
        where search_words @@ ${query}::tsquery and organization_id = ${job.organizationId} and is_test = ${job.isTest}
          and erasure_id is null and id > ${after}
        order by id limit ${FOUND_ORDERS_LIMIT}) page
      order by id`),
  );
  const named = found.filter(({ buyer, ...key }) => isNamed(job.person, key, buyer)).slice(0, ORDERS_LIMIT);
  const which = sql`(integration_id, id) in (
    select integration_id, id from ${unnestRows('named', named, { integrationId: 'text', id: 'text' })})`;
  const erased = named.length === 0 ? [] : await eraseOrders(tx, context, job, await lockOrderKeys(tx, which));
  const counts = { lookedAt: found.length, erased: erased.length };
  if (erased.length < named.length || named.length === ORDERS_LIMIT) return { ...counts, position: after };
  return { ...counts, position: found.length < FOUND_ORDERS_LIMIT ? null : (found.at(-1)?.id ?? null) };
}

/** A superset of the orders that name the person: by the words of the contacts and of what the channels call them. */
async function wordsOf(db: Queryable, { organizationId, person }: ErasureJob): Promise<string | null> {
  const texts = [...person.contacts, ...person.links.map(({ externalId }) => externalId)];
  const queries: string[] = [];
  for (const text of texts) {
    const query = await searchQueryOf(db, organizationId, text);
    if (query !== null) queries.push(`(${query})`);
  }
  return queries.length === 0 ? null : queries.join(' | ');
}

function isNamed(
  { contacts, links, clocks }: ErasedPerson,
  { integrationId, createdAt }: OrderKey & { createdAt: Date },
  buyer: Order['customer'],
): boolean {
  const clock = clocks[integrationId];
  if (buyer === null || clock === undefined || createdAt > new Date(clock)) return false;
  const keys = new Set(contacts.map(emailKey));
  const isLinked = links.some((link) => link.integrationId === integrationId && link.externalId === buyer.external_id);
  return isLinked || [buyer.email, buyer.phone].some((contact) => contact !== null && keys.has(emailKey(contact)));
}

/** A statement of its own: one that waits for a lock must not also read. */
async function lockOrderKeys(tx: Transaction, which: Sql): Promise<OrderKey[]> {
  return await tx.query<OrderKey>(sql`
    select integration_id as "integrationId", id from orders where ${which}
    order by integration_id, id limit ${ORDERS_LIMIT} for update`);
}

/** Returns the orders as they were: as many of them as make a piece. They get a new stamp, and there is no event. */
async function eraseOrders(
  tx: Transaction,
  context: ChannelContext,
  { id: jobId, person: { customerIds } }: ErasureJob,
  keys: OrderKey[],
): Promise<LockedOrder[]> {
  if (keys.length === 0) return [];
  const clocks = await lockClocks(tx, [...new Set(keys.map(({ integrationId }) => integrationId))].sort());
  const orders = await readOrders(tx, keys);
  const now = context.now() ?? (await databaseTime(tx));
  const touched = new Set(orders.map(({ integrationId }) => integrationId));
  const stamps = new Map([...clocks].filter(([id]) => touched.has(id)).map(([id, at]) => [id, nextStamp(at, now)]));
  const emptied = orders.map(({ integrationId, order }) => ({
    integrationId,
    order: orderWithoutPerson(order, customerIds),
  }));
  await rewriteOrders(tx, emptied, stamps);
  const written = emptied.map(({ integrationId, order: { id } }) => ({ integrationId, id }));
  await tx.query(sql`
    update orders o set erasure_id = ${jobId}, has_customer_conflict = false
    from ${unnestRows('written', written, { integrationId: 'text', id: 'text' })}
    where o.integration_id = written.integration_id and o.id = written.id`);
  advanceClocks(tx, stamps);
  return orders;
}

async function readOrders(tx: Transaction, keys: OrderKey[]): Promise<LockedOrder[]> {
  const order = sql`o.integration_id, o.id`;
  const rows = await tx.query<{ integrationId: string; document: string | null }>(sql`
    select o.integration_id as "integrationId", ${documentsWithin(WHOLE_PAGE_BYTES, sql`o.document`, order)} as document
    from ${unnestRows('wanted', keys, { integrationId: 'text', id: 'text' })}
    join orders o on o.integration_id = wanted.integration_id and o.id = wanted.id
    order by ${order}`);
  return rows.flatMap(({ integrationId, document }) =>
    document === null ? [] : [{ integrationId, order: JSON.parse(document) as Order }],
  );
}

export async function databaseTime(tx: Transaction): Promise<Date> {
  const [row] = await tx.query<{ now: Date }>(sql`select date_trunc('milliseconds', clock_timestamp()) as now`);
  return row?.now ?? new Date();
}

/** The next orders of one channel that this job has emptied, whose events and answers are still to follow. */
export async function erasedOrdersAfter(
  db: Queryable,
  jobId: string,
  after: OrderKey,
  limit: number,
): Promise<OrderKey[]> {
  const rows = await db.query<OrderKey>(sql`
    select integration_id as "integrationId", id from orders
    where erasure_id = ${jobId} and (integration_id, id) > (${after.integrationId}, ${after.id})
    order by integration_id, id limit ${limit}`);
  return rows.filter(({ integrationId }) => integrationId === rows[0]?.integrationId);
}
