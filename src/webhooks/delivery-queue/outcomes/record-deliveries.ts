import type { Transaction } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { unnestRows } from '../../../db/unnest-rows.ts';
import { waitMsAfter } from '../retries/retry-schedule.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';

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
export async function recordDeliveries(tx: Transaction, rows: OutcomeRow[]): Promise<Set<string>> {
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

export type OutcomeRow = ReturnType<typeof rowOf>;

/** What is written of an attempt; it decides whether and when the next one is made. */
export function rowOf({ delivery, result, startedAt, endedAt, durationMs }: AttemptOutcome) {
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
