import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';

/**
 * The service as a real process: `node src/main.ts` with a data folder and a port of its own. Every wait is bounded,
 * and `sweep` ends whatever a failed test left running, by its pid.
 */
export const ROOT_DIR = new URL('../../', import.meta.url).pathname;
const WAIT_LIMIT_MS = 120_000;
const POLL_MS = 20;

export type Service = {
  pid: number;
  origin: string;
  /** What it printed so far. */
  out(): string;
  err(): string;
  /** The exit code; fails if the process does not end in time. */
  exit(): Promise<number | null>;
  hasExited(): boolean;
  /** To the process alone, as a supervisor does. */
  signal(name: NodeJS.Signals): void;
  /** To the whole process group, as a terminal does. */
  signalGroup(name: NodeJS.Signals): void;
  /** Waits until it says so on standard output. */
  says(text: string): Promise<void>;
  isHealthy(): Promise<void>;
};

type Ended = { code: number | null; out: string; err: string };

/** The dashboard takes a fifth of the time of a start. */
const MOST_TESTED_ROLES = 'api,worker';

export type SpawnOptions = {
  /** Without ROLES there is no dashboard; if it is empty, there are all roles, as in a start without settings. */
  env: Record<string, string>;
  /** Run as this user and group. */
  identity?: { uid: number; gid: number };
  command?: [string, ...string[]];
};

const running = new Set<ChildProcess>();
const folders = new Set<string>();
// If a failed test never comes to its sweep.
process.once('exit', () => {
  for (const child of running) killGroup(child.pid);
});

/** A folder for data, taken away by `sweep`. */
export async function temporaryFolder(name = 'data'): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'crownwheel-service-'));
  folders.add(parent);
  // Open to the ordinary user whom some tests play.
  await chmod(parent, 0o755);
  const path = join(parent, name);
  await mkdir(path, { recursive: true });
  return path;
}

/** The live key of the demo in every copy of `seededFolder`. */
export const DEMO_KEY = 'svc_0123456789abcdefghijABCDEFGHIJ01';

/** A data folder with the demo, as after a first start and a stop: copied from one that is made once in a run. */
export async function seededFolder(): Promise<string> {
  return await copyOf(await madeOnce('seeded', { DEMO_API_KEY: DEMO_KEY }));
}

/** The same without the demo, for what is not about a first start and needs no shop; start the service with DEMO=off on it. */
export async function migratedFolder(name?: string): Promise<string> {
  return await copyOf(await madeOnce('migrated', { DEMO: 'off' }), name);
}

/** A folder of which tests take copies: whoever asks first makes it. */
async function madeOnce(name: string, env: Record<string, string>): Promise<string> {
  const original = join(tmpdir(), `crownwheel-${name}`);
  const isMade = () => existsSync(`${original}.made`);
  // Test files run at the same time: whoever makes the folder fills it, the others wait.
  const isOurs = await mkdir(original, { mode: 0o755 }).then(() => true, isExisting);
  if (isOurs) await startFirst({ ...env, DATA_DIR: original }, `${original}.made`);
  await until(isMade, () => `another test did not make the ${name} folder`);
  return original;
}

async function startFirst(env: { DATA_DIR: string }, mark: string): Promise<void> {
  try {
    const service = await startService({ env: { ...env, LOG_LEVEL: 'warn' } });
    await service.says('Stop:');
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
    assert.doesNotMatch(service.err(), /secret key/, 'the first start of all warns of keys that it makes itself');
    await writeFile(mark, '');
  } catch (error) {
    await rm(env.DATA_DIR, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    throw error;
  }
}

/** False if a folder is there already; any other problem is thrown. */
function isExisting(error: NodeJS.ErrnoException): false {
  if (error.code !== 'EEXIST') throw error;
  return false;
}

/** A copy of a stopped service's data folder, owners included: cheaper than a first start. */
export async function copyOf(dataDir: string, name?: string): Promise<string> {
  const copy = await temporaryFolder(name);
  await promisify(execFile)('cp', ['-a', `${dataDir}/.`, copy]);
  return copy;
}

/**
 * Ports below the range from which the system hands out its own, so that no other test gets one by chance. Each is taken once in
 * a run, by a folder of its name: between the probe and the start of a service another test could find the same port free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const mark = join(tmpdir(), `crownwheel-port-${port}`);
    if (!(await mkdir(mark).then(() => true, isExisting))) continue;
    folders.add(mark);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

export async function startService(options: SpawnOptions): Promise<Service> {
  const port = options.env.PORT ?? String(await freePort());
  const [file, ...args] = options.command ?? [process.execPath, 'src/main.ts'];
  const child = spawn(file, args, {
    cwd: ROOT_DIR,
    // A group of its own, so that a test can play the terminal.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      ROLES: MOST_TESTED_ROLES,
      ...options.env,
      PORT: port,
    },
    ...options.identity,
  });
  running.add(child);
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const origin = `http://127.0.0.1:${port}`;
  const pid = child.pid ?? 0;
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const service: Service = {
    pid,
    origin,
    out: () => out,
    err: () => err,
    hasExited,
    async exit() {
      await until(hasExited, () => `the process did not end; it said: ${out}${err}`);
      await Promise.race([closed, sleep(2_000)]);
      return child.exitCode;
    },
    signal: (name) => process.kill(pid, name),
    signalGroup: (name) => process.kill(-pid, name),
    says: (text) =>
      until(
        () => out.includes(text) || assertRunning(service),
        () => `it never said "${text}": ${out}${err}`,
      ),
    isHealthy: () =>
      until(
        async () => (await statusOf(`${origin}/api/v1/health`)) === 200 || assertRunning(service),
        () => `it never answered: ${out}${err}`,
      ),
  };
  return service;
}

/** Runs a command of the operator's command line to its end. */
export async function command(dataDir: string, ...args: string[]): Promise<Ended> {
  const program = await startService({
    env: { DATA_DIR: dataDir },
    command: [process.execPath, 'src/cli/main.ts', ...args],
  });
  const code = await program.exit();
  return { code, out: program.out(), err: program.err() };
}

/** Runs the process to its end; for starts that are meant to fail. */
export async function startAndFail(options: SpawnOptions): Promise<Service> {
  const service = await startService(options);
  assert.notEqual(await service.exit(), 0, 'it ended as if all were well');
  assertNoStack(service);
  return service;
}

export function assertNoStack(service: Service): void {
  assert.doesNotMatch(service.err() + service.out(), /^\s+at .+:\d+:\d+/m, 'a stack trace was shown');
}

export async function until(condition: () => boolean | Promise<boolean>, complaint: () => string): Promise<void> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) assert.fail(complaint());
    await sleep(POLL_MS);
  }
}

/** The status of the answer, or null if nobody answers. */
export async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number | null> {
  try {
    const response = await fetch(url, { headers: { ...headers, connection: 'close' } });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

/** A session of the test's own on the embedded database. */
export function databaseIn(dataDir: string): Database {
  return openDatabase({
    address: { socketDir: join(dataDir, 'run'), user: 'crownwheel', database: 'crownwheel' },
    poolSize: 2,
    onIdleError: () => {},
  });
}

/** Works on the database of a folder that no service has: for a fifth of what a start of the service costs. */
export async function whileStopped<Result>(dataDir: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const server = await startEmbedded({ dataDir, isExclusive: true, onProgress: () => {} });
  const db = databaseIn(dataDir);
  try {
    return await work(db);
  } finally {
    await db.close();
    await server.stop();
  }
}

/** The pid of the living PostgreSQL of a data folder, else null. */
export async function postmasterOf(dataDir: string): Promise<number | null> {
  const clusterDir = join(dataDir, 'postgres');
  const pid = Number.parseInt(await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => ''), 10);
  if (!Number.isInteger(pid)) return null;
  const workingDir = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  return workingDir === (await realpath(clusterDir)) ? pid : null;
}

/** The processes that answer requests, or run another program; the database server is a child, too. */
export async function childrenOf({ pid }: Pick<Service, 'pid'>, program = 'main.ts'): Promise<number[]> {
  // Each thread has its own.
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const texts = threads.map((id) => readFile(`/proc/${pid}/task/${id}/children`, 'utf8').catch(() => ''));
  const pids = (await Promise.all(texts)).join(' ').split(' ').filter(Boolean).map(Number);
  const commands = await Promise.all(pids.map(commandOf));
  return pids.filter((_, index) => commands[index]?.includes(program));
}

/** The command line of a process; empty if it is gone. */
export async function commandOf(pid: number): Promise<string> {
  return await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

export async function serverLog(dataDir: string): Promise<string> {
  return await readFile(join(dataDir, 'postgres.log'), 'utf8');
}

/** An ordinary user's identity, where the test itself may choose one; otherwise the test's own. */
export const ORDINARY_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

export async function giveToOrdinaryUser(path: string): Promise<void> {
  if (ORDINARY_USER !== undefined) await chown(path, ORDINARY_USER.uid, ORDINARY_USER.gid);
}

/** Ends what is left over from a failed test and takes its folders away. */
export async function sweep(): Promise<void> {
  for (const child of running) {
    killGroup(child.pid);
    running.delete(child);
  }
  for (const parent of folders) {
    const { stdout } = await promisify(execFile)('find', [parent, '-name', 'postmaster.pid', '-not', '-path', '*/.*']);
    for (const file of stdout.split('\n').filter(Boolean)) {
      const pid = await postmasterOf(join(file, '..', '..'));
      if (pid !== null) process.kill(pid, 'SIGQUIT');
    }
    await rm(parent, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    folders.delete(parent);
  }
}

/** The process and what it started in the background, which may outlive it. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function assertRunning(service: Service): false {
  if (service.hasExited()) assert.fail(`it ended early: ${service.out()}${service.err()}`);
  return false;
}
