import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Readiness } from '../../http/readiness.ts';

/** A service that runs, with what its stop needs. */
export type RunningService = {
  app: FastifyInstance;
  readiness: Readiness;
  /** How long to go on taking requests while readiness says no. */
  drainSeconds: number;
  /** Ends the work in the background; a second call waits for the first. */
  stopWorkers(): Promise<void>;
  /** Tells the operator what the stop is doing. */
  say(message: string): void;
};

export const STOPPING = '\nStopping: finishing requests under way (a second Ctrl-C does not wait for them) …';
/** How long a stop waits for requests under way before it gives up on them. */
export const REQUESTS_LIMIT_MS = 15_000;
/** How long a stop waits for work in the background; a webhook takes 10 s at most. */
export const WORKERS_LIMIT_MS = 15_000;
/** What is left then may be stuck; the database is stopped all the same. */
export const FORCE_LIMIT_MS = 2_000;
/** Connections that fall idle while the server closes are closed this often; each would keep the server open. */
const IDLE_SWEEP_MS = 50;

/**
 * First the drain: readiness says no, answers ask for the connection's end, and requests are still taken until load
 * balancers have noticed. Then no new connection is taken and requests under way finish. A second signal hurries both.
 */
export async function stopGracefully(service: RunningService, hurry: AbortSignal): Promise<void> {
  service.readiness.drain();
  // At once, beside the requests: a webhook that is claimed while they finish would be cut.
  const workersStop = service.stopWorkers();
  workersStop.catch(() => {});
  if (service.drainSeconds > 0) {
    service.say(`\nStopping in ${service.drainSeconds} s: not ready any more, still taking requests …`);
    await sleep(service.drainSeconds * 1000, undefined, { signal: hurry }).catch(() => {});
  }
  await close(service, hurry);
}

/** Takes no new connections and lets requests under way finish, until the limit or a second signal. */
async function close({ app, say }: RunningService, hurry: AbortSignal): Promise<void> {
  say(STOPPING);
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
  const isOver = new AbortController();
  const limit = AbortSignal.any([isOver.signal, hurry]);
  const giveUp = sleep(REQUESTS_LIMIT_MS, undefined, { signal: limit }).catch(() => {});
  const forced = giveUp.then(() => {
    app.server.closeAllConnections();
    return sleep(FORCE_LIMIT_MS);
  });
  try {
    await Promise.race([app.close(), forced]);
  } finally {
    isOver.abort();
    clearInterval(sweep);
  }
}
