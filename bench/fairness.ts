import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LINE } from '../src/audit/actor.ts';
import type { ChannelContext } from '../src/channel/context.ts';
import { sql } from '../src/db/sql.ts';
import type { Connection } from '../src/service/connect.ts';
import { setUrl } from '../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../src/webhooks/endpoints/secret-encryption.ts';
import { createSsrfGuard } from '../src/webhooks/sending/ssrf-guard.ts';
import { ratioAtMost, record } from './figures.ts';
import type { LoadJob, WriteShop } from './load/load-generator.ts';
import { NEIGHBOUR_KINDS, type NeighbourCall, type NeighbourJob, type NeighbourKind } from './load/neighbour.ts';
import type { Arrivals } from './load/sink.ts';
import { cpuSeconds, freePort, openStage, type Stage } from './processes.ts';
import { makeShop, openBackDoor, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const CONNECTIONS = 64;
const LISTINGS = 1_000;
const UNITS = 1_000_000;
const ROUNDS = 3;
const ROUND_SECONDS = 5;
/** Of each kind of call. */
const NEIGHBOUR_PER_SECOND = 40;
const LEAD_MS = 1_000;
const DRAIN_LIMIT_MS = 120_000;
const P99_WANTED = 2;
const SECRET_KEY = '0'.repeat(64);

/** What the other dealer does, with as many connections as it likes. */
const LOADS = ['reads', 'orders', 'webhooks'] as const;
type Load = (typeof LOADS)[number];

type Scene = {
  stage: Stage;
  service: { port: number; process: { pid?: number | undefined } };
  context: ChannelContext;
  link: Connection;
  sink: string;
  loud: Shop;
  neighbour: Record<NeighbourKind, WriteShop>;
};

/**
 * How long an integration's requests take alone, and beside another dealer's integration that saturates the service. The
 * load is a process of its own at nice 10: a real one would sit on another machine.
 */
export async function benchFairness(args: string[]): Promise<void> {
  const loads = LOADS.filter((load) => args.length === 0 || args.includes(load));
  const stage = await openStage();
  try {
    const scene = await setScene(stage);
    const rows: string[][] = [];
    for (const load of loads) rows.push(...(await compareLoad(scene, load)));
    printTable(
      `A neighbour with ${NEIGHBOUR_PER_SECOND} requests/s of each kind, alone and beside ${CONNECTIONS} connections of another dealer`,
      ['the other dealer', 'neighbour', 'alone p50', 'beside p50', 'alone p99', 'beside p99', 'p99 ratio', 'wanted'],
      rows,
    );
    await scene.link.close();
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
  const { context, link } = await openBackDoor(service);
  const port = await freePort();
  await stage.startScript('load/sink.ts', [String(port)]);
  const sink = `http://127.0.0.1:${port}`;
  const shopOf = async () => {
    const shop = await makeShop(context, LISTINGS);
    const tools = { guard: createSsrfGuard(true), encryption: createSecretEncryption([SECRET_KEY]) };
    await setUrl(context.db, COMMAND_LINE, tools, shop.integrationId, `${sink}/hook`);
    return { ...shop, orderIds: [] };
  };
  const loud = await shopOf();
  const [reader, writer, pinger] = [await shopOf(), await shopOf(), await shopOf()];
  await context.db.query(sql`update items set units = ${UNITS}`);
  const neighbour = { 'read by id': reader, 'page of 50, not kept': writer, order: writer, webhook: pinger };
  return { stage, service, context, link, sink, loud, neighbour };
}

/** Alone and beside by turns, so that a busy moment of the machine hits both. */
async function compareLoad(scene: Scene, load: Load): Promise<string[][]> {
  const alone: Times = new Map();
  const beside: Times = new Map();
  let perSecond = 0;
  let core = 0;
  await neighbourTimes(scene, new Map());
  for (let round = 0; round < ROUNDS; round++) {
    await neighbourTimes(scene, alone);
    const cpuBefore = await cpuSeconds(scene.service.process.pid);
    const startedAt = performance.now();
    const running = scene.stage.load(loadJob(scene, load));
    await sleep(LEAD_MS);
    await neighbourTimes(scene, beside);
    const result = await running;
    if (result.failures > 0) throw new Error(`${result.failures} requests of the other dealer failed`);
    perSecond = result.perSecond;
    core = ((await cpuSeconds(scene.service.process.pid)) - cpuBefore) / ((performance.now() - startedAt) / 1000);
    await settle(scene);
  }
  console.log(`${load}: the other dealer had ${perSecond} answers/s; the service used ${core.toFixed(2)} of a core.`);
  return NEIGHBOUR_KINDS.map((kind) =>
    rowOf(load, kind, quantilesOf(alone, kind), quantilesOf(beside, kind), perSecond),
  );
}

type Times = Map<NeighbourKind, number[]>;
type Quantiles = { p50Ms: number; p99Ms: number; longestMs: number };

function rowOf(load: Load, kind: NeighbourKind, alone: Quantiles, beside: Quantiles, perSecond: number): string[] {
  record({
    name: `${kind} beside ${load}, p99`,
    unit: 'ms',
    ours: beside.p99Ms,
    bare: { name: 'the same dealer alone', value: alone.p99Ms },
    wanted: ratioAtMost(P99_WANTED),
    latency: beside,
    note: `The other dealer had ${perSecond.toLocaleString('en-US')} answers a second on ${CONNECTIONS} connections.`,
  });
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const ratio = (beside.p99Ms / alone.p99Ms).toFixed(2);
  return [load, kind, ms(alone.p50Ms), ms(beside.p50Ms), ms(alone.p99Ms), ms(beside.p99Ms), ratio, `≤ ${P99_WANTED}`];
}

function loadJob({ service, loud }: Scene, load: Load): LoadJob {
  const shops = [{ apiKey: loud.apiKey, listingIds: loud.listingIds, orderIds: [] }];
  const seconds = ROUND_SECONDS + (2 * LEAD_MS) / 1000;
  const job = { port: service.port, connections: CONNECTIONS, seconds, isLowPriority: true };
  if (load !== 'reads') {
    return { ...job, work: { kind: 'writes', write: load === 'orders' ? 'order' : 'ping', shops } };
  }
  const paths = loud.listingIds.map((id) => `/api/v1/listings/${id}`);
  return { ...job, work: { kind: 'reads', headers: { Authorization: `Bearer ${loud.apiKey}` }, paths } };
}

/** Of a webhook the time until its receipt, of anything else until its answer. */
async function neighbourTimes({ stage, service, sink, neighbour }: Scene, times: Times): Promise<void> {
  const job: NeighbourJob = {
    port: service.port,
    perSecond: NEIGHBOUR_PER_SECOND,
    seconds: ROUND_SECONDS,
    shops: neighbour,
  };
  const file = join(stage.dir, 'neighbour.json');
  await writeFile(file, JSON.stringify(job));
  const calls = await stage.runScript<NeighbourCall[]>('load/neighbour.ts', [file]);
  const received = await receipts(sink, calls);
  for (const { kind, eventId, startedMs, answeredMs } of calls) {
    const endedMs = eventId === null ? answeredMs : (received.get(eventId) ?? Number.POSITIVE_INFINITY);
    times.set(kind, [...(times.get(kind) ?? []), endedMs - startedMs]);
  }
}

/** Waits until the neighbour's webhooks have come. Those of the other dealer may still be on their way. */
async function receipts(sink: string, calls: NeighbourCall[]): Promise<Map<string, number>> {
  const wanted = calls.flatMap(({ eventId }) => eventId ?? []);
  const received = new Map<string, number>();
  const limitAt = performance.now() + DRAIN_LIMIT_MS;
  while (wanted.some((id) => !received.has(id))) {
    if (performance.now() > limitAt) throw new Error('some webhooks of the neighbour did not arrive');
    const { ids, times } = (await (await fetch(`${sink}/arrivals`)).json()) as Arrivals;
    for (const [index, id] of ids.entries()) received.set(id, times[index] ?? 0);
    await sleep(50);
  }
  return received;
}

async function settle({ context, sink }: Scene): Promise<void> {
  const waiting = sql`select id from deliveries where status in ('pending', 'failed') limit 1`;
  while ((await context.db.query(waiting)).length > 0) await sleep(50);
  await (await fetch(`${sink}/arrivals`)).arrayBuffer();
}

function quantilesOf(times: Times, kind: NeighbourKind): Quantiles {
  const sorted = (times.get(kind) ?? []).toSorted((a, b) => a - b);
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), longestMs: sorted.at(-1) ?? 0 };
}
