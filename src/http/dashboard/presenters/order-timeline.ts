import { type AuditRow, listAudit } from '../../../audit/read-audit.ts';
import type { Values } from '../../../audit/record-audit.ts';
import { AUDIT_ACTOR_LABELS, type AuditAction, auditJobName } from '../../../contract/audit-actions.ts';
import { LIST_PAGE_BYTES } from '../../../contract/dashboard/list.ts';
import type { OrderTimeline, TimelineEntry } from '../../../contract/dashboard/orders/orders.ts';
import type { Queryable } from '../../../db/database.ts';
import { type OrderDetails, readDealerOrder } from '../../../sales/orders/dealer/order-details.ts';
import { listOrderEvents, type OrderEvent } from '../../../webhooks/order-events.ts';
import { namesOfObjects } from './object-names.ts';

const CHANGES_LIMIT = 100;

/**
 * What happened to an order, newest first: requests of its client, changes by people, events and their deliveries. The oldest
 * changes and events are left out if there are many.
 */
export async function readOrderTimeline(
  db: Queryable,
  organizationId: string,
  orderId: string,
): Promise<OrderTimeline> {
  const details = await readDealerOrder(db, organizationId, orderId);
  const filter = { organizationId, objectKind: 'order', objectId: orderId } as const;
  const [{ rows: changes, isMore }, { events, isCut }] = await Promise.all([
    listAudit(db, { ...filter, start: null, limit: CHANGES_LIMIT, bytesLimit: LIST_PAGE_BYTES }),
    listOrderEvents(db, details.integrationId, orderId),
  ]);
  const ids = changes.flatMap((row) => [row.actorId ?? '', ...movedItems(row)]);
  const names = await namesOfObjects(db, organizationId, [...new Set(ids)]);
  const entries = [
    ...requestsOf(details).map((entry) => ({ entry, after: entry.at })),
    ...changes.map((row) => ({ entry: presentChange(row, names, details), after: row.at.toISOString() })),
    ...events.map((event) => ({ entry: presentEvent(event), after: timeInLine(event, events, changes) })),
  ];
  // Entries of the same moment stay in this order: the event follows the change, and both follow the report.
  const sorted = entries
    .map((one, index) => ({ ...one, index }))
    .sort((one, other) => other.after.localeCompare(one.after) || other.index - one.index)
    .map(({ entry }) => entry);
  return { entries: sorted, is_cut: isMore || isCut };
}

/** The change that an event announces. */
const CAUSES: Record<string, AuditAction> = {
  'order.fulfilled': 'order.fulfilled',
  'order.cancelled': 'order.dismissed',
};

/** An event is stamped when the change begins, and the audit row when it ends: the event still follows its change. */
function timeInLine(event: OrderEvent, events: OrderEvent[], changes: AuditRow[]): string {
  const alike = events.filter(({ type }) => type === event.type);
  const causes = changes.filter(({ action }) => action === CAUSES[event.type]);
  const cause = causes[alike.indexOf(event)]?.at ?? event.createdAt;
  return new Date(Math.max(cause.getTime(), event.createdAt.getTime())).toISOString();
}

/** Writes by an API key have no row in the audit log: the order itself knows its requests. */
function requestsOf({ order, requestId, cancelRequestId }: OrderDetails): TimelineEntry[] {
  const reported: TimelineEntry = {
    kind: 'request',
    at: order.created_at,
    what: 'reported',
    request_id: requestId,
    reason: null,
  };
  if (order.cancelled_at === null || order.cancellation?.by !== 'api') return [reported];
  const { reason } = order.cancellation;
  const cancelled = { at: order.cancelled_at, what: 'cancelled', request_id: cancelRequestId, reason } as const;
  return [reported, { kind: 'request', ...cancelled }];
}

function presentChange(row: AuditRow, names: Map<string, string>, { order }: OrderDetails): TimelineEntry {
  return {
    kind: 'change',
    at: row.at.toISOString(),
    audit_id: row.id,
    action: row.action,
    actor: actorName(row, names),
    items: movedItems(row).map((id) => ({ id, name: names.get(id) ?? null })),
    // It may be about a person, so the log does not have it.
    reason: row.action === 'order.dismissed' ? (order.cancellation?.reason ?? null) : null,
  };
}

function actorName({ actorKind, actorId }: AuditRow, names: Map<string, string>): string {
  if (actorKind === 'job') return auditJobName(actorId);
  if (actorKind !== 'person') return AUDIT_ACTOR_LABELS[actorKind];
  return names.get(actorId ?? '') ?? 'Somebody who left';
}

/** The items that a change matched to a line, or removed from one. */
function movedItems({ action, oldValues, newValues }: AuditRow): string[] {
  if (action !== 'order.line_matched' && action !== 'order.line_unmatched') return [];
  const [before, after] = [matchesOf(oldValues), matchesOf(newValues)];
  const lines = Object.keys({ ...before, ...after }).filter((id) => before[id] !== after[id]);
  return lines.flatMap((id) => (action === 'order.line_matched' ? after[id] : before[id]) ?? []);
}

function matchesOf(values: Values): Record<string, string | null> {
  return (values.matches ?? {}) as Record<string, string | null>;
}

function presentEvent({ id, type, isSuppressed, createdAt, delivery }: OrderEvent): TimelineEntry {
  return {
    kind: 'event',
    at: createdAt.toISOString(),
    event_id: id,
    type,
    is_suppressed: isSuppressed,
    delivery:
      delivery === null
        ? null
        : {
            id: delivery.id,
            status: delivery.status,
            attempts: delivery.attempts,
            last_response_code: delivery.lastResponseCode,
            last_error: delivery.lastError,
            due_at: delivery.dueAt === null ? null : new Date(delivery.dueAt).toISOString(),
          },
  };
}
