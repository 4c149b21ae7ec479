import cluster from 'node:cluster';
import { type Config, readConfig } from '../config.ts';
import { StartError } from '../db/start-error.ts';
import { createLog } from '../http/logging/log.ts';
import { connect } from './connect.ts';
import { createOutageLog } from './outage-log.ts';
import type { FromProcess } from './processes/process-messages.ts';
import { stopGracefully } from './shutdown/graceful-shutdown.ts';
import { aborted, listenForStop, listenToSupervisor, type StopSignals } from './shutdown/shutdown-signals.ts';
import { openPages } from './startup/dashboard-build.ts';
import { listenWhileStarting } from './startup/starting-server.ts';

/**
 * The whole life of the process: starts the service from its settings, and resolves when it has stopped. What serves is loaded when
 * the database is there: it is most of all code, and a start that can't succeed says why without it.
 */
export async function runService(): Promise<void> {
  const signals = cluster.isWorker ? listenToSupervisor() : listenForStop();
  try {
    const settings = readConfig();
    if (cluster.isWorker) await (await import('./processes/run-process.ts')).runProcess(settings, signals);
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
  const outage = createOutageLog();
  const log = createLog({ level: settings.logLevel, isPretty: process.stderr.isTTY, hides: outage.hides });
  const starting = await listenWhileStarting(settings, settings.publicUrl);
  const pages = openPages(settings, log, stop);
  const isSupervisor = settings.processes > 1;
  const connection = await connect(isSupervisor ? { ...settings, roles: ['worker'] } : settings, {
    isExclusive: true,
    onProgress: (message) => console.log(message),
    onFault: (message, err) => (err === undefined ? log.warn(message) : log.warn({ err }, message)),
    signal: stop,
  });
  outage.watch(log, connection.ping);
  try {
    const { serve, supervise } = await import('./serve.ts');
    if (isSupervisor) {
      await supervise(settings, connection, pages, log, starting, signals);
      return;
    }
    const service = await Promise.race([serve(connection, pages, log, starting), aborted(stop)]);
    await aborted(stop);
    if (service !== undefined) await stopGracefully(service, hurry);
  } finally {
    starting.close();
    outage.stop();
    await connection.close();
    console.log('Stopped.');
  }
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
