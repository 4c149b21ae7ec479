import { rename, rm, rmdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseAddress } from '../connection-settings.ts';
import { StartError } from '../start-error.ts';
import { brokenLinkProblem, giveToFolderOwner, makeDataFolder } from './data-folder.ts';
import { closedProblem, repairOwnership } from './data-ownership.ts';
import { postgresBinaries, prepareLauncher, privateTo } from './embedded-binaries.ts';
import { type FolderLock, lockFolder } from './embedded-lock.ts';
import {
  answers,
  DATABASE,
  type ServerPaths,
  serverPid,
  socketDirOf,
  startServer,
  stopServer,
  USER,
  unlessMissing,
} from './embedded-server.ts';
import { endedByFullDisk, freeBytesOf, lastLineSince, rotateLog } from './server-log.ts';
import { makeSocketDir, socketDirIn } from './socket-folder.ts';

/**
 * A real PostgreSQL in a folder, started and stopped with the service.
 *
 * The server listens on a unix socket only, in a folder that only its own user can enter. The process that owns the
 * data folder holds a lock that ends with it (embedded-lock.ts); under that lock a server that outlived its service is
 * found by its pid file and socket, and taken over.
 */
export type EmbeddedDatabase = {
  address: DatabaseAddress;
  /** True when a running service owns the server, and this process only uses it. */
  isShared: boolean;
  /** The pid of the server process. */
  pid(): Promise<number | null>;
  /** Stops the server, if this process owns it. */
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  dataDir: string;
  /** The service owns the folder alone. A command uses the server of a running service, if there is one. */
  isExclusive: boolean;
  onProgress: (message: string) => void;
  /** Called when the server died while it was needed, and when it was brought back or could not be. */
  onFault?: (message: string) => void;
  /** Called before a database that was made now is in its place: what it needs beside it is there as soon as it is. */
  onCreated?: () => void;
  /** Lines for postgresql.conf; tests trade durability for speed with them. */
  settings?: Record<string, string>;
  /** Aborting it ends a start that is under way, and the server with it. */
  signal?: AbortSignal;
};

type SocketAddress = Extract<DatabaseAddress, { socketDir: string }>;

const SHARE_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
const WATCH_MS = 500;
/** The log is checked at every so many checks of the server. */
const LOG_LOOK_EVERY = 4;

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const root = makeDataFolder(options.dataDir);
  const paths: ServerPaths = {
    clusterDir: join(root, 'postgres'),
    socketDir: socketDirIn(root),
    logFile: join(root, 'postgres.log'),
    launcher: await prepareLauncher(root),
  };
  const deadline = Date.now() + SHARE_TIMEOUT_MS;
  for (;;) {
    const lock = await lockFolder({
      dataDir: options.dataDir,
      lockFile: join(root, 'lock'),
      ownerFile: join(root, 'owner.json'),
      as: options.isExclusive ? 'service' : 'command',
      onProgress: options.onProgress,
      giveToFolderOwner: (path) => giveToFolderOwner(root, path),
    });
    if (lock !== null) return await startOwned(root, paths, lock, options);
    if (await answers(paths, DATABASE)) return await share(paths);
    // The service is still starting, or just stopping; in the latter case the lock will be ours.
    if (Date.now() > deadline) throw new StartError('the running service has a database that does not answer');
    await sleep(POLL_MS);
  }
}

/** True when a first start has made the database in this folder. Fails if that can't be seen: then there may be one. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  const clusterDir = join(resolve(dataDir), 'postgres');
  const version = join(clusterDir, 'PG_VERSION');
  try {
    await stat(version);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM') throw new StartError(closedProblem(version));
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    const problem = brokenLinkProblem(clusterDir);
    if (problem !== null) throw new StartError(problem);
    return false;
  }
}

async function startOwned(
  root: string,
  given: ServerPaths,
  lock: FolderLock,
  options: EmbeddedOptions,
): Promise<EmbeddedDatabase> {
  let paths = given;
  try {
    paths = { ...given, socketDir: await makeSocketDir(root, given.launcher) };
    await initialiseOnce(paths, options);
    if ((await serverPid(paths)) === null) repairOwnership(root, paths.launcher.account);
    await startServer(paths, { ...options, settings: options.settings ?? {}, signal: options.signal });
    return await own(paths, lock, options);
  } catch (error) {
    // One that can't be stopped now goes on, and the next start takes it over.
    await stopServer(paths).catch(() => {});
    await releaseFolder(paths, lock);
    throw asStartError(error, options.dataDir);
  }
}

/** A full disk shows wherever something is written. */
function asStartError(error: unknown, dataDir: string): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
  return isFull ? new StartError(`the disk of DATA_DIR ${dataDir} is full; free some space, then start again`) : error;
}

async function sizeOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Made aside and moved into place whole, so that a kill in the middle leaves no half a cluster. */
async function initialiseOnce(paths: ServerPaths, options: EmbeddedOptions): Promise<void> {
  const fresh = `${paths.clusterDir}.new`;
  await rm(fresh, { recursive: true, force: true });
  if (await hasCluster(options.dataDir)) return;
  if (await exists(paths.clusterDir)) throw new StartError(`${paths.clusterDir} exists, but holds no database`);
  options.onProgress('Creating the database (first start only) …');
  await privateTo(paths.launcher, fresh);
  await paths.launcher.run(postgresBinaries().initdb, [
    `--pgdata=${fresh}`,
    `--username=${USER}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...(options.settings?.fsync === 'off' ? ['--no-sync'] : []),
  ]);
  options.onCreated?.();
  await rename(fresh, paths.clusterDir);
}

async function share(paths: ServerPaths): Promise<EmbeddedDatabase> {
  return {
    address: await addressOf(paths),
    isShared: true,
    pid: () => serverPid(paths),
    stop: async () => {},
  };
}

/** Keeps the folder's lock, and brings the server back if something kills it while the service runs. */
async function own(paths: ServerPaths, lock: FolderLock, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const stopping = new AbortController();
  let known: number | null = null;

  async function findServer(): Promise<number | null> {
    known = await serverPid(paths, known);
    return known;
  }

  /** Whoever can't look does not know: the server may be well. */
  async function isGone(): Promise<boolean> {
    try {
      return (await findServer()) === null;
    } catch {
      return false;
    }
  }

  async function tellEnd(logStart: number): Promise<void> {
    const isFull = endedByFullDisk(await lastLineSince(paths.logFile, logStart), await freeBytesOf(paths.clusterDir));
    const reason = isFull ? ', since the disk of DATA_DIR is full; free some space' : '';
    options.onFault?.(`the embedded database went away${reason}; starting it again`);
  }
  async function watch(): Promise<void> {
    let logStart = await sizeOf(paths.logFile);
    let lastProblem = '';
    for (let looks = 1; !stopping.signal.aborted; looks++) {
      if (looks % LOG_LOOK_EVERY === 0) await rotateLog(paths.logFile).catch(() => {});
      await sleep(WATCH_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      if (stopping.signal.aborted || !(await isGone())) continue;
      if (lastProblem === '') await tellEnd(logStart);
      logStart = await sizeOf(paths.logFile);
      try {
        await startServer(paths, { ...options, settings: options.settings ?? {}, signal: stopping.signal });
        options.onFault?.('the embedded database is back');
        lastProblem = '';
      } catch (error) {
        // It is tried again and again: said once, until it is another one.
        const { message } = asStartError(error, options.dataDir);
        if (message !== lastProblem) options.onFault?.(`the embedded database could not be started again: ${message}`);
        lastProblem = message;
      }
    }
  }
  await findServer();
  const watching = watch();
  let stopped: Promise<void> | null = null;
  const address = await addressOf(paths);

  return {
    address,
    isShared: false,
    pid: findServer,
    stop() {
      stopping.abort();
      stopped ??= watching.then(() => stopServer(paths, known)).finally(() => releaseFolder(paths, lock, address));
      return stopped;
    },
  };
}

/** A socket's folder outside the data folder is taken away too; it is empty once the server has stopped. */
async function releaseFolder(paths: ServerPaths, lock: FolderLock, address?: SocketAddress): Promise<void> {
  await rmdir(paths.socketDir).catch(() => {});
  // That of a server which outlived its service and was taken over.
  if (address !== undefined) await rmdir(address.socketDir).catch(() => {});
  lock.release();
}

async function addressOf(paths: ServerPaths): Promise<SocketAddress> {
  return { socketDir: await socketDirOf(paths), user: USER, database: DATABASE };
}

async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== null;
}
