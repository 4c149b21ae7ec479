import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { projectItems } from '../../channel/projection/project-items.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { FOREIGN_KEY_VIOLATION, sqlState, type Transaction, UNIQUE_VIOLATION } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { transactionTime } from '../../db/sql-time.ts';
import { newId } from '../../ids/new-id.ts';
import { type BulkAudit, changeItem, changeItems, type LockedItem, missingItems } from '../change-items.ts';
import { assertEdit, readEditFacts } from './edit-rules.ts';
import { assertChanges, assertNewItem, type ItemChanges, type NewItem } from './item-input.ts';
import { notSwitchedSince } from './later-switch.ts';

/** Takes a watch or a part into stock. Nobody can read it until it is published on a channel. */
export async function createItem(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  input: NewItem,
): Promise<string> {
  assertNewItem(input);
  const id = newId(input.kind);
  await naming(input.stockNumber, () =>
    context.db.transaction(async (tx) => {
      await assertLocation(tx, organizationId, input.locationId);
      await tx.query(sql`
        insert into items (id, organization_id, kind, stock_number, title, description, price_amount, units,
          tax_treatment, location_id, serial_number, cost_amount, private_notes, attributes, created_at)
        values (${id}, ${organizationId}, ${input.kind}, ${input.stockNumber}, ${input.title}, ${input.description},
          ${input.priceAmount}, ${input.units}, ${input.taxTreatment}, ${input.locationId},
          ${input.serialNumber ?? null}, ${input.costAmount ?? null}, ${input.privateNotes ?? ''},
          ${JSON.stringify(input.attributes)}::jsonb, ${transactionTime(context.now())})`);
      const { stockNumber, title, priceAmount, units } = input;
      await recordAudit(tx, actor, {
        organizationId,
        action: 'item.created',
        object: { kind: 'item', id },
        new: { kind: input.kind, stockNumber, title, priceAmount, units },
        at: context.now(),
      });
    }),
  );
  return id;
}

/** The state that an edit began from, so that it can't undo what somebody else changed meanwhile. */
export type EditBasis = {
  /** The item's revision when the form was opened. */
  revision?: number;
  /** The units that could be sold then. Orders take units without raising the revision. */
  units?: number;
  /** The audit row that this edit takes back. */
  undoes?: string;
};

export type Edited = { revision: number; auditId: string | null };

/**
 * Changes what the dealer edited and leaves the rest. `units` sets the units that can be sold. Returns the revision, which
 * every edit that changes something raises, and the audit row, which is null if nothing changed.
 */
export async function editItem(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  changes: ItemChanges,
  basis: EditBasis = {},
): Promise<Edited> {
  const isQuantityEdit = changes.units !== undefined;
  return await naming(changes.stockNumber ?? '', () =>
    changeItem(context, { organizationId, itemId, isQuantityEdit }, async (tx, item) => {
      assertChanges(item.kind, changes);
      const { revision, ...old } = await readEditable(tx, item);
      assertBasis({ revision, units: old.units }, changes, basis);
      const edit = { item, new: changes };
      assertEdit(edit, await readEditFacts(tx, context, organizationId, [edit]));
      const has = (field: keyof ItemChanges) => changes[field] !== undefined;
      // The dealer enters the units that are free to sell. Units that orders hold stay held.
      const units = changes.units === undefined ? item.units : changes.units + item.reservedUnits;
      await tx.query(sql`
        update items set
          stock_number = coalesce(${changes.stockNumber ?? null}, stock_number),
          title = coalesce(${changes.title ?? null}, title),
          description = coalesce(${changes.description ?? null}, description),
          price_amount = case when ${has('priceAmount')} then ${changes.priceAmount ?? null} else price_amount end,
          tax_treatment = case when ${has('taxTreatment')} then ${changes.taxTreatment ?? null} else tax_treatment end,
          location_id = case when ${has('locationId')} then ${changes.locationId ?? null} else location_id end,
          serial_number = case when ${has('serialNumber')} then ${changes.serialNumber ?? null} else serial_number end,
          cost_amount = case when ${has('costAmount')} then ${changes.costAmount ?? null} else cost_amount end,
          private_notes = coalesce(${changes.privateNotes ?? null}, private_notes),
          units = ${units},
          attributes = attributes || ${JSON.stringify(changes.attributes ?? {})}::jsonb
        where id = ${itemId}`);
      const auditId = await recordAudit(tx, actor, {
        organizationId,
        action: 'item.edited',
        object: { kind: 'item', id: itemId },
        old: { ...old, attributes: attributesOf(old.attributes, changes) },
        new: changes,
        undo: { operation: 'edit_item' },
        ...(basis.undoes === undefined ? {} : { undoes: basis.undoes }),
        at: context.now(),
      });
      // A save that changes nothing must not make a colleague's form stale.
      if (auditId === null) return { revision, auditId };
      await tx.query(sql`
        update items set revision = revision + 1, edited_at = ${transactionTime(context.now())} where id = ${itemId}`);
      return { revision: revision + 1, auditId };
    }),
  );
}

function assertBasis(now: { revision: number; units: number }, changes: ItemChanges, basis: EditBasis): void {
  if (basis.revision !== undefined && basis.revision !== now.revision) {
    throw new DomainError('changed_meanwhile', 'Somebody else has saved this item meanwhile.', 'revision');
  }
  if (changes.units !== undefined && basis.units !== undefined && basis.units !== now.units) {
    const message = `Units were sold or moved meanwhile: ${now.units} can be sold now, not ${basis.units}.`;
    throw new DomainError('changed_meanwhile', message, 'units');
  }
}

type Editable = Omit<Required<ItemChanges>, 'attributes'> & { attributes: Record<string, unknown>; revision: number };

/** What the dealer can edit, as it stands; the item's row is locked. */
async function readEditable(tx: Transaction, item: LockedItem): Promise<Editable> {
  const [row] = await tx.query<Omit<Editable, 'units'>>(sql`
    select stock_number as "stockNumber", title, description, price_amount as "priceAmount",
      tax_treatment as "taxTreatment", location_id as "locationId", serial_number as "serialNumber",
      cost_amount as "costAmount", private_notes as "privateNotes", attributes, revision
    from items where id = ${item.id}`);
  if (row === undefined) throw missingItems([item.id]);
  return { ...row, units: item.units - item.reservedUnits };
}

/** The attributes that are edited, as they were. */
function attributesOf(attributes: Record<string, unknown>, changes: ItemChanges): Record<string, unknown> {
  const names = Object.keys(changes.attributes ?? {});
  return Object.fromEntries(names.map((name) => [name, attributes[name] ?? null]));
}

/**
 * Hides items on every channel without touching the toggles, or shows them again. With `undoes`, only if nobody has hidden
 * or shown them since that change. Returns the audit row, or null if nothing changed.
 */
export async function setHidden(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemIds: string[],
  isHidden: boolean,
  undoes?: string,
): Promise<string | null> {
  const audit: BulkAudit = {
    actor,
    action: 'item.visibility_changed',
    new: { isHidden },
    undo: { operation: 'set_hidden' },
    ...(undoes === undefined ? {} : { undoes }),
  };
  return await changeItems(context, { organizationId, itemIds }, audit, async (tx, found) => {
    const undone = { what: 'hidden', left: !isHidden, auditId: undoes ?? '' } as const;
    const ids = undoes === undefined ? found : await notSwitchedSince(tx, organizationId, found, undone);
    const rows = await tx.query<{ id: string }>(sql`
      update items set is_hidden = ${isHidden}
      where id = any(${ids}::text[]) and is_hidden <> ${isHidden} returning id`);
    return rows.map(({ id }) => ({ id, old: { isHidden: !isHidden }, new: { isHidden } }));
  });
}

/**
 * Removes an item whose row is locked, and announces it on the channels that ever had it. The stock's part of deleting an item;
 * orders may be matched to it, and they come first.
 */
export async function removeItem(
  tx: Transaction,
  context: ChannelContext,
  itemId: string,
  stampAlso: string[],
  /** The clocks of `stampAlso` and of all channels that the item is or was on: the toggles go with the item. */
  clocks: Map<string, Date>,
): Promise<{ stamps: Map<string, Date>; photoIds: string[] }> {
  const photos = await tx.query<{ id: string }>(sql`
    select id from photos where item_id = ${itemId}
    union all select id from removed_photos where item_id = ${itemId}`);
  await tx.query(sql`delete from items where id = ${itemId}`);
  const { stamps } = await projectItems(tx, context, {
    itemIds: [itemId],
    integrationIds: [...clocks.keys()],
    clocks,
    stampAlso,
  });
  return { stamps, photoIds: photos.map((photo) => photo.id) };
}

async function naming<Result>(stockNumber: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) === UNIQUE_VIOLATION) {
      throw new DomainError('stock_number_taken', `The stock number ${stockNumber} is taken.`, 'stockNumber');
    }
    if (sqlState(error) === FOREIGN_KEY_VIOLATION) throw new DomainError('not_found', 'There is no such organization.');
    throw error;
  }
}

async function assertLocation(tx: Transaction, organizationId: string, locationId: string | null): Promise<void> {
  if (locationId === null) return;
  const rows = await tx.query(sql`
    select id from locations where id = ${locationId} and organization_id = ${organizationId}`);
  if (rows.length === 0) throw new DomainError('not_found', 'There is no such location.', 'locationId');
}
