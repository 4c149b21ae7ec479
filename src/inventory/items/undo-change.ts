import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../../audit/actor.ts';
import { findAuditRow, type UndoableRow } from '../../audit/read-audit.ts';
import type { Values } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { UNDO_LIMIT_DAYS } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { AMOUNT_FIELDS, haveDecimalsChangedSince } from '../../dealers/currency-decimals.ts';
import { orderPhotos, restorePhoto } from '../photos/photos.ts';
import { setPublished } from '../publications.ts';
import type { ItemChanges } from './item-input.ts';
import { editItem, setHidden } from './item-operations.ts';
import { type ItemDetails, readItem } from './read-item.ts';

/** A colleague may save between reading and undoing; then the undo starts over. */
const ATTEMPTS_LIMIT = 3;

export type Undone = {
  itemId: string;
  /** The audit row of the undo. */
  auditId: string | null;
  /** Fields that were left as they are: somebody has changed them since, or the old location no longer exists. */
  skipped: string[];
};

/**
 * Whether a row is of a kind that can be undone here. The page of an integration's settings offers to set the old value again
 * instead (decision 19); a change of many items is undone by its job.
 */
export function isOfUndoableKind({ objectKind, objectId }: Pick<UndoableRow, 'objectKind' | 'objectId'>): boolean {
  return objectKind === 'item' && objectId !== null;
}

type Undo = { context: ChannelContext; actor: Actor; organizationId: string; itemId: string; row: UndoableRow };

/**
 * Takes back a change of one item, by its row in the audit log. The undo is a change like any other, with its own audit row
 * and events. What somebody has changed since stays as it is.
 */
export async function undoChange(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  auditId: string,
  options: { isCostAllowed: boolean },
): Promise<Undone> {
  const row = await findAuditRow(context.db, organizationId, auditId, context.now());
  if (row === null) throw new DomainError('not_found', 'There is no such change.');
  const { objectId: itemId, undo } = row;
  if (itemId === null || undo === null || !isOfUndoableKind(row)) {
    throw new DomainError('not_undoable', 'This change can’t be undone.');
  }
  if (row.isTooOld)
    throw new DomainError('not_undoable', `A change can be undone for ${UNDO_LIMIT_DAYS} days. This one is older.`);
  if (row.undoneBy !== null) throw new DomainError('not_undoable', 'This change has been undone already.');
  const request = { context, actor, organizationId, itemId, row };
  if (undo.operation === 'edit_item') return await undoEdit(request, options.isCostAllowed);
  const undone = await undoSwitch(request, undo.operation);
  if (undone === null) throw changedSince();
  return { itemId, auditId: undone, skipped: [] };
}

/** Toggles and photos: what can't be taken back in parts. Null if nothing is left to take back. */
async function undoSwitch(request: Undo, operation: string): Promise<string | null> {
  const { context, actor, organizationId, itemId, row } = request;
  const { oldValues, newValues, id: undoes } = row;
  switch (operation) {
    case 'set_hidden':
      return await setHidden(context, actor, organizationId, [itemId], oldValues.isHidden === true, undoes);
    case 'set_published': {
      const integrationId = String(newValues.integrationId);
      const isOn = oldValues.isOn === true;
      return await setPublished(context, actor, organizationId, integrationId, [itemId], isOn, { undoes });
    }
    case 'restore_photo':
      return await restorePhoto(context, actor, organizationId, itemId, String(oldValues.photoId), undoes);
    case 'order_photos':
      return await orderPhotos(context, actor, organizationId, itemId, textsOf(oldValues.photoIds), {
        from: textsOf(newValues.photoIds),
        undoes,
      });
    default:
      throw new DomainError('not_undoable', 'This change can’t be undone.');
  }
}

async function undoEdit(request: Undo, isCostAllowed: boolean): Promise<Undone> {
  const { context, actor, organizationId, itemId, row } = request;
  const untakable = new Set(isCostAllowed ? [] : ['costAmount']);
  if (await haveDecimalsChangedSince(context.db, organizationId, row.id)) {
    for (const field of AMOUNT_FIELDS) untakable.add(field);
  }
  for (let attempt = 1; ; attempt++) {
    const item = await readItem(context.db, organizationId, itemId);
    const { changes, skipped } = takenBack(row, item, untakable);
    if (Object.keys(changes).length === 0) throw untakable.has('locationId') ? locationGone() : changedSince();
    const basis = { revision: item.revision, units: item.units - item.reservedUnits, undoes: row.id };
    try {
      const { auditId } = await editItem(context, actor, organizationId, itemId, changes as ItemChanges, basis);
      return { itemId, auditId, skipped };
    } catch (error) {
      if (!(error instanceof DomainError) || attempt === ATTEMPTS_LIMIT) throw error;
      // The rest can still be put back.
      if (error.code === 'not_found' && error.field === 'locationId') untakable.add('locationId');
      else if (error.code !== 'changed_meanwhile') throw error;
    }
  }
}

/** The old values of those fields that still stand as the change left them; attributes one by one. */
function takenBack({ oldValues, newValues }: UndoableRow, item: ItemDetails, untakable: Set<string>) {
  const { attributes: oldAttributes = {}, ...old } = oldValues;
  const { attributes: newAttributes = {}, ...changed } = newValues;
  const now: Values = { ...item, units: item.units - item.reservedUnits };
  const fields = split(old, changed, now, (name) => !untakable.has(name));
  const attributes = split(oldAttributes as Values, newAttributes as Values, item.attributes, () => true);
  const hasAttributes = Object.keys(attributes.taken).length > 0;
  return {
    changes: { ...fields.taken, ...(hasAttributes ? { attributes: attributes.taken } : {}) },
    skipped: [...fields.skipped, ...attributes.skipped],
  };
}

function split(old: Values, changed: Values, now: Values, mayTake: (name: string) => boolean) {
  const taken: Values = {};
  const skipped: string[] = [];
  for (const [name, value] of Object.entries(changed)) {
    if (isDeepStrictEqual(old[name] ?? null, value ?? null)) continue;
    const isUntouched = isDeepStrictEqual(now[name] ?? null, value ?? null);
    if (isUntouched && mayTake(name)) taken[name] = old[name] ?? null;
    else skipped.push(name);
  }
  return { taken, skipped };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function locationGone(): DomainError {
  return new DomainError('changed_meanwhile', 'The old location no longer exists, so there is nothing left to undo.');
}

function changedSince(): DomainError {
  return new DomainError('changed_meanwhile', 'It has been changed since, so there is nothing left to undo.');
}
