import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../database/locks.ts';
import { makeRunFolder } from './run-folder.ts';

const ROOT_DIR = join(import.meta.dirname, '../../..');

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crownwheel-interrupted-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('a run of the tests', () => {
  it('that is interrupted leaves no folder and no process', async (t) => {
    const [dir, parent] = [await emptyFolder(t), await emptyFolder(t)];
    const [file, mark] = [join(dir, 'waits.test.mjs'), join(dir, 'pid')];
    await writeFile(
      file,
      `import { writeFileSync } from 'node:fs';
       import { it } from 'node:test';
       it('waits', () => new Promise(() => {
         writeFileSync(${JSON.stringify(mark)}, String(process.pid));
         setInterval(() => {}, 1000);
       }));`,
    );
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const runner = spawn(process.execPath, ['test/run.ts', file], {
      cwd: ROOT_DIR,
      env: { ...env, TMPDIR: parent },
      stdio: 'ignore',
    });
    const pidInFile = () => readFile(mark, 'utf8').catch(() => '');
    await until(async () => (await pidInFile()) !== '', 'the test never began');
    assert.notDeepEqual(await readdir(parent), []);
    runner.kill('SIGTERM');
    assert.deepEqual(await once(runner, 'exit'), [1, null]);
    assert.deepEqual(await readdir(parent), []);
    const pid = Number(await pidInFile());
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  it('takes away what one that was killed has left, and nothing of one that still runs', async (t) => {
    const [parent, before] = [await emptyFolder(t), process.env.TMPDIR];
    const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(ended, 'exit');
    for (const [name, runner] of [
      ['cw-test-left', ended.pid],
      ['cw-test-running', process.ppid],
      ['another', ended.pid],
    ] as const) {
      await mkdir(join(parent, name));
      await writeFile(join(parent, name, 'runner.pid'), String(runner));
    }
    process.env.TMPDIR = parent;
    t.after(() => {
      process.env.TMPDIR = before;
    });
    const own = await makeRunFolder();
    assert.deepEqual((await readdir(parent)).toSorted(), ['another', basename(own), 'cw-test-running'].toSorted());
  });
});
