import { setTimeout as sleep } from 'node:timers/promises';
import { type Endpoint, openOutbox } from '../../src/webhooks/outbox.ts';
import { createSsrfGuard } from '../../src/webhooks/sending/ssrf-guard.ts';
import { startDeliveryWorker } from '../../src/webhooks/worker/delivery-worker.ts';
import { createNotifier } from '../../src/webhooks/worker/wake-up.ts';
import { record } from '../figures.ts';
import { printTable } from '../table.ts';
import { addEvent, arrivals, counted, ENDPOINTS, type Scene, settle } from './scene.ts';

const LIVE_EVENTS_PER_SECOND = 200;
const LIVE_SECONDS = 10;

/** From the commit to the sink, with events coming one at a time, evenly: sent by another process, and by this one. */
export async function measureDelay(scene: Scene): Promise<void> {
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
