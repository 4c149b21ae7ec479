import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NeighbourCall, NeighbourJob, NeighbourKind } from '../load/neighbour.ts';
import type { Arrivals } from '../load/sink.ts';
import type { Scene } from './setup.ts';

export const ROUND_SECONDS = 5;
/** Of each kind of call. */
export const NEIGHBOUR_PER_SECOND = 50;
const DRAIN_LIMIT_MS = 120_000;

export type Times = Map<NeighbourKind, number[]>;
export type Quantiles = { p50Ms: number; p99Ms: number; longestMs: number };
/** Of a webhook the time until its receipt, of anything else until its answer. */
export async function neighbourTimes({ stage, service, sink, neighbour }: Scene, times: Times): Promise<void> {
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

export function quantilesOf(times: Times, kind: NeighbourKind): Quantiles {
  const sorted = (times.get(kind) ?? []).toSorted((a, b) => a - b);
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), longestMs: sorted.at(-1) ?? 0 };
}
