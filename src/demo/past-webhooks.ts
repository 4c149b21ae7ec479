import { addActivity } from '../activity/activity-counts.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { ATTEMPT_WAITS_MS } from '../webhooks/delivery-queue/retries/retry-schedule.ts';

/**
 * The demo shop's website received webhooks until some days ago, so that the pages of deliveries and events have something to
 * show. Its host can never exist, and the URL is removed in the same transaction: nothing is ever sent to it.
 */
const PAST_URL = 'https://www.aurum-escapement.example/webhooks';

type Answer = { code: number; body: string };
const ARRIVED: Answer = { code: 200, body: 'ok' };
const DEPLOYING: Answer = { code: 503, body: 'The shop is being updated. Please try again in a minute.' };
const BROKEN: Answer = {
  code: 500,
  body: 'TypeError: Cannot read properties of undefined (reading "shipping_method")',
};

/** What became of one delivery: each answer, the first one first. */
type Course = { deliveryId: string; createdAt: Date; answers: readonly Answer[] };

export async function openPastEndpoint(tx: Transaction, integrationId: string): Promise<void> {
  await tx.query(sql`update webhook_endpoints set url = ${PAST_URL} where integration_id = ${integrationId}`);
}

/** All arrived at once, but for one that arrived with its third attempt, and one that was given up. */
export async function closePastEndpoint(tx: Transaction, integrationId: string): Promise<void> {
  const made = await tx.query<{ deliveryId: string; createdAt: Date; type: string }>(sql`
    select d.id as "deliveryId", d.created_at as "createdAt", e.type from deliveries d
    join events e on e.integration_id = d.integration_id and e.id = d.event_id
    where d.integration_id = ${integrationId} order by d.created_at, d.id limit 1000`);
  const lastOf = (kind: string) => made.findLast(({ type }) => type.startsWith(kind))?.deliveryId;
  const [givenUp, retried] = [lastOf('order.'), lastOf('listing.')];
  const answersOf = (id: string): Answer[] => {
    if (id === givenUp) return ATTEMPT_WAITS_MS.map(() => BROKEN);
    return id === retried ? [DEPLOYING, DEPLOYING, ARRIVED] : [ARRIVED];
  };
  const courses = made.map(({ deliveryId, createdAt }) => ({ deliveryId, createdAt, answers: answersOf(deliveryId) }));
  await recordCourses(tx, integrationId, courses);
  await closeEndpoint(tx, integrationId, courses);
}

/** An endpoint whose URL is removed still says when attempts last succeeded and failed, but not how many failed in a row. */
async function closeEndpoint(tx: Transaction, integrationId: string, courses: Course[]): Promise<void> {
  const attempts = courses.flatMap(attemptsOf).sort((one, other) => one.endedAt.getTime() - other.endedAt.getTime());
  const lastSuccess = attempts.findLast(({ code }) => code < 300);
  const lastFailure = attempts.findLast(({ code }) => code >= 300);
  await tx.query(sql`
    update webhook_endpoints set url = null, last_success_at = ${lastSuccess?.endedAt ?? null}::timestamptz,
      last_failure_at = ${lastFailure?.endedAt ?? null}::timestamptz
    where integration_id = ${integrationId}`);
}

const ATTEMPT_COLUMNS = {
  deliveryId: 'text',
  attempt: 'integer',
  startedAt: 'timestamptz',
  endedAt: 'timestamptz',
  durationMs: 'integer',
  code: 'integer',
  body: 'text',
  isLast: 'boolean',
} as const;

/** As the worker would have left them: the last attempt in the delivery, and a row for each that failed. */
async function recordCourses(tx: Transaction, integrationId: string, courses: Course[]): Promise<void> {
  const rows = courses.flatMap(attemptsOf);
  await tx.query(sql`
    with attempts as (
      select delivery_id, attempt, started_at, ended_at, duration_ms, code, body, is_last
      from ${unnestRows('rows', rows, ATTEMPT_COLUMNS)}),
    failed as (
      insert into delivery_attempts (integration_id, delivery_id, dispatch, attempt, url, started_at, ended_at, duration_ms,
        response_code, response_body)
      select ${integrationId}, delivery_id, attempt - 1, attempt, ${PAST_URL}, started_at, ended_at, duration_ms, code, body
      from attempts where code >= 300),
    activity as (${addActivity(sql`
      select ${integrationId}::text, case when code < 300 then 'attempts_succeeded' else 'attempts_failed' end, ended_at, 1
      from attempts
      union all
      select ${integrationId}, 'dead_letters', ended_at, 1 from attempts where is_last and code >= 300`)})
    update deliveries d set
      status = case when a.code < 300 then 'succeeded' else 'dead_letter' end, is_waiting = false, attempts = a.attempt,
      dispatches = a.attempt, due_at = null, last_attempt_at = a.ended_at, last_response_code = a.code,
      last_response_body = a.body, last_url = ${PAST_URL}, last_started_at = a.started_at, last_duration_ms = a.duration_ms,
      last_dispatch = a.attempt - 1, last_attempt = a.attempt,
      finished_at = case when a.code < 300 then a.ended_at end
    from attempts a where a.is_last and d.integration_id = ${integrationId} and d.id = a.delivery_id`);
}

const FIRST_DELAY_MS = 40;

function attemptsOf({ deliveryId, createdAt, answers }: Course) {
  let endedMs = createdAt.getTime() + FIRST_DELAY_MS;
  return answers.map(({ code, body }, index) => {
    const startedMs = endedMs + (ATTEMPT_WAITS_MS[index] ?? 0);
    // Not the same each time, as of a real site.
    const durationMs = 90 + (startedMs % 140);
    endedMs = startedMs + durationMs;
    return {
      deliveryId,
      attempt: index + 1,
      startedAt: new Date(startedMs),
      endedAt: new Date(endedMs),
      durationMs,
      code,
      body,
      isLast: index === answers.length - 1,
    };
  });
}
