import { rawSql, sql } from '../../src/db/sql.ts';
import { ENDPOINTS, type Scene } from './scene.ts';

export const FINISHED_ROWS = 1_000_000;

/**
 * Copies of finished rows, older than those that the drain makes. They lie as densely as the worker leaves its own: a page
 * begins 60 % full of what waits, and what is finished is a third larger. With the room of the table's setting on each page
 * the new rows would be strewn among the old ones, one to a page.
 */
export async function makeFinished({ db, endpoints }: Scene): Promise<void> {
  const copies = FINISHED_ROWS / ENDPOINTS;
  await db.query(rawSql('alter table deliveries set (fillfactor = 80)'));
  for (const { integrationId } of endpoints) {
    for (let from = 0; from < copies; from += 25_000) {
      await db.query(sql`
        with made as (
          insert into events (integration_id, id, type, created_at, body, has_delivery)
          select ${integrationId}, 'evt_' || lpad((${from}::integer + n)::text, 26, '0'), 'listing.updated',
            now() - interval '1 day', ${'x'.repeat(280)}, true from generate_series(1, 25000) n)
        insert into deliveries (integration_id, id, event_id, status, attempts, dispatches, created_at, finished_at,
          last_attempt_at, last_response_code, last_response_body)
        select ${integrationId}, 'dlv_' || lpad((${from}::integer + n)::text, 26, '0'),
          'evt_' || lpad((${from}::integer + n)::text, 26, '0'), 'succeeded', 1, 1, now() - interval '1 day',
          now() - interval '1 day', now() - interval '1 day', 200, 'ok' from generate_series(1, 25000) n`);
    }
  }
  await db.query(rawSql('alter table deliveries set (fillfactor = 60)'));
}
