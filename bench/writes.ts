import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChannelContext } from '../src/channel/context.ts';
import { rawSql, sql } from '../src/db/sql.ts';
import { newId } from '../src/ids/new-id.ts';
import { preparePlainTables, type SocketAddress, writePlainly } from './baselines/plain-writes.ts';
import { limitOfRate, ratioAtLeast, record } from './figures.ts';
import { type LoadResult, requestOf, type WriteName, type WriteShop } from './load/load-generator.ts';
import { childrenCpuSeconds, cpuSeconds, openStage, type Stage } from './processes.ts';
import { makeShop, median, openBackDoor, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const SECONDS = 4;
const CONNECTIONS = 64;
const SHOPS = 4;
const LISTINGS = 2_000;
const ROUNDS = 3;
const BULK_RECORDS = 1_000;
/** The first half creates, the second updates the same people. */
const BULK_ROUNDS = 40;
const UNITS = 1_000_000;
/** How many orders of one integration a round may cancel. */
const CANCEL_LIMIT = 10_000;

/** Orders come before the cancellations, which need them. */
const WRITES: readonly { write: WriteName; wanted: number }[] = [
  { write: 'ping', wanted: 0.8 },
  { write: 'customer', wanted: 0.8 },
  { write: 'order', wanted: 1.2 },
  { write: 'cancellation', wanted: 0.8 },
  { write: 'reservation', wanted: 0.8 },
];
const BULK_WANTED = 0.7;

type Service = { port: number; process: { pid?: number | undefined }; env: Record<string, string> };
type Scene = {
  stage: Stage;
  service: Service;
  context: ChannelContext;
  address: SocketAddress;
  postmaster: number | null;
  shops: Shop[];
};

/** Every kind of write through the API, against the same rows written by nothing but PostgreSQL. */
export async function benchWrites(): Promise<void> {
  const stage = await openStage();
  try {
    // Only the API: what the workers do in the background would count as the writes' own time.
    const service = await stage.startService({ ROLES: 'api' });
    const { link, context } = await openBackDoor(service);
    console.log(`Making ${SHOPS} dealers with ${LISTINGS} listings each …`);
    const shops: Shop[] = [];
    for (let index = 0; index < SHOPS; index++) shops.push(await makeShop(context, LISTINGS));
    await context.db.query(sql`update items set units = ${UNITS}`);
    await preparePlainTables(context, shops);
    const address = link.embedded?.address as SocketAddress;
    const scene: Scene = { stage, service, context, address, postmaster: (await link.embedded?.pid()) ?? null, shops };
    await compareWrites(scene);
    await compareBulk(service, context, shops[0] as Shop);
    await link.close();
  } finally {
    await stage.end();
  }
}

async function compareWrites(scene: Scene): Promise<void> {
  const rows: string[][] = [];
  for (const { write, wanted } of WRITES) rows.push(await compareWrite(scene, write, wanted));
  printTable(
    `Writes of ${SHOPS} integrations, ${CONNECTIONS} connections, durable commit; plain rows by pgbench, one commit each`,
    [
      'write',
      'plain /s',
      'service /s',
      'ratio',
      'wanted',
      'p50',
      'p99',
      'writes a transaction',
      'statements a transaction',
      'CPU of the service',
      'CPU of PostgreSQL',
    ],
    rows,
  );
}

type Sample = { load: LoadResult; serviceMicroseconds: number; serverMicroseconds: number; batch: number };

async function compareWrite(scene: Scene, write: WriteName, wanted: number): Promise<string[]> {
  const { stage, address } = scene;
  // First: the rounds may leave no order to cancel.
  const statements = await statementsOf(scene, write);
  const plain: number[] = [];
  const samples: Sample[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await writePlainly(write, { dir: stage.dir, address, shopCount: SHOPS, seconds: SECONDS });
    if (bare !== null) plain.push(bare.perSecond);
    samples.push(await sampleOf(scene, write));
  }
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick));
  const rate = of(({ load }) => load.perSecond);
  const cpuMicroseconds = {
    service: of((one) => one.serviceMicroseconds),
    postgresql: of((one) => one.serverMicroseconds),
  };
  record({
    name: write,
    unit: '/s',
    ours: rate,
    ...(plain.length === 0 ? {} : { bare: { name: 'pgbench, the same rows, one commit each', value: median(plain) } }),
    wanted: ratioAtLeast(wanted),
    latency: { p50Ms: of(({ load }) => load.p50Ms), p99Ms: of(({ load }) => load.p99Ms) },
    cpuMicroseconds,
    limitedBy: limitOfRate(rate, cpuMicroseconds),
  });
  return [
    write,
    plain.length === 0 ? 'no pgbench' : String(median(plain)),
    String(rate),
    plain.length === 0 ? '' : (rate / median(plain)).toFixed(2),
    `≥ ${wanted}`,
    `${of(({ load }) => load.p50Ms)} ms`,
    `${of(({ load }) => load.p99Ms)} ms`,
    of(({ batch }) => batch).toFixed(1),
    String(statements),
    `${of((sample) => sample.serviceMicroseconds).toFixed(0)} µs`,
    `${of((sample) => sample.serverMicroseconds).toFixed(0)} µs`,
  ];
}

async function sampleOf(scene: Scene, write: WriteName): Promise<Sample> {
  const { stage, service, context, postmaster } = scene;
  const shops = await writeShops(scene, write);
  const [{ now } = { now: new Date() }] = await context.db.query<{ now: Date }>(sql`select now()`);
  const before = [await cpuSeconds(service.process.pid), await childrenCpuSeconds(postmaster)] as const;
  const work = { kind: 'writes' as const, write, shops };
  const load = await stage.load({ port: service.port, connections: CONNECTIONS, seconds: SECONDS, work });
  if (load.failures > 0) throw new Error(`${load.failures} of ${load.requests} writes failed: ${write}`);
  const after = [await cpuSeconds(service.process.pid), await childrenCpuSeconds(postmaster)] as const;
  const [shared] = await context.db.query<{ batch: number }>(sql`
    select count(*)::float / greatest(count(distinct xmin::text), 1) as batch from idempotency_records
    where created_at >= ${now}`);
  return {
    load,
    serviceMicroseconds: ((after[0] - before[0]) / load.requests) * 1e6,
    serverMicroseconds: ((after[1] - before[1]) / load.requests) * 1e6,
    batch: shared?.batch ?? 0,
  };
}

async function writeShops({ context, shops }: Scene, write: WriteName): Promise<WriteShop[]> {
  return await Promise.all(
    shops.map(async ({ apiKey, listingIds, integrationId }) => {
      const limit = write === 'cancellation' ? CANCEL_LIMIT : 0;
      const orders = await context.db.query<{ id: string }>(sql`
        select id from orders where integration_id = ${integrationId} and status = 'received' limit ${limit}`);
      return { apiKey, listingIds: listingIds.slice(0, LISTINGS), orderIds: orders.map((order) => order.id) };
    }),
  );
}

/** Sends one write alone while the server logs every statement, and counts those from begin to commit. */
async function statementsOf(scene: Scene, write: WriteName): Promise<number> {
  const { service, context } = scene;
  const [shop] = await writeShops(scene, write);
  const id = `alone-${write}`;
  const request = shop === undefined ? null : requestOf(write, shop, id);
  if (shop === undefined || request === null) return 0;
  const logFile = join(service.env.DATA_DIR ?? '', 'postgres.log');
  await context.db.query(rawSql("alter system set log_statement = 'all'"));
  await context.db.query(rawSql('select pg_reload_conf()'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const startsAt = (await readFile(logFile, 'utf8')).length;
  await post(service.port, shop.apiKey, request.path, request.body, id);
  await context.db.query(rawSql('alter system reset log_statement'));
  await context.db.query(rawSql('select pg_reload_conf()'));
  const log = (await readFile(logFile, 'utf8')).slice(startsAt);
  const statements = [...log.matchAll(/LOG: {2}(?:statement|execute \S+):\s+(\w+)/g)].map((match) => match[1]);
  const begin = statements.indexOf('begin');
  return statements.indexOf('commit', begin) - begin + 1;
}

async function compareBulk(service: Service, context: ChannelContext, shop: Shop): Promise<void> {
  await context.db.query(rawSql('truncate plain.customers cascade'));
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
  const perSecond = (milliseconds: number) => (BULK_RECORDS / milliseconds) * 1000;
  record({
    name: `customers, ${BULK_RECORDS} in one call`,
    unit: '/s',
    ours: perSecond(median(ours)),
    bare: { name: 'one multi-row upsert', value: perSecond(median(plain)) },
    wanted: ratioAtLeast(BULK_WANTED),
    limitedBy: 'One call at a time: parsing, matching people and the upsert follow each other.',
  });
  printTable(
    `${BULK_RECORDS} customers in one call, half of the calls create and half update`,
    ['plain multi-row upsert', 'service', 'ratio', 'wanted'],
    [
      [
        `${median(plain).toFixed(1)} ms`,
        `${median(ours).toFixed(1)} ms`,
        (median(plain) / median(ours)).toFixed(2),
        `≥ ${BULK_WANTED}`,
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
  await post(port, apiKey, '/v1/customers/bulk', { customers }, crypto.randomUUID());
}

async function post(port: number, apiKey: string, path: string, body: object, key: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
