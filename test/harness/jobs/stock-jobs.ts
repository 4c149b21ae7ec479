import type { RunningJob, StockJobContext, StockJobKind, StockJobKinds } from '../../../src/inventory/jobs/job-kind.ts';
import { type RunOptions, runStockJobs } from '../../../src/inventory/jobs/run-stock-jobs.ts';
import { findJob, listJobErrors, undoJob } from '../../../src/inventory/jobs/stock-job-queue.ts';
import { STOCK_JOB_KINDS_RUN } from '../../../src/service/stock-job-kinds.ts';
import { createSsrfGuard } from '../../../src/webhooks/sending/ssrf-guard.ts';
import { TESTER } from '../actor.ts';
import type { World } from '../world.ts';

/** What a worker of jobs on stock is handed, in a world. */
export function jobContext(world: World, changes: Partial<StockJobContext> = {}): StockJobContext {
  return { ...world.channel, photoFiles: world.photoFiles, guard: createSsrfGuard(true), ...changes };
}

/** Runs all jobs that wait, as the worker does, until none is left. Returns how many batches there were. */
export async function runJobs(
  world: World,
  options: RunOptions & { kinds?: StockJobKinds; context?: Partial<StockJobContext> } = {},
): Promise<number> {
  const { kinds = STOCK_JOB_KINDS_RUN, context, ...rest } = options;
  return await runStockJobs(jobContext(world, context), kinds, {
    pauseMs: 0,
    onFault: (error) => {
      throw error;
    },
    ...rest,
  });
}

/** A kind that walks along the item ids of its parameters, some at a time. */
export function kindOverItems(
  batchLimit: number,
  applyBatch: StockJobKind<string>['applyBatch'],
): StockJobKind<string> {
  const idsOf = (job: RunningJob) => job.parameters.itemIds as string[];
  return {
    auditAction: 'stock.job_undone',
    count: async (_context, job) => idsOf(job).length,
    async nextBatch(_context, job) {
      const start = Number(job.position);
      const ids = idsOf(job).slice(start, start + batchLimit);
      const entries = ids.map((id, index) => ({ work: id, position: String(start + index + 1), item: { itemId: id } }));
      return entries.length === 0 ? null : { entries };
    },
    applyBatch,
  };
}

/** Takes a job back, and answers with what the undo says of itself. */
export async function undoWhole(world: World, organizationId: string, jobId: string) {
  const undoId = await undoJob(world.db, TESTER, organizationId, jobId, { isCostAllowed: true });
  await runJobs(world);
  const { counts } = await findJob(world.db, organizationId, undoId);
  const errors = await listJobErrors(world.db, organizationId, undoId, { after: 0, limit: 100 });
  return { counts, errors: errors.map(({ stockNumber, field, message }) => [stockNumber, field, message]) };
}
