import type { ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LINE } from '../src/audit/actor.ts';
import type { ChannelContext } from '../src/channel/context.ts';
import { sql } from '../src/db/sql.ts';
import { setUrl } from '../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../src/webhooks/endpoints/secret-encryption.ts';
import { createSsrfGuard } from '../src/webhooks/sending/ssrf-guard.ts';
import type { BareJob } from './baselines/bare-events.ts';
import { preparePlainTables, type SocketAddress, writePlainly } from './baselines/plain-writes.ts';
import { limitOfRate, ratioAtLeast, ratioAtMost, record } from './figures.ts';
import type { Paced, PacedJob } from './load/paced-pings.ts';
import type { Arrivals } from './load/sink.ts';
import { childrenCpuSeconds, cpuSeconds, freePort, openStage, type Stage } from './processes.ts';
import { databaseUrlOf, makeShop, median, openBackDoor, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const RECEIVERS = 8;
const CONNECTIONS = 64;
const SECONDS = 5;
const ROUNDS = 3;
const PACED_PER_SECOND = 200;
const PACED_SECONDS = 10;
const FLUSH_SECONDS = 5;
const DRAIN_LIMIT_MS = 60_000;
const DELIVERED_WANTED = 0.8;
const P50_WANTED = 2;
const P99_WANTED = 5;
const SECRET_KEY = '0'.repeat(64);

type Scene = {
  stage: Stage;
  service: { port: number; process: ChildProcess };
  context: ChannelContext;
  shops: Shop[];
  sink: string;
  databaseUrl: string;
  address: SocketAddress;
  postmaster: number | null;
};

/**
 * From a client's request to its receiver: test pings, which are ordinary writes, of eight integrations with a receiver
 * each, through one process that is both API and worker.
 */
export async function benchEvents(): Promise<void> {
  const stage = await openStage();
  try {
    const scene = await setScene(stage);
    await measureThroughput(scene);
    await measureDelay(scene);
  } finally {
    await stage.end();
  }
}

async function setScene(stage: Stage): Promise<Scene> {
  const service = await stage.startService({
    ROLES: 'api,worker',
    WEBHOOK_PRIVATE_TARGETS: 'on',
    SECRET_KEYS: SECRET_KEY,
  });
  const { link, context } = await openBackDoor(service);
  const port = await freePort();
  await stage.startScript('load/sink.ts', [String(port)]);
  const sink = `http://127.0.0.1:${port}`;
  const endpoint = { guard: createSsrfGuard(true), encryption: createSecretEncryption([SECRET_KEY]) };
  const shops: Shop[] = [];
  for (let index = 0; index < RECEIVERS; index++) {
    const shop = await makeShop(context, 1);
    await setUrl(context.db, COMMAND_LINE, endpoint, shop.integrationId, `${sink}/hook/${index}`);
    shops.push(shop);
  }
  await preparePlainTables(context, shops);
  const address = link.embedded?.address as SocketAddress;
  const postmaster = (await link.embedded?.pid()) ?? null;
  return { stage, service, context, shops, sink, databaseUrl: databaseUrlOf(link), address, postmaster };
}

type Sample = { plain: number; accepted: number; delivered: number; service: number; server: number };

async function measureThroughput(scene: Scene): Promise<void> {
  const samples: Sample[] = [];
  for (let round = 0; round < ROUNDS; round++) samples.push(await sampleOf(scene));
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick));
  const ratio = of(({ plain, delivered }) => (plain === 0 ? 0 : delivered / plain));
  const delivered = of((sample) => sample.delivered);
  const cpuMicroseconds = {
    service: of(({ service }) => service) * 1000,
    postgresql: of(({ server }) => server) * 1000,
  };
  const plain = of((sample) => sample.plain);
  record({
    name: 'accepted and delivered',
    unit: '/s',
    ours: delivered,
    ...(plain === 0 ? {} : { bare: { name: 'pgbench, the same rows', value: plain } }),
    wanted: ratioAtLeast(DELIVERED_WANTED),
    note: 'pgbench commits twice for an event: when it is accepted, and when its receiver has answered.',
    cpuMicroseconds,
    limitedBy: limitOfRate(delivered, cpuMicroseconds),
  });
  printTable(
    `Events accepted and delivered, ${RECEIVERS} receivers, ${CONNECTIONS} connections; the same rows by pgbench`,
    ['plain /s', 'accepted /s', 'delivered /s', 'ratio', 'wanted', 'CPU s per 1,000: service + PostgreSQL'],
    [
      [
        of(({ plain }) => plain).toFixed(0),
        of(({ accepted }) => accepted).toFixed(0),
        of(({ delivered }) => delivered).toFixed(0),
        ratio.toFixed(2),
        `≥ ${DELIVERED_WANTED}`,
        `${of(({ service }) => service).toFixed(2)} + ${of(({ server }) => server).toFixed(2)}`,
      ],
    ],
  );
}

/** The rate of delivery counts until the last one has come, so a backlog counts against it. */
async function sampleOf(scene: Scene): Promise<Sample> {
  const { stage, service, shops, postmaster, address } = scene;
  const bare = await writePlainly('event', { dir: stage.dir, address, shopCount: shops.length, seconds: SECONDS });
  await arrivals(scene);
  const before = [await cpuSeconds(service.process.pid), await childrenCpuSeconds(postmaster)] as const;
  const startedAt = performance.now();
  const work = {
    kind: 'writes' as const,
    write: 'ping' as const,
    shops: shops.map(({ apiKey }) => ({ apiKey, listingIds: [], orderIds: [] })),
  };
  const load = await stage.load({ port: service.port, connections: CONNECTIONS, seconds: SECONDS, work });
  if (load.failures > 0) throw new Error(`${load.failures} of ${load.requests} pings failed`);
  const limitAt = performance.now() + DRAIN_LIMIT_MS;
  while ((await counted(scene)) < load.requests) {
    if (performance.now() > limitAt) throw new Error('some events did not arrive');
    await sleep(20);
  }
  const after = [await cpuSeconds(service.process.pid), await childrenCpuSeconds(postmaster)] as const;
  const { times } = await arrivals(scene);
  const lastMs = Math.max(...times) - performance.timeOrigin;
  const seconds = Math.max(SECONDS, (lastMs - startedAt) / 1000 - (SECONDS - load.requests / load.perSecond));
  return {
    plain: bare?.perSecond ?? 0,
    accepted: load.perSecond,
    delivered: times.length / seconds,
    service: ((after[0] - before[0]) / load.requests) * 1000,
    server: ((after[1] - before[1]) / load.requests) * 1000,
  };
}

/**
 * An event waits for a flush of the disk, and some flushes are slow by themselves, so the disk alone is measured, too. It does
 * not wait for a claim: the commit of an event claims its delivery (decision 26).
 *
 * Here every event is a transaction of its own, while at full speed the events of an integration that arrive together share
 * one. So 200 a second are as many transactions as 1,200 are there, and keep a slow machine about as busy.
 */
async function measureDelay(scene: Scene): Promise<void> {
  const flushes = await flushTimesOf(scene);
  const bare = await delaysOf(scene, 'baselines/bare-events.ts', {
    databaseUrl: scene.databaseUrl,
    sink: `${scene.sink}/hook`,
    perSecond: PACED_PER_SECOND,
    seconds: PACED_SECONDS,
  } satisfies BareJob);
  const ours = await delaysOf(scene, 'load/paced-pings.ts', {
    port: scene.service.port,
    apiKeys: scene.shops.map(({ apiKey }) => apiKey),
    perSecond: PACED_PER_SECOND,
    seconds: PACED_SECONDS,
  } satisfies PacedJob);
  const latencyOf = (delays: number[]) => ({
    p50Ms: quantile(delays, 0.5),
    p99Ms: quantile(delays, 0.99),
    longestMs: delays.at(-1) ?? 0,
  });
  for (const [name, q, wanted] of [
    ['p50', 0.5, P50_WANTED],
    ['p99', 0.99, P99_WANTED],
  ] as const) {
    record({
      name: `request to receipt at ${PACED_PER_SECOND}/s, ${name}`,
      unit: 'ms',
      ours: quantile(ours.fromStart, q),
      bare: { name: 'bare insert, notify, signed post', value: quantile(bare.fromStart, q) },
      wanted: ratioAtMost(wanted),
      limitedBy: `Three round trips (the key, what is read, what is written) and a flush of the disk, which by itself takes ${quantile(flushes, q).toFixed(1)} ms (${name}). So few events share no transaction.`,
    });
  }
  for (const [name, delays] of [
    ['request to receipt', ours.fromStart],
    ['answer to receipt', ours.fromAnswer],
    ['bare way', bare.fromStart],
    ['the disk alone', flushes],
  ] as const) {
    record({ name, unit: 'ms', ours: quantile(delays, 0.5), latency: latencyOf(delays) });
  }
  const times = (wanted: number, q: number) =>
    `${(quantile(ours.fromStart, q) / quantile(bare.fromStart, q)).toFixed(1)} times (≤ ${wanted} wanted)`;
  printTable(
    `From a client to its receiver, ${PACED_PER_SECOND} events/s`,
    ['', 'p50', 'p99', 'longest'],
    [
      ['the disk alone: 8 KiB written and flushed', ...quantiles(flushes)],
      ['bare insert, notify, signed post: from the start', ...quantiles(bare.fromStart)],
      ['service: from the start of the request', ...quantiles(ours.fromStart)],
      ['against the bare way', times(P50_WANTED, 0.5), times(P99_WANTED, 0.99), ''],
      ['service: from the answer', ...quantiles(ours.fromAnswer)],
    ],
  );
}

async function flushTimesOf({ stage }: Scene): Promise<number[]> {
  const args = [join(stage.dir, 'flushed'), String(PACED_PER_SECOND), String(FLUSH_SECONDS)];
  return (await stage.runScript<number[]>('baselines/bare-flush.ts', args)).sort((a, b) => a - b);
}

type Delays = { fromStart: number[]; fromAnswer: number[] };

async function delaysOf(scene: Scene, script: string, job: object): Promise<Delays> {
  await settle(scene);
  const file = join(scene.stage.dir, `${script.replaceAll('/', '-')}.json`);
  await writeFile(file, JSON.stringify(job));
  const sent = await scene.stage.runScript<Paced[]>(script, [file]);
  await sleep(1_000);
  const { ids, times } = await arrivals(scene);
  const arrived = new Map(ids.map((id, index) => [id, times[index] ?? 0]));
  const delays = (pick: (one: Paced) => number) =>
    sent.map((one) => (arrived.get(one.id) ?? Number.POSITIVE_INFINITY) - pick(one)).sort((a, b) => a - b);
  return {
    fromStart: delays(({ startedMs }) => startedMs),
    fromAnswer: delays(({ acknowledgedMs }) => acknowledgedMs),
  };
}

function quantiles(sorted: number[]): string[] {
  return [quantile(sorted, 0.5), quantile(sorted, 0.99), sorted.at(-1) ?? 0].map((ms) => `${ms.toFixed(1)} ms`);
}

function quantile(sorted: number[], q: number): number {
  return sorted[Math.floor(sorted.length * q)] ?? 0;
}

/** Waits until nothing is on its way, and forgets what has come. */
async function settle(scene: Scene): Promise<void> {
  const { db } = scene.context;
  while ((await db.query(sql`select id from deliveries where status = 'pending' limit 1`)).length > 0) await sleep(50);
  await arrivals(scene);
}

async function counted({ sink }: Scene): Promise<number> {
  return Number(await (await fetch(`${sink}/count`)).text());
}

async function arrivals({ sink }: Scene): Promise<Arrivals> {
  return (await (await fetch(`${sink}/arrivals`)).json()) as Arrivals;
}
