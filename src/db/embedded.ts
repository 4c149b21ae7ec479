import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseAddress } from './database.ts';
import { type Launcher, postgresBinaries, prepareLauncher, privateTo } from './embedded-binaries.ts';
import { StartError } from './start-error.ts';

/**
 * A real PostgreSQL in a folder, started and stopped with the service.
 *
 * The server listens on a unix socket only, in a folder that only its own user can enter. Whoever owns the data folder
 * holds an advisory lock in the database itself: it ends with its process, however that dies, so there is no lock file
 * to go stale. A server that outlived its service is found by its socket and taken over.
 */
export type EmbeddedDatabase = {
  address: DatabaseAddress;
  /** True when a service or command that is still alive owns the server, and this one only uses it. */
  isShared: boolean;
  /** The pid of the server process. */
  pid(): Promise<number | null>;
  /** Stops the server, if this process owns it. */
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  dataDir: string;
  /** Refuse to share the server with a living owner. The service wants that; a command does not. */
  isExclusive: boolean;
  onProgress: (message: string) => void;
  /** Called when the server died and could not be brought back, and when it was. */
  onFault?: (message: string) => void;
  /** Lines for postgresql.conf; tests trade durability for speed with them. */
  settings?: Record<string, string>;
};

const OWNER_LOCK = 7_262_000;
const USER = 'crownwheel';
const DATABASE = 'crownwheel';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 25;
const WATCH_MS = 500;
const LOG_LIMIT_BYTES = 10_000_000;
/** A unix socket's path may have 107 bytes; beyond this the socket moves to the folder for temporary files. */
const SOCKET_DIR_LIMIT = 80;

type Place = { clusterDir: string; socketDir: string; logFile: string; launcher: Launcher };

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const place = await preparePlace(options.dataDir);
  await initialiseOnce(place, options);
  for (let attempt = 1; ; attempt++) {
    await startServer(place, options);
    const owner = await claimOwnership(place);
    if (owner.isOurs) return own(place, owner.session, options);
    await owner.session.end();
    if (!options.isExclusive) return share(place);
    // An owner that is just stopping its server leaves within moments; only one that stays is a second service.
    if (attempt === 3) {
      throw new StartError(
        `DATA_DIR ${options.dataDir} is in use by another Crownwheel process (${owner.description}); stop it, or choose another DATA_DIR`,
      );
    }
    await sleep(300);
  }
}

async function preparePlace(dataDir: string): Promise<Place> {
  const root = resolve(dataDir);
  try {
    await mkdir(root, { recursive: true });
  } catch (error) {
    throw new StartError(`DATA_DIR ${dataDir} cannot be created: ${(error as Error).message}`);
  }
  const launcher = await prepareLauncher(root);
  const inside = join(root, 'run');
  const socketDir = inside.length <= SOCKET_DIR_LIMIT ? inside : join(tmpdir(), `crownwheel-${hashOf(root)}`);
  try {
    await privateTo(launcher, socketDir);
  } catch (error) {
    throw new StartError(`DATA_DIR ${dataDir} is not writable: ${(error as Error).message}`);
  }
  return { clusterDir: join(root, 'postgres'), socketDir, logFile: join(root, 'postgres.log'), launcher };
}

/** Made aside and moved into place whole, so that a kill in the middle, or two at once, leave no half a cluster. */
async function initialiseOnce(place: Place, options: EmbeddedOptions): Promise<void> {
  if (await exists(join(place.clusterDir, 'PG_VERSION'))) return;
  options.onProgress('Creating the database (first start only) …');
  const fresh = `${place.clusterDir}.new-${process.pid}`;
  await rm(fresh, { recursive: true, force: true });
  await privateTo(place.launcher, fresh);
  await place.launcher.run(postgresBinaries().initdb, [
    `--pgdata=${fresh}`,
    `--username=${USER}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]);
  try {
    await rename(fresh, place.clusterDir);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(join(place.clusterDir, 'PG_VERSION')))) throw error;
  }
}

async function startServer(place: Place, options: EmbeddedOptions): Promise<void> {
  if (await answers(place)) return;
  await removeStalePidFile(place);
  await writeSettings(place, options.settings ?? {});
  await keepLogBounded(place.logFile);
  place.launcher.spawnDetached(postgresBinaries().postgres, ['-D', place.clusterDir], place.logFile);
  const deadline = Date.now() + START_TIMEOUT_MS;
  let isSlow = false;
  while (!(await answers(place))) {
    if (Date.now() > deadline || (await hasGivenUp(place, deadline - START_TIMEOUT_MS))) {
      throw new StartError(`the embedded database did not start; its last words: ${await lastLogLine(place.logFile)}`);
    }
    if (!isSlow && Date.now() > deadline - START_TIMEOUT_MS + 2_000) {
      isSlow = true;
      options.onProgress('Waiting for the database to recover …');
    }
    await sleep(POLL_MS);
  }
  await ensureDatabase(place);
}

/** A postmaster that refuses to start removes its pid file, or never writes one, within moments. */
async function hasGivenUp(place: Place, startedAt: number): Promise<boolean> {
  return Date.now() - startedAt > 5_000 && (await serverPid(place)) === null;
}

async function ensureDatabase(place: Place): Promise<void> {
  const client = await connect(place, 'postgres');
  try {
    await client.query(`create database ${DATABASE}`);
  } catch (error) {
    const duplicate = ['42P04', '23505'];
    if (!(error instanceof pg.DatabaseError) || !duplicate.includes(error.code ?? '')) throw error;
  } finally {
    await client.end();
  }
}

async function claimOwnership(place: Place): Promise<{ isOurs: boolean; session: pg.Client; description: string }> {
  const session = await connect(place, DATABASE, `crownwheel owner, pid ${process.pid}`);
  const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [OWNER_LOCK]);
  if (rows[0]?.locked) return { isOurs: true, session, description: '' };
  const holder = await session.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.objid = $1 and l.granted limit 1`,
    [OWNER_LOCK],
  );
  return { isOurs: false, session, description: holder.rows[0]?.name.replace('crownwheel owner, ', '') ?? 'unknown' };
}

function share(place: Place): EmbeddedDatabase {
  return {
    address: addressOf(place),
    isShared: true,
    pid: () => serverPid(place),
    stop: async () => {},
  };
}

/** Keeps the ownership lock, and brings the server back if something kills it while the service runs. */
function own(place: Place, firstSession: pg.Client, options: EmbeddedOptions): EmbeddedDatabase {
  let session: pg.Client | null = watched(firstSession);
  const stopping = new AbortController();

  function watched(client: pg.Client): pg.Client {
    client.on('end', () => {
      if (session === client) session = null;
    });
    return client;
  }

  async function revive(): Promise<void> {
    await startServer(place, options);
    const owner = await claimOwnership(place);
    if (!owner.isOurs) {
      await owner.session.end();
      throw new Error(`another process took over the database (${owner.description})`);
    }
    session = watched(owner.session);
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted || session !== null) continue;
      try {
        options.onFault?.('the embedded database went away; starting it again');
        await revive();
        options.onFault?.('the embedded database is back');
      } catch (error) {
        options.onFault?.(`the embedded database could not be started again: ${(error as Error).message}`);
      }
    }
  }
  const watching = watch();

  return {
    address: addressOf(place),
    isShared: false,
    pid: () => serverPid(place),
    async stop() {
      stopping.abort();
      await watching;
      await session?.end().catch(() => {});
      await stopServer(place);
    },
  };
}

/** Fast shutdown: sessions are ended, everything committed is on disk, the next start needs no recovery. */
async function stopServer(place: Place): Promise<void> {
  const pid = await serverPid(place);
  if (pid === null) return;
  signal(pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (await exists(join(place.clusterDir, 'postmaster.pid'))) {
    if (Date.now() > deadline) {
      signal(pid, 'SIGQUIT');
      return;
    }
    await sleep(POLL_MS);
  }
}

async function writeSettings(place: Place, settings: Record<string, string>): Promise<void> {
  const all: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: place.socketDir,
    unix_socket_permissions: '0700',
    max_connections: '100',
    shared_buffers: '128MB',
    max_wal_size: '1GB',
    log_min_messages: 'warning',
    timezone: 'UTC',
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  await writeFile(
    join(place.clusterDir, 'postgresql.auto.conf'),
    `# Written by Crownwheel at every start.\n${lines.join('\n')}\n`,
  );
  await place.launcher.giveTo(join(place.clusterDir, 'postgresql.auto.conf'));
}

/** After a crash the pid in the file may belong to a stranger, whom PostgreSQL would take for a running server. */
async function removeStalePidFile(place: Place): Promise<void> {
  const pid = await serverPid(place);
  if (pid !== null) return;
  await rm(join(place.clusterDir, 'postmaster.pid'), { force: true });
}

/** The pid in postmaster.pid, if that process is alive and really is a PostgreSQL. */
async function serverPid(place: Place): Promise<number | null> {
  const text = await readFile(join(place.clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return null;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  // Without /proc (macOS) a living pid has to be believed.
  return command === null || command.includes('postgres') ? pid : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function answers(place: Place): Promise<boolean> {
  try {
    const client = await connect(place, 'postgres');
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function connect(place: Place, database: string, applicationName = 'crownwheel start'): Promise<pg.Client> {
  const client = new pg.Client({
    host: place.socketDir,
    user: USER,
    database,
    application_name: applicationName,
    connectionTimeoutMillis: 2_000,
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

function addressOf(place: Place): DatabaseAddress {
  return { socketDir: place.socketDir, user: USER, database: DATABASE };
}

async function keepLogBounded(file: string): Promise<void> {
  const size = await stat(file).then(
    (entry) => entry.size,
    () => 0,
  );
  if (size > LOG_LIMIT_BYTES) await truncate(file, 0);
}

async function lastLogLine(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim().split('\n').at(-1) || `nothing in ${file}`;
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
