import type { ChannelContext } from '../../channel/context.ts';
import { identifiesSomebody } from '../../customers/customer-draft.ts';
import { removeEmptied } from '../../customers/empty-customer.ts';
import type { Queryable } from '../../db/database.ts';
import { BATCH_DONE, CLAIMED, IS_CLAIMABLE, JOB_DONE } from '../../db/jobs/job-lease.ts';
import { nextTurn, runLeasedJobs } from '../../db/jobs/run-leased-jobs.ts';
import { sql } from '../../db/sql.ts';
import type { ErasureJob } from './erase-orders.ts';
import { type Batch, ERASURE_STAGES, type Position, REQUESTS_SETTLE_MS, waitForRequestLog } from './erasure-stages.ts';

const PAUSE_MS = 10;
const NOTIFY_EVERY_MS = 1_000;

export type ErasureOptions = { pauseMs?: number; settleMs?: number };

type ClaimedErasure = ErasureJob & { stage: string; position: Position | null; createdAt: Date };
type Run = {
  context: ChannelContext;
  job: ClaimedErasure;
  signal: AbortSignal | undefined;
  pause: () => Promise<void>;
  settleMs: number;
  /** When open pages were last told how far the job is. */
  notifiedAtMs: number;
};

/**
 * Erases persons until none is left or the signal ends it; returns how many were finished. Any number of workers may run
 * it. A batch that was done and not recorded is done again, which changes nothing: an interrupted job is resumed by
 * running it again.
 */
export async function runErasures(
  context: ChannelContext,
  signal?: AbortSignal,
  { pauseMs = PAUSE_MS, settleMs = REQUESTS_SETTLE_MS }: ErasureOptions = {},
): Promise<number> {
  let finished = 0;
  await runLeasedJobs<ClaimedErasure>(context.db, {
    table: 'erasure_jobs',
    claim: (served) => claimErasure(context.db, served),
    run: async (job, pause) => {
      await runErasure({ context, job, signal, pause, settleMs, notifiedAtMs: 0 });
      finished += 1;
    },
    pauseMs,
    signal,
  });
  return finished;
}

async function runErasure(run: Run): Promise<void> {
  const { job } = run;
  do {
    const first = ERASURE_STAGES.findIndex(({ name }) => name === job.stage);
    for (const [index, stage] of [...ERASURE_STAGES.entries()].slice(Math.max(first, 0))) {
      if (stage.name === 'texts') await waitForRequestLog(job.createdAt, run.settleMs, run.signal);
      let position = stage.name === job.stage ? job.position : null;
      do {
        const batch = await stage.run(run.context, job, position);
        position = batch.position;
        // A stage that is done is not done again by the next turn.
        const next = position === null ? (ERASURE_STAGES[index + 1] ?? stage) : stage;
        await recordProgress(run, next.name, batch);
        await run.pause();
      } while (position !== null);
    }
    job.stage = '';
  } while (!(await finish(run)));
  notify(run);
}

async function claimErasure(db: Queryable, served: string[]): Promise<ClaimedErasure | null> {
  const [job] = await db.query<ClaimedErasure>(sql`
    update erasure_jobs set ${CLAIMED}
    where id = (
      select id from erasure_jobs
      where ${IS_CLAIMABLE}
      order by ${nextTurn(served, sql`organization_id`)}, created_at, id limit 1 for update skip locked)
    returning id, organization_id as "organizationId", customer_id as "customerId", is_test as "isTest", person, stage,
      position, created_at as "createdAt"`);
  if (job === undefined) return null;
  // An older version of the service may have stored what identifies nobody.
  job.person.contacts = job.person.contacts.filter(identifiesSomebody);
  return job;
}

async function recordProgress(run: Run, stage: string, { lookedAt, changed, position }: Batch): Promise<void> {
  const { context, job } = run;
  await context.db.query(sql`
    update erasure_jobs set done = done + ${changed}, looked_at = looked_at + ${lookedAt}, stage = ${stage}, ${BATCH_DONE},
      position = ${position === null ? null : JSON.stringify(position)}::jsonb
    where id = ${job.id}`);
  if (Date.now() - run.notifiedAtMs < NOTIFY_EVERY_MS) return;
  run.notifiedAtMs = Date.now();
  context.notifyDashboards?.(job.organizationId, 'job', [job.id]);
}

/** False if an order of the customer has come back to it meanwhile. Then nothing of the person is left but the audit row. */
async function finish({ context, job }: Run): Promise<boolean> {
  return await context.db.transaction(async (tx) => {
    const left = await tx.query(sql`select 1 from orders where customer_id = ${job.customerId} limit 1`);
    if (left.length > 0) return false;
    await removeEmptied(tx, job.customerId);
    await tx.query(sql`
      update erasure_jobs set ${JOB_DONE}, stage = '', position = null, person = null, finished_at = clock_timestamp()
      where id = ${job.id}`);
    return true;
  });
}

function notify({ context, job: { id, organizationId, customerId } }: Run): void {
  context.notifyDashboards?.(organizationId, 'job', [id]);
  context.notifyDashboards?.(organizationId, 'customer', [customerId]);
  for (const kind of ['order', 'sale', 'event', 'delivery', 'request'] as const) {
    context.notifyDashboards?.(organizationId, kind, null);
  }
}
