import type { DatabaseAddress } from '../../src/db/connection-settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { newId } from '../../src/ids/new-id.ts';

export type BulkCounts = { events: number; orders: number; items: number; customers: number };

const TIMEOUT_MS = 60_000;

/** Fills a dealer and one of its integrations by a few statements, for tests of what large ones cost. */
export async function fillWithRows(
  address: DatabaseAddress,
  { organizationId, integrationId }: { organizationId: string; integrationId: string },
  counts: BulkCounts,
): Promise<void> {
  const db = openDatabase({ address, poolSize: 1, onIdleError: () => {}, statementTimeoutMs: TIMEOUT_MS });
  const client = await db.connect();
  /** Ids of our form that differ in their last digits. */
  const ids = (kind: Parameters<typeof newId>[0]) => `'${newId(kind).slice(0, -7)}' || lpad(n::text, 7, '0')`;
  const [itemId, orderId, customerId] = [ids('part'), ids('order'), ids('customer')];
  try {
    // Without the check of each row's foreign keys, which takes most of the time.
    await client.query('begin; set local session_replication_role = replica');
    await client.query(
      `insert into items (id, organization_id, kind, stock_number, title, units, reserved_units, attributes, created_at)
       select ${itemId}, $1, 'part', 'P-' || n, 'Crown', 9, case when n <= $3 then 1 else 0 end, '{}', now()
       from generate_series(1, $2::integer) n`,
      [organizationId, counts.items, Math.min(counts.items, counts.orders)],
    );
    await client.query(
      `insert into photos (id, item_id, organization_id, position, width, height, format)
       select ${ids('photo')}, ${itemId}, $1, 1, 10, 10, 'jpeg' from generate_series(1, $2::integer) n`,
      [organizationId, counts.items],
    );
    await client.query(
      `insert into publications (integration_id, item_id, is_on, published_at)
       select $1, ${itemId}, true, now() from generate_series(1, $2::integer) n`,
      [integrationId, counts.items],
    );
    await client.query(
      `insert into customers (id, organization_id, is_test, email, email_key, created_at, updated_at)
       select ${customerId}, $1, false, 'c' || n || '@a.ch', 'c' || n || '@a.ch', now(), now()
       from generate_series(1, $2::integer) n`,
      [organizationId, counts.customers],
    );
    await client.query(
      `insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, created_at, updated_at)
       select $1, ${orderId}, $2, 'SO-' || n, 'received', false, '{}', now(), now() from generate_series(1, $3::integer) n`,
      [integrationId, organizationId, counts.orders],
    );
    await client.query(
      `insert into order_lines (integration_id, id, order_id, position, item_id, units, is_holding)
       select $1, ${ids('orderLine')}, ${orderId}, 0, ${itemId}, 1, true from generate_series(1, $2::integer) n`,
      [integrationId, Math.min(counts.items, counts.orders)],
    );
    const eventId = ids('event');
    await client.query(
      `insert into events (integration_id, id, type, created_at, body, has_delivery)
       select $1, ${eventId}, 'listing.updated', now(), '{}', true from generate_series(1, $2::integer) n`,
      [integrationId, counts.events],
    );
    await client.query(
      `insert into deliveries (integration_id, id, event_id, status, created_at, due_at)
       select $1, ${ids('delivery')}, ${eventId}, 'pending', now(), now() from generate_series(1, $2::integer) n`,
      [integrationId, counts.events],
    );
    await client.query('commit');
  } finally {
    await client.end();
    await db.close();
  }
}
