import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { PgBoss } from 'pg-boss';
import { COMMAND_LINE } from '../src/audit/actor.ts';
import type { Database } from '../src/db/database.ts';
import { rawSql, sql } from '../src/db/sql.ts';
import { createIntegration } from '../src/dealers/integrations/integrations.ts';
import { createOrganization } from '../src/dealers/organizations.ts';
import { setUrl } from '../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption, type SecretEncryption } from '../src/webhooks/endpoints/secret-encryption.ts';
import { type Endpoint, openOutbox } from '../src/webhooks/outbox.ts';
import { createSsrfGuard } from '../src/webhooks/sending/ssrf-guard.ts';
import { startDeliveryWorker } from '../src/webhooks/worker/delivery-worker.ts';
import { createNotifier } from '../src/webhooks/worker/wake-up.ts';
import { QUEUE, type WebhookJob } from './baselines/job-queue.ts';
import { createSideSwitch } from './baselines/side-switch.ts';
import { limitOfRate, ratioAtLeast, ratioAtMost, record } from './figures.ts';
import type { Arrivals } from './load/sink.ts';
import { comparePairs, pairsOf } from './pairs.ts';
import { childrenCpuSeconds, cpuSeconds, freePort, openStage, type Stage } from './processes.ts';
import { databaseUrlOf, median, openBackDoor } from './shop.ts';
import { printTable } from './table.ts';

const ENDPOINTS = 8;
const ROUNDS = 3;
const ROUND_EVENTS = 30_000;
/** Few enough that ten pairs take less than four minutes. */
const PAIR_EVENTS = 15_000;
const DRAIN_EVENTS = 100_000;
const FINISHED_ROWS = 1_000_000;
const JOB_EVENTS = 30_000;
const LIVE_EVENTS_PER_SECOND = 200;
const LIVE_SECONDS = 10;
const SUSTAINED_WANTED = 0.6;
const SLOWER_WANTED = 1.2;
const VACUUM_LIMIT_MS = 300_000;
/** The worker's first claims are made while it wakes up; figures begin after this share of the webhooks. */
const WARM_UP_SHARE = 0.1;

/** A worker of the real service, a sink, and a back door to the database in which events are made. */
type Scene = {
  stage: Stage;
  db: Database;
  endpoints: Endpoint[];
  databaseUrl: string;
  worker: ChildProcess;
  workerEnv: Record<string, string>;
  /** The database server's own process. */
  postmaster: number | null;
  sink: string;
  encryption: SecretEncryption;
};

/**
 * Webhooks: the worker against a bare loop that signs and posts the same bodies to the same sink in the same run. With
 * `--attempts` instead one worker that keeps attempts and keeps none by turns, in `--pairs=N`.
 */
export async function benchWebhooks(args: string[]): Promise<void> {
  const stage = await openStage();
  try {
    const scene = await setScene(stage);
    if (args.includes('--attempts')) return await compareAttempts(scene, pairsOf(args));
    await compareWithBare(scene);
    await measureDelay(scene);
    const isLarge = args.includes('--large');
    const drained = await drainAtRest(scene, isLarge ? ROUNDS : 1);
    const rows = [['few', perSecond(drained.rate), drained.cpu, '']];
    if (isLarge) {
      console.log('Making a million finished deliveries …');
      await makeFinished(scene);
      const large = await drainAtRest(scene, ROUNDS);
      record({
        name: `draining ${DRAIN_EVENTS.toLocaleString('en-US')} queued, each`,
        unit: 'ms',
        ours: 1_000 / large.rate,
        growth: {
          of: 'finished deliveries beside them',
          points: [
            { size: 0, value: 1_000 / drained.rate },
            { size: FINISHED_ROWS, value: 1_000 / large.rate },
          ],
        },
        wanted: ratioAtMost(SLOWER_WANTED),
      });
      const slower = `${(drained.rate / large.rate).toFixed(2)} times (≤ ${SLOWER_WANTED} wanted)`;
      rows.push(['1,000,000', perSecond(large.rate), large.cpu, slower]);
    }
    printTable(
      'Draining 100,000 queued',
      ['finished rows beside them', 'webhooks /s', 'CPU a webhook: worker + PostgreSQL', 'slower'],
      rows,
    );
    await compareWithJobs(scene, drained.rate);
  } finally {
    await stage.end();
  }
}

async function setScene(stage: Stage): Promise<Scene> {
  const keys = { SECRET_KEYS: randomBytes(32).toString('hex') };
  const service = await stage.startService({ ROLES: 'api', ...keys });
  const { link } = await openBackDoor(service);
  const databaseUrl = databaseUrlOf(link);
  const workerEnv = { ROLES: 'api,worker', DATABASE_URL: databaseUrl, WEBHOOK_PRIVATE_TARGETS: 'on', ...keys };
  const { process: worker } = await stage.startService(workerEnv);
  const port = await freePort();
  await stage.startScript('load/sink.ts', [String(port)]);
  const sink = `http://127.0.0.1:${port}`;
  const encryption = createSecretEncryption([keys.SECRET_KEYS]);
  const endpoints = await makeEndpoints(link.db, encryption, `${sink}/hook`);
  const postmaster = (await link.embedded?.pid()) ?? null;
  return { stage, db: link.db, endpoints, databaseUrl, worker, workerEnv, postmaster, sink, encryption };
}

async function makeEndpoints(db: Database, encryption: SecretEncryption, url: string): Promise<Endpoint[]> {
  const organization = await createOrganization(db, COMMAND_LINE, { name: 'Bench', hasPlan: true });
  const endpoints: Endpoint[] = [];
  for (let index = 0; index < ENDPOINTS; index++) {
    const { id: integrationId } = await createIntegration(db, COMMAND_LINE, {
      organizationId: organization.id,
      userId: null,
      name: 'Bench',
      currency: 'USD',
      isTestMode: false,
    });
    await setUrl(db, COMMAND_LINE, { guard: createSsrfGuard(true), encryption }, integrationId, url);
    endpoints.push({
      integrationId,
      apiVersion: '2026-05-07',
      isTestMode: false,
      url,
      subscriptions: ['*'],
      isSending: true,
    });
  }
  return endpoints;
}

async function compareWithBare(scene: Scene): Promise<void> {
  const bare: number[] = [];
  const ours: number[] = [];
  let last: Drained = { rate: 0, worker: 0, server: 0 };
  // Alternating rounds, so that a busy moment of the machine hits both.
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await postBare(scene));
    last = await drain(scene, ROUND_EVENTS);
    ours.push(last.rate);
  }
  const cpuMicroseconds = { service: last.worker, postgresql: last.server };
  record({
    name: 'deliveries, sustained',
    unit: '/s',
    ours: median(ours),
    bare: { name: 'a bare loop of signed posts', value: median(bare) },
    wanted: ratioAtLeast(SUSTAINED_WANTED),
    cpuMicroseconds,
    limitedBy: limitOfRate(median(ours), cpuMicroseconds),
  });
  printTable(
    `Sustained, ${ENDPOINTS} endpoints, bodies of ${(await bodies(scene.db, 1))[0]?.length} bytes`,
    ['bare undici /s', 'worker /s', 'ratio', 'wanted', 'CPU a webhook: worker + PostgreSQL'],
    [
      [
        perSecond(median(bare)),
        perSecond(median(ours)),
        (median(ours) / median(bare)).toFixed(2),
        `≥ ${SUSTAINED_WANTED}`,
        `${last.worker.toFixed(0)} + ${last.server.toFixed(0)} µs`,
      ],
    ],
  );
}

/** One worker that changes sides, on tables that are alike at each start: vacuumed and written out. */
async function compareAttempts(scene: Scene, pairs: number): Promise<void> {
  await settle(scene);
  await scene.stage.stop(scene.worker);
  const { process: worker } = await scene.stage.startService(scene.workerEnv, 'baselines/attempts-switch.ts');
  const switched = { ...scene, worker };
  const putOn = createSideSwitch(worker);
  await comparePairs('Webhooks that succeed at once, with and without what is kept of attempts', {
    pairs,
    unit: 'webhooks/s',
    lossWanted: 0.05,
    async measure(isWith) {
      await putOn(isWith);
      await restTables(switched);
      const drained = await drain(switched, PAIR_EVENTS);
      return { perSecond: drained.rate, cpuMicroseconds: drained.worker + drained.server };
    },
  });
}

async function postBare(scene: Scene): Promise<number> {
  const file = join(scene.stage.dir, 'bodies');
  const some = await bodies(scene.db, ROUND_EVENTS);
  if (some.length < ROUND_EVENTS) await queueEvents(scene, ROUND_EVENTS);
  await writeFile(file, (await bodies(scene.db, ROUND_EVENTS)).join('\n'));
  await settle(scene);
  await scene.stage.runScript('baselines/bare-poster.ts', [`${scene.sink}/hook`, file]);
  return rateOf(await arrivals(scene));
}

type Drained = { rate: number; worker: number; server: number };

/** Queues events while the worker stands still, lets it go, and measures at the sink; CPU in microseconds a webhook. */
async function drain(scene: Scene, count: number): Promise<Drained> {
  await settle(scene);
  scene.worker.kill('SIGSTOP');
  await queueEvents(scene, count);
  const before = [await cpuSeconds(scene.worker.pid), await childrenCpuSeconds(scene.postmaster)] as const;
  scene.worker.kill('SIGCONT');
  while ((await counted(scene)) < count) await sleep(20);
  const worker = (((await cpuSeconds(scene.worker.pid)) - before[0]) / count) * 1e6;
  const server = (((await childrenCpuSeconds(scene.postmaster)) - before[1]) / count) * 1e6;
  return { rate: rateOf(await arrivals(scene)), worker, server };
}

/** The median of some drains, each on tables that are vacuumed and written out, as they are when nothing else happens. */
async function drainAtRest(scene: Scene, rounds: number): Promise<{ rate: number; cpu: string }> {
  const rates: number[] = [];
  let cpu = '';
  for (let round = 0; round < rounds; round++) {
    await restTables(scene);
    // What queueing them costs is not counted.
    const { rate, worker, server } = await drain(scene, DRAIN_EVENTS);
    rates.push(rate);
    cpu = `${worker.toFixed(0)} + ${server.toFixed(0)} µs`;
  }
  return { rate: median(rates), cpu };
}

/** Leaves the tables as they are when nothing has happened for a while. */
async function restTables(scene: Scene): Promise<void> {
  await settle(scene);
  const client = await scene.db.connect();
  await client.query('set statement_timeout = 0');
  for (const statement of ['vacuum analyze events', 'vacuum analyze deliveries', 'checkpoint']) {
    // The client gives up sooner than a large table is vacuumed.
    await client.query({ text: statement, query_timeout: VACUUM_LIMIT_MS } as QueryConfig);
  }
  await client.end();
}

/** From the commit to the sink, with events coming one at a time, evenly: sent by another process, and by this one. */
async function measureDelay(scene: Scene): Promise<void> {
  const elsewhere = await delaysOf(scene, createNotifier(scene.db));
  scene.worker.kill('SIGSTOP');
  const worker = startDeliveryWorker({
    db: scene.db,
    encryption: scene.encryption,
    guard: createSsrfGuard(true),
    now: () => null,
    onFault: (error) => console.error(error),
  });
  const here = await delaysOf(scene, worker.wake);
  await worker.stop();
  scene.worker.kill('SIGCONT');
  const valueAt = (delays: number[], q: number) => delays[Math.floor(delays.length * q)] ?? 0;
  const quantile = (delays: number[], q: number) => `${valueAt(delays, q).toFixed(1)} ms`;
  for (const [name, delays] of [
    ['commit to receipt, same process', here],
    ['commit to receipt, another node', elsewhere],
  ] as const) {
    const latency = { p50Ms: valueAt(delays, 0.5), p99Ms: valueAt(delays, 0.99), longestMs: delays.at(-1) ?? 0 };
    record({ name, unit: 'ms', ours: latency.p50Ms, latency });
  }
  printTable(
    `From the commit to the receiver, ${LIVE_EVENTS_PER_SECOND} events/s`,
    ['the worker is', 'p50', 'p99', 'longest'],
    [
      ['in the same process', here],
      ['on another node, woken by NOTIFY', elsewhere],
    ].map(([name, delays]) => [
      String(name),
      ...[0.5, 0.99, 0.9999].map((share) => quantile(delays as number[], share)),
    ]),
  );
}

async function delaysOf(scene: Scene, wake: () => void): Promise<number[]> {
  await settle(scene);
  const committed = new Map<string, number>();
  const startedAt = performance.now();
  const count = LIVE_EVENTS_PER_SECOND * LIVE_SECONDS;
  const commits: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    await sleep(Math.max(0, startedAt + (index * 1000) / LIVE_EVENTS_PER_SECOND - performance.now()));
    commits.push(commitOne(scene, index, committed).then(wake));
  }
  await Promise.all(commits);
  while ((await counted(scene)) < count) await sleep(20);
  const { ids, times } = await arrivals(scene);
  return ids.map((id, index) => (times[index] ?? 0) - (committed.get(id) ?? 0)).sort((a, b) => a - b);
}

async function commitOne(scene: Scene, index: number, committed: Map<string, number>): Promise<void> {
  const outbox = openOutbox();
  const { id } = addEvent(outbox, scene.endpoints[index % ENDPOINTS] as Endpoint);
  await scene.db.transaction(async (tx) => outbox.write(tx));
  committed.set(id, performance.timeOrigin + performance.now());
}

/** The same bodies as jobs of a job library, which knows nothing of endpoints, leases or outcomes. */
async function compareWithJobs(scene: Scene, ours: number): Promise<void> {
  await settle(scene);
  const boss = new PgBoss({ connectionString: scene.databaseUrl, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue(QUEUE);
  const some = await bodies(scene.db, JOB_EVENTS);
  for (let from = 0; from < some.length; from += 1_000) {
    const jobs = some.slice(from, from + 1_000).map((body) => ({ data: { eventId: 'evt_job', body } as WebhookJob }));
    await boss.insert(QUEUE, jobs);
  }
  await boss.stop({ graceful: false });
  await scene.db.query(rawSql('analyze'));
  await scene.stage.runScript('baselines/job-poster.ts', [scene.databaseUrl, `${scene.sink}/hook`, String(JOB_EVENTS)]);
  const jobs = rateOf(await arrivals(scene));
  record({
    name: 'draining, against a job library',
    unit: '/s',
    ours,
    bare: { name: 'pg-boss, without deliveries or attempts', value: jobs },
  });
  printTable(
    'The deliveries table as the queue, against a job library',
    ['pg-boss, without deliveries or attempts /s', 'worker /s', 'ratio'],
    [[perSecond(jobs), perSecond(ours), (ours / jobs).toFixed(2)]],
  );
}

async function queueEvents(scene: Scene, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1_000) {
    const outbox = openOutbox();
    for (let index = 0; index < 1_000; index++) addEvent(outbox, scene.endpoints[index % ENDPOINTS] as Endpoint);
    await scene.db.transaction(async (tx) => outbox.write(tx));
  }
}

function addEvent(outbox: ReturnType<typeof openOutbox>, endpoint: Endpoint) {
  return outbox.add(endpoint, {
    type: 'listing.updated',
    object: { id: 'lst_01h455vb4pex5vsknk084sn02q', object: 'listing' },
    previous: {},
    createdAt: new Date(),
    isSuppressed: false,
  });
}

/**
 * Copies of finished rows, older than those that the drain makes. They lie as densely as the worker leaves its own: a page
 * begins 60 % full of what waits, and what is finished is a third larger. With the room of the table's setting on each page
 * the new rows would be strewn among the old ones, one to a page.
 */
async function makeFinished({ db, endpoints }: Scene): Promise<void> {
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

async function bodies(db: Database, count: number): Promise<string[]> {
  const rows = await db.query<{ body: string }>(sql`
    select body from events where created_at > now() - interval '1 hour' limit ${count}`);
  return rows.map((row) => row.body);
}

/** Waits until nothing is on its way, and forgets what has come. */
async function settle(scene: Scene): Promise<void> {
  const waiting = async () =>
    (await scene.db.query(sql`select id from deliveries where status in ('pending', 'failed') limit 1`)).length;
  while ((await waiting()) > 0) await sleep(50);
  await arrivals(scene);
}

async function counted({ sink }: Scene): Promise<number> {
  return Number(await (await fetch(`${sink}/count`)).text());
}

async function arrivals({ sink }: Scene): Promise<Arrivals> {
  return (await (await fetch(`${sink}/arrivals`)).json()) as Arrivals;
}

function rateOf({ times }: Arrivals): number {
  const steady = times.slice(Math.floor(times.length * WARM_UP_SHARE));
  return (steady.length - 1) / (((steady.at(-1) ?? 0) - (steady[0] ?? 0)) / 1000);
}

function perSecond(rate: number): string {
  return Math.round(rate).toLocaleString('en-US');
}
