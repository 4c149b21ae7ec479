import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** The beginning of the body of every test event; `data` follows. See outbox.ts. */
const TEST_MARK = '"livemode":false,"data":';
/** Where the mark ends at the latest: before it stand an id, a type, a version and a time. */
const HEAD_LENGTH = 300;

/**
 * Cancels what was not delivered yet of an integration's test orders. Their events stay in the log, as events without a
 * delivery. An attempt in flight ends, and its outcome is dropped. Returns how many deliveries there were, at most `limit`.
 */
export async function cancelTestDeliveries(tx: Transaction, integrationId: string, limit?: number): Promise<number> {
  const rows = await tx.query(sql`
    with cancelled as (
      delete from deliveries where ctid = any(array(
        select d.ctid from deliveries d join events e on e.integration_id = d.integration_id and e.id = d.event_id
        where d.integration_id = ${integrationId} and d.status in ('pending', 'failed', 'held')
          and e.type like 'order.%' and strpos(left(e.body, ${HEAD_LENGTH}), ${TEST_MARK}) > 0
        limit ${limit ?? null} for update of d))
      returning event_id
    )
    update events e set has_delivery = false, unsent_reason = 'test_deleted' from cancelled c
    where e.integration_id = ${integrationId} and e.id = c.event_id returning e.id`);
  return rows.length;
}
