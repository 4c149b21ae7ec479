import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { BYTES_PER_MB } from '../contract/limits.ts';
import { StartError } from '../db/start-error.ts';
import { loadSignInLibrary } from '../dealers/users/sign-in.ts';
import { buildApp } from '../http/app.ts';
import { memoryStore } from '../http/public/rate-limit/memory-store.ts';
import { postgresStore } from '../http/public/rate-limit/postgres-store.ts';
import { createReadiness, type Readiness } from '../http/readiness.ts';
import { createPhotoReader } from '../inventory/photos/photo-reader.ts';
import type { Connection } from './connect.ts';
import { watchDiskSpace } from './disk-space.ts';
import { collectBuffersLessOften } from './garbage-collection.ts';
import type { OpenChannel } from './open-channel.ts';
import { connectionLimitOf, openFilesLimit } from './open-files.ts';
import type { DashboardPages } from './startup/dashboard-build.ts';
import { listenProblem } from './startup/port.ts';

/** The server of a process that answers requests, ready but for the port. */
export async function openServer(
  { config, db, admissionDb, ping }: Connection,
  { channel, feed, photoFiles, photoStorage }: OpenChannel,
  pages: DashboardPages | null,
  log: Logger,
): Promise<{ app: FastifyInstance; readiness: Readiness }> {
  const readiness = createReadiness(ping);
  const disk = await watchDiskSpace({
    folder: config.dataDir,
    // The disk of another server can't be seen from here.
    reserveBytes: config.databaseUrl === null ? config.diskReserveMb * BYTES_PER_MB : 0,
    log,
  });
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
    trustedProxies: config.trustedProxies,
    connectionsPerAddress: config.connectionsPerAddress,
    connectionLimit: connectionLimitOf(openFilesLimit()),
    storageQuotaMbPerDay: config.storageQuotaMbPerDay,
    dashboardStorageQuotaMbPerDay: config.dashboardStorageQuotaMbPerDay,
    isDiskLow: disk.isLow,
    hasApi: config.roles.includes('api'),
    dashboard:
      pages === null
        ? null
        : {
            pages: pages.get,
            isSignUpOpen: config.isSignUpOpen,
            isMailOn: config.mail !== null,
            isPrivateWebhookAllowed: config.isPrivateWebhookAllowed,
            feed,
            photoFiles,
          },
    photoReader: config.roles.some((role) => role !== 'worker')
      ? createPhotoReader(db, photoFiles, (error, message) => log.warn({ err: error }, message))
      : null,
  });
  collectBuffersLessOften();
  app.addHook('onClose', feed.stop);
  app.addHook('onClose', async () => photoStorage.stop());
  app.addHook('onClose', disk.stop);
  return { app, readiness };
}

export async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  await app.listen({ host, port }).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    throw new StartError(listenProblem(error, { host, port }));
  });
}
