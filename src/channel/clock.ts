import type { Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';

/**
 * Locks the clocks of several integrations, in the order of their ids as every transaction does, and returns their
 * stamps. The locks are held to the commit: the next transaction sees all of this commit and has a later stamp.
 *
 * It is a statement of its own. A statement that waited for a lock would go on reading with a snapshot from before.
 */
export async function lockClocks(tx: Transaction, integrationIds: string[]): Promise<Map<string, Date>> {
  if (integrationIds.length === 0) return new Map();
  const rows = await tx.query<{ integration_id: string; stamp: Date }>(sql`
    select integration_id, stamp from channel_clocks
    where integration_id = any(${integrationIds}::text[]) order by integration_id for update`);
  return new Map(rows.map((row) => [row.integration_id, row.stamp]));
}

/** How far the clocks are now, without a lock. */
export async function readClocks(db: Queryable, integrationIds: readonly string[]): Promise<Map<string, Date>> {
  const rows = await db.query<{ integration_id: string; stamp: Date }>(sql`
    select integration_id, stamp from channel_clocks where integration_id = any(${[...integrationIds]}::text[])`);
  return new Map(rows.map((row) => [row.integration_id, row.stamp]));
}

/** The next stamp: the time, or one millisecond after the newest stamp if that is not in the past. */
export function nextStamp(newest: Date, now: Date): Date {
  return new Date(Math.max(newest.getTime() + 1, now.getTime()));
}

/** The stamp of an integration that must have got one; if it did not, the integration was deleted meanwhile. */
export function stampOf(stamps: Map<string, Date>, integrationId: string): Date {
  const stamp = stamps.get(integrationId);
  if (stamp === undefined) throw new Error(`integration ${integrationId} is gone`);
  return stamp;
}

const CLOCK_COLUMNS = { integrationId: 'text', stamp: 'timestamptz' } as const;

export function advanceClocks(tx: Transaction, stamps: Map<string, Date>): void {
  if (stamps.size === 0) return;
  const rows = [...stamps].map(([integrationId, stamp]) => ({ integrationId, stamp }));
  tx.defer(sql`
    update channel_clocks c set stamp = rows.stamp
    from ${unnestRows('rows', rows, CLOCK_COLUMNS)}
    where c.integration_id = rows.integration_id`);
}
