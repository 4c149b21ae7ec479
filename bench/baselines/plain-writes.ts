import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChannelContext } from '../../src/channel/context.ts';
import { sessionOptions } from '../../src/db/connection-settings.ts';
import type { Database } from '../../src/db/database.ts';
import { rawSql, sql } from '../../src/db/sql.ts';
import type { WriteName } from '../load/load-generator.ts';
import type { Shop } from '../shop.ts';

/**
 * The same rows as the service writes, written by nothing but PostgreSQL: one statement and one commit for each write; an
 * event takes two, one when it is accepted and one when its receiver has answered. Into tables with the same columns (generated ones too), indexes, checks and foreign keys, with the same durability.
 */
export type SocketAddress = { socketDir: string; user: string; database: string };

/** Numbers of clients that are tried; the best one is what the service is compared with. */
const PGBENCH_CLIENTS = [4, 8, 16, 32];
const TRIAL_SECONDS = 2;

const TABLES = [
  'items',
  'customers',
  'customer_external_ids',
  'orders',
  'order_lines',
  'reservations',
  'idempotency_records',
  'storage_usage',
  'activity_counts',
  'channel_documents',
  'channel_clocks',
  'events',
  'deliveries',
  'webhook_endpoints',
  'api_requests',
];

/** Tables of the same shape, so that the plain writer meets the same work and nobody's rows. */
export async function preparePlainTables({ db }: ChannelContext, shops: Shop[]): Promise<void> {
  await db.query(rawSql('create schema plain'));
  for (const table of TABLES) await db.query(rawSql(`create table plain.${table} (like ${table} including all)`));
  await copyStorageSettings(db);
  const ids = shops.map((shop) => `'${shop.integrationId}'`).join(', ');
  const organizations = `select organization_id from integrations where id in (${ids})`;
  await copyRows(db, 'items', `organization_id in (${organizations})`);
  for (const table of ['channel_documents', 'channel_clocks', 'webhook_endpoints']) {
    await copyRows(db, table, `integration_id in (${ids})`);
  }
  await copyForeignKeys(db);
  await db.query(rawSql('create sequence plain.numbers'));
  await db.query(rawSql('create sequence plain.order_numbers'));
  await db.query(sql`
    create table plain.shops as
    select row_number() over (order by i.id) - 1 as n, i.id as integration_id, i.organization_id,
      array(select d.item_id from channel_documents d where d.integration_id = i.id) as item_ids,
      (select d.document from channel_documents d where d.integration_id = i.id limit 1) as document
    from integrations i where i.id in (${rawSql(ids)})`);
}

/** Generated columns can't be copied; the server computes them. */
async function copyRows(db: Database, table: string, condition: string): Promise<void> {
  const columns = await db.query<{ name: string }>(sql`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`);
  const names = columns.map(({ name }) => name).join(', ');
  await db.query(
    rawSql(`insert into plain.${table} (${names}) select ${names} from public.${table} where ${condition}`),
  );
}

/** How full its pages are made, and what is compressed; `like` leaves it out. */
async function copyStorageSettings(db: Database): Promise<void> {
  const tables = await db.query<{ name: string; settings: string }>(sql`
    select relname as name, array_to_string(reloptions, ', ') as settings from pg_class
    where oid = any(${TABLES.map((table) => `public.${table}`)}::regclass[]) and reloptions is not null`);
  for (const { name, settings } of tables) await db.query(rawSql(`alter table plain.${name} set (${settings})`));
}

/** `like` leaves them out. Where the other table has a plain twin, that is meant. */
async function copyForeignKeys(db: Database): Promise<void> {
  const keys = await db.query<{ table: string; definition: string }>(sql`
    select conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition from pg_constraint
    where contype = 'f' and conrelid = any(${TABLES.map((table) => `public.${table}`)}::regclass[])`);
  const statements = keys.map(({ table, definition }) => `alter table plain.${table} add ${definition};`);
  await db.query(rawSql(`begin; set local search_path to plain, public; ${statements.join(' ')} commit;`));
}

const SHOP = `shop as (
  select integration_id, organization_id, item_ids[1 + floor(random() * cardinality(item_ids))::int] as item_id, document,
    nextval('plain.numbers')::text as number
  from plain.shops where n = :shop
)`;
const CLOCK = `clock as (
  update plain.channel_clocks c set stamp = greatest(c.stamp + interval '1 millisecond', clock_timestamp())
  from shop where c.integration_id = shop.integration_id returning c.integration_id, c.stamp
)`;
const STOCK = `item as (
  update plain.items i set reserved_units = reserved_units + 1 from shop where i.id = shop.item_id returning i.id
), document as (
  update plain.channel_documents d set quantity = quantity - 1, document = shop.document, updated_at = clock.stamp
  from shop, clock where d.integration_id = shop.integration_id and d.item_id = shop.item_id returning d.item_id
)`;
/** A ping's event is found by its type and its time; an echo of the client's own write by neither. */
const event = (type: string, reason: 'echo' | 'no_url' | null) => `event as (
  insert into plain.events (integration_id, id, type, created_at, body, is_suppressed, has_delivery, object_id, unsent_reason)
  select shop.integration_id, 'evt_' || number, '${type}', stamp, repeat('x', 300), ${reason === 'echo'}, ${reason === null},
    item_id, ${reason === null ? 'null' : `'${reason}'`}
  from shop, clock returning id
)`;
const EVENT = event('listing.updated', 'echo');
/** The answer under its key, and the count of what the integration stored today. */
const record = (bytes: number) => `, stored as (
  insert into plain.storage_usage as u (integration_id, day, bytes)
  select integration_id, current_date, ${2 * bytes} from shop
  on conflict (integration_id, day) do update set bytes = u.bytes + excluded.bytes
)
insert into plain.idempotency_records (integration_id, key, fingerprint, status, body, request_id, is_test, created_at)
select shop.integration_id, '4711-' || number, decode(repeat('00', 32), 'hex'), 200, repeat('x', ${bytes}), 'req_' || number,
  false, clock_timestamp()
from shop`;
/** As long as an order of the load generator; the words of a search are computed from it. */
const orderDocument = (
  status: string,
  bytes: number,
) => `'{"status": "${status}", "channel_order_id": "4711-' || order_number
  || '","customer": null,"customer_id": null,"shipping_address": null,"billing_address": null,"metadata": "'
  || repeat('x', ${bytes - 180}) || '"}'`;

/** An `event` is a ping whose event is accepted and delivered: all rows that it leaves, in two commits. */
export type PlainWrite = WriteName | 'event';

/** Both commits know the event by a number that pgbench counts up; asking a sequence for it would be a third round trip. */
const COUNTED_SHOP = `shop as (
  select integration_id, item_ids[1] as item_id,
    lpad(:run::text || lpad(:client_id::text, 2, '0') || lpad(:n::text, 8, '0'), 26, '0') as number
  from plain.shops where n = :shop
)`;

/** What a plain program commits when it accepts an event: with the ping's rows those of the delivery and of the request log. */
const ACCEPTED_EVENT = `with ${COUNTED_SHOP}, ${CLOCK}, ${event('integration.test_event', null)}, delivery as (
  insert into plain.deliveries (integration_id, id, event_id, status, created_at, due_at)
  select shop.integration_id, 'dlv_' || number, 'evt_' || number, 'pending', stamp, stamp from shop, clock
), request as (
  insert into plain.api_requests (integration_id, at, request_id, method, route, status, duration_ms, key_hint,
    idempotency_key, object_id)
  select integration_id, clock_timestamp(), 'req_' || number, 'POST', '/v1/test/webhook_ping', 200, 1, '…abcd',
    '4711-' || number, 'evt_' || number
  from shop
) ${record(150)}`;

/** And when the receiver has answered: how the attempt ended, the health of the endpoint, and the count of the hour. */
const DELIVERED_EVENT = `with ${COUNTED_SHOP}, delivery as (
  update plain.deliveries d set status = 'succeeded', attempts = 1, dispatches = 1, due_at = null,
    last_attempt_at = clock_timestamp(), last_response_code = 200, last_response_body = 'ok', last_url = repeat('u', 30),
    last_started_at = clock_timestamp(), last_duration_ms = 1, last_dispatch = 0, last_attempt = 1,
    finished_at = clock_timestamp()
  from shop where d.integration_id = shop.integration_id and d.id = 'dlv_' || shop.number
), endpoint as (
  update plain.webhook_endpoints e set last_success_at = clock_timestamp(), consecutive_failures = 0
  from shop where e.integration_id = shop.integration_id
)
insert into plain.activity_counts as a (integration_id, kind, hour, count)
select integration_id, 'attempts_succeeded', date_trunc('hour', now(), 'UTC'), 1 from shop
on conflict (integration_id, kind, hour) do update set count = a.count + excluded.count`;

/** One write's rows as a single statement: the least that PostgreSQL can be asked to do for them. */
const STATEMENTS: Record<PlainWrite, string | string[]> = {
  event: `${ACCEPTED_EVENT}; ${DELIVERED_EVENT}`,
  ping: `with ${SHOP}, ${CLOCK}, ${event('integration.test_event', 'no_url')} ${record(150)}`,
  customer: `with ${SHOP}, customer as (
    insert into plain.customers (id, organization_id, is_test, email, email_key, first_name, last_name, created_at, updated_at)
    select 'cus_' || number, organization_id, false, '4711-' || number || '@example.ch', '4711-' || number || '@example.ch',
      'Ana', 'B', now(), now()
    from shop
  ), link as (
    insert into plain.customer_external_ids (integration_id, is_test, external_id, customer_id)
    select integration_id, false, '4711-' || number, 'cus_' || number from shop
  ) ${record(400)}`,
  order: `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, numbered as (
    select nextval('plain.order_numbers')::text as order_number
  ), new_order as (
    insert into plain.orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, request_id,
      created_at, updated_at)
    select integration_id, 'ord_' || order_number, organization_id, '4711-' || order_number, 'received', false,
      ${orderDocument('received', 900)}, 'req_' || order_number, stamp, stamp
    from shop join clock using (integration_id), numbered
  ), line as (
    insert into plain.order_lines (integration_id, id, order_id, position, item_id, units, is_holding)
    select integration_id, 'oln_' || order_number, 'ord_' || order_number, 0, item_id, 1, true from shop, numbered
  ), counted as (
    insert into plain.activity_counts as a (integration_id, kind, hour, count)
    select integration_id, 'orders', date_trunc('hour', stamp, 'UTC'), 1 from clock
    on conflict (integration_id, kind, hour) do update set count = a.count + excluded.count
  ) ${record(900)}`,
  cancellation: `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, chosen as (
    select o.integration_id, o.id, o.order_number from shop, lateral (
      select integration_id, id, substr(id, 5) as order_number from plain.orders
      where integration_id = shop.integration_id
        and id >= 'ord_' || floor(random() * (select last_value from plain.order_numbers))::bigint
      order by id limit 1) o
  ), changed as (
    update plain.orders o set status = 'cancelled', document = ${orderDocument('cancelled', 950)}, updated_at = clock.stamp
    from chosen, clock where o.integration_id = chosen.integration_id and o.id = chosen.id
  ), line as (
    update plain.order_lines l set is_holding = not is_holding
    from chosen where l.integration_id = chosen.integration_id and l.order_id = chosen.id
  ) ${record(950)}`,
  // Making and releasing in turn, as the load generator does.
  reservation: [
    `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, made as (
      insert into plain.reservations (integration_id, id, organization_id, is_test, kind, item_id, units, reference, status,
        expires_at, created_at, updated_at)
      select integration_id, 'rsv_' || number, organization_id, false, 'listing', item_id, 1, number, 'active',
        stamp + interval '15 minutes', stamp, stamp
      from shop join clock using (integration_id)
    ) ${record(400)}`,
    `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, chosen as (
      select r.integration_id, r.id from shop, lateral (
        select integration_id, id from plain.reservations
        where integration_id = shop.integration_id and status = 'active' order by expires_at limit 1) r
    ), released as (
      update plain.reservations r set status = 'released', updated_at = clock.stamp
      from chosen, clock where r.integration_id = chosen.integration_id and r.id = chosen.id
    ) ${record(400)}`,
  ],
};

export type PlainResult = { perSecond: number; label: string };
export type PlainOptions = {
  dir: string;
  address: SocketAddress;
  shopCount: number;
  seconds: number;
  /** At nice 10, as the load generator beside which somebody else is measured. */
  isLowPriority?: boolean;
};

/** How many of a write PostgreSQL does alone, with as many clients as it is fastest with. Null if there is no pgbench. */
export async function writePlainly(write: PlainWrite, options: PlainOptions): Promise<PlainResult | null> {
  const clients = bestClients.get(write) ?? (await mostOf(PGBENCH_CLIENTS, (count) => runTrial(write, options, count)));
  bestClients.set(write, clients);
  const perSecond = await runPgbench(write, options, clients);
  return perSecond === null ? null : { perSecond, label: `pgbench, ${clients} clients` };
}

/** Tried once in a run: the trials are as long as a round. */
const bestClients = new Map<PlainWrite, number>();

async function runTrial(write: PlainWrite, options: PlainOptions, clients: number): Promise<number> {
  return (await runPgbench(write, { ...options, seconds: TRIAL_SECONDS }, clients)) ?? 0;
}

async function mostOf(candidates: number[], rate: (candidate: number) => Promise<number>): Promise<number> {
  let best = { candidate: candidates[0] ?? 1, perSecond: 0 };
  for (const candidate of candidates) {
    const perSecond = await rate(candidate);
    if (perSecond > best.perSecond) best = { candidate, perSecond };
  }
  return best.candidate;
}

async function runPgbench(
  write: PlainWrite,
  { dir, address, shopCount, seconds, isLowPriority = false }: PlainOptions,
  clients: number,
): Promise<number | null> {
  const scripts: string[] = [];
  // Of several scripts pgbench takes one at random for each transaction.
  for (const [index, statement] of [STATEMENTS[write]].flat().entries()) {
    const script = join(dir, `${write}-${index}.sql`);
    const variables = `\\set shop random(0, ${shopCount - 1})\n\\set n :n + 1\n`;
    await writeFile(script, `${variables}${statement.replaceAll('\n', ' ')};\n`);
    scripts.push('-f', script);
  }
  // A run's numbers differ from those of the run before it.
  const counters = ['-D', 'n=0', '-D', `run=${Date.now()}`];
  const args = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(clients),
    '-j',
    '1',
    '-T',
    String(seconds),
    ...counters,
    ...scripts,
  ];
  const connection = ['-h', address.socketDir, '-U', address.user, address.database];
  try {
    const [file, ...before] = isLowPriority ? ['nice', '-n', '10', 'pgbench'] : ['pgbench'];
    const { stdout } = await promisify(execFile)(file as string, [...before, ...args, ...connection], {
      // The same durability as our own connections have, or the ratio would compare two different promises; and planned by
      // index as our writes are, foreign key checks included.
      env: { ...process.env, PGOPTIONS: `${sessionOptions()} -c enable_seqscan=off` },
    });
    return Math.round(Number(/tps = ([\d.]+)/.exec(stdout)?.[1]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
