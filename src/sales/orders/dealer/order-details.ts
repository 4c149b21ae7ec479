import { DomainError } from '../../../contract/domain-error.ts';
import type { Order } from '../../../contract/resources/order.ts';
import type { Queryable } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { type ItemSummary, summariesOf } from '../../../inventory/lists/item-summaries.ts';
import { type Unmatched, unmatchedReasons } from './unmatched-reasons.ts';

/** An order of a dealer with what its page shows beside it. */
export type OrderDetails = {
  order: Order;
  integrationId: string;
  hasCustomerConflict: boolean;
  /** The API requests that reported and cancelled it, where the service knows them. */
  requestId: string | null;
  cancelRequestId: string | null;
  /** Those that lines are matched to or name, as far as they are still in stock. */
  items: Map<string, ItemSummary>;
  unmatched: Map<string, Unmatched>;
};

/** An order of another dealer is the same as a missing one. */
export async function readDealerOrder(db: Queryable, organizationId: string, orderId: string): Promise<OrderDetails> {
  const { document, ...row } = await findRow(db, organizationId, orderId);
  const order = JSON.parse(document) as Order;
  const ids = order.lines.flatMap(({ match, listing_id, part_id }) => match?.id ?? listing_id ?? part_id ?? []);
  const items = await summariesOf(db, organizationId, ids);
  const unmatched = await unmatchedReasons(db, row.integrationId, order, items);
  return { order, ...row, items, unmatched };
}

type Row = Pick<OrderDetails, 'integrationId' | 'hasCustomerConflict' | 'requestId' | 'cancelRequestId'> & {
  document: string;
};

async function findRow(db: Queryable, organizationId: string, orderId: string): Promise<Row> {
  const [row] = await db.query<Row>(sql`
    select document, integration_id as "integrationId", has_customer_conflict as "hasCustomerConflict",
      request_id as "requestId", cancel_request_id as "cancelRequestId"
    from orders where organization_id = ${organizationId} and id = ${orderId}`);
  if (row === undefined) throw new DomainError('not_found', 'There is no such order.');
  return row;
}
