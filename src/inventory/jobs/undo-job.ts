import { isDeepStrictEqual } from 'node:util';
import { type AuditObjectRow, countAuditObjects, listAuditObjects } from '../../audit/read-audit.ts';
import type { Values } from '../../audit/record-audit.ts';
import { LIST_PAGE_BYTES } from '../../contract/dashboard/list.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { AMOUNT_FIELDS, haveDecimalsChangedSince } from '../../dealers/currency-decimals.ts';
import { lockItems } from '../change-items.ts';
import { type Decide, editItems, type GoneField, type StockChanges } from '../items/edit-items.ts';
import { type LaterSwitches, readLaterSwitches } from '../items/later-switch.ts';
import { removeUnchangedItems } from '../items/remove-unchanged-items.ts';
import type { StockValues } from '../items/stock-values.ts';
import { takePhotosAway } from '../photos/photo-rows.ts';
import { type EditsOutcome, outcomeOfEdits } from './batch-outcome.ts';
import type { BatchOutcome, JobEntry, JobError, RunningJob, StockJobContext, StockJobKind } from './job-kind.ts';

/**
 * Takes a job back: every field that nobody has changed since gets its old value, and what the job created and nobody
 * touched since is removed. It is a change like any other, with its own events; nothing that was sent is recalled.
 *
 * First what was changed, then photos that were added to what was there, then what was created: a batch takes its locks
 * once and in order.
 */
const PHASES = ['changed', 'photos', 'created'] as const;
type Phase = (typeof PHASES)[number];
type Work = { phase: Phase; object: AuditObjectRow };

const BATCH_LIMIT = 100;

const GONE: Record<GoneField, string> = {
  locationId: 'The old location no longer exists.',
  channels: 'A channel that it was on no longer exists.',
};

const OWNERS_ONLY = 'Only owners may set the cost price.';
const OTHER_DECIMALS = 'The business has a currency with other decimals since, so the amount is left as it is.';

export const undoKind: StockJobKind<Work> = {
  auditAction: 'stock.job_undone',
  isServedOverQuota: true,

  async count(context, job) {
    return await countAuditObjects(context.db, await auditKeyOf(context.db, job));
  },

  async nextBatch(context, job) {
    const key = await auditKeyOf(context.db, job);
    let [phase, after] = positionOf(job.position);
    for (;;) {
      const found = await listAuditObjects(context.db, key, { after, limit: BATCH_LIMIT, bytesLimit: LIST_PAGE_BYTES });
      const last = found?.rows.at(-1);
      if (found !== null && last !== undefined) {
        const current = phase;
        const objects = found.rows.filter((object) => isOfPhase(object, current));
        if (objects.length > 0) return { entries: objects.map((object) => entryOf(current, object)) };
        after = last.id;
      } else {
        const next = PHASES[PHASES.indexOf(phase) + 1];
        if (next === undefined) return null;
        [phase, after] = [next, ''];
      }
    }
  },

  async applyBatch(tx, context, job, work) {
    const phase = work[0]?.phase;
    const objects = work.map(({ object }) => object);
    if (phase === 'changed') return await restore(tx, context, job, objects);
    if (phase === 'photos') return await removePhotos(tx, context, job, objects);
    const left = new Map(objects.map((object) => [object.id, object.newValues]));
    const { organizationId, auditId } = await auditKeyOf(tx, job);
    const removal = await removeUnchangedItems(tx, context, organizationId, left, auditId);
    const { removed, kept, touched, photoIds } = removal;
    return {
      done: objects.length,
      counts: { removed: removed.length, skipped: objects.length - removed.length },
      changed: removed.map(({ id, stockNumber, title }) => ({ id, old: { stockNumber, title }, new: {} })),
      errors: kept.map(({ id, stockNumber, reason }) => ({ itemId: id, stockNumber, message: reason })),
      touched,
      removedPhotoIds: photoIds,
    };
  },
};

function entryOf(phase: Phase, object: AuditObjectRow): JobEntry<Work> {
  const newBytes = phase === 'changed' ? JSON.stringify(object.oldValues).length : 0;
  return { work: { phase, object }, position: `${phase}:${object.id}`, item: { itemId: object.id, newBytes } };
}

async function restore(
  tx: Transaction,
  context: StockJobContext,
  job: RunningJob,
  objects: AuditObjectRow[],
): Promise<BatchOutcome> {
  const byId = new Map(objects.map((object) => [object.id, object]));
  const skipped: JobError[] = [];
  // An undo that an older release asked for does not say it: then the cost price stays.
  const isCostAllowed = job.parameters.isCostAllowed === true;
  const { organizationId, auditId } = await auditKeyOf(tx, job);
  const areAmountsOld = await haveDecimalsChangedSince(tx, organizationId, auditId);
  // Under their locks, so that nobody switches one of them between the question and the answer.
  const locked = await lockItems(tx, organizationId, [...byId.keys()]);
  const lockedIds = locked.map(({ id }) => id);
  const later = await readLaterSwitches(tx, organizationId, auditId, lockedIds);
  const decide: Decide = (item) => {
    const object = byId.get(item.id);
    if (object === undefined) return null;
    const { changes, skippedFields } = takenBack(item, object, later);
    const names = { itemId: item.id, stockNumber: item.stockNumber };
    for (const field of skippedFields) {
      skipped.push({ ...names, field, message: 'Changed since, and left as it is.' });
    }
    for (const field of AMOUNT_FIELDS) {
      if (changes[field] === undefined) continue;
      if (areAmountsOld) skipped.push({ ...names, field, message: OTHER_DECIMALS });
      else if (field === 'costAmount' && !isCostAllowed) skipped.push({ ...names, field, message: OWNERS_ONLY });
      else continue;
      delete changes[field];
    }
    return changes;
  };
  const edits = await editItems(tx, context, organizationId, lockedIds, decide, { isGoneSkipped: true });
  for (const { item, error, gone = [] } of edits.results) {
    // An item that was refused as a whole is told and counted once.
    for (const field of error === null ? gone : []) {
      skipped.push({ itemId: item.id, stockNumber: item.stockNumber, field, message: GONE[field] });
    }
  }
  const outcome: EditsOutcome = outcomeOfEdits(edits);
  const skippedItems = new Set(skipped.map((error) => error.itemId));
  return {
    ...outcome,
    done: objects.length,
    counts: {
      changed: outcome.changed.length,
      // An item that was deleted since is skipped as well.
      skipped: skippedItems.size + outcome.errors.length + objects.length - edits.results.length,
    },
    errors: [...outcome.errors, ...skipped],
  };
}

/** The old value of each field that nobody has changed since the job, and the names of the others. */
function takenBack(item: StockValues, { oldValues, newValues }: AuditObjectRow, later: LaterSwitches) {
  const changes: Record<string, unknown> = {};
  const skippedFields: string[] = [];
  for (const [name, left] of Object.entries(newValues)) {
    const now = item[name as keyof StockValues];
    if (name === 'attributes' || name === 'channels') {
      const inner: Values = {};
      for (const [key, value] of Object.entries(left as Values)) {
        const old = (oldValues[name] as Values)[key];
        // An item has no toggle for a channel that was deleted, and is off it.
        const absent = name === 'channels' ? false : null;
        const current = (now as Values)[key] ?? absent;
        if (name === 'channels' && current === old) continue;
        const isDecided = name === 'channels' && later.isDecided(item.id, { integrationId: key }, value === true);
        if (isDeepStrictEqual(current, value) && !isDecided) inner[key] = old;
        else skippedFields.push(key);
      }
      changes[name] = inner;
    } else if (name === 'photosAdded') {
      // Photos have their own part.
    } else if (name === 'isHidden' && later.isDecided(item.id, 'hidden', left === true)) {
      skippedFields.push(name);
    } else if (isDeepStrictEqual(now, left)) changes[name] = oldValues[name];
    else skippedFields.push(name);
  }
  return { changes: changes as StockChanges, skippedFields };
}

function isOfPhase({ newValues }: AuditObjectRow, phase: Phase): boolean {
  const { isCreated, photosAdded, ...fields } = newValues;
  if (isCreated === true) return phase === 'created';
  if (phase === 'photos') return photosAdded !== undefined;
  return phase === 'changed' && Object.keys(fields).length > 0;
}

async function removePhotos(
  tx: Transaction,
  context: StockJobContext,
  job: RunningJob,
  objects: AuditObjectRow[],
): Promise<BatchOutcome> {
  const photoIds = objects.flatMap(({ newValues }) => newValues.photosAdded as string[]);
  const itemIds = objects.map(({ id }) => id);
  const { removed, touched } = await takePhotosAway(tx, context, job.organizationId, itemIds, photoIds);
  const byItem = Map.groupBy(removed, ({ itemId }) => itemId);
  return {
    // They are already counted if their item was changed as well.
    done: objects.filter((object) => !isOfPhase(object, 'changed')).length,
    counts: { photos_removed: removed.length },
    changed: [...byItem].map(([id, all]) => ({ id, old: { photosAdded: all.map((photo) => photo.id) }, new: {} })),
    errors: [],
    touched,
  };
}

function positionOf(position: string): [Phase, string] {
  const [phase = '', after = ''] = position.split(':');
  return [PHASES.find((one) => one === phase) ?? 'changed', after];
}

async function auditKeyOf(db: Queryable, { organizationId, undoes }: RunningJob) {
  const [row] = await db.query<{ auditId: string | null }>(sql`
    select audit_id as "auditId" from stock_jobs where id = ${undoes} and organization_id = ${organizationId}`);
  const auditId = row?.auditId ?? null;
  if (auditId === null) throw new DomainError('not_found', 'There is nothing left to undo.');
  return { organizationId, auditId };
}
