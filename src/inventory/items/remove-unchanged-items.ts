import { lastChangesOf } from '../../audit/read-audit.ts';
import type { Values } from '../../audit/record-audit.ts';
import { lockClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { integrationsOf, projectItems } from '../../channel/projection/project-items.ts';
import type { AuditAction } from '../../contract/audit-actions.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { endOverdueReservations, lockItems } from '../change-items.ts';
import { integrationsReserving, nextStamps, releaseWithItems } from '../units/item-reservations.ts';
import { findLocationsAndChannels } from './edit-rules.ts';
import { readLaterSwitches } from './later-switch.ts';
import { readStockValues, type StockValues } from './stock-values.ts';

export type Removal = {
  removed: StockValues[];
  kept: { id: string; stockNumber: string; reason: string }[];
  touched: string[];
  photoIds: string[];
};

const CHANGED = 'Changed since it was created, and left as it is.';
const ORDERED = 'Ordered or sold since it was created, and left as it is.';

/** Work on an item that its values need not show: units may come and go again, and a promotion may have ended. */
const TOUCHING_ACTIONS: readonly AuditAction[] = [
  'item.units_moved',
  'item.units_reserved',
  'item.units_released',
  'reservation.released',
  'promotion.started',
  'promotion.changed',
  'promotion.ended',
];

/**
 * Removes items that are as they were created, given their values of then. What somebody edited, switched, promoted, moved,
 * ordered or sold since is kept. What is removed was never ordered, so no order has to be rewritten as when the dealer deletes an item.
 */
export async function removeUnchangedItems(
  tx: Transaction,
  context: ChannelContext,
  organizationId: string,
  created: Map<string, Values>,
  /** The change that created them. */
  auditId: string,
): Promise<Removal> {
  // Under the lock no order can take one of them.
  const found = await lockItems(tx, organizationId, [...created.keys()]);
  const locked = found.map((item) => item.id);
  const reserving = await integrationsReserving(tx, locked);
  const expired = await endOverdueReservations(tx, context, found, async () => reserving);
  const items = await readStockValues(tx, organizationId, locked);
  const ordered = await orderedOf(tx, locked);
  const touchedIds = await touchedOf(tx, organizationId, locked);
  const switches = await readLaterSwitches(tx, organizationId, auditId, locked);
  const photos = await photosOf(tx, locked);
  const channelIds = [...items, ...created.values()].flatMap(({ channels }) => Object.keys(channels ?? {}));
  const channels = await findLocationsAndChannels(tx, organizationId, [], [...new Set(channelIds)]);
  const reasonOf = (item: StockValues) => {
    if (ordered.has(item.id)) return ORDERED;
    if (touchedIds.has(item.id) || switches.isAnySwitched(item.id)) return CHANGED;
    return isAsCreated(item, photos.get(item.id) ?? [], created.get(item.id) ?? {}, channels) ? null : CHANGED;
  };
  const kept = items.flatMap((item) => {
    const reason = reasonOf(item);
    return reason === null ? [] : [{ id: item.id, stockNumber: item.stockNumber, reason }];
  });
  const removed = items.filter((item) => reasonOf(item) === null);
  const ids = removed.map((item) => item.id);
  const clocks =
    expired ?? (await lockClocks(tx, [...new Set([...(await integrationsOf(tx, ids)), ...reserving])].sort()));
  // A test reservation may have come since; it holds nothing and ends by its time.
  const releasing = (await integrationsReserving(tx, ids)).filter((id) => clocks.has(id));
  const released = await nextStamps(tx, context, clocks, releasing);
  await releaseWithItems(tx, ids, released);
  await tx.query(sql`delete from items where id = any(${ids}::text[])`);
  const { stamps } = await projectItems(tx, context, {
    // If a reservation ended, the items that stay are projected as well.
    itemIds: expired === null ? ids : locked,
    integrationIds: null,
    clocks: new Map([...clocks, ...released]),
    stampAlso: [...released.keys()],
  });
  return { removed, kept, touched: [...stamps.keys()], photoIds: ids.flatMap((id) => photos.get(id) ?? []) };
}

/** Only the channels that the dealer still has are compared: deleting one takes every item off it. */
function isAsCreated(item: StockValues, photoIds: string[], created: Values, existing: Set<string>): boolean {
  const on = (channels: unknown) =>
    Object.entries((channels ?? {}) as Record<string, boolean>)
      .filter(([id, isOn]) => isOn && existing.has(id))
      .map(([id]) => id)
      .sort()
      .join();
  const added = new Set((created.photosAdded ?? []) as string[]);
  return (
    item.revision === 1 &&
    item.reservedUnits === 0 &&
    item.units === created.units &&
    item.isHidden === (created.isHidden ?? false) &&
    on(item.channels) === on(created.channels) &&
    photoIds.every((id) => added.has(id))
  );
}

async function orderedOf(tx: Transaction, itemIds: string[]): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(sql`
    select item_id as id from order_lines where item_id = any(${itemIds}::text[])
    union select item_id from sales where item_id = any(${itemIds}::text[])`);
  return new Set(rows.map((row) => row.id));
}

/** Items that somebody worked on. Promotions are looked at themselves as well, since they would go with their item. */
async function touchedOf(tx: Transaction, organizationId: string, itemIds: string[]): Promise<Set<string>> {
  const promoted = await tx.query<{ id: string }>(sql`
    select item_id as id from promotions where item_id = any(${itemIds}::text[])`);
  const wanted = itemIds.flatMap((objectId) => TOUCHING_ACTIONS.map((action) => ({ objectId, action })));
  const changes = await lastChangesOf(tx, organizationId, 'item', wanted);
  return new Set([...promoted.map(({ id }) => id), ...changes.map(({ objectId }) => objectId)]);
}

async function photosOf(tx: Transaction, itemIds: string[]): Promise<Map<string, string[]>> {
  const rows = await tx.query<{ itemId: string; ids: string[] }>(sql`
    select item_id as "itemId", array_agg(id) as ids from photos where item_id = any(${itemIds}::text[]) group by item_id`);
  return new Map(rows.map(({ itemId, ids }) => [itemId, ids]));
}
