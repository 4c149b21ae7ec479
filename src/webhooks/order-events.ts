import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { DeliveryStatus } from './delivery-queue/delivery-log.ts';

/** An event about an order, with how its delivery stands; null if it has none. */
export type OrderEvent = {
  id: string;
  type: string;
  isSuppressed: boolean;
  createdAt: Date;
  delivery: {
    id: string;
    status: DeliveryStatus;
    attempts: number;
    lastResponseCode: number | null;
    lastError: string | null;
    dueAt: string | null;
  } | null;
};

const EVENTS_LIMIT = 100;

/** The events about one order that its own client gets, newest first. If there are more than the limit, the list is cut. */
export async function listOrderEvents(
  db: Queryable,
  integrationId: string,
  orderId: string,
): Promise<{ events: OrderEvent[]; isCut: boolean }> {
  const rows = await db.query<OrderEvent>(sql`
    select e.id, e.type, e.is_suppressed as "isSuppressed", e.created_at as "createdAt", sent.delivery
    from events e
    left join lateral (
      select json_build_object('id', d.id, 'status', d.status, 'attempts', d.attempts,
        'lastResponseCode', d.last_response_code, 'lastError', d.last_error,
        'dueAt', case when d.status = 'failed' then d.due_at end) as delivery
      from deliveries d where d.integration_id = e.integration_id and d.event_id = e.id
      order by d.id desc limit 1) sent on true
    where e.integration_id = ${integrationId} and e.object_id = ${orderId} and e.type like 'order.%'
    order by e.id desc limit ${EVENTS_LIMIT + 1}`);
  return { events: rows.slice(0, EVENTS_LIMIT), isCut: rows.length > EVENTS_LIMIT };
}
