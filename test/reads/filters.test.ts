import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { createDocumentReader } from '../../src/channel/reads/read-documents.ts';
import type { Queryable } from '../../src/db/database.ts';
import { listOrders } from '../../src/sales/orders/read-orders.ts';
import { listReservations } from '../../src/sales/reservations/read-reservations.ts';
import { listEvents } from '../../src/webhooks/event-log.ts';
import { explain } from '../harness/database/explain.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

/** Of each list; the check by hand takes a million: `FILTER_ROWS=1000000 npx node --test …`, and no `--test-timeout`. */
const ROWS = Number(process.env.FILTER_ROWS ?? 60_000);
const LIMIT = 251;
/** One statement inserts so many. */
const FILL_BATCH = 50_000;
const FILL_LIMIT_MS = 120_000;
const SUITE_LIMIT_MS = 30 * 60_000;
/** A page of 251 rows of each of several statuses, each by itself in an index and in the table; a scan reads thousands. */
const PAGES_LIMIT = 1_500;

describe('a filter is an index, whatever lies between the rows that it keeps', { timeout: SUITE_LIMIT_MS }, () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    shop = await openShop(world);
    await fill(world, shop);
  });
  after(() => world.stop());

  const now = new Date('2026-06-01T00:00:00Z');
  const middle = new Date('2026-05-20T00:00:00Z');
  const cursor = { id: 'zzz', at: middle };
  const positions = [
    { where: 'on the first page', since: null, before: null },
    { where: 'after a time', since: middle, before: null },
    { where: 'after a cursor', since: null, before: cursor },
    { where: 'after a time and a cursor', since: new Date('2026-05-10T00:00:00Z'), before: cursor },
  ];

  for (const kind of ['listing', 'part'] as const) {
    it(`${kind}s by ids`, async () => {
      const ids = Array.from({ length: 250 }, (_, index) => `${kind}${String(index * 7 + 1).padStart(9, '0')}`);
      await assertFewPages(world, (db) =>
        createDocumentReader({ ...world.channel, db: { ...world.db, ...db } }, 1_000_000).many(
          { integrationId: shop.integrationId, kind },
          ids,
          now,
        ),
      );
    });
  }

  for (const { where, since, before } of positions) {
    for (const types of [null, ['order.cancelled'], ['order.cancelled', 'part.updated'], ['listing.updated']]) {
      it(`events of ${types ?? 'every type'} ${where}`, async () => {
        const query = { integrationId: shop.integrationId, limit: LIMIT, types, createdAfter: since, before, now };
        await assertFewPages(world, (db) => listEvents(db, query));
      });
    }
    for (const statuses of [null, ['cancelled'], ['cancelled', 'fulfilled'], ['received', 'matched']]) {
      it(`orders of ${statuses ?? 'every status'} ${where}`, async () => {
        const query = { ...shop, limit: LIMIT, statuses, updatedAfter: since, before };
        await assertFewPages(world, (db) => listOrders(db, query));
      });
    }
    // Their list has no filter by time.
    for (const statuses of since === null ? [null, ['active'], ['released', 'expired'], ['used']] : []) {
      it(`reservations of ${statuses ?? 'every status'} ${where}`, async () => {
        const query = { ...shop, limit: LIMIT, statuses, before };
        await assertFewPages(world, (db) => listReservations(db, query));
      });
    }
    for (const kind of ['listing', 'part'] as const) {
      for (const statuses of [null, ['active'], ['unpublished'], ['unpublished', 'sold', 'reserved']]) {
        it(`${kind}s of ${statuses ?? 'every status'} ${where}`, async () => {
          const request = { limit: LIMIT, statuses, updatedAfter: since, before };
          await assertFewPages(world, (db) =>
            createDocumentReader({ ...world.channel, db: { ...world.db, ...db } }, 1_000_000).page(
              { integrationId: shop.integrationId, kind },
              request,
              now,
            ),
          );
        });
      }
    }
  }
});

/** Rows of one type or status but for a few at the old end, where a scan from the new end comes last. */
async function fill(world: World, { integrationId, organizationId }: Shop): Promise<void> {
  const at = `timestamptz '2026-05-31' - i * interval '2400000 seconds' / ${ROWS}`;
  const rare = (usual: string, seldom: string) => `case when i > ${ROWS - 10} then '${seldom}' else '${usual}' end`;
  const padding = `'{"padding":"${'x'.repeat(200)}"}'`;
  const inserts = [
    `insert into events (integration_id, id, type, created_at, body)
      select '${integrationId}', 'evt_' || lpad(i::text, 9, '0'), ${rare('listing.updated', 'order.cancelled')}, ${at},
        ${padding} from generate_series($1::integer, $2::integer) i`,
    `insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, created_at, updated_at)
      select '${integrationId}', 'ord_' || lpad(i::text, 9, '0'), '${organizationId}', 'SO-' || i,
        ${rare('received', 'cancelled')}, false, ${padding}, ${at}, ${at} from generate_series($1::integer, $2::integer) i`,
    `insert into reservations (integration_id, id, organization_id, is_test, kind, item_id, units, status, expires_at,
        created_at, updated_at)
      select '${integrationId}', 'rsv_' || lpad(i::text, 9, '0'), '${organizationId}', false, 'listing', 'lst_' || i, 1,
        ${rare('expired', 'active')}, ${at}, ${at}, ${at} from generate_series($1::integer, $2::integer) i`,
    ...['listing', 'part'].map(
      (kind) => `insert into channel_documents (integration_id, api_version, item_id, kind, status, quantity, document,
        is_unpriceable, renderer, updated_at)
      select '${integrationId}', (select api_version from integrations where id = '${integrationId}'),
        '${kind}' || lpad(i::text, 9, '0'), '${kind}', ${rare('active', 'unpublished')}, 1, ${padding}, false, 'tests', ${at}
      from generate_series($1::integer, $2::integer) i`,
    ),
  ];
  const session = await world.db.connect();
  const run = (text: string, values: number[] = []) =>
    session.query({ text, values, query_timeout: FILL_LIMIT_MS } as pg.QueryConfig);
  try {
    await run(`set statement_timeout = ${FILL_LIMIT_MS}`);
    // Without the check of each row's foreign keys, which takes most of the time.
    await run('set session_replication_role = replica');
    for (const insert of inserts) {
      for (let from = 1; from <= ROWS; from += FILL_BATCH)
        await run(insert, [from, Math.min(ROWS, from + FILL_BATCH - 1)]);
    }
    for (const table of ['events', 'orders', 'reservations', 'channel_documents']) await run(`vacuum analyze ${table}`);
  } finally {
    await session.end();
  }
}

/** Runs a read whose every statement is explained, for these very values and by a plan for any. */
async function assertFewPages(world: World, read: (db: Queryable) => Promise<unknown>): Promise<void> {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    const session = await world.db.connect();
    try {
      await session.query(`set plan_cache_mode = ${mode}`);
      await read({
        query: (statement) =>
          explain(session, statement, ({ pages, plan, text }) => {
            assert.ok(pages <= PAGES_LIMIT, `${mode} reads ${pages} pages: ${JSON.stringify(plan, null, 1)}\n${text}`);
          }),
      });
    } finally {
      await session.end();
    }
  }
}
