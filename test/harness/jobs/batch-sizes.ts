import type { BatchSize } from '../../../src/channel/jobs/batch-size.ts';
import { type BatchSizes, PRICED_LIMITS, RENDERED_LIMITS } from '../../../src/channel/jobs/run-jobs.ts';

/** As many documents in each batch of a mass change as in the first one, however long the batches before took. */
export const CONSTANT_SIZES: BatchSizes = {
  rendered: constantSize(RENDERED_LIMITS.first),
  priced: constantSize(PRICED_LIMITS.first),
};

function constantSize(documents: number): BatchSize {
  return { documents: () => documents, note() {} };
}
