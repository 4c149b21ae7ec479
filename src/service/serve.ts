import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Connection } from './connect.ts';
import { collectBuffersLessOften } from './garbage-collection.ts';
import { type OpenChannel, openChannel, prepareData } from './open-channel.ts';
import { listen, openServer } from './open-server.ts';
import { startProcesses } from './processes/supervisor.ts';
import { type RunningService, STOPPING, WORKERS_LIMIT_MS } from './shutdown/graceful-shutdown.ts';
import { aborted, type StopSignals } from './shutdown/shutdown-signals.ts';
import type { DashboardPages } from './startup/dashboard-build.ts';
import type { StartingServer } from './startup/starting-server.ts';
import { welcome } from './startup/welcome.ts';
import { startWorkers } from './workers.ts';

/** One process does everything. */
export async function serve(
  connection: Connection,
  pages: DashboardPages | null,
  log: Logger,
  starting: StartingServer,
): Promise<RunningService> {
  const { config } = connection;
  const open = await openChannel(connection, log);
  const demo = await prepareData(connection, open, log);
  const { app, readiness } = await openServer(connection, open, pages, log);
  const stopWorkers = startOwnWorkers(config, connection, open, log);
  app.addHook('onClose', stopWorkers);
  starting.close();
  await listen(app, config);
  // Since the process began, so that loading the program counts.
  console.log(welcome(config, demo, performance.now()));
  return { app, readiness, drainSeconds: config.drainSeconds, stopWorkers, say: (message) => console.log(message) };
}

/** This process has the database and works in the background; others answer the requests (decision 24). */
export async function supervise(
  settings: Config,
  connection: Connection,
  pages: DashboardPages | null,
  log: Logger,
  starting: StartingServer,
  { stop, hurry }: StopSignals,
): Promise<void> {
  const open = await openChannel(connection, log);
  const demo = await prepareData(connection, open, log);
  // Else each of the processes would build them.
  await pages?.ready;
  collectBuffersLessOften();
  const stopWorkers = startOwnWorkers({ ...connection.config, roles: settings.roles }, connection, open, log);
  try {
    const group = await startProcesses({
      count: settings.processes,
      address: connection.address,
      secretKeys: connection.config.secretKeys,
      drainSeconds: settings.drainSeconds,
      freePort: starting.close,
      log,
      signal: stop,
    });
    if (!stop.aborted) console.log(welcome(settings, demo, performance.now()));
    await aborted(stop);
    console.log(STOPPING);
    stopWorkers().catch(() => {});
    await group.stop(hurry);
  } finally {
    await Promise.race([stopWorkers(), sleep(WORKERS_LIMIT_MS, undefined, { ref: false })]);
    open.photoStorage.stop();
    await open.feed.stop();
  }
}

/** Starts what the role `worker` does, and answers with its stop; a second stop waits for the first. */
function startOwnWorkers(
  config: Config,
  { workerDb }: Connection,
  open: OpenChannel,
  log: Logger,
): () => Promise<void> {
  if (!config.roles.includes('worker')) return async () => {};
  const workers = startWorkers(config, { ...open.channel, db: workerDb }, open.photoFiles, log);
  open.wakers.push(workers.wake);
  open.deliveryWorker.current = workers;
  let stopping: Promise<void> | undefined;
  return async () => {
    stopping ??= workers.stop();
    await stopping;
  };
}
