import { setTimeout as sleep } from 'node:timers/promises';
import { advanceClocks, lockClocks, nextStamp } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { integrationsOfDealer } from '../../dealers/integrations/integrations.ts';
import { rewriteEvents } from '../../webhooks/rewrite-events.ts';
import { eraseAnswers, eraseReferences } from './erase-answers.ts';
import {
  databaseTime,
  type ErasureJob,
  erasedOrdersAfter,
  eraseNamedOrders,
  eraseOwnOrders,
  type OrderKey,
} from './erase-orders.ts';
import { ownersOf } from './searched-owners.ts';
import { eraseInBatch, patternsOf, SEARCHED_TABLES, type SearchPosition } from './searched-texts.ts';
import { eventWithoutPerson } from './without-person.ts';

/** How many rows a batch has looked at and changed, and where the next one begins; null if the stage is done. */
export type Batch = { lookedAt: number; changed: number; position: Position | null };
/** Each stage knows its own; it is stored as JSON. */
export type Position = Record<string, unknown>;

export type ErasureStage = {
  name: string;
  /** One batch. If it is done twice, the second time changes nothing. */
  run(context: ChannelContext, job: ErasureJob, position: Position | null): Promise<Batch>;
};

/** How many orders of one channel have their events rewritten together. */
const EVENT_ORDERS_LIMIT = 20;
const SALES_LIMIT = 1_000;
/** Rows are in the log of API requests at most a second after their request. */
export const REQUESTS_SETTLE_MS = 3_000;

/**
 * In this order. The orders come first: what is made of an order afterwards, such as an event, is empty from the start. So
 * what names the person is there when a later stage looks for it, or is never made.
 */
export const ERASURE_STAGES: readonly ErasureStage[] = [
  { name: 'orders', run: ownOrders },
  { name: 'named_orders', run: namedOrders },
  { name: 'events', run: events },
  { name: 'answers', run: answers },
  { name: 'sales', run: sales },
  { name: 'texts', run: texts },
  { name: 'clocks', run: clocks },
];

async function ownOrders(context: ChannelContext, job: ErasureJob): Promise<Batch> {
  const { erased, contacts } = await context.db.transaction(async (tx) => {
    const batch = await eraseOwnOrders(tx, context, job);
    await addContacts(tx, job, batch.contacts);
    return batch;
  });
  return { lookedAt: erased, changed: erased, position: erased === 0 ? null : { contacts: contacts.length } };
}

const CONTACTS_LIMIT = 100;

/** In the transaction that takes them out of the orders, so that they are not forgotten if the process dies then. */
async function addContacts(tx: Transaction, job: ErasureJob, contacts: string[]): Promise<void> {
  const all = [...new Set([...job.person.contacts, ...contacts])].slice(0, CONTACTS_LIMIT);
  if (all.length === job.person.contacts.length) return;
  job.person.contacts = all;
  await tx.query(sql`
    update erasure_jobs set person = ${JSON.stringify(job.person)}::jsonb where id = ${job.id}`);
}

async function namedOrders(context: ChannelContext, job: ErasureJob, position: Position | null): Promise<Batch> {
  const after = String(position?.after ?? '');
  const batch = await context.db.transaction((tx) => eraseNamedOrders(tx, context, job, after));
  const { lookedAt, erased: changed } = batch;
  return { lookedAt, changed, position: batch.position === null ? null : { after: batch.position } };
}

async function events({ db }: ChannelContext, job: ErasureJob, position: Position | null): Promise<Batch> {
  const after = (position ?? { integrationId: '', id: '' }) as OrderKey;
  const orders = await erasedOrdersAfter(db, job.id, after, EVENT_ORDERS_LIMIT);
  const last = orders.at(-1);
  if (last === undefined) return { lookedAt: 0, changed: 0, position: null };
  const ids = orders.map(({ id }) => id);
  const { customerIds } = job.person;
  const changed = await rewriteEvents(db, last.integrationId, ids, (body) => eventWithoutPerson(body, customerIds));
  await db.transaction((tx) => eraseReferences(tx, last.integrationId, ids));
  return { lookedAt: changed, changed, position: last };
}

async function answers({ db }: ChannelContext, job: ErasureJob, position: Position | null): Promise<Batch> {
  const owners = await integrationsOfDealer(db, job.organizationId);
  const integrationId = String(position?.integrationId ?? owners[0] ?? '');
  const batch = await db.transaction((tx) => eraseAnswers(tx, job, integrationId, String(position?.key ?? '')));
  const { lookedAt, erased: changed } = batch;
  if (batch.position !== null) return { lookedAt, changed, position: { integrationId, key: batch.position } };
  const next = owners.find((id) => id > integrationId);
  return { lookedAt, changed, position: next === undefined ? null : { integrationId: next, key: '' } };
}

async function sales({ db }: ChannelContext, { person: { customerIds } }: ErasureJob): Promise<Batch> {
  const rows = await db.query(sql`
    update sales set customer_id = null where id = any(array(
      select id from sales where customer_id = any(${customerIds}::text[]) limit ${SALES_LIMIT}))
    returning id`);
  return { lookedAt: rows.length, changed: rows.length, position: rows.length < SALES_LIMIT ? null : {} };
}

type TextPosition = { table: string; ownerId: string; key: SearchPosition | null };

async function texts({ db }: ChannelContext, job: ErasureJob, position: Position | null): Promise<Batch> {
  const patterns = patternsOf(job.person);
  const at = position as TextPosition | null;
  const table = SEARCHED_TABLES.find(({ table }) => table === at?.table) ?? SEARCHED_TABLES[0];
  if (patterns === null || table === undefined) return { lookedAt: 0, changed: 0, position: null };
  const owners = await ownersOf(db, table, job.organizationId);
  const ownerId = at?.ownerId ?? '';
  const batch = await db.transaction((tx) => eraseInBatch(tx, table, ownerId, patterns, at?.key ?? null), {
    planning: 'by index',
  });
  const here = { table: table.table, ownerId };
  const { lookedAt, changed } = batch;
  if (batch.position !== null) return { lookedAt, changed, position: { ...here, key: batch.position } };
  const next = owners.find((id) => id > ownerId);
  if (next !== undefined) return { lookedAt, changed, position: { ...here, ownerId: next, key: null } };
  const following = SEARCHED_TABLES[SEARCHED_TABLES.indexOf(table) + 1];
  const end = following === undefined ? null : { table: following.table, ownerId: '', key: null };
  return { lookedAt, changed, position: end };
}

/** What clients can read has changed, so the clocks move: an answer that was cached before must not be served again. */
async function clocks(context: ChannelContext, { organizationId }: ErasureJob): Promise<Batch> {
  await context.db.transaction(async (tx) => {
    const found = await lockClocks(tx, await integrationsOfDealer(tx, organizationId));
    const now = context.now() ?? (await databaseTime(tx));
    advanceClocks(tx, new Map([...found].map(([id, stamp]) => [id, nextStamp(stamp, now)])));
  });
  return { lookedAt: 0, changed: 0, position: null };
}

/** The last requests before the erasure must be in the log before it is searched. */
export async function waitForRequestLog(
  createdAt: Date,
  settleMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const left = createdAt.getTime() + settleMs - Date.now();
  if (left > 0)
    await sleep(Math.min(left, settleMs), undefined, signal === undefined ? {} : { signal }).catch(() => {});
}
