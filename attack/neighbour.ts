import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Another client of the service, who wants nothing but to be served. It runs in a thread of its own. */
export type Neighbour = {
  /** Starts to measure anew. */
  begin(): void;
  /** What the neighbour met since it began. */
  end(): Promise<Served>;
  stop(): Promise<void>;
};

export type Served = { requests: number; failures: number; p50Ms: number; p99Ms: number };

const ANSWER_LIMIT_MS = 120_000;

export function startNeighbour(origin: URL, key: string): Neighbour {
  const worker = new Worker(new URL('./neighbour-thread.ts', import.meta.url), {
    workerData: { origin: origin.href, key },
  });
  return {
    begin: () => worker.postMessage('begin'),
    async end() {
      worker.postMessage('end');
      const [served] = (await once(worker, 'message', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })) as [Served];
      return served;
    },
    async stop() {
      await worker.terminate();
    },
  };
}
