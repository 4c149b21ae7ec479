import { writeSync } from 'node:fs';
import { after } from 'node:test';

/**
 * Loaded into each test process before its file. When all tests of the file have ended, the process should end too; if a
 * test left a server, a timer or a connection open, it would idle for ever, and the run with it. This ends the process
 * with a failure and says what was left open, so that a leak is seen instead of hidden.
 */
const GRACE_MS = 15_000;

// Only in a process that runs a test file: not in the runner, nor in the services that tests start.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(() => {
    // It keeps nothing alive itself.
    setTimeout(() => {
      const seconds = GRACE_MS / 1_000;
      const open = describeOpen();
      writeSync(2, `${process.argv[1]}: its tests ended ${seconds} s ago, but this keeps the process alive: ${open}\n`);
      process.exit(1);
    }, GRACE_MS).unref();
  });
}

/** For instance "TCPServerWrap ×2, Timeout". The pipes are those of the runner. */
function describeOpen(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(', ');
}
