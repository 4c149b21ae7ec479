import type { Actor } from '../audit/actor.ts';
import { lockClocks } from '../channel/clock.ts';
import { enqueueJob } from '../channel/job-queue.ts';
import { integrationsOf } from '../channel/project-items.ts';
import { type Database, inTransaction, type Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { deleteIntegration } from '../dealers/integrations.ts';
import { areAllFree, lockFreeOrders, lockInOrder, lockOrders } from './lock-in-order.ts';

/**
 * Deletes an integration and its orders. What they held is free again: the dealer's other channels learn of it by a
 * job, since there may be thousands. False if there is no such integration.
 */
export async function removeIntegration(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    await lockEverythingOf(tx, integrationId);
    const freed = await tx.query<{ id: string }>(sql`
      update items i set reserved_units = i.reserved_units - held.units
      from (select item_id, sum(units) as units from order_lines
        where integration_id = ${integrationId} and is_holding group by item_id) held
      where i.id = held.item_id returning i.id`);
    const channels = await integrationsOf(
      tx,
      freed.map((item) => item.id),
    );
    const others = channels.filter((id) => id !== integrationId);
    if (others.length > 0) await enqueueJob(tx, 'refresh', others, 'orders of a deleted integration');
    return await deleteIntegration(tx, actor, integrationId);
  });
}

/** All its orders, since all of them are deleted with it; the stock that they hold; and the clock, which ends the intake. */
async function lockEverythingOf(tx: Transaction, integrationId: string): Promise<void> {
  const orders = sql`integration_id = ${integrationId}`;
  const stock = sql`
    select from items where id in (
      select item_id from order_lines where integration_id = ${integrationId} and is_holding)`;
  await lockInOrder(tx, async () => {
    await lockOrders(tx, orders);
    await tx.query(sql`select count(*) from (${stock} order by id for update) locked`);
    await lockClocks(tx, [integrationId]);
    return (await lockFreeOrders(tx, orders)) && (await areAllFree(tx, stock));
  });
}
