import { isId } from '../../contract/ids.ts';
import type { Queryable } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { deliveryRange, dispatchId } from '../sending/dispatch-id.ts';

export const DELIVERY_STATUSES = ['pending', 'failed', 'held', 'dead_letter', 'succeeded'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export type DeliverySummary = {
  id: string;
  eventId: string;
  type: string;
  status: DeliveryStatus;
  /** A worker is sending it right now. */
  isInFlight: boolean;
  /** Since it was made, or since it was queued again. */
  attempts: number;
  /** How the last of these attempts ended. */
  lastResponseCode: number | null;
  lastError: string | null;
  /** When a delivery that failed is tried again. */
  dueAt: Date | null;
  createdAt: Date;
};

/** A delivery with all that is known of the last attempt, which may lie before it was queued again. */
export type DeliveryDetail = DeliverySummary & {
  /** How often it was sent in all, counting those whose outcome was never recorded. */
  dispatches: number;
  lastAttemptAt: Date | null;
  lastResponseBody: string | null;
};

/** The newest deliveries of an integration, of some statuses or of all. */
export async function listDeliveries(
  db: Queryable,
  integrationId: string,
  { limit, statuses = DELIVERY_STATUSES }: { limit: number; statuses?: readonly DeliveryStatus[] },
): Promise<DeliverySummary[]> {
  return await db.query<DeliverySummary>(sql`
    select ${summaryColumns()}, case when d.attempts > 0 then d.last_response_code end as "lastResponseCode",
      case when d.attempts > 0 then d.last_error end as "lastError"
    from deliveries d join events e on e.integration_id = d.integration_id and e.id = d.event_id
    where d.integration_id = ${integrationId} and d.status = any(${[...statuses]}::text[])
    order by d.id desc limit ${limit}`);
}

/** Finds a delivery by its own id, or by the id that any of its dispatches carried. */
export async function findDelivery(
  db: Queryable,
  integrationId: string,
  deliveryOrDispatchId: string,
): Promise<DeliveryDetail | null> {
  if (!isId('delivery', deliveryOrDispatchId)) return null;
  const { from, to } = deliveryRange(deliveryOrDispatchId);
  const rows = await db.query<DeliveryDetail>(sql`
    select ${summaryColumns()}, d.last_response_code as "lastResponseCode", d.last_error as "lastError",
      d.dispatches, d.last_attempt_at as "lastAttemptAt", d.last_response_body as "lastResponseBody"
    from deliveries d join events e on e.integration_id = d.integration_id and e.id = d.event_id
    where d.integration_id = ${integrationId} and d.id between ${from} and ${to}
    order by d.id limit ${CANDIDATES_LIMIT}`);
  return rows.find((row) => isDispatchOf(row, deliveryOrDispatchId)) ?? null;
}

/** One as a rule: many more than could ever share the beginning of their ids. */
const CANDIDATES_LIMIT = 100;

function isDispatchOf({ id, dispatches }: DeliveryDetail, wanted: string): boolean {
  if (id === wanted) return true;
  for (let before = 1; before < dispatches; before++) if (dispatchId(id, before) === wanted) return true;
  return false;
}

function summaryColumns(): Sql {
  return sql`d.id, d.event_id as "eventId", e.type, d.status, d.attempts, d.created_at as "createdAt",
    d.lease_token is not null and d.leased_until > clock_timestamp() as "isInFlight",
    case when d.status = 'failed' and d.lease_token is null then d.due_at end as "dueAt"`;
}
