import { isChanged, previewEdits } from '../items/edit-items.ts';
import type { StockValues } from '../items/stock-values.ts';
import type { StockJobKind } from '../jobs/job-kind.ts';
import {
  countLines,
  errorOfRefusal,
  errorsOf,
  itemsOfLines,
  type LineWork,
  lineEntries,
  nextLines,
  parametersOf,
} from './import-lines.ts';
import { changesFor, keepsUnits, newItemOf, type PlannedLine } from './plan-line.ts';

const BATCH_LINES = 500;

/** The dry run of an import: says of every line what would become of it, and changes nothing. */
export const checkKind: StockJobKind<LineWork> = {
  // It is never recorded, because a check changes nothing.
  auditAction: 'stock.imported',
  count: countLines,
  async nextBatch(context, job) {
    const next = await nextLines(context, job, Number(job.position), BATCH_LINES);
    return next === null ? null : { entries: lineEntries(next, () => null) };
  },

  async applyBatch(tx, context, job, work) {
    const lines = work.map(({ line }) => line);
    const kind = parametersOf(job).kind;
    const items = await itemsOfLines(tx, job.organizationId, lines);
    const counts = { created: 0, changed: 0, unchanged: 0, units_kept: 0, wrong: 0 };
    const known: { planned: PlannedLine; item: StockValues }[] = [];
    for (const planned of lines) {
      const item = items.get(planned.stockNumber);
      if (item !== undefined) {
        if (planned.errors.length === 0) known.push({ planned, item });
        continue;
      }
      newItemOf(planned, kind);
      if (planned.errors.length === 0) counts.created += 1;
    }
    const plannedOf = new Map(known.map(({ planned, item }) => [item.id, planned]));
    const decide = (item: StockValues) => {
      const planned = plannedOf.get(item.id);
      return planned === undefined ? null : changesFor(planned, kind, item);
    };
    const existing = known.map(({ item }) => item);
    for (const result of await previewEdits(tx, context, job.organizationId, existing, decide)) {
      const planned = plannedOf.get(result.item.id);
      if (result.error !== null) planned?.errors.push(errorOfRefusal(result.error));
      else if (isChanged(result)) counts.changed += 1;
      else counts.unchanged += 1;
      if (planned !== undefined && result.error === null && keepsUnits(planned, result.item)) counts.units_kept += 1;
    }
    const wrong = lines.filter((planned) => planned.errors.length > 0);
    return {
      done: lines.length,
      counts: { ...counts, wrong: wrong.length },
      changed: [],
      errors: wrong.flatMap((planned) => errorsOf(planned, planned.errors)),
      touched: [],
    };
  },
};
