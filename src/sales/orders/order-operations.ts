import type { Actor } from '../../audit/actor.ts';
import { recordAudit, type Values } from '../../audit/record-audit.ts';
import { commitAndWake } from '../../channel/commit-and-wake.ts';
import type { ChannelContext } from '../../channel/context.ts';
import type { AuditAction } from '../../contract/audit-actions.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { textOrNull } from '../../contract/resources/customer.ts';
import type { Order } from '../../contract/resources/order.ts';
import { orderCan, type Permission } from '../../contract/states/order-can.ts';
import { type OrderOperation, orderRefusal, orderStep } from '../../contract/states/order-states.ts';
import { type Attempt, onlyOnce } from '../../db/attempts.ts';
import { newId } from '../../ids/new-id.ts';
import type { LockedItem } from '../../inventory/change-items.ts';
import { assertUnits } from '../../inventory/units/movements.ts';
import { changeOrder, missingOrder, type OpenOrder, type OrderChangeOptions } from './change-order.ts';
import type { StoredLine } from './order-rows.ts';

/** What the dealer does with reported orders. Each is one transaction. */

/** A reported line keeps its quantity; only a line that the dealer adds says how many units it is about. */
export type LineChoice = { itemId: string } & (
  | { lineId: string }
  | { lineId: null; units: number; attempt?: Attempt | undefined }
);

/** Matches a line to an item of the stock by hand; with no line, a new one is added for it. Holds the units. */
export async function matchLine(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  orderId: string,
  choice: LineChoice,
): Promise<void> {
  if (choice.lineId === null) assertUnits(choice.units);
  // Only an added line could be added twice. The audit row holds the name of its attempt.
  const attempt = choice.lineId === null ? choice.attempt : undefined;
  const match = () =>
    matchOnce(context, { actor, action: 'order.line_matched', attempt }, organizationId, orderId, choice);
  await onlyOnce(context.db, 'audit_log', organizationId, attempt, match);
}

async function matchOnce(
  context: ChannelContext,
  change: AuditedAction,
  organizationId: string,
  orderId: string,
  choice: LineChoice,
): Promise<Order> {
  return await asDealer(
    context,
    change,
    organizationId,
    orderId,
    (open) => {
      assertMay(choice.lineId === null ? orderCan.addLine(open.order) : orderCan.matchLine(open.order));
      const item = open.items.get(choice.itemId);
      if (item === undefined) throw new DomainError('not_found', 'There is no such item.', 'itemId');
      const line = choice.lineId === null ? addLine(open, item, choice.units) : lineOf(open, choice.lineId);
      release(open, line);
      const available = item.units - item.reservedUnits;
      if (available < line.units) {
        throw new DomainError('not_enough_units', `Only ${available} units are available.`, 'units');
      }
      line.itemId = item.id;
      if (!open.order.is_test) {
        item.reservedUnits += line.units;
        line.isHolding = true;
      }
      // A test order reads as a live one would.
      setMatch(open.order, line.id, { object: item.kind, id: item.id, remaining_quantity: available - line.units });
      return true;
    },
    { alsoLock: [choice.itemId] },
  );
}

/** Takes the item off a line. The units that it held are free again, and the line waits for another item. */
export async function unmatchLine(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  orderId: string,
  lineId: string,
): Promise<Order> {
  return await asDealer(context, { actor, action: 'order.line_unmatched' }, organizationId, orderId, (open) => {
    assertMay(orderCan.unmatchLine(open.order));
    const line = lineOf(open, lineId);
    if (line.itemId === null) throw new DomainError('nothing_matched', 'No item is matched to this line.', 'lineId');
    release(open, line);
    return true;
  });
}

/** Confirms that the order was sold: what it holds becomes a completed sale. */
export async function confirmOrder(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  orderId: string,
): Promise<Order> {
  return await asDealer(
    context,
    { actor, action: 'order.confirmed' },
    organizationId,
    orderId,
    (open) => {
      assertMay(orderCan.confirm(open.order));
      const status = nextStatus(open.order, 'confirm');
      for (const line of open.lines.filter(({ itemId }) => itemId !== null)) {
        const item = open.items.get(line.itemId ?? '');
        if (item === undefined) continue;
        open.sell(line, item);
        if (!line.isHolding) continue;
        item.units -= line.units;
        item.reservedUnits -= line.units;
        line.isHolding = false;
      }
      open.order.status = status;
      return true;
    },
    // The client knows that it sold the watch; every other channel gets the event.
    { isSuppressed: (integrationId, type, reporterId) => type === 'listing.sold' && integrationId === reporterId },
  );
}

export async function fulfilOrder(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  orderId: string,
): Promise<Order> {
  return await asDealer(context, { actor, action: 'order.fulfilled' }, organizationId, orderId, (open) => {
    const status = nextStatus(open.order, 'fulfil');
    open.announce('order.fulfilled', { status: open.order.status });
    open.order.status = status;
    open.order.fulfilled_at = open.now.toISOString();
    return true;
  });
}

/** The dealer will not serve the order: it is cancelled, its stock is free again, and its client gets an event. */
export async function dismissOrder(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  orderId: string,
  reason: string | null,
): Promise<Order> {
  return await asDealer(context, { actor, action: 'order.dismissed' }, organizationId, orderId, (open) => {
    cancel(open, nextStatus(open.order, 'dismiss'), 'dealer', reason);
    open.announce('order.cancelled', {});
    return true;
  });
}

/**
 * Cancels the completed sale: the order returns to the queue, matched to nothing, and its stock is free again. If a
 * sale is named, it must still be one of the order's: meanwhile it may have been voided, and the order sold again.
 */
export async function cancelSale(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  orderId: string,
  saleId?: string,
): Promise<Order> {
  return await asDealer(context, { actor, action: 'order.sale_cancelled' }, organizationId, orderId, (open) => {
    if (saleId !== undefined && !open.lines.some((line) => line.saleId === saleId)) throw alreadyVoided();
    const status = nextStatus(open.order, 'cancel_sale');
    for (const line of open.lines) {
      const item = open.items.get(line.itemId ?? '');
      if (line.saleId !== null) {
        open.voidSale(line.saleId);
        if (item !== undefined && !open.order.is_test) item.units += line.units;
      }
      line.saleId = null;
      release(open, line);
    }
    open.order.status = status;
    open.order.fulfilled_at = null;
    return true;
  });
}

export function alreadyVoided(): DomainError {
  return new DomainError('already_voided', 'This sale was voided before.');
}

/** The client's own cancellation: false if the order is cancelled already, and refused if it is past that. */
export function cancelByClient(open: OpenOrder, reason: string | null, requestId: string | null = null): boolean {
  if (orderStep('cancel', open.order.status) === 'unchanged') return false;
  open.cancelRequestId = requestId;
  cancel(open, nextStatus(open.order, 'cancel'), 'api', reason);
  return true;
}

/** Cancels an order and gives its stock back. */
function cancel(open: OpenOrder, status: Order['status'], by: 'api' | 'dealer', reason: string | null): void {
  for (const line of open.lines) giveBack(open, line);
  open.order.status = status;
  open.order.cancelled_at = open.now.toISOString();
  open.order.cancellation = { by, reason: textOrNull(reason) };
}

type AuditedAction = { actor: Actor; action: AuditAction; attempt?: Attempt | undefined };

async function asDealer(
  context: ChannelContext,
  { actor, action, attempt }: AuditedAction,
  organizationId: string,
  orderId: string,
  alter: (open: OpenOrder) => boolean,
  options: OrderChangeOptions = {},
): Promise<Order> {
  const { order } = await commitAndWake(context, async (tx) => {
    let before = null as AuditedOrder | null;
    const recording = (open: OpenOrder) => {
      before = auditedOrder(open.order);
      return alter(open);
    };
    const changed = await changeOrder(tx, context, { organizationId }, orderId, recording, options);
    if (changed === null || before === null) throw missingOrder();
    await recordAudit(tx, actor, {
      organizationId,
      action,
      object: { kind: 'order', id: orderId },
      ...auditedValues(before, auditedOrder(changed.order)),
      attempt,
      at: context.now(),
    });
    return changed;
  });
  return order;
}

/** What the dealer can change of an order. The reason of a cancellation stands in the order: it may be about a person. */
type AuditedOrder = { status: Order['status']; matches: Map<string, string | null> };

function auditedOrder({ status, lines }: Order): AuditedOrder {
  return { status, matches: new Map(lines.map(({ id, match }) => [id, match?.id ?? null])) };
}

/** Of the lines only those that changed, so that what an order stores doesn't grow with the square of its lines. */
function auditedValues(before: AuditedOrder, after: AuditedOrder): { old: Values; new: Values } {
  const changed = [...after.matches.keys()].filter((id) => before.matches.get(id) !== after.matches.get(id));
  const valuesOf = ({ status, matches }: AuditedOrder): Values => ({
    status,
    matches: Object.fromEntries(changed.map((id) => [id, matches.get(id) ?? null])),
  });
  return { old: valuesOf(before), new: valuesOf(after) };
}

/** Lets go of what a line holds; its match stays visible. */
function giveBack(open: OpenOrder, line: StoredLine): void {
  const item = open.items.get(line.itemId ?? '');
  if (line.isHolding && item !== undefined) item.reservedUnits -= line.units;
  line.isHolding = false;
}

/** Lets go of what a line holds and forgets what it was matched to. */
function release(open: OpenOrder, line: StoredLine): void {
  giveBack(open, line);
  line.itemId = null;
  setMatch(open.order, line.id, null);
}

function setMatch(order: Order, lineId: string, match: Order['lines'][number]['match']): void {
  const line = order.lines.find((candidate) => candidate.id === lineId);
  if (line !== undefined) line.match = match;
}

function lineOf(open: OpenOrder, lineId: string): StoredLine {
  const line = open.lines.find((candidate) => candidate.id === lineId);
  if (line === undefined) throw new DomainError('not_found', 'There is no such line.', 'lineId');
  return line;
}

function addLine(open: OpenOrder, item: LockedItem, units: number): StoredLine {
  const id = newId('orderLine');
  open.order.lines.push({
    id,
    listing_id: item.kind === 'listing' ? item.id : null,
    part_id: item.kind === 'part' ? item.id : null,
    quantity: units,
    unit_amount: null,
    discount_amount: null,
    title: item.title,
    match: null,
  });
  // Nobody reported what this line cost, so the sums are unknown from now on.
  open.order.subtotal_amount = null;
  open.order.total_amount = null;
  const line: StoredLine = { id, itemId: null, units, isHolding: false, saleId: null };
  open.lines.push(line);
  return line;
}

/** The status that an operation leads to; refused where the table of states does not have it. */
function nextStatus(order: Order, operation: OrderOperation): Order['status'] {
  const step = orderStep(operation, order.status);
  if (typeof step !== 'string') return step.status;
  throw new DomainError('wrong_status', orderRefusal(operation, order.status) ?? 'Nothing is left to do.');
}

/** Refuses what the dashboard shows as a disabled button, in the same words. */
export function assertMay(permission: Permission): void {
  if (!permission.isAllowed) throw new DomainError(permission.code, permission.reason);
}
