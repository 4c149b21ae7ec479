import type { Transaction } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { unnestRows } from '../../../db/values/unnest-rows.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';
import { deliveryAfterAttempt } from './delivery-after-attempt.ts';

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
  tookMs: 'integer',
  durationMs: 'integer',
  dispatch: 'integer',
} as const;

/** A number costs a tenth of what the driver takes to write a time. */
const STARTED_AT = sql`ours.ended_at - ours.took_ms * interval '1 millisecond'`;

/**
 * Writes how each attempt ended to its delivery, and a row for each that failed. Returns the ids of the deliveries that had
 * the lease still. Most batches have no failure: then nothing but the ids is returned by the server, which costs a tenth less.
 */
export async function recordDeliveries(tx: Transaction, rows: OutcomeRow[]): Promise<Set<string>> {
  const hasFailed = rows.some(({ status }) => status !== 'succeeded');
  const recorded = await tx.query<{ id: string }>(
    hasFailed
      ? sql`
        with recorded as (
          ${update(rows)}
          returning d.integration_id, d.id, ours.status, ours.dispatch, ours.attempts, ours.url, ${STARTED_AT} as started_at,
            ours.ended_at, ours.duration_ms, ours.code, ours.body, ours.error
        ), failed as (
          insert into delivery_attempts (integration_id, delivery_id, dispatch, attempt, url, started_at, ended_at,
            duration_ms, response_code, response_body, error)
          select integration_id, id, dispatch, attempts, url, started_at, ended_at, duration_ms, code, body, error
          from recorded where status <> 'succeeded'
          on conflict do nothing
        )
        select id from recorded`
      : sql`${update(rows)} returning d.id`,
  );
  return new Set(recorded.map(({ id }) => id));
}

function update(rows: OutcomeRow[]): Sql {
  return sql`
    update deliveries d set
      status = ours.status, is_waiting = (ours.status = 'failed'), attempts = ours.attempts,
      due_at = ours.due_at, lease_token = null, leased_until = null,
      takeovers = 0, last_attempt_at = ours.ended_at, last_response_code = ours.code, last_response_body = ours.body,
      last_error = ours.error, last_url = ours.url, last_started_at = ${STARTED_AT},
      last_duration_ms = ours.duration_ms, last_dispatch = ours.dispatch, last_attempt = ours.attempts,
      finished_at = case when ours.status = 'succeeded' then ours.ended_at end
    from ${unnestRows('ours', rows, OUTCOME_COLUMNS)}
    -- The lease token is a fencing token. Where the claim left the row; if it lies there no more, or under another
    -- token, it was taken over or recorded.
    where d.ctid = ours.ctid and d.id = ours.id and d.lease_token = ours.lease_token`;
}

export type OutcomeRow = ReturnType<typeof outcomeRow>;

/** What is written of an attempt, and what becomes of its delivery. */
export function outcomeRow(outcome: AttemptOutcome) {
  const { delivery, result, startedAt, endedAt, durationMs } = outcome;
  const { attempts, status, dueAt } = deliveryAfterAttempt(outcome);
  return {
    integrationId: delivery.integrationId,
    id: delivery.id,
    ctid: delivery.ctid,
    leaseToken: delivery.leaseToken,
    attempts,
    status,
    dueAt,
    endedAt,
    code: result.responseCode,
    body: result.responseBody,
    error: result.error,
    url: delivery.url,
    /** By the same clock as `endedAt`; `durationMs` is by one that never jumps. */
    tookMs: endedAt.getTime() - startedAt.getTime(),
    durationMs,
    dispatch: delivery.dispatches,
  };
}
