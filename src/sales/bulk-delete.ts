import { countSelected, nextSelected, type StockSelection } from '../inventory/jobs/bulk-selection.ts';
import type { RunningJob, StockJobKind } from '../inventory/jobs/job-kind.ts';
import { deleteItemIn } from './delete-item.ts';

/**
 * Deletes many items for ever. One in each batch: an item's waiting orders are locked before the item, so that a second
 * one could only be locked out of order.
 */
export const bulkDeleteKind: StockJobKind<string> = {
  auditAction: 'stock.bulk_deleted',
  isServedOverQuota: true,

  async count(context, job) {
    return await countSelected(context.db, job.organizationId, selectionOf(job));
  },

  async nextBatch(context, job) {
    const page = { after: job.position, limit: 1 };
    const [id] = await nextSelected(context.db, job.organizationId, selectionOf(job), page);
    return id === undefined ? null : { entries: [{ work: id, position: id, item: { itemId: id } }] };
  },

  async applyBatch(tx, context, job, [itemId = '']) {
    const deleted = await deleteItemIn(tx, context, job.organizationId, itemId);
    return {
      done: 1,
      counts: { removed: deleted === null ? 0 : 1, skipped: deleted === null ? 1 : 0 },
      changed: deleted === null ? [] : [{ id: itemId, old: deleted.old, new: {} }],
      errors: [],
      touched: deleted?.touched ?? [],
      removedPhotoIds: deleted?.photoIds ?? [],
    };
  },
};

function selectionOf(job: RunningJob): StockSelection {
  return job.parameters.selection as StockSelection;
}
