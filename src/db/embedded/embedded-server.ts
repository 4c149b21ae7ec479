import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { clientConfig } from '../connection-settings.ts';
import { StartError } from '../start-error.ts';
import { type LaunchedProgram, type Launcher, postgresBinaries } from './embedded-binaries.ts';
import { freeBytesOf, lastLineSince, reasonOfEnd, rotateLog } from './server-log.ts';

/** Starting, finding and stopping one PostgreSQL server process; who may do so is decided in embedded.ts. */
export type ServerPaths = {
  clusterDir: string;
  /** Where a server that is started now puts its socket; a running one names its own. */
  socketDir: string;
  logFile: string;
  launcher: Launcher;
};

export type ServerOptions = {
  onProgress: (message: string) => void;
  settings: Record<string, string>;
  /** Aborted when the service is asked to stop while it starts. */
  signal: AbortSignal | undefined;
};

export const USER = 'crownwheel';
export const DATABASE = 'crownwheel';
const START_TIMEOUT_MS = 60_000;
const SLOW_START_MS = 2_000;
/** For the last checkpoint. A server that is ended then loses nothing: the next start recovers. */
export const STOP_TIMEOUT_MS = 15_000;
export const EXIT_TIMEOUT_MS = 2_000;
const POLL_MS = 25;
/** Before a server is launched again because another one is still going away. */
const RETRY_MS = 250;
const START_LIMITS = { connectTimeoutMs: 2_000, statementTimeoutMs: 60_000, lockTimeoutMs: 10_000 };

const DEFAULTS: Record<string, string> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  // Decision 40: while 16 MB of zeros are written, nobody's transaction can commit.
  wal_init_zero: 'off',
  log_min_messages: 'warning',
  timezone: 'UTC',
  // Said here, so that they hold whatever somebody tries in postgresql.conf.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
};

/** Returns when the server answers and our database is in it, whether it had to be started or was there. */
export async function startServer(paths: ServerPaths, options: ServerOptions): Promise<void> {
  const beganAt = Date.now();
  let launched: LaunchedProgram | null = null;
  let logStart = 0;
  let hasToldSlow = false;
  while (!(await answers(paths))) {
    const isNobodyStarting = (launched?.hasExited() ?? true) && (await serverPid(paths)) === null;
    const isLate = Date.now() - beganAt > START_TIMEOUT_MS;
    if (isLate || (isNobodyStarting && launched !== null)) {
      const lastLine = await lastLineSince(paths.logFile, logStart);
      if (isLate || !isTransient(lastLine)) throw await neverStarted(paths, lastLine);
    }
    if (options.signal?.aborted) throw new StartError('the start was interrupted');
    if (isNobodyStarting) {
      if (launched !== null) await sleep(RETRY_MS);
      await removeStaleFiles(paths);
      await writeSettings(paths, options.settings);
      logStart = await rotateLog(paths.logFile);
      launched = paths.launcher.spawnDetached(postgresBinaries().postgres, ['-D', paths.clusterDir], paths.logFile);
    }
    if (!hasToldSlow && Date.now() - beganAt > SLOW_START_MS) {
      hasToldSlow = true;
      options.onProgress('Waiting for the database to start; after a crash it recovers first …');
    }
    await sleep(POLL_MS);
  }
  await ensureDatabase(paths);
}

/** Fast shutdown: sessions are ended, everything committed is on disk, the next start needs no recovery. */
export async function stopServer(paths: ServerPaths, known: number | null = null): Promise<void> {
  const pid = await serverPid(paths, known);
  if (pid === null) return;
  signal(pid, 'SIGINT');
  // Not until its pid file is gone: that goes a moment before the process does.
  const isGone = async () => !(await isServer(pid, paths));
  if (await isTrueWithin(STOP_TIMEOUT_MS, isGone)) return;
  signal(pid, 'SIGQUIT');
  await isTrueWithin(EXIT_TIMEOUT_MS, isGone);
}

/**
 * The server of this very folder: the one that was known before, or the one whose pid is in postmaster.pid, if that process is
 * alive. Null means that there is none. If that can't be found out, as when no more files can be opened, it throws: whoever
 * took that for "none" would start a second server and remove the files of the first.
 */
export async function serverPid(paths: ServerPaths, known: number | null = null): Promise<number | null> {
  if (known !== null && (await isServer(known, paths))) return known;
  const pid = Number.parseInt((await pidFileLines(paths))[0] ?? '', 10);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return (await isServer(pid, paths)) ? pid : null;
}

/** A running server says in its pid file where its socket is: it may have been started under another TMPDIR. */
export async function socketDirOf(paths: ServerPaths): Promise<string> {
  const written = (await pidFileLines(paths))[4]?.trim();
  return written || paths.socketDir;
}

export async function answers(paths: ServerPaths, database = 'postgres'): Promise<boolean> {
  try {
    const client = await connect(paths, database);
    await client.end();
    return true;
  } catch {
    return false;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** After a crash the pid in a file may belong to a stranger; PostgreSQL would believe it and refuse to start. */
async function isServer(pid: number, paths: ServerPaths): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const clusterDir = (await unlessMissing(realpath(paths.clusterDir))) ?? paths.clusterDir;
  // A server works in its data folder. Where the system does not show that, its command line names the folder.
  const workingDir = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (workingDir !== null) return workingDir === clusterDir;
  const command = await commandOf(pid);
  return command.includes('postgres') && (command.includes(paths.clusterDir) || command.includes(clusterDir));
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return (await unlessMissing(readFile(`/proc/${pid}/cmdline`, 'utf8'))) ?? '';
  const listing = promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  // It exits with 1 if there is no such process; a text says why it could not be run.
  const listed = await listing.catch((error: { code?: unknown }) => {
    if (error.code === 1) return null;
    throw error;
  });
  return listed?.stdout ?? '';
}

async function pidFileLines(paths: ServerPaths): Promise<string[]> {
  const text = await unlessMissing(readFile(join(paths.clusterDir, 'postmaster.pid'), 'utf8'));
  return (text ?? '').split('\n');
}

/** It is not there, or not ours to see. */
const MISSING = ['ENOENT', 'ENOTDIR', 'ESRCH', 'EACCES', 'EPERM'];

/** Null if what is read is missing. Any other failure, as of a disk or of too many open files, says nothing about that. */
export async function unlessMissing<Result>(reading: Promise<Result>): Promise<Result | null> {
  return await reading.catch((error: NodeJS.ErrnoException) => {
    if (MISSING.includes(error.code ?? '')) return null;
    throw error;
  });
}

/** The pid file and the socket's lock file of a server that died; only ever called when no server is there. */
async function removeStaleFiles(paths: ServerPaths): Promise<void> {
  await rm(join(paths.clusterDir, 'postmaster.pid'), { force: true });
  await rm(join(paths.socketDir, '.s.PGSQL.5432'), { force: true });
  await rm(join(paths.socketDir, '.s.PGSQL.5432.lock'), { force: true });
}

async function ensureDatabase(paths: ServerPaths): Promise<void> {
  const client = await connect(paths, 'postgres');
  try {
    const known = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (known.rows.length === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function connect(paths: ServerPaths, database: string): Promise<pg.Client> {
  const address = { socketDir: await socketDirOf(paths), user: USER, database };
  const client = new pg.Client(clientConfig(address, START_LIMITS, { applicationName: 'crownwheel start' }));
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function writeSettings(paths: ServerPaths, settings: Record<string, string>): Promise<void> {
  const all = { ...DEFAULTS, unix_socket_directories: inList(paths.socketDir), ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${quoted(value)}`);
  const file = join(paths.clusterDir, 'postgresql.auto.conf');
  await writeFile(file, `# Written by Crownwheel at every start.\n${lines.join('\n')}\n`);
  await paths.launcher.giveTo(file);
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** The setting is a list; quotes keep a comma in the path from dividing it. */
function inList(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}

/** A server that is still going away holds its lock file, socket or memory for moments; then it is worth another try. */
function isTransient(lastLine: string): boolean {
  return /lock file .* already exists|shared memory block .* still in use/.test(lastLine);
}

async function neverStarted(paths: ServerPaths, lastLine: string): Promise<StartError> {
  const hint = /Permission denied/.test(lastLine)
    ? `; every file in ${paths.clusterDir} has to belong to the user of the server and to be readable by it`
    : '';
  const reason = reasonOfEnd(lastLine, await freeBytesOf(paths.clusterDir));
  return new StartError(`the embedded database did not start: ${reason}${hint} (its log: ${paths.logFile})`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function isTrueWithin(limitMs: number, condition: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
