import { createHash } from 'node:crypto';
import { rename, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseAddress } from './connection-settings.ts';
import { adopt, makeDataFolder } from './data-folder.ts';
import { postgresBinaries, prepareLauncher, privateTo } from './embedded-binaries.ts';
import { type FolderLock, lockFolder } from './embedded-lock.ts';
import {
  answers,
  DATABASE,
  type Place,
  serverPid,
  socketDirOf,
  startServer,
  stopServer,
  USER,
} from './embedded-server.ts';
import { StartError } from './start-error.ts';

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
  /** Lines for postgresql.conf; tests trade durability for speed with them. */
  settings?: Record<string, string>;
  /** Aborting it ends a start that is under way, and the server with it. */
  signal?: AbortSignal;
};

const SHARE_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
const WATCH_MS = 500;
/** A unix socket's path may have 107 bytes (103 on macOS); beyond this the socket moves to a shorter place. */
const SOCKET_DIR_LIMIT_BYTES = 80;

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const root = makeDataFolder(options.dataDir);
  const place: Place = {
    clusterDir: join(root, 'postgres'),
    socketDir: socketDirFor(root),
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
      adopt: (path) => adopt(root, path),
    });
    if (lock !== null) return await startOwned(place, lock, options);
    if (await answers(place, DATABASE)) return await share(place);
    // The service is still starting, or just stopping; in the latter case the lock will be ours.
    if (Date.now() > deadline) throw new StartError('the running service has a database that does not answer');
    await sleep(POLL_MS);
  }
}

/** True when a first start has made the database in this folder. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  return await exists(join(dataDir, 'postgres', 'PG_VERSION'));
}

async function startOwned(place: Place, lock: FolderLock, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  try {
    await privateTo(place.launcher, place.socketDir);
    await initialiseOnce(place, options);
    await startServer(place, { ...options, settings: options.settings ?? {}, signal: options.signal });
    return own(place, lock, options);
  } catch (error) {
    await stopServer(place);
    await letGo(place, lock);
    throw error;
  }
}

/** Made aside and moved into place whole, so that a kill in the middle leaves no half a cluster. */
async function initialiseOnce(place: Place, options: EmbeddedOptions): Promise<void> {
  const fresh = `${place.clusterDir}.new`;
  await rm(fresh, { recursive: true, force: true });
  if (await exists(join(place.clusterDir, 'PG_VERSION'))) return;
  if (await exists(place.clusterDir)) throw new StartError(`${place.clusterDir} exists, but holds no database`);
  options.onProgress('Creating the database (first start only) …');
  await privateTo(place.launcher, fresh);
  await place.launcher.run(postgresBinaries().initdb, [
    `--pgdata=${fresh}`,
    `--username=${USER}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...(options.settings?.fsync === 'off' ? ['--no-sync'] : []),
  ]);
  await rename(fresh, place.clusterDir);
}

async function share(place: Place): Promise<EmbeddedDatabase> {
  return {
    address: await addressOf(place),
    isShared: true,
    pid: () => serverPid(place),
    stop: async () => {},
  };
}

/** Keeps the folder's lock, and brings the server back if something kills it while the service runs. */
async function own(place: Place, lock: FolderLock, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const stopping = new AbortController();

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      if (stopping.signal.aborted || (await serverPid(place)) !== null) continue;
      options.onFault?.('the embedded database went away; starting it again');
      try {
        await startServer(place, { ...options, settings: options.settings ?? {}, signal: stopping.signal });
        options.onFault?.('the embedded database is back');
      } catch (error) {
        options.onFault?.(`the embedded database could not be started again: ${(error as Error).message}`);
      }
    }
  }
  const watching = watch();
  let stopped: Promise<void> | null = null;

  return {
    address: await addressOf(place),
    isShared: false,
    pid: () => serverPid(place),
    stop() {
      stopping.abort();
      stopped ??= watching.then(() => stopServer(place)).finally(() => letGo(place, lock));
      return stopped;
    },
  };
}

/** A socket's folder outside the data folder is taken away too; it is empty once the server has stopped. */
async function letGo(place: Place, lock: FolderLock): Promise<void> {
  await rmdir(place.socketDir).catch(() => {});
  lock.release();
}

async function addressOf(place: Place): Promise<DatabaseAddress> {
  return { socketDir: await socketDirOf(place), user: USER, database: DATABASE };
}

function socketDirFor(root: string): string {
  const inside = join(root, 'run');
  if (Buffer.byteLength(inside) <= SOCKET_DIR_LIMIT_BYTES) return inside;
  const name = `crownwheel-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  const temporary = join(tmpdir(), name);
  return Buffer.byteLength(temporary) <= SOCKET_DIR_LIMIT_BYTES ? temporary : join('/tmp', name);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
