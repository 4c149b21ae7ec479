import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Staff } from './attacks/attack.ts';

/** Another client of the service, who wants nothing but to be served. It runs in a thread of its own. */
export type Neighbour = {
  /** Starts to measure anew. */
  begin(): void;
  /** How many requests were answered since it began. */
  count(): number;
  /** What the neighbour met since it began. */
  end(): Promise<Samples>;
  stop(): Promise<void>;
};

/** How long each request took, and how many had no good answer. */
export type Samples = { timesMs: number[]; failures: number };
export type Served = { requests: number; failures: number; p50Ms: number; p99Ms: number };

const ANSWER_LIMIT_MS = 120_000;

/** With what the neighbour is served: the key of a website, and if there is one, the session of somebody in the shop. */
export type NeighbourAccount = { key: string; staff: DashboardAccount | null };
export type DashboardAccount = Pick<Staff, 'cookie' | 'origin'>;

export function startNeighbour(origin: URL, account: NeighbourAccount): Neighbour {
  const counter = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(new URL('./neighbour-thread.ts', import.meta.url), {
    workerData: { origin: origin.href, account, counter },
  });
  return {
    begin() {
      Atomics.store(counter, 0, 0);
      worker.postMessage('begin');
    },
    count: () => Atomics.load(counter, 0),
    async end() {
      worker.postMessage('end');
      const [samples] = (await once(worker, 'message', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })) as [Samples];
      return samples;
    },
    async stop() {
      await worker.terminate();
    },
  };
}

/** Sums up what was measured in one or several parts. */
export function servedIn(...parts: Samples[]): Served {
  const sorted = parts.flatMap(({ timesMs }) => timesMs).toSorted((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const failures = parts.reduce((sum, part) => sum + part.failures, 0);
  return { requests: sorted.length, failures, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}
