import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { DatabaseAddress } from '../../src/db/connection-settings.ts';
import type { WorkerLimits } from '../../src/webhooks/worker/worker-limits.ts';
import { ROOT_DIR } from '../service/service-process.ts';

export type WorkerOrder = {
  address: DatabaseAddress;
  limits: Partial<WorkerLimits>;
  /** Where it kills itself; null lets it live. */
  dieAt: 'after claim' | 'before record' | 'before the commit of a record' | 'after record' | null;
};

/** A real worker process. */
export type Worker = {
  pid: number;
  /** The deliveries that it claimed, in their order. */
  claimed: string[];
  faults: string[];
  isKilled(): boolean;
  kill(): Promise<void>;
  /** Lets it finish what it has begun. */
  stop(): Promise<void>;
  ended: Promise<void>;
};

const running = new Set<ChildProcess>();

export async function startWorker(order: WorkerOrder): Promise<Worker> {
  const child = spawn(process.execPath, ['test/webhooks/worker.ts', JSON.stringify(order)], {
    cwd: ROOT_DIR,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const claimed: string[] = [];
  const faults: string[] = [];
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  void ended.then(() => running.delete(child));
  await new Promise<void>((resolve) => {
    void ended.then(resolve);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [word = '', ...rest] = line.split(' ');
      if (word === 'ready') resolve();
      if (word === 'claimed') claimed.push(rest.join(' '));
      if (word === 'fault') faults.push(rest.join(' '));
    });
  });
  return {
    pid: child.pid ?? 0,
    claimed,
    faults,
    ended,
    isKilled: () => child.signalCode === 'SIGKILL',
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Ends what a failed test left running. */
export function sweepWorkers(): void {
  for (const child of running) child.kill('SIGKILL');
}
