import { sql } from '../../db/sql.ts';
import { transactionTime } from '../../db/sql-time.ts';
import { commitAndWake } from '../commit-and-wake.ts';
import type { ChannelContext } from '../context.ts';
import { projectItems } from './project-items.ts';

const BATCH_LIMIT = 100;
/** After so many batches a worker checks whether it has to stop; the rest is due in the next round. */
const BATCHES_LIMIT = 1_000;

/**
 * Projects documents whose time has come: a promotion started or ended. The moments are rows, not timers, so they
 * hold over restarts and any number of workers may look. Returns how many documents were due.
 *
 * An integration that fails does not keep the others waiting; what it failed with is thrown at the end.
 */
export async function refreshDue(context: ChannelContext, signal?: AbortSignal): Promise<number> {
  const faults = new Map<string, unknown>();
  let projected = 0;
  for (let batch = 0; batch < BATCHES_LIMIT && !signal?.aborted; batch++) {
    const due = await findDue(context, null, [...faults.keys()]);
    if (due.length === 0) break;
    for (const [integrationId, rows] of Map.groupBy(due, (row) => row.integrationId)) {
      try {
        await refreshOne(context, integrationId, itemIdsOf(rows));
        projected += rows.length;
      } catch (error) {
        faults.set(integrationId, error);
      }
    }
  }
  if (faults.size > 0) throw new AggregateError(faults.values(), `${faults.size} channels could not be projected`);
  return projected;
}

/** Projects some of what is due on one channel, the longest due first; for a read that met such a document. */
export async function refreshDueOf(context: ChannelContext, integrationId: string): Promise<void> {
  const due = await findDue(context, integrationId, []);
  if (due.length > 0) await refreshOne(context, integrationId, itemIdsOf(due));
}

/** Projects some items of one integration in a transaction of its own. */
export async function refreshOne(context: ChannelContext, integrationId: string, itemIds: string[]): Promise<void> {
  await commitAndWake(context, async (tx) => {
    const { stamps } = await projectItems(tx, context, { itemIds, integrationIds: [integrationId] });
    return { touched: [...stamps.keys()] };
  });
}

type DueRow = { integrationId: string; itemId: string };

/** A channel without an organization can't be projected; its client can't read it either. */
async function findDue(context: ChannelContext, integrationId: string | null, except: string[]): Promise<DueRow[]> {
  return await context.db.query<DueRow>(sql`
    select d.integration_id as "integrationId", d.item_id as "itemId"
    from channel_documents d join integrations i on i.id = d.integration_id and i.api_version = d.api_version
    where d.valid_until <= ${transactionTime(context.now())} and i.organization_id is not null
      and (${integrationId}::text is null or d.integration_id = ${integrationId})
      and d.integration_id <> all(${except}::text[])
    order by d.valid_until limit ${BATCH_LIMIT}`);
}

function itemIdsOf(rows: DueRow[]): string[] {
  return rows.map((row) => row.itemId);
}
