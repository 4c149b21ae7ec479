import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { firstIdAt } from '../../../src/contract/ids.ts';
import type { Database } from '../../../src/db/database.ts';
import { DEMO_WATCHES } from '../../../src/demo/catalogue/watches.ts';

/**
 * Rows in bulk for the dashboard's lists, to measure and to explain with: the same shares of everything among a thousand and
 * among a million, and a few rows of what is rare at the old end, where a walk from the new end comes last.
 */
export type RowOwner = { organizationId: string; integrationId: string };

/** So many rows of each rare kind, however many rows there are. */
const RARE_ROWS = 10;
export const RARE_LOCATION = 'Vault';

/** One statement inserts so many. */
const BATCH_ROWS = 50_000;
const STATEMENT_LIMIT_MS = 300_000;
/** Deliveries, events and requests are spread over less time than they are kept. */
const SPAN_MS = 6 * 24 * 3_600_000;
/** The times that ids are made of; computing one for each row in SQL would take most of the time. */
const MOMENTS = 1_000;
const SETTLE_ATTEMPTS = 40;
const SETTLE_WAIT_MS = 250;

/** Everything that a document shows of a watch; brand, model, reference and year differ from row to row. */
const WATCH_ATTRIBUTES = DEMO_WATCHES[0]?.attributes ?? {};

type Session = { run(text: string, values?: unknown[]): Promise<void> };

export async function fillStock(db: Database, owner: RowOwner, count: number): Promise<void> {
  await withSession(db, ['items', 'photos', 'publications', 'channel_documents', 'locations'], async ({ run }) => {
    const { organizationId, integrationId } = owner;
    const unit = idOf(owner, 'bun', '0');
    await run(`insert into business_units (id, organization_id, name) values (${unit}, '${organizationId}', 'Shop')`);
    await run(`
      insert into locations (id, organization_id, business_unit_id, name)
      select ${idOf(owner, 'loc', 'number')}, '${organizationId}', ${unit}, name
      from unnest(array['Window', 'Safe', '${RARE_LOCATION}']) with ordinality as location (name, number)`);
    await inBatches(
      count,
      run,
      `
      insert into items (id, organization_id, kind, stock_number, title, description, price_amount, units, reserved_units,
        is_hidden, location_id, attributes, created_at, channel_count, photo_count)
      select ${idOf(owner, 'lst', 'i')}, '${organizationId}', 'listing', 'S-' || lpad(i::text, 7, '0'),
        brand || ' ' || model || case when ${isRare} then ' tropical' else '' end,
        case when i % 10 = 3 then '' else repeat('A watch that was worn with care. ', 12) end,
        100000 + (i::bigint * 7919 % 10000) * 1000, case when i % 10 = 7 then 0 else 1 end,
        case when ${isRare} and i % 10 <> 7 then 1 else 0 end, i % 20 = 11,
        ${idOf(owner, 'loc', `case when ${isRare} then 3 else 1 + i % 2 end`)},
        $3::jsonb || jsonb_build_object('brand', brand, 'model', model, 'reference_number', 'R' || (1000 + i % 800),
          'year', 1990 + i % 35),
        now() - interval '1 second' * (${count} - i), case when i % 5 = 4 then 0 else 1 end, 1
      from (select i, (array['Rolex', 'Omega', 'Cartier', 'Heuer'])[1 + i % 4] as brand,
          (array['Submariner', 'Seamaster', 'Tank', 'Carrera', 'Explorer', 'Speedmaster', 'Santos', 'Monaco', 'Daytona',
            'Constellation', 'Panthere', 'Autavia'])[1 + i % 12] as model
        from generate_series($1::integer, $2::integer) i) drawn`,
      [JSON.stringify(WATCH_ATTRIBUTES)],
    );
    await inBatches(
      count,
      run,
      `
      insert into photos (id, item_id, organization_id, position, width, height, format)
      select ${idOf(owner, 'pho', 'i')}, ${idOf(owner, 'lst', 'i')}, '${organizationId}', 1, 1200, 1200, 'jpeg'
      from generate_series($1::integer, $2::integer) i`,
    );
    await inBatches(
      count,
      run,
      `
      insert into publications (integration_id, item_id, is_on, published_at)
      select '${integrationId}', ${idOf(owner, 'lst', 'i')}, true, now()
      from generate_series($1::integer, $2::integer) i where i % 5 <> 4`,
    );
    await inBatches(
      count,
      run,
      `
      insert into channel_documents (integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable,
        renderer, updated_at)
      select '${integrationId}', (select api_version from integrations where id = '${integrationId}'),
        ${idOf(owner, 'lst', 'i')}, 'listing', 'active', 1,
        '{"price":{"amount":' || 100000 + i % 1000 || ',"currency":"USD"},"padding":"' || repeat('x', 800) || '"}', false,
        'rows', now() - interval '1 second' * (${count} - i)
      from generate_series($1::integer, $2::integer) i where i % 5 <> 4`,
    );
  });
}

/** Orders of items that `fillStock` made. */
export async function fillOrders(db: Database, owner: RowOwner, count: number): Promise<void> {
  const { organizationId, integrationId } = owner;
  await withSession(db, ['orders'], async ({ run }) => {
    await inBatches(
      count,
      run,
      `
      insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, has_customer_conflict,
        document, created_at, updated_at)
      select '${integrationId}', ${idOf(owner, 'ord', 'i')}, '${organizationId}', 'SO-' || i,
        case when ${isRare} then 'cancelled' when i % 10 < 5 then 'fulfilled' when i % 10 < 8 then 'matched' else 'received' end,
        i % 20 = 9, ${isRare} and i % 2 = 0,
        json_build_object('currency', 'USD', 'total_amount', 500000, 'customer', json_build_object(
            'first_name', (array['Ada', 'Grace', 'Edsger', 'Barbara'])[1 + i % 4],
            'last_name', case when ${isRare} then 'Quixote' else 'Miller' || i % 500 end,
            'email', 'buyer' || i || '@example.com', 'phone', null),
          'lines', json_build_array(json_build_object('id', 'oln_' || i, 'title', 'A watch', 'quantity', 1,
            'listing_id', ${idOf(owner, 'lst', '1 + i % 500')}, 'match', null)))::text,
        at, at
      from (select i, now() - interval '10 seconds' * (${count} - i) as at from generate_series($1::integer, $2::integer) i) drawn`,
    );
  });
}

/** Events about items that `fillStock` made, each with its delivery unless it was not sent. */
export async function fillEvents(db: Database, owner: RowOwner, count: number): Promise<void> {
  const { integrationId } = owner;
  const object = idOf(owner, 'lst', `case when ${isRare} then 501 else 1 + i % 500 end`);
  await withSession(db, ['events', 'deliveries'], async ({ run }) => {
    const { values, rows } = momentsOf(count);
    await inBatches(
      count,
      run,
      `
      insert into events (integration_id, id, type, created_at, body, is_suppressed, has_delivery, object_id, unsent_reason)
      select '${integrationId}', 'evt_' || moment || lpad(i::text, 16, '0'),
        case when ${isRare} then 'part.updated' when i % 10 = 1 then 'listing.sold' else 'listing.updated' end, at,
        '{"padding":"' || repeat('x', 200) || '"}', ${isUnsent} and not ${isRare}, not ${isUnsent}, ${object},
        case when ${isUnsent} then case when ${isRare} then 'no_url' else 'echo' end end
      from ${rows}`,
      values,
    );
    await inBatches(
      count,
      run,
      `
      insert into deliveries (integration_id, id, event_id, status, attempts, due_at, created_at, finished_at, is_waiting,
        last_attempt_at, last_response_code, last_error)
      select '${integrationId}', 'dlv_' || moment || lpad(i::text, 16, '0'), 'evt_' || moment || lpad(i::text, 16, '0'),
        status, case when status in ('pending', 'held') then 0 else 1 end,
        case when status in ('pending', 'failed') then now() + interval '1 year' end, at,
        case when status in ('succeeded', 'dead_letter') then at end, status = 'failed', at,
        case status when 'succeeded' then 200 when 'failed' then 503 when 'dead_letter' then 404 end,
        case when status = 'dead_letter' then 'the receiver answered 404' end
      from (select i, moment, at, case when i <= 4 then 'held' when ${isRare} then 'pending' when i % 10 = 1 then 'dead_letter'
          when i % 10 = 2 then 'failed' else 'succeeded' end as status
        from ${rows} where not ${isUnsent}) drawn`,
      values,
    );
  });
}

export async function fillRequests(db: Database, { integrationId }: RowOwner, count: number): Promise<void> {
  await withSession(db, ['api_requests'], async ({ run }) => {
    const { values, rows } = momentsOf(count);
    await inBatches(
      count,
      run,
      `
      insert into api_requests (integration_id, at, request_id, method, route, status, code, duration_ms, key_hint,
        idempotency_key)
      select '${integrationId}', at + interval '1 millisecond' * (i % 500), 'req_' || md5('${integrationId}' || i),
        case when i <= 3 then 'HEAD' when i % 10 < 2 then 'POST' else 'GET' end,
        case when ${isRare} then '/v1/me' when i % 10 < 2 then '/v1/orders' else '/v1/listings' end,
        case when i between 4 and 6 then 503 when i between 7 and 9 then 304 when i % 10 = 1 then 409 else 200 end,
        case when i % 10 = 1 then 'conflict' end, 3, 'svc_live_abc', case when i % 10 < 2 then 'key-' || i end
      from ${rows}`,
      values,
    );
  });
}

/** The id of the nth item that `fillStock` made. */
export function itemIdOf(owner: RowOwner, number: number): string {
  return `lst_0${owner.integrationId.slice(-11)}${String(number).padStart(14, '0')}`;
}

/** The same in SQL, of any kind of thing. */
function idOf({ integrationId }: RowOwner, prefix: string, number: string): string {
  return `'${prefix}_0${integrationId.slice(-11)}' || lpad((${number})::text, 14, '0')`;
}

const isRare = `(i <= ${RARE_ROWS})`;
/** Every tenth, and one of the rare ones. */
const isUnsent = '(i % 10 = 5)';

/** Rows of (i, moment, at), the newest last; `moment` is how ids of that time begin. */
function momentsOf(count: number): { values: unknown[]; rows: string } {
  const start = Date.now() - SPAN_MS;
  const times = Array.from({ length: MOMENTS }, (_, index) => start + Math.floor((index * SPAN_MS) / MOMENTS));
  const ID_START = 'evt_'.length;
  const TIME_LENGTH = 10;
  const moments = times.map((time) => firstIdAt('event', time).slice(ID_START, ID_START + TIME_LENGTH));
  return {
    values: [moments, times.map((time) => new Date(time).toISOString())],
    rows: `generate_series($1::integer, $2::integer) i
      join unnest($3::text[], $4::timestamptz[]) with ordinality as moments (moment, at, number)
        on number = 1 + (i - 1)::bigint * ${MOMENTS} / ${count}`,
  };
}

async function inBatches(count: number, run: Session['run'], text: string, values: unknown[] = []): Promise<void> {
  for (let from = 1; from <= count; from += BATCH_ROWS) {
    await run(text, [from, Math.min(count, from + BATCH_ROWS - 1), ...values]);
  }
}

async function withSession(db: Database, tables: string[], fill: (session: Session) => Promise<void>): Promise<void> {
  const session = await db.connect();
  const run = async (text: string, values: unknown[] = []) => {
    await session.query({ text, values, query_timeout: STATEMENT_LIMIT_MS } as pg.QueryConfig);
  };
  try {
    await run(`set statement_timeout = ${STATEMENT_LIMIT_MS}`);
    await run('set synchronous_commit = off');
    // Without the check of each row's foreign keys, which takes most of the time.
    await run('set session_replication_role = replica');
    await fill({ run });
    for (const table of tables) await settle(session, run, table);
  } finally {
    await session.end();
  }
}

/** Leaves a table as autovacuum does when it has been at rest for some minutes: indexes alone can answer. */
async function settle(session: pg.Client, run: Session['run'], table: string): Promise<void> {
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) {
    await run(`vacuum analyze ${table}`);
    // While something else reads the table, such as an analyze of the server's own, rows can't be marked as seen by all.
    const { rows } = await session.query(
      `select relallvisible >= 0.99 * relpages as "isSettled" from pg_class where oid = $1::regclass`,
      [table],
    );
    if (rows[0].isSettled) return;
    await sleep(SETTLE_WAIT_MS);
  }
}
