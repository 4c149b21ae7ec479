import { setTimeout as sleep } from 'node:timers/promises';
import { lockClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { projectItems } from '../../channel/projection/project-items.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { cancelTestDeliveries } from '../../webhooks/delivery-queue/cancel-test-deliveries.ts';
import type { DeletedTestData } from './test-data.ts';
import { deleteTestCustomers } from './test-rows.ts';

/** Rows that one transaction deletes. An order may have 0.8 MB. */
const BATCH_LIMIT = 200;
/** Between batches, so that the dealer's other writes pass. */
const PAUSE_MS = 5;

type Owner = { organizationId: string; integrationId: string };

/**
 * Deletes an integration's test data in batches, each a transaction, until less than a batch of each kind is left. Many
 * thousand test orders in one transaction would take longer than a statement may, and hold the locks for as long. If it is
 * cut short, it can be done again.
 */
export async function deleteMostTestData(
  context: ChannelContext,
  organizationId: string,
  integrationId: string,
): Promise<DeletedTestData> {
  const owner = { organizationId, integrationId };
  const run = (batch: Batch) => runBatches(context, owner, batch);
  await run((tx) => cancelTestDeliveries(tx, integrationId, BATCH_LIMIT));
  const orders = await run((tx) => deleteOrders(tx, context, owner));
  await run((tx) => deleteReservations(tx, context, integrationId));
  await run((tx) => deleteRecords(tx, integrationId));
  let customers = 0;
  await run(async (tx) => {
    const { checked, deleted } = await deleteTestCustomers(tx, owner, BATCH_LIMIT);
    customers += deleted;
    return checked;
  });
  await run((tx) => deleteLinks(tx, integrationId));
  return { orders, customers };
}

/** Answers how many rows it was about; fewer than a batch means that none is left. */
type Batch = (tx: Transaction) => Promise<number>;

async function runBatches({ db }: ChannelContext, owner: Owner, batch: Batch): Promise<number> {
  let total = 0;
  for (;;) {
    const count = await db.transaction(async (tx) => {
      await assertOwner(tx, owner);
      return await batch(tx);
    });
    total += count;
    if (count < BATCH_LIMIT) return total;
    await sleep(PAUSE_MS);
  }
}

/** Without a lock, which would come before those of the orders. */
export async function assertOwner(tx: Transaction, { organizationId, integrationId }: Owner): Promise<void> {
  const rows = await tx.query(sql`
    select id from integrations where id = ${integrationId} and organization_id = ${organizationId}`);
  if (rows.length === 0) throw new DomainError('not_found', 'There is no such integration.');
}

/** With the sales that were made of them, also the voided ones. Locks as everybody does: orders, then the clock. */
async function deleteOrders(tx: Transaction, context: ChannelContext, { integrationId }: Owner): Promise<number> {
  const rows = await tx.query<{ id: string }>(sql`
    select id from orders where integration_id = ${integrationId} and is_test
    order by id limit ${BATCH_LIMIT} for update`);
  if (rows.length === 0) return 0;
  const orderIds = rows.map((row) => row.id);
  await moveClock(tx, context, integrationId);
  await tx.query(sql`delete from orders where integration_id = ${integrationId} and id = any(${orderIds}::text[])`);
  await tx.query(sql`
    delete from sales where order_id = any(${orderIds}::text[]) and channel = ${integrationId} and is_test`);
  return orderIds.length;
}

async function deleteReservations(tx: Transaction, context: ChannelContext, integrationId: string): Promise<number> {
  await moveClock(tx, context, integrationId);
  const rows = await tx.query(sql`
    delete from reservations where ctid = any(array(
      select ctid from reservations where integration_id = ${integrationId} and is_test limit ${BATCH_LIMIT}))
    returning 1`);
  return rows.length;
}

/** What a client can read changes, so its clock moves: an answer cached before must not be served again. */
async function moveClock(tx: Transaction, context: ChannelContext, integrationId: string): Promise<void> {
  const clocks = await lockClocks(tx, [integrationId]);
  await projectItems(tx, context, {
    itemIds: [],
    integrationIds: [integrationId],
    clocks,
    stampAlso: [integrationId],
  });
}

async function deleteRecords(tx: Transaction, integrationId: string): Promise<number> {
  const rows = await tx.query(sql`
    delete from idempotency_records where ctid = any(array(
      select ctid from idempotency_records where integration_id = ${integrationId} and is_test limit ${BATCH_LIMIT}))
    returning 1`);
  return rows.length;
}

async function deleteLinks(tx: Transaction, integrationId: string): Promise<number> {
  const rows = await tx.query(sql`
    delete from customer_external_ids where ctid = any(array(
      select ctid from customer_external_ids where integration_id = ${integrationId} and is_test limit ${BATCH_LIMIT}))
    returning 1`);
  return rows.length;
}
