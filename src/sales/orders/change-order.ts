import { lockClocks, stampOf } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { withStamp } from '../../channel/projection/documents.ts';
import { presentFor } from '../../channel/projection/plan-projection.ts';
import {
  channelsOf,
  type ProjectionResult,
  projectItems,
  readSources,
  type SourceRows,
} from '../../channel/projection/project-items.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { EventType } from '../../contract/event-types.ts';
import type { Order } from '../../contract/resources/order.ts';
import type { JsonObject } from '../../contract/versions.ts';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../ids/new-id.ts';
import { type LockedItem, lockItems } from '../../inventory/change-items.ts';
import {
  endReservations,
  type HoldingReservation,
  overdueReservations,
  unitsFreed,
} from '../../inventory/units/item-reservations.ts';
import { readEndpoint } from '../../webhooks/endpoints/read-endpoint.ts';
import { openOutbox } from '../../webhooks/outbox.ts';
import {
  type FoundOrderRow,
  lockOrderRows,
  type OrderOwner,
  type OrderRow,
  readLines,
  type Sale,
  type StoredLine,
  writeItems,
  writeOrders,
  writeSales,
} from './order-rows.ts';
import { openTransactionBudget } from './transaction-budget.ts';

/** An order under change: its row and its items are locked, and what the operation alters here is written after it. */
export type OpenOrder = {
  /** The order as the client reads it; the write sets `updated_at`. */
  order: Order;
  integrationId: string;
  organizationId: string;
  lines: StoredLine[];
  /** Their rows are locked; operations change their numbers in place. */
  items: Map<string, LockedItem>;
  /** The reported buyer is several people, and the dealer has not decided yet. */
  hasCustomerConflict: boolean;
  /** The API request that cancels it; null leaves what stands. */
  cancelRequestId: string | null;
  now: Date;
  /** Adds an event for the order's own client. */
  announce(type: EventType, previous: Record<string, unknown>): void;
  sell(line: StoredLine, item: LockedItem): void;
  voidSale(saleId: string): void;
};

export type OrderChangeOptions = {
  /** Items that the operation needs besides those the order is matched to. */
  alsoLock?: string[];
  isSuppressed?: (integrationId: string, type: EventType, reporterId: string) => boolean;
};

/** A change of one order. If it returns false, it has altered nothing. */
export type AlterOrder = (open: OpenOrder) => boolean;

/** An order after its change, and the text that is stored of it. */
export type StoredOrder = { order: Order; document: string };

export type ChangedOrders = {
  /**
   * The orders in the order of the changes; null if there is no such order. If the documents are large, only the first
   * changes are made, at least one, and only their orders are here.
   */
  orders: (StoredOrder | null)[];
  touched: string[];
};

/** Changes one order; null if there is no such order. */
export async function changeOrder(
  tx: Transaction,
  context: ChannelContext,
  owner: OrderOwner,
  orderId: string,
  alter: AlterOrder,
  options: OrderChangeOptions = {},
): Promise<{ order: Order; touched: string[] } | null> {
  const { orders, touched } = await changeOrders(tx, context, owner, [{ orderId, alter }], options);
  const [changed = null] = orders;
  return changed === null ? null : { order: changed.order, touched };
}

/**
 * The shape of every change of orders: lock the orders, their stock and the clocks, let each operation alter its order,
 * and write the orders, the stock, what clients can read of it and the events, all in the caller's transaction. Several
 * orders are of one integration. If no operation alters anything, nothing is written.
 */
export async function changeOrders(
  tx: Transaction,
  context: ChannelContext,
  owner: OrderOwner,
  changes: { orderId: string; alter: AlterOrder }[],
  options: OrderChangeOptions = {},
): Promise<ChangedOrders> {
  const orderIds = [...new Set(changes.map((change) => change.orderId))];
  const [found, ownLines] = await Promise.all([
    lockOrderRows(tx, owner, orderIds),
    owner.integrationId === undefined ? null : readLines(tx, owner.integrationId, orderIds),
  ]);
  const [first] = found;
  if (first === undefined) return { orders: changes.map(() => null), touched: [] };
  const { integrationId } = first;
  const linesOf = ownLines ?? (await readLines(tx, integrationId, orderIds));
  const { made, rows } = firstChanges(changes, found, linesOf);
  const scene = await openOrders(tx, context, owner.organizationId, { rows, linesOf }, options);
  const altered = new Set<string>();
  for (const { orderId, alter } of made) {
    const work = scene.works.get(orderId);
    if (work !== undefined && alter(work.open)) altered.add(orderId);
  }
  const documents = new Map(rows.map(({ id, document }) => [id, document]));
  const orderOf = ({ orderId }: { orderId: string }) => {
    const order = scene.works.get(orderId)?.open.order;
    const document = documents.get(orderId);
    return order === undefined || document === undefined ? null : { order, document };
  };
  if (altered.size === 0) return { orders: made.map(orderOf), touched: [] };

  const { stamps, endpoints } = await writeStock(tx, context, scene, integrationId, options);
  const stamp = stampOf(stamps, integrationId);
  const works = [...altered].flatMap((id) => scene.works.get(id) ?? []);
  for (const { open, sales, voided } of works) {
    const source = { organizationId: owner.organizationId, integrationId, order: open.order };
    writeSales(tx, source, sales, voided, stamp);
  }
  const changed = works.map(({ open, events }) => {
    const { updated_at: _, ...body } = open.order;
    open.order.updated_at = stamp.toISOString();
    const document = withStamp(JSON.stringify(body), stamp);
    documents.set(body.id, document);
    return { ...open, events, document };
  });
  writeOrders(tx, integrationId, changed, stamp);
  await recordEvents(tx, context, integrationId, changed, endpoints, stamp);
  return { orders: made.map(orderOf), touched: [...stamps.keys()] };
}

/** The changes that are made now: as many as the budget of a transaction takes. */
function firstChanges<Change extends { orderId: string }>(
  changes: Change[],
  found: FoundOrderRow[],
  linesOf: Map<string, StoredLine[]>,
): { made: Change[]; rows: OrderRow[] } {
  const foundById = new Map(found.map((row) => [row.id, row]));
  const made: Change[] = [];
  const rows = new Map<string, OrderRow>();
  const budget = openTransactionBudget();
  for (const change of changes) {
    const row = foundById.get(change.orderId);
    if (row !== undefined) {
      const { document } = row;
      const lines = linesOf.get(row.id) ?? [];
      const itemIds = lines.flatMap((line) => line.itemId ?? []);
      // An order that is changed twice is also answered twice.
      if (document === null) break;
      if (!budget.takes({ documentBytes: Buffer.byteLength(document), lines: lines.length, itemIds })) break;
      rows.set(row.id, { ...row, document });
    }
    made.push(change);
  }
  return { made, rows: [...rows.values()] };
}

type OwnEvent = { type: EventType; previous: Record<string, unknown> };
/** An order under change, with what its operation asked for. */
type OrderWork = { open: OpenOrder; events: OwnEvent[]; sales: Sale[]; voided: string[] };
/** Everything that is locked for a change: the orders, their items as they are and as they were, and the clocks. */
type OrderScene = {
  works: Map<string, OrderWork>;
  items: Map<string, LockedItem>;
  itemsBefore: Map<string, LockedItem>;
  /** Reservations of the items whose time is over: they count as ended, and are when the change is written. */
  overdue: HoldingReservation[];
  clocks: Map<string, Date>;
  /** What the projection is made of, read under the clocks and before the units change. */
  sources: SourceRows;
};

async function openOrders(
  tx: Transaction,
  context: ChannelContext,
  organizationId: string,
  { rows, linesOf }: { rows: OrderRow[]; linesOf: Map<string, StoredLine[]> },
  options: OrderChangeOptions,
): Promise<OrderScene> {
  const [{ integrationId }] = rows as [OrderRow];
  if (rows.some((row) => row.integrationId !== integrationId)) throw new Error('these orders are of two integrations');
  const itemIdsOf = (id: string) => (linesOf.get(id) ?? []).flatMap((line) => line.itemId ?? []);
  const alsoLock = options.alsoLock ?? [];
  const itemIds = [...new Set([...rows.flatMap((row) => itemIdsOf(row.id)), ...alsoLock])];
  const [locked, overdue, allChannels] = await Promise.all([
    itemIds.length === 0 ? [] : lockItems(tx, organizationId, itemIds),
    overdueReservations(tx, context, itemIds),
    itemIds.length === 0 ? [] : channelsOf(tx, itemIds),
  ]);
  const freed = unitsFreed(overdue);
  for (const item of locked) item.reservedUnits -= freed.get(item.id) ?? 0;
  const items = new Map(locked.map((item) => [item.id, item]));
  // A test order touches no stock, so no channel but its own has anything new.
  const isLive = rows.some((row) => !row.isTest);
  const liveIds = [...new Set([...rows.flatMap((row) => (row.isTest ? [] : itemIdsOf(row.id))), ...alsoLock])];
  const movedIds = [...(isLive ? liveIds : []), ...freed.keys()];
  const channels = allChannels.flatMap(({ itemId, integrationId }) =>
    movedIds.includes(itemId) ? [integrationId] : [],
  );
  const concerned = [...new Set([integrationId, ...channels])].sort();
  const [clocks, sources] = await Promise.all([
    lockClocks(tx, concerned),
    readSources(tx, context, concerned, [...new Set(movedIds)].sort()),
  ]);
  const works = rows.map((row) => {
    const own = row.isTest ? copyOf(items) : items;
    return [row.id, openOrder(context, organizationId, row, linesOf.get(row.id) ?? [], own)] as const;
  });
  return { works: new Map(works), items, itemsBefore: copyOf(items), overdue, clocks, sources };
}

function openOrder(
  context: ChannelContext,
  organizationId: string,
  row: OrderRow,
  lines: StoredLine[],
  items: Map<string, LockedItem>,
): OrderWork {
  const events: OwnEvent[] = [];
  const sales: Sale[] = [];
  const voided: string[] = [];
  const order = JSON.parse(row.document) as Order;
  forgetDeleted(order, lines, items);
  const open: OpenOrder = {
    order,
    integrationId: row.integrationId,
    organizationId,
    lines,
    items,
    hasCustomerConflict: row.hasCustomerConflict,
    cancelRequestId: null,
    now: context.now() ?? row.now,
    announce: (type, previous) => events.push({ type, previous }),
    sell(line, item) {
      const id = newId('sale');
      const { title, stockNumber } = item;
      sales.push({ id, itemId: item.id, title, stockNumber, units: line.units, amount: lineAmount(order, line.id) });
      line.saleId = id;
    },
    voidSale: (saleId) => voided.push(saleId),
  };
  return { open, events, sales, voided };
}

async function writeStock(
  tx: Transaction,
  context: ChannelContext,
  { items, itemsBefore, overdue, clocks, sources }: OrderScene,
  integrationId: string,
  options: OrderChangeOptions,
): Promise<ProjectionResult> {
  await endReservations(tx, context, 'expired', overdue, clocks);
  const moved = [...items.values()].filter((item) => isMoved(item, itemsBefore.get(item.id)));
  writeItems(tx, moved);
  return await projectItems(tx, context, {
    itemIds: [...new Set([...moved.map((item) => item.id), ...overdue.map(({ itemId }) => itemId)])].sort(),
    integrationIds: null,
    clocks,
    sources,
    stampAlso: [integrationId],
    unitsBefore: itemsBefore,
    unitsAfter: items,
    isSuppressed: (id, type) => options.isSuppressed?.(id, type, integrationId) ?? false,
  });
}

/** Records the events for the orders' own client. */
async function recordEvents(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  changed: { order: Order; document: string; events: OwnEvent[] }[],
  endpoints: ProjectionResult['endpoints'],
  stamp: Date,
): Promise<void> {
  if (changed.every(({ events }) => events.length === 0)) return;
  // A detached integration has no projection and so is not among them; its events are recorded and held.
  const endpoint = endpoints.get(integrationId) ?? (await readEndpoint(tx, integrationId));
  // It is being deleted. Until the job removes its orders the dealer may change them, and nobody is told.
  if (endpoint === null) return;
  const outbox = openOutbox();
  for (const { order, document, events } of changed) {
    const json = presentOrder(context, endpoint.apiVersion, document);
    // What happens to a test order is a test, also when the integration has gone live since.
    const recipient = { ...endpoint, isTestMode: endpoint.isTestMode || order.is_test };
    for (const { type, previous } of events) {
      outbox.add(recipient, { type, object: { json }, previous, createdAt: stamp, isSuppressed: false });
    }
  }
  outbox.write(tx);
}

function copyOf(items: Map<string, LockedItem>): Map<string, LockedItem> {
  return new Map([...items].map(([id, item]) => [id, { ...item }]));
}

/** What a line was sold for, all units together; null if the client did not say. Discounts on the whole order are not in it. */
function lineAmount(order: Order, lineId: string): number | null {
  const line = order.lines.find(({ id }) => id === lineId);
  if (line === undefined || line.unit_amount === null) return null;
  return Math.max(0, line.unit_amount * line.quantity - (line.discount_amount ?? 0));
}

/** An order of another dealer is the same as a missing one. */
export function missingOrder(): DomainError {
  return new DomainError('not_found', 'There is no such order.');
}

/** The order as a client of some version reads it; today's version reads the stored text itself. */
export function presentOrder(context: ChannelContext, version: string, document: string): string {
  if (version === context.versions.at(-1)?.date) return document;
  return JSON.stringify(presentFor(context.versions, version)(JSON.parse(document) as JsonObject));
}

/** An item that was deleted is gone for the lines too; an order that is still waiting must not be sold as if it had it. */
function forgetDeleted(order: Order, lines: StoredLine[], items: OpenOrder['items']): void {
  for (const line of lines) {
    if (line.itemId !== null && items.has(line.itemId)) continue;
    line.itemId = null;
    line.isHolding = false;
    const reported = order.lines.find((candidate) => candidate.id === line.id);
    if (order.status === 'received' && reported !== undefined) reported.match = null;
  }
}

function isMoved(item: LockedItem, before: LockedItem | undefined): boolean {
  return item.units !== before?.units || item.reservedUnits !== before.reservedUnits;
}
