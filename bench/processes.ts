import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadJob, LoadResult } from './load/load-generator.ts';

/** The processes of a benchmark: started in a folder of their own, all ended with it. */
export type Stage = {
  dir: string;
  /** Starts the real service, if wanted with a script of this folder loaded before it; resolves when it answers. */
  startService(
    env?: Record<string, string>,
    before?: string | null,
  ): Promise<{ port: number; process: ChildProcess; env: Record<string, string> }>;
  startBareServer(bodies: Record<string, string>): Promise<{ port: number; pid: number | undefined }>;
  /** Starts a script of this folder; resolves when it says a first line. */
  startScript(file: string, args: string[]): Promise<ChildProcess>;
  /** Runs a script of this folder to its end; its output is one line of JSON. */
  runScript<Result>(file: string, args: string[]): Promise<Result>;
  load(job: LoadJob): Promise<LoadResult>;
  /** Stops one process; the others go on. */
  stop(child: ChildProcess): Promise<void>;
  end(): Promise<void>;
};

const STOP_LIMIT_MS = 20_000;

export async function openStage(): Promise<Stage> {
  const dir = await mkdtemp(join(tmpdir(), 'crownwheel-bench-'));
  const children: ChildProcess[] = [];

  function start(file: string, args: string[], env: Record<string, string> = {}, before: string | null = null) {
    const options = before === null ? [] : ['--import', `./bench/${before}`];
    const child = spawn(process.execPath, [...options, file, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    children.push(child);
    return child;
  }

  async function runScript<Result>(file: string, args: string[]): Promise<Result> {
    const child = start(`bench/${file}`, args);
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += String(chunk);
    });
    await new Promise((resolve) => child.once('close', resolve));
    return JSON.parse(output);
  }

  return {
    dir,
    async startService(settings = {}, before = null) {
      const port = await freePort();
      const env = {
        PORT: String(port),
        DATA_DIR: join(dir, 'data'),
        DEMO: 'off',
        LOG_LEVEL: 'warn',
        ...settings,
      };
      const child = start('src/main.ts', [], env, before);
      child.stdout?.resume();
      await until(async () => (await fetch(`http://127.0.0.1:${port}/api/v1/health`)).ok);
      return { port, process: child, env };
    },
    async startBareServer(bodies) {
      const port = await freePort();
      const file = join(dir, `bodies-${port}.json`);
      await writeFile(file, JSON.stringify(bodies));
      const child = start('bench/baselines/bare-server.ts', [String(port), file]);
      child.stdout?.resume();
      await until(async () => (await fetch(`http://127.0.0.1:${port}/none`)).status === 404);
      return { port, pid: child.pid };
    },
    async startScript(file, args) {
      const child = start(`bench/${file}`, args);
      await new Promise((resolve) => child.stdout?.once('data', resolve));
      return child;
    },
    runScript,
    async load(job) {
      const file = join(dir, 'job.json');
      await writeFile(file, JSON.stringify(job));
      return await runScript<LoadResult>('load/load-generator.ts', [file]);
    },
    stop,
    async end() {
      // The newest first: the first service brings the database that the others work on.
      for (const child of children.toReversed()) await stop(child);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([exit, sleep(STOP_LIMIT_MS)]);
  child.kill('SIGKILL');
}

/** CPU seconds that a process has used so far, from the kernel; 0 where there is no /proc. */
export async function cpuSeconds(pid: number | undefined): Promise<number> {
  return (await processTimes(pid)).ownTicks / TICKS_PER_SECOND;
}

/** The same of all children of a process, such as the sessions of a database server, also of those that have ended. */
export async function childrenCpuSeconds(parent: number | null | undefined): Promise<number> {
  const { readdir } = await import('node:fs/promises');
  const names = await readdir('/proc').catch(() => []);
  const times = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((pid) => processTimes(Number(pid))));
  const { endedTicks } = await processTimes(parent ?? undefined);
  const running = times.filter((process) => process.parent === parent);
  return running.reduce((sum, each) => sum + each.ownTicks, endedTicks) / TICKS_PER_SECOND;
}

const TICKS_PER_SECOND = 100;

/** Ticks in the program and in the system, of a process and of its children that have ended. */
type ProcessTimes = { parent: number; ownTicks: number; endedTicks: number };

/** Zeros where there is no /proc. */
async function processTimes(pid: number | undefined): Promise<ProcessTimes> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program comes before, in brackets, and may have blanks.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (from: number, to: number) => fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ownTicks: ticks(11, 13), endedTicks: ticks(13, 15) };
}

export async function freePort(): Promise<number> {
  return await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await check().catch(() => false)) return;
    await sleep(50);
  }
  throw new Error('a process of the benchmark did not start');
}
