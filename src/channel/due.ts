import { sql } from '../db/sql.ts';
import type { ChannelContext } from './context.ts';
import { NEVER_SUPPRESSED, NO_CHANGE, refreshItems } from './refresh.ts';

const BATCH_LIMIT = 100;

/**
 * Projects documents whose time has come: a promotion started or ended. The moments are rows, not timers, so they
 * hold over restarts and any number of workers may look. Returns how many documents were due.
 */
export async function refreshDue(context: ChannelContext): Promise<number> {
  const rows = await context.db.query<{ integration_id: string; item_id: string }>(sql`
    select distinct integration_id, item_id from (
      select integration_id, item_id from channel_documents
      where valid_until <= coalesce(${context.now()}::timestamptz, now())
      order by valid_until limit ${BATCH_LIMIT}) due`);
  const byIntegration = Map.groupBy(rows, (row) => row.integration_id);
  for (const [integrationId, due] of byIntegration) {
    await refreshOne(
      context,
      integrationId,
      due.map((row) => row.item_id),
    );
  }
  return rows.length;
}

/** Projects some items of one integration in a transaction of its own. */
export async function refreshOne(context: ChannelContext, integrationId: string, itemIds: string[]): Promise<void> {
  const { stamps } = await context.db.transaction((tx) =>
    refreshItems(tx, context, {
      itemIds,
      integrationIds: [integrationId],
      change: NO_CHANGE,
      isSuppressed: NEVER_SUPPRESSED,
    }),
  );
  if (stamps.size > 0) context.onEvents([integrationId]);
}
