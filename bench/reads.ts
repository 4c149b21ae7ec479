import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelContext } from '../src/channel/context.ts';
import { READ_IDS_LIMIT } from '../src/contract/limits.ts';
import { sql } from '../src/db/sql.ts';
import { createSideSwitch } from './baselines/side-switch.ts';
import { limitOfRate, ratioAtLeast, ratioAtMost, record } from './figures.ts';
import { benchFirstPage } from './first-page.ts';
import { benchMassChanges } from './mass-change.ts';
import { comparePairs, pairsOf } from './pairs.ts';
import { cpuSeconds, openStage, type Stage } from './processes.ts';
import { databaseUrlOf, makeShop, median, openBackDoor, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const SECONDS = 5;
const CONNECTIONS = 64;
const PAGE = 50;
const COLD_SAMPLE = 2_000;
const COLD_ROUNDS = 200;
const GROWTH_WANTED = 1.3;
const SIZES = [1_000, 100_000] as const;
/** Longer than requests wait in the log until they are written. */
const LOG_WAIT_MS = 1_500;

/**
 * Reads by id and by page, warm and cold, against a bare server that sends the same bytes in the same run. With
 * `--ids` only reads of many by their ids, with `--mass-changes` only those; with `--request-log` instead reads by id of one service that logs requests and
 * logs none by turns, in `--pairs=N`.
 */
export async function benchReads(args: string[]): Promise<void> {
  const stage = await openStage();
  try {
    if (args.includes('--request-log')) return await compareRequestLog(stage, pairsOf(args));
    const service = await stage.startService();
    const { link, context } = await openBackDoor(service);
    const middle = await makeShop(context, 10_000);
    if (args.includes('--ids')) {
      await compareWithBare(stage, service, middle, createReader(service.port, context, middle), ['ids']);
      return await link.close();
    }
    if (args.includes('--mass-changes')) {
      await benchMassChanges(service.port, context, middle, 10_000);
      return await link.close();
    }
    console.log('Generating 1,000 and 100,000 listings …');
    const [small, large] = [await makeShop(context, SIZES[0]), await makeShop(context, SIZES[1])];

    const readerOf = (shop: Shop) => createReader(service.port, context, shop);
    await compareWithBare(stage, service, middle, readerOf(middle));
    await comparePages([
      [SIZES[0], readerOf(small)],
      [SIZES[1], readerOf(large)],
    ]);
    await benchFirstPage(service.port, context, middle);
    await benchMassChanges(service.port, context, middle, 10_000);
    await link.close();
  } finally {
    await stage.end();
  }
}

/** One process that changes sides, apart from the one that runs the database and the jobs. */
async function compareRequestLog(stage: Stage, pairs: number): Promise<void> {
  const first = await stage.startService();
  const { link, context } = await openBackDoor(first);
  const shop = await makeShop(context, 10_000);
  const env = {
    ROLES: 'api',
    DATABASE_URL: databaseUrlOf(link),
    SECRET_KEYS: randomBytes(32).toString('hex'),
    RATE_LIMIT_STORE: 'memory',
    // With another address the documents would wait to be rendered anew, and no answer would be kept.
    PUBLIC_URL: context.publicUrl,
  };
  const { port, process: service } = await stage.startService(env, 'baselines/request-log-switch.ts');
  const putOn = createSideSwitch(service);
  const paths = shop.listingIds.map((id) => `/api/v1/listings/${id}`);
  const work = { kind: 'reads' as const, headers: { Authorization: `Bearer ${shop.apiKey}` }, paths };
  await warmUp(createReader(port, context, shop).get, paths);
  await comparePairs('Reads by id, warm, with and without the log of API requests', {
    pairs,
    unit: 'reads/s',
    lossWanted: 0.03,
    async measure(isWith) {
      await putOn(isWith);
      const before = await cpuSeconds(service.pid);
      const result = await stage.load({ port, connections: CONNECTIONS, seconds: SECONDS, work });
      if (result.failures > 0) throw new Error(`${result.failures} reads failed`);
      // What the log still has to write belongs to this run.
      await sleep(LOG_WAIT_MS);
      const cpuMicroseconds = (((await cpuSeconds(service.pid)) - before) / result.requests) * 1e6;
      return { perSecond: result.perSecond, cpuMicroseconds };
    },
  });
  await link.close();
}

type Get = (path: string) => Promise<string>;
type Reader = {
  get: Get;
  /** How long a read takes whose answer is made anew, in milliseconds. */
  timeAnew(path: string): Promise<number>;
};

function createReader(port: number, { db }: ChannelContext, { apiKey, integrationId }: Shop): Reader {
  async function get(path: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return await response.text();
  }
  return {
    get,
    async timeAnew(path) {
      // As after any change: answers of an earlier clock are not used again.
      await db.query(sql`
        update channel_clocks set stamp = stamp + interval '1 millisecond' where integration_id = ${integrationId}`);
      const startedAt = performance.now();
      await get(path);
      return performance.now() - startedAt;
    },
  };
}

async function compareWithBare(
  stage: Stage,
  service: { port: number; process: { pid?: number | undefined } },
  shop: Shop,
  { get, timeAnew }: Reader,
  only: readonly ('id' | 'page' | 'ids')[] = ['id', 'page', 'ids'],
): Promise<void> {
  const headers = { Authorization: `Bearer ${shop.apiKey}` };
  const byId = shop.listingIds.map((id) => `/api/v1/listings/${id}`);
  const pages = await pagePaths(get, PAGE);
  const rows: string[][] = [];
  const manyIds = chunked(shop.listingIds, READ_IDS_LIMIT).map((ids) => `/api/v1/listings?ids=${ids.join(',')}`);
  for (const [kind, name, paths, target] of [
    ['id', 'listing by id', byId, 0.52],
    ['page', 'page of 50', pages, 0.7],
    ['ids', `ids of ${READ_IDS_LIMIT}`, manyIds, 0.5],
  ] as const) {
    if (!only.includes(kind)) continue;
    const coldPerSecond = await coldRate(timeAnew, paths);
    const bodies = await warmUp(get, paths);
    const bareServer = await stage.startBareServer(bodies);
    const work = { kind: 'reads' as const, headers, paths: [...paths] };
    const job = { port: service.port, connections: CONNECTIONS, seconds: SECONDS, work };
    // Alternating rounds, so that a busy moment of the machine hits both.
    const ours: number[] = [];
    const bare: number[] = [];
    let latency = { p50Ms: 0, p99Ms: 0 };
    let cpuMicroseconds = 0;
    let bareMicroseconds = 0;
    for (let round = 0; round < 3; round++) {
      const bareCpu = await cpuSeconds(bareServer.pid);
      const bareResult = await stage.load({ ...job, port: bareServer.port });
      bareMicroseconds = (((await cpuSeconds(bareServer.pid)) - bareCpu) / bareResult.requests) * 1e6;
      bare.push(bareResult.perSecond);
      const cpuBefore = await cpuSeconds(service.process.pid);
      const result = await stage.load(job);
      if (result.failures > 0) throw new Error(`${result.failures} reads failed`);
      cpuMicroseconds = (((await cpuSeconds(service.process.pid)) - cpuBefore) / result.requests) * 1e6;
      ours.push(result.perSecond);
      latency = { p50Ms: result.p50Ms, p99Ms: result.p99Ms };
    }
    const ratio = median(ours) / median(bare);
    record({
      name: `${name}, warm`,
      unit: '/s',
      ours: median(ours),
      bare: { name: 'node:http, the same bytes', value: median(bare) },
      wanted: ratioAtLeast(target),
      latency,
      cpuMicroseconds: { service: cpuMicroseconds },
      limitedBy: limitOfRate(median(ours), { service: cpuMicroseconds }),
    });
    record({ name: `${name}, not kept`, unit: '/s', ours: coldPerSecond });
    rows.push([
      name,
      String(median(bare)),
      String(median(ours)),
      ratio.toFixed(2),
      `≥ ${target}`,
      String(coldPerSecond),
      `${latency.p99Ms} ms`,
      `${bareMicroseconds.toFixed(0)} and ${cpuMicroseconds.toFixed(0)} µs`,
    ]);
  }
  printTable(
    `Reads, uniformly over 10,000 listings, ${CONNECTIONS} connections, warm; answers that are not kept, one at a time`,
    [
      'what',
      'bare node:http /s',
      'service /s',
      'ratio',
      'wanted',
      'not kept /s',
      'p99',
      'CPU a request, bare and ours',
    ],
    rows,
  );
}

function chunked(ids: readonly string[], size: number): string[][] {
  const chunks: string[][] = [];
  for (let from = 0; from < ids.length; from += size) chunks.push(ids.slice(from, from + size));
  return chunks;
}

/** How many answers a second are made anew, asked for one after the other. */
async function coldRate(timeAnew: Reader['timeAnew'], paths: readonly string[]): Promise<number> {
  const some = paths.slice(0, COLD_SAMPLE);
  let spentMs = 0;
  for (const path of some) spentMs += await timeAnew(path);
  return Math.round((some.length / spentMs) * 1000);
}

/** Asks for everything once, several at a time, and returns what was answered. */
async function warmUp(get: Get, paths: readonly string[]): Promise<Record<string, string>> {
  const bodies: Record<string, string> = {};
  const rest = [...paths];
  const ask = async () => {
    for (let path = rest.pop(); path !== undefined; path = rest.pop()) bodies[path] = await get(path);
  };
  await Promise.all(Array.from({ length: 16 }, ask));
  return bodies;
}

/** Walks a list to its end and returns the path of each page. */
async function pagePaths(get: Get, limit: number): Promise<string[]> {
  const paths: string[] = [];
  let cursor: string | null = null;
  do {
    const path: string = `/api/v1/listings?limit=${limit}${cursor === null ? '' : `&after=${cursor}`}`;
    paths.push(path);
    cursor = (JSON.parse(await get(path)) as { next_cursor: string | null }).next_cursor;
  } while (cursor !== null);
  return paths;
}

/** The first and the last page, cold, with few and with many listings: the cost must not grow with the list. */
async function comparePages(shops: [number, Reader][]): Promise<void> {
  const times: { size: number; first: number; last: number }[] = [];
  for (const [size, { get, timeAnew }] of shops) {
    const paths = await pagePaths(get, PAGE);
    const first = await coldTime(timeAnew, `/api/v1/listings?limit=${PAGE}`);
    times.push({ size, first, last: await coldTime(timeAnew, paths.at(-1) ?? '') });
  }
  const ratio = (one = 0, other = 1) => `${(one / other).toFixed(2)} (≤ ${GROWTH_WANTED} wanted)`;
  const [few, many] = times;
  for (const page of ['first', 'last'] as const) {
    const points = times.map((time) => ({ size: time.size, value: time[page] }));
    const growth = { of: 'listings', points };
    record({
      name: `${page} page of 50, not kept`,
      unit: 'ms',
      ours: points.at(-1)?.value ?? 0,
      growth,
      wanted: ratioAtMost(GROWTH_WANTED),
    });
  }
  printTable(
    'Pages of 50, answers not kept',
    ['listings', 'first page', 'last page', 'last / first'],
    [
      ...times.map(({ size, first, last }) => [
        size.toLocaleString('en-US'),
        `${first.toFixed(2)} ms`,
        `${last.toFixed(2)} ms`,
        ratio(last, first),
      ]),
      ['many / few', ratio(many?.first, few?.first), ratio(many?.last, few?.last), ''],
    ],
  );
}

async function coldTime(timeAnew: Reader['timeAnew'], path: string): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < COLD_ROUNDS; index++) times.push(await timeAnew(path));
  return median(times);
}
