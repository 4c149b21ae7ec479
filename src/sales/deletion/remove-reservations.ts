import type { ChannelContext } from '../../channel/context.ts';
import { projectItems } from '../../channel/projection/project-items.ts';
import { countFitting } from '../../channel/projection/projection-budget.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { giveBackUnits } from '../../inventory/units/item-reservations.ts';
import type { RemovedBatch } from './deletion-steps.ts';
import { otherChannels } from './remove-orders.ts';

/** Fewer if they hold items with many documents, which are projected in this transaction. */
const RESERVATION_LIMIT = 100;

/**
 * Removes some reservations of an integration that is being deleted. What they held is free again, and the dealer's other
 * channels get their events in the same commit.
 */
export async function removeReservations(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
): Promise<RemovedBatch> {
  const next = await tx.query<{ id: string; itemId: string; isHolding: boolean }>(sql`
    select id, item_id as "itemId", status = 'active' and not is_test as "isHolding" from reservations
    where integration_id = ${integrationId} limit ${RESERVATION_LIMIT}`);
  const count = await countFitting(
    tx,
    next.map((row) => (row.isHolding ? { itemId: row.itemId } : null)),
  );
  const found = next.slice(0, count);
  const held = [...new Set(found.flatMap((row) => (row.isHolding ? row.itemId : [])))];
  // Whoever changes a reservation holds its item; what is deleted is what it is by then.
  await tx.query(sql`
    select count(*) from (
      select from items where id = any(${held}::text[]) order by id for update) locked`);
  const removed = await tx.query<{ itemId: string; units: number; isHolding: boolean }>(sql`
    delete from reservations
    where integration_id = ${integrationId} and id = any(${found.map((row) => row.id)}::text[])
    returning item_id as "itemId", units, status = 'active' and not is_test as "isHolding"`);
  const freed = removed.filter((row) => row.isHolding);
  giveBackUnits(tx, freed);
  const itemIds = [...new Set(freed.map((row) => row.itemId))].sort();
  const { stamps } = await projectItems(tx, context, {
    itemIds,
    integrationIds: await otherChannels(tx, itemIds),
  });
  return { removed: removed.length, touched: [...stamps.keys()] };
}
