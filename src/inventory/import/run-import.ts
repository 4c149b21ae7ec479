import type { AuditedObject } from '../../audit/record-audit.ts';
import type { PlannedItem } from '../../channel/projection/projection-budget.ts';
import type { Transaction } from '../../db/database.ts';
import { createItems } from '../items/create-items.ts';
import { type Decide, editItems, isChanged } from '../items/edit-items.ts';
import type { NewItem } from '../items/item-input.ts';
import type { BatchOutcome, RunningJob, StockJobContext, StockJobKind } from '../jobs/job-kind.ts';
import {
  countLines,
  errorOfRefusal,
  errorsOf,
  itemIdsOfLines,
  itemsOfLines,
  type LineWork,
  lineEntries,
  nextLines,
  parametersOf,
} from './import-lines.ts';
import { addPhotos, nextPhotos, type PhotosWork } from './import-photos.ts';
import { changesFor, keepsUnits, newItemOf, type PlannedLine } from './plan-line.ts';

/** So many are looked at for one transaction. */
const BATCH_LINES = 100;

/** Imports the lines of a file that are right, and names those that are wrong. Importing the same file again changes nothing. */
export const importKind: StockJobKind<LineWork | PhotosWork> = {
  auditAction: 'stock.imported',

  async count(context, job) {
    const lines = await countLines(context, job);
    return lines !== null && parametersOf(job).hasPhotos ? 2 * lines : lines;
  },

  // First all lines, then their photos: a slow server of photos must not keep prices from being changed.
  async nextBatch(context, job) {
    if (job.position.startsWith(PHOTOS)) {
      const photos = await nextPhotos(context, job, Number(job.position.slice(PHOTOS.length)));
      if (photos === null) return null;
      const entries = photos.map((entry) => ({ ...entry, position: PHOTOS + entry.position }));
      return { entries, isNextRemote: true };
    }
    const next = await nextLines(context, job, Number(job.position), BATCH_LINES);
    if (next !== null) {
      const ids = await itemIdsOfLines(context.db, job.organizationId, next.lines);
      return { entries: lineEntries(next, (line) => plannedItem(line, ids.get(line.stockNumber) ?? null)) };
    }
    if (!parametersOf(job).hasPhotos) return null;
    // An empty batch, after which the photos wait for a slot of their own.
    const nothing = { lineCount: 0, photos: [], errors: [] };
    return { entries: [{ work: nothing, position: `${PHOTOS}0`, item: null }], isNextRemote: true };
  },

  async applyBatch(tx, context, job, work) {
    const photos = work.filter((one) => 'photos' in one);
    if (photos.length > 0) return await addPhotos(tx, context, job, photos);
    const lines = work.filter((one) => 'line' in one).map(({ line }) => line);
    return await importLines(tx, context, job, lines);
  },
};

function plannedItem({ values, errors }: PlannedLine, itemId: string | null): PlannedItem | null {
  if (errors.length > 0) return null;
  const alsoOn = Object.keys(values.channels ?? {}).filter((id) => values.channels?.[id] === true);
  const newBytes = (values.description?.length ?? 0) + JSON.stringify(values.attributes ?? {}).length;
  return { itemId, alsoOn, newBytes };
}

/** The prefix of a position within the photos. */
const PHOTOS = 'photos:';

async function importLines(
  tx: Transaction,
  context: StockJobContext,
  job: RunningJob,
  lines: PlannedLine[],
): Promise<BatchOutcome> {
  const { organizationId } = job;
  const { kind } = parametersOf(job);
  // A transaction may be tried again, so what this attempt finds out must not stay on the lines.
  const all = lines.map((planned) => ({ ...planned, errors: [...planned.errors] }));
  const items = await itemsOfLines(tx, organizationId, all);
  const existing = all.filter((planned) => planned.errors.length === 0 && items.has(planned.stockNumber));
  const created = await createNew(
    tx,
    context,
    organizationId,
    kind,
    all.filter((planned) => planned.errors.length === 0 && !items.has(planned.stockNumber)),
  );
  const plannedOf = new Map<string, PlannedLine>();
  for (const planned of existing) plannedOf.set(items.get(planned.stockNumber)?.id ?? '', planned);
  const onChannels = created.filter(({ planned }) => planned.values.channels !== undefined);
  const channelsOf = new Map(onChannels.map(({ id, planned }) => [id, planned.values.channels ?? {}]));
  const decide: Decide = (item) => {
    const channels = channelsOf.get(item.id);
    if (channels !== undefined) return { channels };
    const planned = plannedOf.get(item.id);
    return planned === undefined ? null : changesFor(planned, kind, item);
  };
  const ids = [...plannedOf.keys(), ...channelsOf.keys()];
  const { results, touched } = await editItems(tx, context, organizationId, ids, decide);
  const edits = results.filter(({ item }) => plannedOf.has(item.id));
  for (const { item, error } of edits) {
    if (error !== null) plannedOf.get(item.id)?.errors.push(errorOfRefusal(error));
  }
  const changed = edits.filter(isChanged);
  const wrong = all.filter((planned) => planned.errors.length > 0);
  const kept = edits.filter(({ item, error }) => {
    const planned = plannedOf.get(item.id);
    return error === null && planned !== undefined && keepsUnits(planned, item);
  });
  return {
    done: all.length,
    counts: {
      created: created.length,
      changed: changed.length,
      unchanged: edits.filter((edit) => edit.error === null).length - changed.length,
      units_kept: kept.length,
      wrong: wrong.length,
    },
    changed: [
      ...changed.map(({ item, old, new: values }) => ({ id: item.id, old, new: values })),
      ...created.map(({ id, item, planned }) => createdObject(id, item, planned)),
    ],
    errors: wrong.flatMap((planned) => errorsOf(planned, planned.errors)),
    touched,
  };
}

type Created = { id: string; item: NewItem; planned: PlannedLine };

async function createNew(
  tx: Transaction,
  context: StockJobContext,
  organizationId: string,
  kind: NewItem['kind'],
  lines: PlannedLine[],
): Promise<Created[]> {
  const drafts = lines.map((planned) => ({ planned, item: newItemOf(planned, kind) }));
  const right = drafts.filter(({ planned }) => planned.errors.length === 0);
  const ids = await createItems(
    tx,
    context,
    organizationId,
    right.map(({ item, planned }) => ({ ...item, isHidden: planned.values.isHidden ?? false })),
  );
  return right.flatMap(({ item, planned }) => {
    const id = ids.get(item.stockNumber);
    if (id !== undefined) return [{ id, item, planned }];
    planned.errors.push({
      field: 'stock_number',
      message: 'Somebody else has just used the stock number. Import again.',
    });
    return [];
  });
}

/** The values of a new item in the audit log. The undo removes the item only if it still has them. */
function createdObject(id: string, item: NewItem, { values }: PlannedLine): AuditedObject {
  const { kind, stockNumber, title, priceAmount, units } = item;
  const on = Object.entries(values.channels ?? {}).filter(([, isOn]) => isOn);
  return {
    id,
    old: {},
    new: {
      isCreated: true,
      kind,
      stockNumber,
      title,
      priceAmount,
      units,
      ...(values.isHidden === undefined ? {} : { isHidden: values.isHidden }),
      ...(on.length === 0 ? {} : { channels: Object.fromEntries(on) }),
    },
  };
}
