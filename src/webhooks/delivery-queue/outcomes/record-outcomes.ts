import { type ActivityKind, addActivity } from '../../../activity/activity-counts.ts';
import type { Actor } from '../../../audit/actor.ts';
import { recordAudit } from '../../../audit/record-audit.ts';
import { GONE_LIMIT } from '../../../contract/limits.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { unnestRows } from '../../../db/unnest-rows.ts';
import { type EndpointHealth, endpointHealth } from '../../endpoints/gone-endpoints.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';
import { type OutcomeRow, outcomeRow, recordDeliveries } from './record-deliveries.ts';

const DELIVERY_WORKER: Actor = { kind: 'job', name: 'deliveries' };

/** What an operator should know: endpoints that were switched off, and deliveries that are given up, by integration. */
export type Recorded = { disabled: string[]; deadLetters: Map<string, number> };

/**
 * Records how attempts ended, many at once. An outcome counts only while the delivery still has the lease of its attempt,
 * and recording ends the lease. So an outcome is dropped when the lease has passed to another worker, which records what
 * became of the delivery, and when it was recorded before: a worker whose commit was made but whose answer was lost
 * records the same batch again, and then returns nothing of it.
 */
export async function recordOutcomes(db: Database, outcomes: AttemptOutcome[]): Promise<Recorded> {
  const allRows = outcomes.map(outcomeRow);
  return await db.transaction(
    async (tx) => {
      const recorded = await recordDeliveries(tx, allRows);
      const rows = allRows.filter(({ id }) => recorded.has(id));
      const health = endpointHealth(outcomes.filter(({ delivery }) => recorded.has(delivery.id)));
      const disabled = rows.length === 0 ? [] : await recordHealthAndSwitchOff(tx, health, activityOf(rows));
      for (const integrationId of disabled) {
        await recordAudit(tx, DELIVERY_WORKER, {
          organizationId: { ofIntegration: integrationId },
          action: 'webhooks.enabled_changed',
          object: { kind: 'integration', id: integrationId },
          old: { isEnabled: true },
          new: { isEnabled: false, reason: 'gone' },
        });
      }
      return { disabled, deadLetters: deadLettersOf(rows) };
    },
    { planning: 'by index' },
  );
}

const HEALTH_COLUMNS = {
  integrationId: 'text',
  url: 'text',
  successAt: 'timestamptz',
  failureAt: 'timestamptz',
  failures: 'integer',
  leadingGone: 'integer',
  longestGone: 'integer',
  trailingGone: 'integer',
  isAllGone: 'boolean',
} as const;

type AttemptCount = { integrationId: string; kind: ActivityKind; at: Date; count: number };
const ATTEMPT_COUNT_COLUMNS = { integrationId: 'text', kind: 'text', at: 'timestamptz', count: 'bigint' } as const;

/** How many deliveries of each integration have become dead letters. */
function deadLettersOf(rows: OutcomeRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { status, integrationId } of rows) {
    if (status === 'dead_letter') counts.set(integrationId, (counts.get(integrationId) ?? 0) + 1);
  }
  return counts;
}

/** How many attempts of each integration succeeded, failed, and were the last ones. */
function activityOf(rows: OutcomeRow[]): AttemptCount[] {
  const counts = new Map<string, AttemptCount>();
  const count = (integrationId: string, kind: ActivityKind, at: Date) => {
    const key = `${integrationId} ${kind}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { integrationId, kind, at, count: 1 });
    else known.count += 1;
  };
  for (const { integrationId, status, endedAt } of rows) {
    count(integrationId, status === 'succeeded' ? 'attempts_succeeded' : 'attempts_failed', endedAt);
    if (status === 'dead_letter') count(integrationId, 'dead_letters', endedAt);
  }
  return [...counts.values()];
}

/**
 * Counts successes and failures of endpoints, and switches off those that are gone; returns their integrations. The counts
 * of the hour come after the endpoints' locks, for which they are read.
 */
async function recordHealthAndSwitchOff(
  tx: Transaction,
  health: EndpointHealth[],
  attempts: AttemptCount[],
): Promise<string[]> {
  // Without a 410 nothing is switched off, so nothing follows, and the commit can go with the statement.
  const isLast = health.every(({ longestGone }) => longestGone === 0);
  const disabled = await (isLast ? tx.queryLast : tx.query)<{ integrationId: string }>(sql`
    with counted as materialized (
      -- Locked in the order of their ids, so that two workers do not wait for each other. What an earlier URL answered
      -- says nothing about the one of now.
      select rows.integration_id, rows.success_at, rows.failure_at, rows.failures, rows.is_all_gone, rows.trailing_gone,
        e.is_enabled,
        greatest(rows.longest_gone, rows.leading_gone + e.consecutive_gone) >= ${GONE_LIMIT} as is_gone
      from ${unnestRows('rows', health, HEALTH_COLUMNS)}
      cross join lateral (
        select e.consecutive_gone, e.is_enabled from webhook_endpoints e
        where e.integration_id = rows.integration_id and e.url = rows.url limit 1 for update) e
    ), updated as (
      update webhook_endpoints e set
        last_success_at = greatest(e.last_success_at, c.success_at),
        last_failure_at = greatest(e.last_failure_at, c.failure_at),
        consecutive_failures = c.failures + case when c.success_at is null then e.consecutive_failures else 0 end,
        consecutive_gone = c.trailing_gone + case when c.is_all_gone then e.consecutive_gone else 0 end,
        is_enabled = e.is_enabled and not c.is_gone,
        disabled_reason = case when c.is_gone then 'gone' else e.disabled_reason end
      from counted c where e.integration_id = c.integration_id
    ), activity as (${addActivity(sql`
      select integration_id, kind, at, count from ${unnestRows('attempts', attempts, ATTEMPT_COUNT_COLUMNS)}
      union all
      select integration_id, 'webhooks_off', failure_at, 1 from counted where is_gone and is_enabled`)})
    select integration_id as "integrationId" from counted where is_gone and is_enabled`);
  return disabled.map(({ integrationId }) => integrationId);
}
