import type { Config } from '../../config.ts';
import { createLog } from '../../http/logging/log.ts';
import { connect } from '../connect.ts';
import { openChannel } from '../open-channel.ts';
import { listen, openServer } from '../open-server.ts';
import { createOutageLog } from '../outage-log.ts';
import { stopGracefully } from '../shutdown/graceful-shutdown.ts';
import { aborted, type StopSignals } from '../shutdown/shutdown-signals.ts';
import { openPages } from '../startup/dashboard-build.ts';
import { ALIVE_EVERY_MS, type FromProcess, type ToProcess } from './process-messages.ts';

/** The life of one of several processes that answer on one port. The supervisor has the database and the other work. */
export async function runProcess(settings: Config, { stop, hurry }: StopSignals): Promise<void> {
  const start = await Promise.race([ask({ kind: 'hello' }, 'start'), aborted(stop)]);
  if (start === undefined) return;
  const isPretty = process.stderr.isTTY;
  const outage = createOutageLog();
  const log = createLog({ level: settings.logLevel, isPretty, hides: outage.hides }).child({ process: start.number });
  const roles = settings.roles.filter((role) => role !== 'worker');
  const pages = openPages(settings, log, stop);
  const connection = await connect(
    { ...settings, roles, secretKeys: start.secretKeys },
    {
      isExclusive: true,
      attachTo: start.address,
      onProgress: () => {},
      onFault: (message, err) => (err === undefined ? log.warn(message) : log.warn({ err }, message)),
      signal: stop,
    },
  );
  outage.watch(log, connection.ping);
  try {
    const open = await openChannel(connection, log);
    const { app, readiness } = await openServer(connection, open, pages, log);
    await Promise.race([ask({ kind: 'prepared' }, 'listen'), aborted(stop)]);
    if (!stop.aborted) await listen(app, settings);
    setInterval(() => process.send?.({ kind: 'alive' } satisfies FromProcess), ALIVE_EVERY_MS).unref();
    await aborted(stop);
    const { drainSeconds } = settings;
    await stopGracefully({ app, readiness, drainSeconds, stopWorkers: async () => {}, say: () => {} }, hurry);
  } finally {
    outage.stop();
    await connection.close();
  }
}

/** Sends the supervisor a message and waits for its answer. If the supervisor is gone, node:cluster ends this process. */
async function ask<Kind extends ToProcess['kind']>(
  question: FromProcess,
  kind: Kind,
): Promise<Extract<ToProcess, { kind: Kind }>> {
  return await new Promise((resolve) => {
    const onMessage = (message: ToProcess) => {
      if (message.kind !== kind) return;
      process.off('message', onMessage);
      resolve(message as Extract<ToProcess, { kind: Kind }>);
    };
    process.on('message', onMessage);
    process.send?.(question);
  });
}
