import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { ChannelContext } from './channel/context.ts';
import { type Config, readConfig } from './config.ts';
import { VERSIONS } from './contract/versions.ts';
import { migrate } from './db/migrate.ts';
import { StartError } from './db/start-error.ts';
import { prepareDemo } from './demo/demo.ts';
import { buildApp } from './http/app.ts';
import { createLog } from './http/log.ts';
import { memoryStore } from './http/public/rate-limit/memory-store.ts';
import { postgresStore } from './http/public/rate-limit/postgres-store.ts';
import { createPhotoGallery } from './inventory/photos/photo-gallery.ts';
import { type Connection, connect } from './service/connect.ts';
import { type DashboardPages, openDashboardPages } from './service/dashboard-build.ts';
import { warnOfLostKeys } from './service/lost-keys.ts';
import { openPhotoFiles } from './service/photo-storage.ts';
import { assertPortFree, listenProblem } from './service/port.ts';
import { aborted, listenForStop, type StopSignals } from './service/stop-signals.ts';
import { welcome } from './service/welcome.ts';
import { startWorkers } from './service/workers.ts';
import { createNotifier } from './webhooks/worker/wake-up.ts';

/** How long a stop waits for requests under way before it gives up on them. */
const DRAIN_LIMIT_MS = 15_000;
/** What is left then may be stuck; the database is stopped all the same. */
const FORCE_LIMIT_MS = 2_000;
/** Connections that fall idle while we drain are closed this often; each would keep the server open. */
const IDLE_SWEEP_MS = 50;

const BYTES_PER_MB = 1_048_576;

const startedAt = Date.now();
const signals = listenForStop();
try {
  await run(readConfig(), signals);
} catch (error) {
  // A step that the stop cut short has nothing to say.
  if (!signals.stop.aborted) {
    report(error);
    process.exitCode = 1;
  }
}
process.exit();

/** From settings to a running service, and to its clean end; whatever happens, the database is let go. */
async function run(settings: Config, { stop, hurry }: StopSignals): Promise<void> {
  const log = createLog({ level: settings.logLevel, isPretty: process.stderr.isTTY });
  await assertPortFree(settings);
  const pages = settings.roles.includes('dashboard') ? openPages(settings, log, stop) : null;
  const connection = await connect(settings, {
    isExclusive: true,
    onProgress: (message) => console.log(message),
    onFault: (message) => log.warn(message),
    signal: stop,
  });
  try {
    const app = await Promise.race([serve(connection, pages, log), aborted(stop)]);
    await aborted(stop);
    if (app !== undefined) await drain(app, hurry);
  } finally {
    await connection.close();
    console.log('Stopped.');
  }
}

/** Beside the start of the database: the API does not wait for pages that have to be built. */
function openPages(settings: Config, log: Logger, signal: AbortSignal): DashboardPages {
  return openDashboardPages(settings.publicUrl, {
    signal,
    onProgress: (message) => console.log(message),
    onFault: (error) => log.error({ err: error }, 'the dashboard could not be built'),
  });
}

async function serve(
  { config, keySource, db, embedded }: Connection,
  pages: DashboardPages | null,
  log: Logger,
): Promise<FastifyInstance> {
  const say = (message: string) => console.log(message);
  await migrate(db, say);
  await warnOfLostKeys(db, config.secretKeys, keySource, log);
  const dataDir = embedded === null ? null : config.dataDir;
  const photoFiles = await openPhotoFiles(config);
  // Whoever sends events is told of new ones: the engine in this process, and those of other nodes.
  const wakers = config.databaseUrl === null ? [] : [createNotifier(db)];
  const channel: ChannelContext = {
    db,
    now: () => null,
    publicUrl: config.publicUrl,
    versions: VERSIONS,
    onEvents: () => {
      for (const wake of wakers) wake();
    },
    onPhotosRemoved: (photoIds) => {
      photoFiles.remove(photoIds).catch((error: unknown) => log.warn({ err: error }, 'files of photos remain'));
    },
  };
  const demo = config.isDemoWanted
    ? await prepareDemo(channel, { liveKey: config.demoApiKey, dataDir, photoFiles, onNotice: say })
    : null;
  const app = await buildApp({
    db,
    log,
    channel,
    publicUrl: config.publicUrl,
    secretKeys: config.secretKeys,
    readCacheBytes: config.readCacheMb * BYTES_PER_MB,
    rateLimits: config.rateLimitStore === 'memory' ? memoryStore() : postgresStore(db),
    hasApi: config.roles.includes('api'),
    dashboard: pages === null ? null : { pages: pages.get },
    gallery: config.roles.some((role) => role !== 'worker')
      ? createPhotoGallery(db, photoFiles, (error, message) => log.warn({ err: error }, message))
      : null,
  });
  if (config.roles.includes('worker')) {
    const workers = startWorkers(config, channel, photoFiles, log);
    wakers.push(workers.wake);
    // From the first moment of a stop, beside the requests: a webhook that is claimed while they finish would be cut.
    let workersStop: Promise<void> | null = null;
    app.addHook('preClose', (done) => {
      workersStop = workers.stop();
      done();
    });
    app.addHook('onClose', () => workersStop ?? workers.stop());
  }
  await app.listen({ host: config.host, port: config.port }).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    throw new StartError(listenProblem(error, config));
  });
  console.log(welcome(config, demo, Date.now() - startedAt));
  return app;
}

/** Takes no new connections and lets requests under way finish, until the limit or a second signal. */
async function drain(app: FastifyInstance, hurry: AbortSignal): Promise<void> {
  console.log('\nStopping: finishing requests under way (a second Ctrl-C does not wait for them) …');
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
  const isOver = new AbortController();
  const limit = AbortSignal.any([isOver.signal, hurry]);
  const giveUp = sleep(DRAIN_LIMIT_MS, undefined, { signal: limit }).catch(() => {});
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

/** What an operator has to put right is one clear line each; the stack of a fault of our own is for debugging. */
function report(error: unknown): void {
  if (error instanceof StartError) {
    for (const line of error.message.split('\n')) console.error(`crownwheel: ${line}`);
    return;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  console.error(`crownwheel: could not start: ${message.replaceAll('\n', ' ')}`);
  createLog({ level: 'info', isPretty: process.stderr.isTTY }).error({ stack }, 'unexpected fault');
}
