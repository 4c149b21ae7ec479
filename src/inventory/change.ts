import type { ChannelContext } from '../channel/context.ts';
import { NEVER_SUPPRESSED, NO_CHANGE, type RefreshRequest, refreshItems } from '../channel/refresh.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { DealerError } from '../dealers/dealer-error.ts';

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
} & Partial<Pick<RefreshRequest, 'change' | 'isSuppressed' | 'integrationIds'>>;

/**
 * The shape of every operation on stock: lock the items in the order of their ids, change them, project them, commit;
 * then wake whoever sends events. An item of another dealer is the same as a missing one.
 */
export async function changeItems<Result>(
  context: ChannelContext,
  request: ChangeRequest,
  work: (tx: Transaction, items: LockedItem[]) => Promise<Result>,
): Promise<Result> {
  const { result, touched } = await context.db.transaction(async (tx) => {
    const items = await lockItems(tx, request.organizationId, request.itemIds);
    const result = await work(tx, items);
    const { stamps } = await refreshItems(tx, context, {
      itemIds: request.itemIds,
      integrationIds: request.integrationIds ?? null,
      change: request.change ?? NO_CHANGE,
      isSuppressed: request.isSuppressed ?? NEVER_SUPPRESSED,
    });
    return { result, touched: [...stamps.keys()] };
  });
  if (touched.length > 0) context.onEvents(touched);
  return result;
}

/** The same for a single item. */
export async function changeItem<Result>(
  context: ChannelContext,
  request: Omit<ChangeRequest, 'itemIds'> & { itemId: string },
  work: (tx: Transaction, item: LockedItem) => Promise<Result>,
): Promise<Result> {
  const { itemId, ...rest } = request;
  return await changeItems(context, { ...rest, itemIds: [itemId] }, async (tx, [item]) => {
    if (item === undefined) throw missing(itemId);
    return await work(tx, item);
  });
}

export async function lockItems(tx: Transaction, organizationId: string, itemIds: string[]): Promise<LockedItem[]> {
  const items = await tx.query<LockedItem>(sql`
    select id, kind, title, stock_number as "stockNumber", price_amount as "priceAmount", units,
      reserved_units as "reservedUnits"
    from items
    where id = any(${itemIds}::text[]) and organization_id = ${organizationId}
    order by id for update`);
  const found = new Set(items.map((item) => item.id));
  const lost = itemIds.find((id) => !found.has(id));
  if (lost !== undefined) throw missing(lost);
  return items;
}

function missing(itemId: string): DealerError {
  return new DealerError('not_found', `There is no item ${itemId}.`);
}
