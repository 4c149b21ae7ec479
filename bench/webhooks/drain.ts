import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { childrenCpuSeconds, cpuSeconds } from '../processes.ts';
import { median } from '../shop.ts';
import { arrivals, counted, queueEvents, rateOf, type Scene, settle } from './scene.ts';

export const DRAIN_EVENTS = 100_000;
const VACUUM_LIMIT_MS = 300_000;

export type Drained = { rate: number; worker: number; server: number };

/** Queues events while the worker stands still, lets it go, and measures at the sink; CPU in microseconds a webhook. */
export async function drain(scene: Scene, count: number): Promise<Drained> {
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
export async function drainAtRest(scene: Scene, rounds: number): Promise<{ rate: number; cpu: string }> {
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
export async function restTables(scene: Scene): Promise<void> {
  await settle(scene);
  const client = await scene.db.connect();
  await client.query('set statement_timeout = 0');
  for (const statement of ['vacuum analyze events', 'vacuum analyze deliveries', 'checkpoint']) {
    // The client gives up sooner than a large table is vacuumed.
    await client.query({ text: statement, query_timeout: VACUUM_LIMIT_MS } as QueryConfig);
  }
  await client.end();
}
