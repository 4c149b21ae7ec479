import { execFileSync } from 'node:child_process';
import { writeSync } from 'node:fs';

/**
 * The last resort against a run that never ends, such as a test that loops without a pause, which no time limit inside
 * its own process can reach. Runs in the runner: it names the test files that still run, and kills them.
 */
const RUN_LIMIT_MS = 75 * 60_000;

export function startRunWatchdog(limitMs = RUN_LIMIT_MS): void {
  setTimeout(() => killTests(`the tests have run for ${limitMs / 60_000} min`), limitMs).unref();
}

/** So that a run that is interrupted leaves no process and no folder behind. */
export function onInterrupt(cleanUp: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, async () => {
      killTests(`interrupted by ${signal}`);
      await cleanUp();
      process.exit(1);
    });
  }
}

function killTests(reason: string): void {
  for (const { pid, command } of childProcesses()) {
    if (!/\.test\.(ts|mjs)/.test(command)) continue;
    writeSync(2, `${reason}; killing ${pid}: ${command}\n`);
    process.kill(pid, 'SIGKILL');
  }
}

function childProcesses(): { pid: number; command: string }[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === process.pid ? [{ pid: Number(pid), command }] : [];
  });
}
