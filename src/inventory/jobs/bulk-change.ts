import { DomainError } from '../../contract/domain-error.ts';
import { changedPrice, type PriceChange } from '../../contract/price-rounding.ts';
import { type Decide, editItems } from '../items/edit-items.ts';
import { outcomeOfEdits } from './batch-outcome.ts';
import { countSelected, nextSelected, type StockSelection } from './bulk-selection.ts';
import type { RunningJob, StockJobKind } from './job-kind.ts';

/** One change of many items. */
export type BulkChange =
  | { action: 'publish' | 'unpublish'; integrationId: string }
  | { action: 'hide' | 'show' }
  | ({ action: 'change_price' } & PriceChange)
  | { action: 'set_location'; locationId: string | null };

export type BulkChangeParameters = { selection: StockSelection; change: BulkChange };

/** So many are looked at for one transaction. */
const BATCH_LIMIT = 100;

export const bulkChangeKind: StockJobKind<string> = {
  auditAction: 'stock.bulk_changed',

  async count(context, job) {
    return await countSelected(context.db, job.organizationId, parametersOf(job).selection);
  },

  async nextBatch(context, job) {
    const page = { after: job.position, limit: BATCH_LIMIT };
    const ids = await nextSelected(context.db, job.organizationId, parametersOf(job).selection, page);
    if (ids.length === 0) return null;
    const { change } = parametersOf(job);
    const alsoOn = change.action === 'publish' ? [change.integrationId] : [];
    return { entries: ids.map((id) => ({ work: id, position: id, item: { itemId: id, alsoOn } })) };
  },

  async applyBatch(tx, context, job, itemIds) {
    const edits = await editItems(tx, context, job.organizationId, itemIds, decisionOf(parametersOf(job).change));
    return { ...outcomeOfEdits(edits), done: itemIds.length };
  },
};

function parametersOf(job: RunningJob): BulkChangeParameters {
  return job.parameters as BulkChangeParameters;
}

/** What the change makes of one item; null leaves it as it is. */
function decisionOf(change: BulkChange): Decide {
  switch (change.action) {
    case 'publish':
    case 'unpublish':
      return () => ({ channels: { [change.integrationId]: change.action === 'publish' } });
    case 'hide':
    case 'show':
      return () => ({ isHidden: change.action === 'hide' });
    case 'set_location':
      return () => ({ locationId: change.locationId });
    case 'change_price':
      // An item on request has no price that could change.
      return ({ priceAmount }) => (priceAmount === null ? null : newPrice(priceAmount, change));
  }
}

function newPrice(price: number, change: PriceChange): ReturnType<Decide> {
  const priceAmount = changedPrice(price, change);
  if (priceAmount === null) return new DomainError('invalid_input', 'The price would be below zero.', 'priceAmount');
  return { priceAmount };
}
