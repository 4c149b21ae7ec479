import { lockClocks } from '../channel/clock.ts';
import { enqueueJob } from '../channel/job-queue.ts';
import { integrationsOf } from '../channel/refresh.ts';
import { type Database, inTransaction, type Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { deleteIntegration } from '../dealers/integrations.ts';

/**
 * Deletes an integration and its orders. What they held is free again: the dealer's other channels learn of it by a
 * job, since there may be thousands. False if there is no such integration.
 */
export async function removeIntegration(db: Database | Transaction, integrationId: string): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    // Orders, stock, clock: in the order of every change. Under the clock no further order can come in.
    await tx.query(sql`
      select o.id from orders o where o.integration_id = ${integrationId} and exists (
        select from order_lines l where l.integration_id = o.integration_id and l.order_id = o.id and l.is_holding)
      order by o.id for update`);
    await tx.query(sql`
      select i.id from items i where i.id in (
        select item_id from order_lines where integration_id = ${integrationId} and is_holding)
      order by i.id for update`);
    await lockClocks(tx, [integrationId]);
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
    return await deleteIntegration(tx, integrationId);
  });
}
