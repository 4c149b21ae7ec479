import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChannelContext } from '../src/channel/context.ts';
import { sessionOptions } from '../src/db/connection-settings.ts';
import { rawSql, sql } from '../src/db/sql.ts';
import { newId } from '../src/ids/new-id.ts';
import { cpuSeconds, openStage, type Stage } from './processes.ts';
import { makeShop, median, openBackDoor, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const SECONDS = 6;
const CONNECTIONS = 64;
/** What pgbench is fastest with here; more clients only wait for the four clocks. */
const PGBENCH_CLIENTS = 16;
const SHOPS = 4;
const LISTINGS = 2_000;
const ROUNDS = 3;
const BULK_RECORDS = 1_000;
/** The first half creates, the second updates the same people. */
const BULK_ROUNDS = 40;
const UNITS = 1_000_000;

/** Orders and bulk customers through the API, against the same rows written by nothing but PostgreSQL. */
export async function benchWrites(): Promise<void> {
  const stage = await openStage();
  try {
    const service = await stage.startService();
    const { link, context } = await openBackDoor(service);
    console.log(`Making ${SHOPS} dealers with ${LISTINGS} listings each …`);
    const shops: Shop[] = [];
    for (let index = 0; index < SHOPS; index++) shops.push(await makeShop(context, LISTINGS));
    await context.db.query(sql`update items set units = ${UNITS}`);
    await compareOrders(stage, service, context, link.embedded?.address as SocketAddress, shops);
    await compareBulk(service, context, shops[0] as Shop);
    await link.close();
  } finally {
    await stage.end();
  }
}

type SocketAddress = { socketDir: string; user: string; database: string };
type Service = { port: number; process: { pid?: number | undefined } };

async function compareOrders(
  stage: Stage,
  service: Service,
  context: ChannelContext,
  address: SocketAddress,
  shops: Shop[],
): Promise<void> {
  const [sample] = await context.db.query<{ document: string }>(sql`
    select document from channel_documents where integration_id = ${shops[0]?.integrationId ?? ''} limit 1`);
  await preparePlainTables(context, shops, sample?.document ?? '');
  const work = {
    kind: 'orders' as const,
    shops: shops.map(({ apiKey, listingIds }) => ({ apiKey, listingIds: listingIds.slice(0, LISTINGS) })),
  };
  const job = { port: service.port, connections: CONNECTIONS, seconds: SECONDS, work };
  const ours: number[] = [];
  const plain: number[] = [];
  let label = '';
  let last = { p50Ms: 0, p99Ms: 0 };
  let cpuMicroseconds = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await plainOrders(stage, context, address);
    label = bare.label;
    plain.push(bare.perSecond);
    const before = await cpuSeconds(service.process.pid);
    const result = await stage.load(job);
    if (result.failures > 0) throw new Error(`${result.failures} of ${result.requests} orders failed`);
    cpuMicroseconds = (((await cpuSeconds(service.process.pid)) - before) / result.requests) * 1e6;
    ours.push(result.perSecond);
    last = result;
  }
  printTable(
    `Orders of one line, ${SHOPS} integrations, ${CONNECTIONS} connections, durable commit`,
    ['plain rows by', 'plain /s', 'service /s', 'ratio', 'wanted', 'p50', 'p99', 'CPU of the service a request'],
    [
      [
        label,
        String(median(plain)),
        String(median(ours)),
        (median(ours) / median(plain)).toFixed(2),
        '≥ 0.5',
        `${last.p50Ms} ms`,
        `${last.p99Ms} ms`,
        `${cpuMicroseconds.toFixed(0)} µs`,
      ],
    ],
  );
}

/** Tables of the same shape and indexes, so that the plain writer meets the same work and nobody's rows. */
async function preparePlainTables(context: ChannelContext, shops: Shop[], document: string): Promise<void> {
  const tables = [
    'orders',
    'order_lines',
    'idempotency_records',
    'items',
    'channel_documents',
    'channel_clocks',
    'events',
  ];
  await context.db.query(rawSql('create schema plain'));
  for (const table of tables) {
    await context.db.query(rawSql(`create table plain.${table} (like ${table} including all)`));
  }
  const ids = shops.map((shop) => `'${shop.integrationId}'`).join(', ');
  for (const table of ['items', 'channel_documents', 'channel_clocks']) {
    const filter =
      table === 'items'
        ? 'organization_id in (select organization_id from integrations where id in'
        : '(integration_id in';
    await context.db.query(rawSql(`insert into plain.${table} select * from ${table} where ${filter} (${ids}))`));
  }
  await context.db.query(rawSql('create sequence plain.numbers'));
  await context.db.query(
    rawSql(`create table plain.shops as
      select row_number() over (order by i.id) - 1 as n, i.id as integration_id, i.organization_id,
        array(select d.item_id from channel_documents d where d.integration_id = i.id) as item_ids,
        ${literal(document)}::text as document
      from integrations i where i.id in (${ids})`),
  );
}

/** One order's rows as a single statement: the least that PostgreSQL can be asked to do for them. */
const PLAIN_ORDER = `
with shop as (
  select integration_id, organization_id, item_ids[1 + floor(random() * cardinality(item_ids))::int] as item_id, document,
    nextval('plain.numbers')::text as number
  from plain.shops where n = :shop
), clock as (
  update plain.channel_clocks c set stamp = greatest(c.stamp + interval '1 millisecond', clock_timestamp())
  from shop where c.integration_id = shop.integration_id returning c.integration_id, c.stamp
), item as (
  update plain.items i set reserved_units = reserved_units + 1 from shop where i.id = shop.item_id returning i.id
), document as (
  update plain.channel_documents d set quantity = quantity - 1, document = shop.document, updated_at = clock.stamp
  from shop, clock where d.integration_id = shop.integration_id and d.item_id = shop.item_id returning d.item_id
), new_order as (
  insert into plain.orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, created_at, updated_at)
  select shop.integration_id, 'ord_' || number, organization_id, number, 'received', false, repeat('x', 900), stamp, stamp from shop, clock
  returning integration_id, id
), line as (
  insert into plain.order_lines (integration_id, id, order_id, position, item_id, units, is_holding)
  select shop.integration_id, 'oln_' || number, 'ord_' || number, 0, item_id, 1, true from shop returning id
), event as (
  insert into plain.events (integration_id, id, type, created_at, body, is_suppressed)
  select shop.integration_id, 'evt_' || number, 'listing.updated', stamp, repeat('x', 300), true from shop, clock returning id
)
insert into plain.idempotency_records (integration_id, key, fingerprint, status, body, request_id, is_test, created_at)
select shop.integration_id, number, '\\x00'::bytea, 201, repeat('x', 900), 'req_' || number, false, stamp from shop, clock;
`;

async function plainOrders(
  stage: Stage,
  context: ChannelContext,
  address: SocketAddress,
): Promise<{ perSecond: number; label: string }> {
  const script = join(stage.dir, 'order.sql');
  await writeFile(script, `\\set shop random(0, ${SHOPS - 1})\n${PLAIN_ORDER.replaceAll('\n', ' ')}\n`);
  const args = ['-n', '-M', 'prepared', '-c', String(PGBENCH_CLIENTS), '-j', '1', '-T', String(SECONDS), '-f', script];
  const connection = ['-h', address.socketDir, '-U', address.user, address.database];
  // The same durability as our own connections have, or the ratio would compare two different promises.
  const env = { ...process.env, PGOPTIONS: sessionOptions() };
  const output = await promisify(execFile)('pgbench', [...args, ...connection], { env }).then(
    ({ stdout }) => stdout,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
  if (output === null) return { perSecond: await plainLoop(context), label: 'bare client loop (no pgbench on PATH)' };
  return { perSecond: Math.round(Number(/tps = ([\d.]+)/.exec(output)?.[1])), label: 'pgbench' };
}

async function plainLoop(context: ChannelContext): Promise<number> {
  const endsAt = performance.now() + SECONDS * 1000;
  let done = 0;
  const loop = async () => {
    while (performance.now() < endsAt) {
      await context.db.query(rawSql(PLAIN_ORDER.replace(':shop', String(done % SHOPS)).replace(/;\s*$/, '')));
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: 10 }, loop));
  return Math.round(done / SECONDS);
}

async function compareBulk(service: Service, context: ChannelContext, shop: Shop): Promise<void> {
  await context.db.query(rawSql('create table plain.customers (like customers including all)'));
  const ours: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < BULK_ROUNDS; round++) {
    const people = Array.from({ length: BULK_RECORDS }, (_, index) => ({
      email: `p${round % (BULK_ROUNDS / 2)}-${index}@example.ch`,
      first_name: `Ana ${round}`,
      last_name: `p${index}`,
    }));
    plain.push(await timed(() => plainBulk(context, shop, people)));
    ours.push(await timed(() => postBulk(service.port, shop.apiKey, people)));
  }
  printTable(
    `${BULK_RECORDS} customers in one call, half of the calls create and half update`,
    ['plain multi-row upsert', 'service', 'ratio', 'wanted'],
    [
      [
        `${median(plain).toFixed(1)} ms`,
        `${median(ours).toFixed(1)} ms`,
        (median(plain) / median(ours)).toFixed(2),
        '≥ 0.3',
      ],
    ],
  );
}

type Person = { email: string; first_name: string; last_name: string };

async function plainBulk(context: ChannelContext, shop: Shop, people: Person[]): Promise<void> {
  await context.db.query(sql`
    insert into plain.customers (id, organization_id, is_test, email, email_key, first_name, last_name, created_at, updated_at)
    select id, ${shop.organizationId}, false, email, email, first_name, last_name, now(), now()
    from unnest(${people.map(() => newId('customer'))}::text[], ${people.map((person) => person.email)}::text[],
      ${people.map((person) => person.first_name)}::text[], ${people.map((person) => person.last_name)}::text[])
      as rows (id, email, first_name, last_name)
    on conflict (organization_id, is_test, email_key) where email_key is not null
    do update set first_name = excluded.first_name, last_name = excluded.last_name, updated_at = excluded.updated_at`);
}

async function postBulk(port: number, apiKey: string, customers: Person[]): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/customers/bulk`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify({ customers }),
  });
  if (!response.ok) throw new Error(`bulk answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
