import { writeSync } from 'node:fs';
import { after, afterEach, beforeEach } from 'node:test';

/**
 * Loaded into each test process before its file. When all tests of the file have ended, the process should end too; if a
 * test left a server, a timer or a connection open, it would idle for ever, and the run with it. This ends the process
 * with a failure and says what was left open, so that a leak is seen instead of hidden.
 *
 * The runner limits the time of tests, but not of their hooks: a `before` or `after` that never settles would hang the
 * run, too. A process in which no test has begun or ended for longer than a test may take hangs in a hook.
 */
const GRACE_MS = 15_000;
/** Longer than `--test-timeout`, so that a test which takes too long fails as itself. */
const HOOK_LIMIT_MS = Number(process.env.TEST_HOOK_LIMIT_MS ?? 960_000);

// Only in a process that runs a test file: not in the runner, nor in the services that tests start.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  let last = 'before its first test';
  let lastAt = performance.now();
  const note = (what: string) => {
    last = what;
    lastAt = performance.now();
  };
  beforeEach((test) => note(`in "${nameOf(test)}"`));
  afterEach((test) => note(`after "${nameOf(test)}"`));
  setInterval(() => {
    if (performance.now() - lastAt < HOOK_LIMIT_MS) return;
    const seconds = HOOK_LIMIT_MS / 1_000;
    writeSync(2, `${process.argv[1]}: a hook hangs ${last}, for ${seconds} s by now. Open: ${describeOpen()}\n`);
    process.exit(1);
  }, HOOK_LIMIT_MS / 20).unref();

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

function nameOf(test: object): string {
  return 'fullName' in test ? String(test.fullName) : 'a test';
}

/** For instance "TCPServerWrap ×2, Timeout". The pipes are those of the runner. */
function describeOpen(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(', ');
}
