import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** Notes that an integration's key was used. It returns at once; the note is written later, together with others. */
export type KeyUse = { note(integrationId: string): void };

export type KeyUseOptions = {
  onFault: (error: unknown) => void;
  /** The shortest time between two notes of one integration. */
  everyMs?: number;
  /** How long notes wait, so that many share a statement. */
  batchMs?: number;
};

const EVERY_MS = 60_000;
const BATCH_MS = 1_000;
/** How many integrations are remembered. Beyond it the oldest is forgotten, which costs one more write. */
const REMEMBERED = 100_000;

export function createKeyUse(
  db: Queryable,
  { onFault, everyMs = EVERY_MS, batchMs = BATCH_MS }: KeyUseOptions,
): KeyUse {
  const notedAtMs = new Map<string, number>();
  let pending = new Set<string>();

  function write(): void {
    const ids = [...pending];
    pending = new Set();
    recordKeyUse(db, ids).catch(onFault);
  }

  return {
    note(integrationId) {
      const nowMs = performance.now();
      const before = notedAtMs.get(integrationId);
      if (before !== undefined && nowMs - before < everyMs) return;
      notedAtMs.delete(integrationId);
      notedAtMs.set(integrationId, nowMs);
      for (const id of notedAtMs.keys()) {
        if (notedAtMs.size <= REMEMBERED) break;
        notedAtMs.delete(id);
      }
      if (pending.size === 0) setTimeout(write, batchMs).unref();
      pending.add(integrationId);
    },
  };
}

/** An integration that was deleted meanwhile is left out. */
async function recordKeyUse(db: Queryable, integrationIds: string[]): Promise<void> {
  await db.query(sql`
    insert into integration_usage (integration_id, last_used_at)
    select id, clock_timestamp() from integrations where id = any(${integrationIds}::text[]) order by id
    on conflict (integration_id) do update set last_used_at = greatest(integration_usage.last_used_at, excluded.last_used_at)`);
}
