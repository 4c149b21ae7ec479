import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PREFIX = 'cw-test-';
/** Holds the number of the process that runs the tests. */
const RUNNER_FILE = 'runner.pid';
const MEMORY_FOLDER = '/dev/shm';
/** Several times what a run has in its folder at one time. */
const MEMORY_NEEDED_BYTES = 8_000_000_000;

/**
 * The temporary folder of one run of the tests. Every test process gets it as its TMPDIR, so whatever a killed test
 * leaves behind, folders and PostgreSQL servers, is found here and taken away at the end of the run.
 */
export async function makeRunFolder(): Promise<string> {
  const parent = await parentFolder();
  await removeLeftFolders(parent);
  const folder = await mkdtemp(join(parent, PREFIX));
  await writeFile(join(folder, RUNNER_FILE), String(process.pid));
  // Open to the ordinary user as whom PostgreSQL and some services run.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  return folder;
}

/**
 * In memory, where Linux has a folder for that with enough room and TMPDIR names no other: a database is cloned hundreds of times
 * and data folders are copied, which on a disk is a tenth of the CPU time of such tests.
 */
async function parentFolder(): Promise<string> {
  if (process.env.TMPDIR !== undefined || freemem() < MEMORY_NEEDED_BYTES) return tmpdir();
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const [, options = 'noexec'] = new RegExp(`^\\S+ ${MEMORY_FOLDER} tmpfs (\\S+)`, 'm').exec(mounts) ?? [];
  // In a container it often lets no program run, and the browser is unpacked there.
  if (options.split(',').includes('noexec')) return tmpdir();
  const { bavail, bsize } = await statfs(MEMORY_FOLDER);
  return bavail * bsize < MEMORY_NEEDED_BYTES ? tmpdir() : MEMORY_FOLDER;
}

/** What a run that was killed has left: nobody else would give the memory back before the machine starts anew. */
async function removeLeftFolders(parent: string): Promise<void> {
  for (const name of (await readdir(parent)).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(parent, name);
    const runner = await readFile(join(folder, RUNNER_FILE), 'utf8').catch(() => null);
    // A folder without one is being made, or another user's.
    if (runner !== null && !(await isCommandOf(runner, 'test/run.ts'))) await removeRunFolder(folder);
  }
}

export async function removeRunFolder(folder: string): Promise<void> {
  for (const pid of await serversIn(folder)) process.kill(pid, 'SIGQUIT');
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** The postmasters whose data is in the folder and that still run. */
async function serversIn(folder: string): Promise<number[]> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const pids: number[] = [];
  for (const file of files.filter((name) => name.endsWith('postmaster.pid'))) {
    const [pid = '', dataDir = ''] = (await readFile(join(folder, file), 'utf8').catch(() => '')).split('\n');
    if (await isCommandOf(pid, dataDir)) pids.push(Number(pid));
  }
  return pids;
}

/** True if the process runs and its command line has the name; its number may be another's by now. */
async function isCommandOf(pid: string, name: string): Promise<boolean> {
  if (!/^\d+$/.test(pid) || name === '') return false;
  const { stdout } = await run('ps', ['-o', 'args=', '-p', pid]).catch(() => ({ stdout: '' }));
  return stdout.includes(name);
}
