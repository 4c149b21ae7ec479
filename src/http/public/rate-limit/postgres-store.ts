import { createKeyedBatcher } from '../../../concurrency/batcher.ts';
import { RATE_WINDOW_MS } from '../../../contract/limits.ts';
import type { Database } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import type { RateLimitStore, Spending } from './rate-limit-store.ts';

type SpendingRow = { is_allowed: boolean; remaining: number; reset_in_ms: number; wait_ms: number };
type SpendRequest = { integrationId: string; cap: number; cost: number };

/** Longer than a healthy database takes. A request must not wait for a database that does not answer. */
const SPEND_TIMEOUT_MS = 3_000;

/**
 * The store for several nodes: one row for each integration in PostgreSQL. A function spends tokens from it under the
 * row's lock, in the database's time. Requests of one integration that arrive together share one statement, so a busy
 * integration waits for one round trip and not for a queue of them.
 */
export function postgresStore(db: Database, now: () => number | null = () => null): RateLimitStore {
  const spend = createKeyedBatcher(spendTogether);

  async function spendTogether(requests: SpendRequest[]): Promise<Spending[]> {
    const [{ integrationId, cap }] = requests as [SpendRequest, ...SpendRequest[]];
    const statement = sql`
      select is_allowed, remaining, reset_in_ms, wait_ms
      from spend_tokens(${integrationId}, ${cap}, ${requests.map((request) => request.cost)}::integer[], ${now()})`;
    const rows = await db.query<SpendingRow>(statement, { timeoutMs: SPEND_TIMEOUT_MS });
    return rows.map((row) => ({
      isAllowed: row.is_allowed,
      remaining: row.remaining,
      resetInMs: row.reset_in_ms,
      waitMs: row.wait_ms,
    }));
  }

  return {
    async spend(integrationId, cap, cost) {
      // The cap is part of the key: a statement has one cap, and a changed override must not wait for another statement.
      return await spend(`${integrationId} ${cap}`, { integrationId, cap, cost });
    },
    async used(integrationId) {
      const nowMs = sql`coalesce(${now()}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`;
      const statement = sql`
        select coalesce(sum(entry.tokens), 0)::integer as used
        from rate_windows w cross join lateral unnest(w.spent_at, w.tokens) as entry (spent_at, tokens)
        where w.integration_id = ${integrationId} and entry.spent_at + ${RATE_WINDOW_MS}::bigint > ${nowMs}`;
      const [row] = await db.query<{ used: number }>(statement, { timeoutMs: SPEND_TIMEOUT_MS });
      return row?.used ?? 0;
    },
  };
}
