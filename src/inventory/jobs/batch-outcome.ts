import { type EditResult, isChanged } from '../items/edit-items.ts';
import type { BatchOutcome } from './job-kind.ts';

/** The part of a batch's outcome that follows from the edits of its items. */
export type EditsOutcome = Pick<BatchOutcome, 'changed' | 'errors' | 'touched' | 'counts'>;

/** What `editItems` did, as the outcome of a batch: items that changed, those that stayed, those that were refused. */
export function outcomeOfEdits({ results, touched }: { results: EditResult[]; touched: string[] }): EditsOutcome {
  const changed = results.filter(isChanged);
  const errors = results.flatMap(({ item, error }) =>
    error === null
      ? []
      : [
          {
            itemId: item.id,
            stockNumber: item.stockNumber,
            message: error.message,
            ...(error.field === undefined ? {} : { field: error.field }),
          },
        ],
  );
  return {
    changed: changed.map(({ item, old, new: values }) => ({ id: item.id, old, new: values })),
    errors,
    touched,
    counts: {
      changed: changed.length,
      unchanged: results.length - changed.length - errors.length,
      wrong: errors.length,
    },
  };
}
