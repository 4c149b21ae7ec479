import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, readConfig } from '../config.ts';
import { StartError } from '../db/start-error.ts';
import { createLog } from '../http/logging/log.ts';
import { type Connection, connect } from './connect.ts';
import { type OpenChannel, openChannel, prepareData } from './open-channel.ts';
import { listen, openPages, openServer } from './open-server.ts';
import type { FromProcess } from './processes/process-messages.ts';
import { runProcess } from './processes/run-process.ts';
import { startProcesses } from './processes/supervisor.ts';
import { type RunningService, STOPPING, stopGracefully, WORKERS_LIMIT_MS } from './shutdown/graceful-shutdown.ts';
import { aborted, listenForStop, listenToSupervisor, type StopSignals } from './shutdown/shutdown-signals.ts';
import type { DashboardPages } from './startup/dashboard-build.ts';
import { listenWhileStarting, type StartingServer } from './startup/starting-server.ts';
import { welcome } from './startup/welcome.ts';
import { startWorkers } from './workers.ts';

/** The whole life of the process: starts the service from its settings, and resolves when it has stopped. */
export async function runService(): Promise<void> {
  const signals = cluster.isWorker ? listenToSupervisor() : listenForStop();
  try {
    const settings = readConfig();
    if (cluster.isWorker) await runProcess(settings, signals);
    else await run(settings, signals);
  } catch (error) {
    // A step that the stop cut short has nothing to say.
    if (!signals.stop.aborted) {
      if (cluster.isWorker && error instanceof StartError) await reportToSupervisor(error);
      else report(error);
      process.exitCode = 1;
    }
  }
}

/** The database is released whatever happens. */
async function run(settings: Config, signals: StopSignals): Promise<void> {
  const { stop, hurry } = signals;
  const log = createLog({ level: settings.logLevel, isPretty: process.stderr.isTTY });
  const starting = await listenWhileStarting(settings, settings.publicUrl);
  const pages = openPages(settings, log, stop);
  const isSupervisor = settings.processes > 1;
  const connection = await connect(isSupervisor ? { ...settings, roles: ['worker'] } : settings, {
    isExclusive: true,
    onProgress: (message) => console.log(message),
    onFault: (message) => log.warn(message),
    signal: stop,
  });
  try {
    if (isSupervisor) {
      await supervise(settings, connection, pages, log, starting, signals);
      return;
    }
    const service = await Promise.race([serve(connection, pages, log, starting), aborted(stop)]);
    await aborted(stop);
    if (service !== undefined) await stopGracefully(service, hurry);
  } finally {
    starting.close();
    await connection.close();
    console.log('Stopped.');
  }
}

/** One process does everything. */
async function serve(
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
async function supervise(
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
  const stopWorkers = startOwnWorkers({ ...connection.config, roles: settings.roles }, connection, open, log);
  try {
    const group = await startProcesses({
      count: settings.processes,
      address: connection.address,
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

/** The supervisor says it once for all of them. */
async function reportToSupervisor({ message }: StartError): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) resolve();
    else process.send({ kind: 'failed', reason: message } satisfies FromProcess, undefined, undefined, () => resolve());
  });
}

/** A problem that the operator has to fix is one clear line. A bug prints its stack. */
function report(error: unknown): void {
  if (error instanceof StartError) {
    for (const line of error.message.split('\n')) console.error(`crownwheel: ${line}`);
    return;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  console.error(`crownwheel: could not start: ${message.replaceAll('\n', ' ')}`);
  createLog({ level: 'info', isPretty: process.stderr.isTTY }).error({ stack }, 'unexpected fault');
}
