import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const WATCHDOG = new URL('./leak-watchdog.ts', import.meta.url).pathname;

/** Runs a test file in a runner of its own, in which a hook may take a second. */
async function runFile(text: string, dir: string): Promise<string> {
  const file = join(dir, 'hangs.test.mjs');
  await writeFile(file, text);
  const args = ['--test', '--test-reporter=tap', '--import', WATCHDOG, file];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return await new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { env: { ...env, TEST_HOOK_LIMIT_MS: '1000' }, timeout: 60_000 },
      (_error, out, err) => resolve(`${out}${err}`),
    );
  });
}

describe('a hook that never ends', () => {
  for (const [where, text, expected] of [
    [
      'before the tests',
      `import { before, describe, it } from 'node:test';
       setInterval(() => {}, 1000);
       describe('a', () => { before(() => new Promise(() => {})); it('b', () => {}); });`,
      /a hook hangs before its first test/,
    ],
    [
      'after a test',
      `import { describe, it } from 'node:test';
       setInterval(() => {}, 1000);
       describe('a', () => { it('b', (t) => { t.after(() => new Promise(() => {})); }); });`,
      /a hook hangs (in|after) "a > b"/,
    ],
  ] as const) {
    it(`${where} ends the process with the place where it hangs`, async (t) => {
      const dir = await mkdtemp(join(tmpdir(), 'crownwheel-hanging-'));
      t.after(() => rm(dir, { recursive: true, force: true }));
      assert.match(await runFile(text, dir), expected);
    });
  }
});
