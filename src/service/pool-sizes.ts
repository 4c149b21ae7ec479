import type { Config } from '../config.ts';

/** How one process divides its connections. Zero: it uses the shared ones. */
export type PoolSizes = { shared: number; admission: number; worker: number };

/** One statement at a time looks up keys, and one spends their tokens. */
const ADMISSION_CONNECTIONS = 2;
const WORKER_SHARE = 1 / 4;
/** With fewer connections than this there is nothing to divide. */
const DIVIDED_MIN = 8;
/** What a process opens besides its pools: for `/ready`, and to listen for changes of dashboards and for due deliveries. */
const CONNECTIONS_BESIDES = 3;

/** Reads and writes of clients share one pool; neither can take what admission or the worker needs. */
export function poolSizes({ databasePoolSize, roles }: Pick<Config, 'databasePoolSize' | 'roles'>): PoolSizes {
  const hasApi = roles.includes('api');
  if (databasePoolSize < DIVIDED_MIN || !hasApi) return { shared: databasePoolSize, admission: 0, worker: 0 };
  const worker = roles.includes('worker') ? Math.floor(databasePoolSize * WORKER_SHARE) : 0;
  return { shared: databasePoolSize - ADMISSION_CONNECTIONS - worker, admission: ADMISSION_CONNECTIONS, worker };
}

/** How many connections the service opens at most, the supervisor of several processes included. */
export function connectionCount({
  databasePoolSize,
  processes,
}: Pick<Config, 'databasePoolSize' | 'processes'>): number {
  return (databasePoolSize + CONNECTIONS_BESIDES) * (processes === 1 ? 1 : processes + 1);
}
