import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { Claimed } from './claim.ts';
import { GONE_LIMIT, waitAfter } from './schedule.ts';
import type { AttemptResult } from './send.ts';

export type Outcome = { delivery: Claimed; result: AttemptResult; endedAt: Date };

const GONE = 410;

/**
 * Records how attempts ended, many at once. An outcome whose lease has passed to another worker is dropped: that worker
 * tells what became of the delivery.
 */
export async function recordOutcomes(db: Database, outcomes: Outcome[]): Promise<void> {
  const rows = outcomes.map(rowOf);
  const health = healthOf(outcomes);
  await db.transaction(async (tx) => {
    await tx.query(sql`
      update deliveries d set
        status = rows.status, attempts = rows.attempts, due_at = rows.due_at, lease_token = null, takeovers = 0,
        last_attempt_at = rows.ended_at, last_response_code = rows.code, last_response_body = rows.body,
        last_error = rows.error, finished_at = case when rows.status = 'succeeded' then rows.ended_at end
      from unnest(
        ${rows.map((row) => row.integrationId)}::text[], ${rows.map((row) => row.id)}::text[],
        ${rows.map((row) => row.token)}::bigint[], ${rows.map((row) => row.status)}::text[],
        ${rows.map((row) => row.attempts)}::integer[], ${rows.map((row) => row.dueAt)}::timestamptz[],
        ${rows.map((row) => row.endedAt)}::timestamptz[], ${rows.map((row) => row.code)}::integer[],
        ${rows.map((row) => row.body)}::text[], ${rows.map((row) => row.error)}::text[])
        as rows (integration_id, id, token, status, attempts, due_at, ended_at, code, body, error)
      where d.integration_id = rows.integration_id and d.id = rows.id and d.lease_token = rows.token`);
    await tx.query(sql`
      update webhook_endpoints e set
        last_success_at = greatest(e.last_success_at, rows.success_at),
        last_failure_at = greatest(e.last_failure_at, rows.failure_at),
        consecutive_failures = rows.failures + case when rows.success_at is null then e.consecutive_failures else 0 end,
        consecutive_gone = rows.gone + case when rows.is_all_gone then e.consecutive_gone else 0 end,
        is_enabled = e.is_enabled
          and rows.gone + case when rows.is_all_gone then e.consecutive_gone else 0 end < ${GONE_LIMIT},
        disabled_reason = case
          when rows.gone + case when rows.is_all_gone then e.consecutive_gone else 0 end >= ${GONE_LIMIT}
          then 'gone' else e.disabled_reason end
      from unnest(
        ${health.map((row) => row.integrationId)}::text[], ${health.map((row) => row.successAt)}::timestamptz[],
        ${health.map((row) => row.failureAt)}::timestamptz[], ${health.map((row) => row.failures)}::integer[],
        ${health.map((row) => row.gone)}::integer[], ${health.map((row) => row.isAllGone)}::boolean[])
        as rows (integration_id, success_at, failure_at, failures, gone, is_all_gone)
      where e.integration_id = rows.integration_id`);
  });
}

function rowOf({ delivery, result, endedAt }: Outcome) {
  const attempts = delivery.attempts + 1;
  const wait = result.isSuccess ? null : waitAfter(attempts);
  return {
    integrationId: delivery.integrationId,
    id: delivery.id,
    token: delivery.leaseToken,
    attempts,
    status: result.isSuccess ? 'succeeded' : wait === null ? 'dead_letter' : 'failed',
    dueAt: wait === null ? null : new Date(endedAt.getTime() + wait),
    endedAt,
    code: result.responseCode,
    body: result.responseBody,
    error: result.error,
  };
}

type Health = {
  integrationId: string;
  successAt: Date | null;
  failureAt: Date | null;
  /** Failures since the last success among these outcomes. */
  failures: number;
  /** 410 answers at the end of these outcomes, and whether they are nothing else. */
  gone: number;
  isAllGone: boolean;
};

/** What a batch of outcomes says about each receiver, in the order in which they ended; sorted, as rows are locked so. */
function healthOf(outcomes: Outcome[]): Health[] {
  const byReceiver = new Map<string, Health>();
  for (const { delivery, result, endedAt } of outcomes) {
    const { integrationId } = delivery;
    const health = byReceiver.get(integrationId) ?? {
      integrationId,
      successAt: null,
      failureAt: null,
      failures: 0,
      gone: 0,
      isAllGone: true,
    };
    byReceiver.set(integrationId, health);
    if (result.isSuccess) {
      health.successAt = endedAt;
      health.failures = 0;
    } else {
      health.failureAt = endedAt;
      health.failures += 1;
    }
    if (result.responseCode === GONE) health.gone += 1;
    else {
      health.gone = 0;
      health.isAllGone = false;
    }
  }
  return [...byReceiver.values()].sort((a, b) => (a.integrationId < b.integrationId ? -1 : 1));
}
