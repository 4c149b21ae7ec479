import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ErasureJob } from './erase-orders.ts';
import { answerWithoutPerson } from './without-person.ts';

const RECORDS_LIMIT = 500;
/** How an answer about one thing begins. */
const ANSWER_ID = '"id":"((?:ord|cus|rsv)_[0-9a-z]{26})"';
const ANSWER_HEAD_LENGTH = 100;
const BULK_HEAD = '{"object":"bulk_result"%';

type FoundRecord = { key: string; objectId: string | null; isBulk: boolean };

/**
 * Empties stored answers of one integration that are about the person, in place: if one were deleted, a retry would run the
 * write again. Looks at the records after a key; returns the last key that it looked at, and null if no more are left.
 */
export async function eraseAnswers(
  tx: Transaction,
  job: ErasureJob,
  integrationId: string,
  after: string,
): Promise<{ lookedAt: number; erased: number; position: string | null }> {
  const { customerIds } = job.person;
  const found = await tx.query<FoundRecord>(sql`
    select key, substring(left(body, ${ANSWER_HEAD_LENGTH}) from ${ANSWER_ID}) as "objectId",
      body like ${BULK_HEAD} and body like any(${customerIds.map((id) => `%"${id}"%`)}::text[]) as "isBulk"
    from idempotency_records
    where integration_id = ${integrationId} and key > ${after} order by key limit ${RECORDS_LIMIT}`);
  const erasedIds = await erasedObjects(tx, job, integrationId, found);
  const keys = found.filter(({ objectId, isBulk }) => isBulk || erasedIds.has(objectId ?? '')).map(({ key }) => key);
  for (const key of keys) await eraseAnswer(tx, integrationId, key, customerIds);
  const position = found.length < RECORDS_LIMIT ? null : (found.at(-1)?.key ?? null);
  return { lookedAt: found.length, erased: keys.length, position };
}

/** What is erased of the things that the records are about: the customer, emptied orders, and what those took. */
async function erasedObjects(
  db: Queryable,
  { id: jobId, person: { customerIds } }: ErasureJob,
  integrationId: string,
  found: FoundRecord[],
): Promise<Set<string>> {
  const ids = found.flatMap(({ objectId }) => objectId ?? []);
  const orders = await db.query<{ id: string }>(sql`
    select id from orders
    where integration_id = ${integrationId} and id = any(${ids}::text[]) and erasure_id = ${jobId}`);
  const reservations = await db.query<{ id: string }>(sql`
    select r.id from reservations r
    join orders o on o.integration_id = r.integration_id and o.id = r.order_id
    where r.integration_id = ${integrationId} and r.id = any(${ids}::text[]) and o.erasure_id = ${jobId}`);
  return new Set([...customerIds, ...orders.map(({ id }) => id), ...reservations.map(({ id }) => id)]);
}

async function eraseAnswer(
  tx: Transaction,
  integrationId: string,
  key: string,
  customerIds: readonly string[],
): Promise<void> {
  const [record] = await tx.query<{ body: string }>(sql`
    select body from idempotency_records where integration_id = ${integrationId} and key = ${key} for update`);
  if (record === undefined) return;
  const answer = answerWithoutPerson(JSON.parse(record.body) as Record<string, unknown>, customerIds);
  await tx.query(sql`
    update idempotency_records set body = ${JSON.stringify(answer)}
    where integration_id = ${integrationId} and key = ${key}`);
}

/** The buyer's own words for a checkout may name them. */
export async function eraseReferences(tx: Transaction, integrationId: string, orderIds: string[]): Promise<void> {
  await tx.query(sql`
    update reservations set reference = null
    where integration_id = ${integrationId} and order_id = any(${orderIds}::text[]) and reference is not null`);
}
