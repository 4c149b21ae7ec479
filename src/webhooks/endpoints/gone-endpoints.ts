import { type ActivityKind, addActivity } from '../../activity/activity-counts.ts';
import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { GONE_LIMIT } from '../../contract/limits.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import type { AttemptOutcome } from '../delivery-queue/outcomes/attempt-outcome.ts';

const DELIVERY_WORKER: Actor = { kind: 'job', name: 'deliveries' };
const GONE = 410;

/** Attempts of an integration, for the counts of the hour. */
export type AttemptCount = { integrationId: string; kind: ActivityKind; at: Date; count: number };

const ATTEMPT_COUNT_COLUMNS = { integrationId: 'text', kind: 'text', at: 'timestamptz', count: 'bigint' } as const;

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

/**
 * Counts successes and failures of endpoints, and switches off those that are gone: that have answered 410 Gone so often
 * in a row (GONE_LIMIT). Returns their integrations. The counts of the hour come after the endpoints' locks, for which
 * they are read.
 */
export async function recordHealthAndSwitchOff(
  tx: Transaction,
  outcomes: AttemptOutcome[],
  attempts: AttemptCount[],
): Promise<string[]> {
  const health = endpointHealth(outcomes);
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
  for (const { integrationId } of disabled) {
    await recordAudit(tx, DELIVERY_WORKER, {
      organizationId: { ofIntegration: integrationId },
      action: 'webhooks.enabled_changed',
      object: { kind: 'integration', id: integrationId },
      old: { isEnabled: true },
      new: { isEnabled: false, reason: 'gone' },
    });
  }
  return disabled.map(({ integrationId }) => integrationId);
}

/** What a batch of outcomes says about one endpoint, in the order in which they ended. */
type EndpointHealth = {
  integrationId: string;
  url: string;
  successAt: Date | null;
  failureAt: Date | null;
  /** Failures since the last success among them. */
  failures: number;
  /** Runs of 410 answers: the leading one continues that of the last batch, the trailing one goes on into the next. */
  leadingGone: number;
  longestGone: number;
  trailingGone: number;
  isAllGone: boolean;
};

/** In the order of the integrations' ids, in which their rows are locked. */
function endpointHealth(outcomes: AttemptOutcome[]): EndpointHealth[] {
  const byEndpoint = new Map<string, EndpointHealth>();
  for (const { delivery, result, endedAt } of outcomes) {
    const { integrationId, url } = delivery;
    const key = `${integrationId} ${url}`;
    const health = byEndpoint.get(key) ?? unknownHealth(integrationId, url);
    byEndpoint.set(key, health);
    if (result.isSuccess) {
      health.successAt = endedAt;
      health.failures = 0;
    } else {
      health.failureAt = endedAt;
      health.failures += 1;
    }
    health.isAllGone &&= result.responseCode === GONE;
    health.trailingGone = result.responseCode === GONE ? health.trailingGone + 1 : 0;
    health.longestGone = Math.max(health.longestGone, health.trailingGone);
    if (health.isAllGone) health.leadingGone = health.trailingGone;
  }
  return [...byEndpoint.values()].sort((one, other) => (one.integrationId < other.integrationId ? -1 : 1));
}

function unknownHealth(integrationId: string, url: string): EndpointHealth {
  return {
    integrationId,
    url,
    successAt: null,
    failureAt: null,
    failures: 0,
    leadingGone: 0,
    longestGone: 0,
    trailingGone: 0,
    isAllGone: true,
  };
}
