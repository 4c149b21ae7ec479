import type { Actor } from '../../../audit/actor.ts';
import { recordAudit } from '../../../audit/record-audit.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { unnestRows } from '../../../db/unnest-rows.ts';
import { type EndpointHealth, endpointHealth } from '../../endpoints/endpoint-health.ts';
import { GONE_LIMIT, waitMsAfter } from '../retries/retry-schedule.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';

const DELIVERY_WORKER: Actor = { kind: 'job', name: 'deliveries' };

/** What an operator should know: endpoints that were switched off, and deliveries that are given up, by integration. */
export type Recorded = { disabled: string[]; deadLetters: Map<string, number> };

/**
 * Records how attempts ended, many at once. An outcome counts only while the delivery still has the lease of its attempt,
 * and recording ends the lease. So an outcome is dropped when the lease has passed to another worker, which records what
 * became of the delivery, and when it was recorded before: a worker whose commit was made but whose answer was lost
 * records the same batch again.
 */
export async function recordOutcomes(db: Database, outcomes: AttemptOutcome[]): Promise<Recorded> {
  const rows = outcomes.map(rowOf);
  const disabled = await db.transaction(
    async (tx) => {
      const recorded = await recordDeliveries(tx, rows);
      const counted = outcomes.filter(({ delivery }) => recorded.has(delivery.id));
      const disabled = counted.length === 0 ? [] : await recordHealth(tx, endpointHealth(counted));
      for (const integrationId of disabled) {
        await recordAudit(tx, DELIVERY_WORKER, {
          organizationId: { ofIntegration: integrationId },
          action: 'webhooks.enabled_changed',
          object: { kind: 'integration', id: integrationId },
          old: { isEnabled: true },
          new: { isEnabled: false, reason: 'gone' },
        });
      }
      return disabled;
    },
    { planning: 'by index' },
  );
  const deadLetters = new Map<string, number>();
  for (const { status, integrationId } of rows) {
    if (status === 'dead_letter') deadLetters.set(integrationId, (deadLetters.get(integrationId) ?? 0) + 1);
  }
  return { disabled, deadLetters };
}

const OUTCOME_COLUMNS = {
  ctid: 'tid',
  id: 'text',
  leaseToken: 'bigint',
  status: 'text',
  attempts: 'integer',
  dueAt: 'timestamptz',
  endedAt: 'timestamptz',
  code: 'integer',
  body: 'text',
  error: 'text',
  url: 'text',
  startedAt: 'timestamptz',
  durationMs: 'integer',
  dispatch: 'integer',
} as const;

/**
 * Writes how each attempt ended to its delivery, and a row for each that failed. Returns the ids of the deliveries that had
 * the lease still.
 */
async function recordDeliveries(tx: Transaction, rows: ReturnType<typeof rowOf>[]): Promise<Set<string>> {
  const recorded = await tx.query<{ id: string }>(sql`
    with recorded as (
      update deliveries d set
        status = ours.status, is_waiting = (ours.status = 'failed'), attempts = ours.attempts,
        due_at = ours.due_at, lease_token = null, leased_until = null,
        takeovers = 0, last_attempt_at = ours.ended_at, last_response_code = ours.code, last_response_body = ours.body,
        last_error = ours.error, last_url = ours.url, last_started_at = ours.started_at,
        last_duration_ms = ours.duration_ms, last_dispatch = ours.dispatch, last_attempt = ours.attempts,
        finished_at = case when ours.status = 'succeeded' then ours.ended_at end
      from ${unnestRows('ours', rows, OUTCOME_COLUMNS)}
      -- Where the claim left the row; if it lies there no more, or under another token, it was taken over or recorded.
      where d.ctid = ours.ctid and d.id = ours.id and d.lease_token = ours.lease_token
      returning d.integration_id, d.id, ours.status, ours.dispatch, ours.attempts, ours.url, ours.started_at, ours.ended_at,
        ours.duration_ms, ours.code, ours.body, ours.error
    ), failed as (
      insert into delivery_attempts (integration_id, delivery_id, dispatch, attempt, url, started_at, ended_at, duration_ms,
        response_code, response_body, error)
      select integration_id, id, dispatch, attempts, url, started_at, ended_at, duration_ms, code, body, error
      from recorded where status <> 'succeeded'
      on conflict do nothing
    )
    select id from recorded`);
  return new Set(recorded.map(({ id }) => id));
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

/** Counts successes and failures of endpoints, and switches off those that are gone; returns their integrations. */
async function recordHealth(tx: Transaction, health: EndpointHealth[]): Promise<string[]> {
  const disabled = await tx.query<{ integrationId: string }>(sql`
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
    )
    select integration_id as "integrationId" from counted where is_gone and is_enabled`);
  return disabled.map(({ integrationId }) => integrationId);
}

function rowOf({ delivery, result, startedAt, endedAt, durationMs }: AttemptOutcome) {
  const attempts = delivery.attempts + 1;
  const wait = result.isSuccess ? null : waitMsAfter(attempts);
  return {
    integrationId: delivery.integrationId,
    id: delivery.id,
    ctid: delivery.ctid,
    leaseToken: delivery.leaseToken,
    attempts,
    status: result.isSuccess ? 'succeeded' : wait === null ? 'dead_letter' : 'failed',
    dueAt: wait === null ? null : new Date(endedAt.getTime() + wait),
    endedAt,
    code: result.responseCode,
    body: result.responseBody,
    error: result.error,
    url: delivery.url,
    startedAt,
    durationMs,
    dispatch: delivery.dispatches,
  };
}
