import type { Actor } from '../audit/actor.ts';
import { type AuditChange, type AuditedObject, addAuditObjects, recordAudit } from '../audit/record-audit.ts';
import { commitAndWake } from '../channel/commit-and-wake.ts';
import type { ChannelContext } from '../channel/context.ts';
import { integrationsOf, type ProjectionRequest, projectItems } from '../channel/projection/project-items.ts';
import { countFitting } from '../channel/projection/projection-budget.ts';
import { DomainError } from '../contract/domain-error.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { summarizeItems } from './lists/stock-summary.ts';
import { endReservations, lockReservationClocks, overdueReservations, unitsFreed } from './units/item-reservations.ts';

/** An item as the operations on it need it, its row locked. */
export type LockedItem = {
  id: string;
  kind: 'listing' | 'part';
  title: string;
  stockNumber: string;
  priceAmount: number | null;
  units: number;
  reservedUnits: number;
};

export type ChangeRequest = {
  organizationId: string;
  itemIds: string[];
} & Partial<Pick<ProjectionRequest, 'isQuantityEdit' | 'isSuppressed' | 'integrationIds'>>;

/** So many are looked at for one transaction. */
const BATCH_LIMIT = 100;
/** How many missing items a refusal names. */
const NAMED_LIMIT = 10;

/** Changes one item in a transaction. */
export async function changeItem<Result>(
  context: ChannelContext,
  request: Omit<ChangeRequest, 'itemIds'> & { itemId: string },
  work: (tx: Transaction, item: LockedItem) => Promise<Result>,
): Promise<Result> {
  const { itemId, ...rest } = request;
  return await changeFound(context, { ...rest, itemIds: [itemId] }, async (tx, [item]) => {
    if (item === undefined) throw missingItems([itemId]);
    return await work(tx, item);
  });
}

/** How a change of many items is recorded: one row for all of them, and what became of each beside it. */
export type BulkAudit = { actor: Actor } & Pick<AuditChange, 'action' | 'new' | 'about' | 'undo' | 'undoes'>;

/**
 * Changes any number of items, in batches of a transaction each. `work` returns which of them it really changed, and
 * how. If an item is missing because a colleague has just deleted it, the others are still changed, and then the call
 * is refused with the names of the missing ones. A fault leaves the batches before it in place, and repeating the call
 * completes them. Returns the audit row, or null if nothing changed.
 */
export async function changeItems(
  context: ChannelContext,
  request: ChangeRequest,
  audit: BulkAudit,
  work: (tx: Transaction, itemIds: string[]) => Promise<AuditedObject[]>,
  onProgress: (done: number) => void = () => {},
): Promise<string | null> {
  const ids = [...new Set(request.itemIds)].sort();
  const missing: string[] = [];
  let auditId: string | null = null;
  for (let start = 0; start < ids.length; ) {
    const itemIds = await fittingItems(context, ids.slice(start, start + BATCH_LIMIT), request);
    const earlierId: string | null = auditId;
    const { found, recordedId } = await changeFound(context, { ...request, itemIds }, async (tx, items) => {
      const foundIds = items.map((item) => item.id);
      const changed = await work(tx, foundIds);
      const recordedId = await recordMany(tx, request.organizationId, audit, ids, earlierId, changed);
      return { found: new Set(foundIds), recordedId };
    });
    auditId = recordedId;
    missing.push(...itemIds.filter((id) => !found.has(id)));
    start += itemIds.length;
    onProgress(start);
  }
  if (missing.length > 0) throw missingItems(missing);
  return auditId;
}

/** As many as one transaction may project. */
async function fittingItems(
  { db }: ChannelContext,
  itemIds: string[],
  { integrationIds = null }: ChangeRequest,
): Promise<string[]> {
  const onlyOn = integrationIds === null ? {} : { onlyOn: integrationIds };
  const count = await countFitting(
    db,
    itemIds.map((itemId) => ({ itemId, ...onlyOn })),
  );
  return itemIds.slice(0, count);
}

/** A change of one item is a row of its own; one of several is one row, made by the first batch that changes anything. */
async function recordMany(
  tx: Transaction,
  organizationId: string,
  { actor, ...audit }: BulkAudit,
  asked: string[],
  earlierId: string | null,
  changed: AuditedObject[],
): Promise<string | null> {
  const [first] = changed;
  if (first === undefined) return earlierId;
  if (asked.length === 1) {
    const object = { kind: 'item', id: first.id } as const;
    return await recordAudit(tx, actor, { ...audit, organizationId, object, old: first.old, new: first.new });
  }
  const object = { kind: 'item', id: null } as const;
  const id = earlierId ?? (await recordAudit(tx, actor, { ...audit, organizationId, object }));
  if (id !== null) await addAuditObjects(tx, organizationId, id, changed);
  return id;
}

/**
 * Locks those of the items that the dealer has, in the order of their ids as every transaction does. The dealer is compared as an
 * expression, which is in no index, so that every plan takes the primary key, also one made before the table was analyzed.
 */
export async function lockItems(tx: Transaction, organizationId: string, itemIds: string[]): Promise<LockedItem[]> {
  return await tx.query<LockedItem>(sql`
    select id, kind, title, stock_number as "stockNumber", price_amount as "priceAmount", units,
      reserved_units as "reservedUnits"
    from items
    where id = any(${itemIds}::text[]) and (organization_id || '') = ${organizationId}
    order by id for update`);
}

/**
 * Ends the reservations of locked items whose time is over: their units count as free for whoever holds the lock.
 * Returns the locked clocks of all channels, onto which the caller then projects; null if no reservation was over.
 */
export async function endOverdueReservations(
  tx: Transaction,
  context: ChannelContext,
  items: LockedItem[],
  /** Other channels that the caller will project onto. */
  alsoLock: () => Promise<string[]>,
): Promise<Map<string, Date> | null> {
  const ids = items.map((item) => item.id);
  const overdue = await overdueReservations(tx, context, ids);
  if (overdue.length === 0) return null;
  // The channels of all items: those without such a reservation are projected onto the same channels.
  const clocks = await lockReservationClocks(tx, overdue, [...(await alsoLock()), ...(await integrationsOf(tx, ids))]);
  await endReservations(tx, context, 'expired', overdue, clocks);
  const freed = unitsFreed(overdue);
  for (const item of items) item.reservedUnits -= freed.get(item.id) ?? 0;
  return clocks;
}

/** An item of another dealer counts as missing. */
export function missingItems(itemIds: string[]): DomainError {
  const more = itemIds.length - NAMED_LIMIT;
  const names = itemIds.slice(0, NAMED_LIMIT).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new DomainError('not_found', `There is no item ${names}.`);
}

/**
 * The shape of every operation on stock: lock the items, change them, project them, commit; then wake the delivery
 * workers.
 */
async function changeFound<Result>(
  context: ChannelContext,
  request: ChangeRequest,
  work: (tx: Transaction, items: LockedItem[]) => Promise<Result>,
): Promise<Result> {
  const { organizationId, itemIds, integrationIds = null, ...options } = request;
  const { result } = await commitAndWake(context, async (tx) => {
    const items = await lockItems(tx, organizationId, itemIds);
    const clocks = await endOverdueReservations(tx, context, items, async () => integrationIds ?? []);
    const result = await work(tx, items);
    await summarizeItems(
      tx,
      items.map((item) => item.id),
    );
    const { stamps } = await projectItems(tx, context, {
      ...options,
      itemIds: items.map((item) => item.id),
      integrationIds,
      ...(clocks === null ? {} : { clocks }),
    });
    return { result, touched: [...stamps.keys()] };
  });
  return result;
}
