import type { Transaction } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { unnestRows } from '../../src/db/values/unnest-rows.ts';
import type { AttemptOutcome } from '../../src/webhooks/delivery-queue/outcomes/attempt-outcome.ts';
import { waitMsAfter } from '../../src/webhooks/delivery-queue/retries/retry-schedule.ts';

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
} as const;

/** What the service did before it kept attempts: no row for a failed one, no address, start or duration of the last. */
export async function recordDeliveries(tx: Transaction, rows: ReturnType<typeof outcomeRow>[]): Promise<Set<string>> {
  const recorded = await tx.query<{ id: string }>(sql`
    update deliveries d set
      status = ours.status, is_waiting = (ours.status = 'failed'), attempts = ours.attempts,
      due_at = ours.due_at, lease_token = null, leased_until = null,
      takeovers = 0, last_attempt_at = ours.ended_at, last_response_code = ours.code, last_response_body = ours.body,
      last_error = ours.error, finished_at = case when ours.status = 'succeeded' then ours.ended_at end
    from ${unnestRows('ours', rows, OUTCOME_COLUMNS)}
    where d.ctid = ours.ctid and d.id = ours.id and d.lease_token = ours.lease_token
    returning d.id`);
  return new Set(recorded.map(({ id }) => id));
}

export function outcomeRow({ delivery, result, endedAt }: AttemptOutcome) {
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
  };
}
