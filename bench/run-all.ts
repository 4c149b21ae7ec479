import { spawn } from 'node:child_process';
import { printTable } from './table.ts';

export type RunAllOptions = {
  /** Called after a command that did not end well, with the time at which it began. */
  onFailed(bench: string, startedAt: Date, end: string): void;
  script?: string;
  limitMs?: number;
};

const BENCH_LIMIT_MS = 30 * 60_000;
const MAIN = new URL('main.ts', import.meta.url).pathname;

/**
 * Runs each command as a process of its own, one after the other, so that one that fails, hangs or crashes does not end the
 * run. Answers the exit code: 1 if any of them failed.
 */
export async function runAll(
  commands: string[][],
  { onFailed, script = MAIN, limitMs = BENCH_LIMIT_MS }: RunAllOptions,
): Promise<number> {
  const rows: string[][] = [];
  for (const command of commands) {
    const startedAt = new Date();
    const end = await runToEnd([script, ...command], limitMs);
    rows.push([command.join(' '), `${((Date.now() - startedAt.getTime()) / 1000).toFixed(0)} s`, end]);
    if (end !== 'done') onFailed(command[0] ?? '', startedAt, end);
    if (end === 'interrupted') break;
  }
  printTable('All benches', ['bench', 'time', 'end'], rows);
  return rows.every(([, , end]) => end === 'done') ? 0 : 1;
}

/** In a process group of its own: a signal then reaches the service and the load that the bench has started, too. */
async function runToEnd(args: string[], limitMs: number): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  let cause: string | null = null;
  const stop = (reason: string) => {
    cause ??= reason;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  };
  const onSignal = () => stop('interrupted');
  const limit = setTimeout(() => stop(`stopped after ${limitMs / 1000} s`), limitMs);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  try {
    return await new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(cause ?? (code === 0 ? 'done' : `failed (${code ?? signal})`)));
    });
  } finally {
    clearTimeout(limit);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}
