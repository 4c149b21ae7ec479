import { lockClocks, stampOf } from '../channel/clock.ts';
import type { ChannelContext } from '../channel/context.ts';
import { withStamp } from '../channel/documents.ts';
import { presenter } from '../channel/plan-projection.ts';
import { integrationsOf, projectItems } from '../channel/project-items.ts';
import { DomainError } from '../contract/domain-error.ts';
import type { EventType } from '../contract/events.ts';
import type { Order } from '../contract/resources/order.ts';
import type { JsonObject } from '../contract/versions.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { unnestRows } from '../db/unnest-rows.ts';
import { newId } from '../ids/new-id.ts';
import { type LockedItem, lockItems } from '../inventory/change.ts';
import { readEndpoint } from '../webhooks/endpoints/read-endpoint.ts';
import { openOutbox } from '../webhooks/outbox.ts';

/** Who asks for an order: the dealer for any of the organization's, a client for those of its integration alone. */
export type OrderOwner = { organizationId: string; integrationId?: string };

export type StoredLine = {
  id: string;
  itemId: string | null;
  units: number;
  /** Whether the order holds these units back in stock. */
  isHolding: boolean;
  saleId: string | null;
};

/** An order under change: its row and its items are locked, and what the operation alters here is written after it. */
export type OpenOrder = {
  /** As the client reads it; `updated_at` is set by the write. */
  order: Order;
  integrationId: string;
  organizationId: string;
  lines: StoredLine[];
  /** Their rows are locked; operations change their numbers in place. */
  items: Map<string, LockedItem>;
  /** The reported buyer is several people, and the dealer has not decided yet. */
  hasCustomerConflict: boolean;
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

type OrderRow = {
  integration_id: string;
  organization_id: string;
  document: string;
  is_test: boolean;
  has_customer_conflict: boolean;
  now: Date;
};
type Sale = { id: string; itemId: string; title: string; stockNumber: string; units: number };

/**
 * The shape of every change of an order: lock the order, its stock and the clocks, let the operation alter them, and
 * write the order, the stock, what clients can read of it and the events, all in the caller's transaction. Null if there
 * is no such order. If the operation returns false, nothing is written.
 */
export async function changeOrder(
  tx: Transaction,
  context: ChannelContext,
  owner: OrderOwner,
  orderId: string,
  alter: (open: OpenOrder) => boolean,
  options: OrderChangeOptions = {},
): Promise<{ order: Order; touched: string[] } | null> {
  const row = await lockOrder(tx, owner, orderId);
  if (row === null) return null;
  const { integration_id: integrationId, organization_id: organizationId } = row;
  const lines = await readLines(tx, integrationId, orderId);
  const itemIds = [...new Set([...lines.flatMap((line) => line.itemId ?? []), ...(options.alsoLock ?? [])])];
  const locked = itemIds.length === 0 ? [] : await lockItems(tx, organizationId, itemIds);
  const items = new Map(locked.map((item) => [item.id, item]));
  const channels = row.is_test ? [] : await integrationsOf(tx, itemIds);
  const clocks = await lockClocks(tx, [...new Set([integrationId, ...channels])].sort());

  const events: { type: EventType; previous: Record<string, unknown> }[] = [];
  const sales: Sale[] = [];
  const voided: string[] = [];
  const before = new Map([...items].map(([id, item]) => [id, { ...item }]));
  const order = JSON.parse(row.document) as Order;
  forgetDeleted(order, lines, items);
  const open: OpenOrder = {
    order,
    integrationId,
    organizationId,
    lines,
    items,
    hasCustomerConflict: row.has_customer_conflict,
    now: context.now() ?? row.now,
    announce: (type, previous) => events.push({ type, previous }),
    sell(line, item) {
      const id = newId('sale');
      sales.push({ id, itemId: item.id, title: item.title, stockNumber: item.stockNumber, units: line.units });
      line.saleId = id;
    },
    voidSale: (saleId) => voided.push(saleId),
  };
  if (!alter(open)) return { order, touched: [] };

  const moved = [...items.values()].filter((item) => !row.is_test && isMoved(item, before.get(item.id)));
  await writeItems(tx, moved);
  const { stamps, endpoints } = await projectItems(tx, context, {
    itemIds: moved.map((item) => item.id).sort(),
    integrationIds: null,
    clocks,
    stampAlso: [integrationId],
    unitsBefore: before,
    isSuppressed: (id, type) => options.isSuppressed?.(id, type, integrationId) ?? false,
  });
  const stamp = stampOf(stamps, integrationId);
  await writeSales(tx, organizationId, row.is_test, sales, voided, stamp);
  const { updated_at: _, ...body } = order;
  const document = withStamp(JSON.stringify(body), stamp);
  await writeOrder(tx, open, document, stamp);

  if (events.length > 0) {
    // A detached integration has no projection and so is not among them; its events are recorded and held.
    const endpoint = endpoints.get(integrationId) ?? (await readEndpoint(tx, integrationId));
    if (endpoint === null) throw new Error(`integration ${integrationId} is gone, and its orders are not`);
    const outbox = openOutbox();
    const json = presentOrder(context, endpoint.apiVersion, document);
    // What happens to a test order is a test, also when the integration has gone live since.
    const recipient = { ...endpoint, isTestMode: endpoint.isTestMode || row.is_test };
    for (const { type, previous } of events) {
      outbox.add(recipient, { type, object: { json }, previous, createdAt: stamp, isSuppressed: false });
    }
    await outbox.write(tx);
  }
  return { order: { ...order, updated_at: stamp.toISOString() }, touched: [...stamps.keys()] };
}

/** An order of another dealer is the same as a missing one. */
export function missingOrder(): DomainError {
  return new DomainError('not_found', 'There is no such order.');
}

/** The order as a client of some version reads it; today's version reads the stored text itself. */
export function presentOrder(context: ChannelContext, version: string, document: string): string {
  if (version === context.versions.at(-1)?.date) return document;
  return JSON.stringify(presenter(context.versions, version)(JSON.parse(document) as JsonObject));
}

async function lockOrder(tx: Transaction, owner: OrderOwner, orderId: string): Promise<OrderRow | null> {
  const reported = owner.integrationId === undefined ? sql`` : sql`and integration_id = ${owner.integrationId}`;
  const [row] = await tx.query<OrderRow>(sql`
    select integration_id, organization_id, document, is_test, has_customer_conflict,
      date_trunc('milliseconds', clock_timestamp()) as now
    from orders where id = ${orderId} and organization_id = ${owner.organizationId} ${reported} for update`);
  return row ?? null;
}

async function readLines(tx: Transaction, integrationId: string, orderId: string): Promise<StoredLine[]> {
  return await tx.query<StoredLine>(sql`
    select id, item_id as "itemId", units, is_holding as "isHolding", sale_id as "saleId" from order_lines
    where integration_id = ${integrationId} and order_id = ${orderId} order by position`);
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

const SALE_COLUMNS = { id: 'text', itemId: 'text', title: 'text', stockNumber: 'text', units: 'integer' } as const;
const LINE_COLUMNS = { id: 'text', itemId: 'text', units: 'integer', isHolding: 'boolean', saleId: 'text' } as const;

async function writeItems(tx: Transaction, items: LockedItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(sql`
    update items i set units = rows.units, reserved_units = rows.reserved_units
    from ${unnestRows('rows', items, { id: 'text', units: 'integer', reservedUnits: 'integer' })}
    where i.id = rows.id`);
}

async function writeSales(
  tx: Transaction,
  organizationId: string,
  isTest: boolean,
  sales: Sale[],
  voided: string[],
  at: Date,
): Promise<void> {
  if (sales.length > 0) {
    await tx.query(sql`
      insert into sales (id, organization_id, is_test, created_at, item_id, title, stock_number, units)
      select id, ${organizationId}, ${isTest}, ${at}, item_id, title, stock_number, units
      from ${unnestRows('rows', sales, SALE_COLUMNS)}`);
  }
  if (voided.length > 0) {
    await tx.query(sql`
      update sales set status = 'voided', voided_at = ${at} where id = any(${voided}::text[]) and status = 'completed'`);
  }
}

async function writeOrder(
  tx: Transaction,
  { integrationId, order, lines, hasCustomerConflict }: OpenOrder,
  document: string,
  stamp: Date,
): Promise<void> {
  await tx.query(sql`
    update orders set status = ${order.status}, customer_id = ${order.customer_id},
      has_customer_conflict = ${hasCustomerConflict}, document = ${document}, updated_at = ${stamp}
    where integration_id = ${integrationId} and id = ${order.id}`);
  // A line that the dealer added by hand is new; the others change what they hold.
  await tx.query(sql`
    insert into order_lines (integration_id, order_id, id, position, item_id, units, is_holding, sale_id)
    select ${integrationId}, ${order.id}, id, position - 1, item_id, units, is_holding, sale_id
    from ${unnestRows('rows', lines, LINE_COLUMNS, 'position')}
    on conflict (integration_id, id) do update set
      item_id = excluded.item_id, units = excluded.units, is_holding = excluded.is_holding, sale_id = excluded.sale_id`);
}
