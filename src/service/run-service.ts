import type { Logger } from 'pino';
import type { ChannelContext } from '../channel/context.ts';
import { type Config, readConfig } from '../config.ts';
import { BYTES_PER_MB } from '../contract/limits.ts';
import { VERSIONS } from '../contract/versions.ts';
import { migrate } from '../db/migrate.ts';
import { StartError } from '../db/start-error.ts';
import { loadSignInLibrary } from '../dealers/users/sign-in.ts';
import { prepareDemo } from '../demo/demo.ts';
import { buildApp } from '../http/app.ts';
import { createLog } from '../http/logging/log.ts';
import { memoryStore } from '../http/public/rate-limit/memory-store.ts';
import { postgresStore } from '../http/public/rate-limit/postgres-store.ts';
import { createReadiness } from '../http/readiness.ts';
import { createPhotoReader } from '../inventory/photos/photo-reader.ts';
import { removePhotoFiles } from '../inventory/photos/photo-storage-owner.ts';
import { announceIntegrations } from '../live/announce-integrations.ts';
import { createChangeFeed } from '../live/change-feed.ts';
import { createNotifier } from '../webhooks/worker/wake-up.ts';
import { type Connection, connect } from './connect.ts';
import { type DashboardPages, openDashboardPages } from './dashboard-build.ts';
import { type RunningService, stopGracefully } from './graceful-shutdown.ts';
import { warnOfLostKeys } from './lost-keys.ts';
import { claimPhotoStorage, openPhotoFiles } from './photo-storage.ts';
import { listenProblem } from './port.ts';
import { aborted, listenForStop, type StopSignals } from './shutdown-signals.ts';
import { listenWhileStarting, type StartingServer } from './starting-server.ts';
import { welcome } from './welcome.ts';
import { startWorkers } from './workers.ts';

/** The whole life of the process: starts the service from its settings, and resolves when it has stopped. */
export async function runService(): Promise<void> {
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
}

/** The database is released whatever happens. */
async function run(settings: Config, { stop, hurry }: StopSignals): Promise<void> {
  const log = createLog({ level: settings.logLevel, isPretty: process.stderr.isTTY });
  const starting = await listenWhileStarting(settings, settings.publicUrl);
  const pages = settings.roles.includes('dashboard') ? openPages(settings, log, stop) : null;
  const connection = await connect(settings, {
    isExclusive: true,
    onProgress: (message) => console.log(message),
    onFault: (message) => log.warn(message),
    signal: stop,
  });
  try {
    const service = await Promise.race([serve(connection, pages, log, starting), aborted(stop)]);
    await aborted(stop);
    if (service !== undefined) await stopGracefully(service, hurry);
  } finally {
    starting.close();
    await connection.close();
    console.log('Stopped.');
  }
}

/** In parallel with the start of the database: the API does not wait for the dashboard's build. */
function openPages(settings: Config, log: Logger, signal: AbortSignal): DashboardPages {
  return openDashboardPages(settings.publicUrl, {
    signal,
    onProgress: (message) => console.log(message),
    onFault: (error) => log.error({ err: error }, 'the dashboard could not be built'),
  });
}

async function serve(
  { config, keySource, db, admissionDb, workerDb, embedded, ping }: Connection,
  pages: DashboardPages | null,
  log: Logger,
  starting: StartingServer,
): Promise<RunningService> {
  const say = (message: string) => console.log(message);
  await migrate(db, say);
  await warnOfLostKeys(db, config.secretKeys, keySource, log);
  const dataDir = embedded === null ? null : config.dataDir;
  const photoFiles = await openPhotoFiles(config);
  await claimPhotoStorage(config, db, photoFiles, (message, error) => log.warn({ err: error }, message));
  // New events wake the delivery worker of this process and those of other nodes.
  const wakers = config.databaseUrl === null ? [] : [createNotifier(db)];
  const feed = createChangeFeed(db);
  const announceChannels = announceIntegrations(db, feed.announce);
  const channel: ChannelContext = {
    db,
    now: () => null,
    publicUrl: config.publicUrl,
    versions: VERSIONS,
    onEvents: (integrationIds) => {
      for (const wake of wakers) wake();
      announceChannels(integrationIds);
    },
    announceChange: feed.announce,
    onPhotosRemoved: (photoIds) => {
      removePhotoFiles(db, photoFiles, photoIds).catch((error: unknown) =>
        log.warn({ err: error }, 'files of photos remain'),
      );
    },
  };
  const demo = config.isDemoWanted
    ? await prepareDemo(channel, { liveKey: config.demoApiKey, dataDir, photoFiles, onNotice: say })
    : null;
  const readiness = createReadiness(ping);
  // Its loading would hold up everybody during the first request with a session.
  if (pages !== null) await loadSignInLibrary();
  const app = await buildApp({
    db,
    admissionDb,
    log,
    channel,
    publicUrl: config.publicUrl,
    secretKeys: config.secretKeys,
    readCacheBytes: config.readCacheMb * BYTES_PER_MB,
    rateLimits: config.rateLimitStore === 'memory' ? memoryStore() : postgresStore(admissionDb),
    readiness,
    storageQuotaMbPerDay: config.storageQuotaMbPerDay,
    hasApi: config.roles.includes('api'),
    dashboard:
      pages === null
        ? null
        : {
            pages: pages.get,
            isSignUpOpen: config.isSignUpOpen,
            isMailOn: config.mail !== null,
            trustedProxies: config.trustedProxies,
            isPrivateWebhookAllowed: config.isPrivateWebhookAllowed,
            feed,
            photoFiles,
          },
    photoReader: config.roles.some((role) => role !== 'worker')
      ? createPhotoReader(db, photoFiles, (error, message) => log.warn({ err: error }, message))
      : null,
  });
  app.addHook('onClose', feed.stop);
  const workers = config.roles.includes('worker')
    ? startWorkers(config, { ...channel, db: workerDb }, photoFiles, log)
    : null;
  if (workers !== null) wakers.push(workers.wake);
  let workersStop: Promise<void> | undefined;
  const stopWorkers = async () => {
    workersStop ??= workers?.stop();
    await workersStop;
  };
  app.addHook('onClose', stopWorkers);
  starting.close();
  await app.listen({ host: config.host, port: config.port }).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    throw new StartError(listenProblem(error, config));
  });
  // Since the process began, so that loading the program counts.
  console.log(welcome(config, demo, performance.now()));
  return { app, readiness, drainSeconds: config.drainSeconds, stopWorkers };
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
