import { LRUCache } from 'lru-cache';
import type { ChangeKind } from '../contract/dashboard/live.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { NotifyDashboards } from './change-feed.ts';

const CACHED_INTEGRATIONS = 10_000;
/** An integration may be attached to another dealer. */
const CACHED_MS = 60_000;
/** What a change on a channel can show up as. Which one of them changed is not known here. */
const KINDS: ChangeKind[] = ['item', 'order', 'customer', 'event', 'delivery'];

/** Notifies the dashboards of the dealers whose channels have new events. Never fails: the change is committed already. */
export function channelNotifier(
  db: Database,
  notify: NotifyDashboards,
  kinds: readonly ChangeKind[] = KINDS,
): (integrationIds: string[]) => void {
  const owners = new LRUCache<string, { organizationId: string | null }>({
    max: CACHED_INTEGRATIONS,
    ttl: CACHED_MS,
  });

  async function notifyAll(integrationIds: string[]): Promise<void> {
    const unknown = integrationIds.filter((id) => !owners.has(id));
    if (unknown.length > 0) {
      const rows = await db.query<{ id: string; organizationId: string | null }>(sql`
        select id, organization_id as "organizationId" from integrations where id = any(${unknown})`);
      for (const { id, organizationId } of rows) owners.set(id, { organizationId });
    }
    const organizations = new Set(integrationIds.map((id) => owners.get(id)?.organizationId ?? null));
    for (const id of organizations) {
      if (id !== null) for (const kind of kinds) notify(id, kind, null);
    }
  }

  return (integrationIds) => void notifyAll(integrationIds).catch(() => {});
}

/** What the outcome of a delivery shows up as: its own state, and the health of its endpoint. */
const OUTCOME_KINDS: ChangeKind[] = ['delivery', 'integration'];
/** A busy channel has thousands of outcomes a second; pages are notified this often at most. */
const OUTCOME_EVERY_MS = 500;

/** Notifies dashboards of outcomes of deliveries, in batches: a page that waits for a webhook to arrive sees it within a second. */
export function outcomeNotifier(db: Database, notify: NotifyDashboards): (integrationIds: string[]) => void {
  const notifyOfBatch = channelNotifier(db, notify, OUTCOME_KINDS);
  const pending = new Set<string>();
  return (integrationIds) => {
    if (pending.size === 0) {
      setTimeout(() => {
        const all = [...pending];
        pending.clear();
        notifyOfBatch(all);
      }, OUTCOME_EVERY_MS).unref();
    }
    for (const id of integrationIds) pending.add(id);
  };
}
