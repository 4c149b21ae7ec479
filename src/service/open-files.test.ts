import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { connectionLimitOf, openFilesIn } from './open-files.ts';

const FILE = new URL('./open-files.ts', import.meta.url).href;

describe('how many connections may be open', () => {
  it('is three quarters of the files that the system allows, at most 20,000', () => {
    assert.deepEqual([1_024, 4_096, 1_048_576, null].map(connectionLimitOf), [768, 3_072, 20_000, 20_000]);
  });

  it('is not limited by a system that does not say', () => {
    const line = (soft: string) =>
      `Max cpu time   unlimited   unlimited   seconds\nMax open files   ${soft}   4096   files\n`;
    assert.deepEqual([line('1024'), line('unlimited'), ''].map(openFilesIn), [1_024, null, null]);
  });

  if (process.platform === 'linux') {
    it('follows what the process was started with', async () => {
      const script = `import { openFilesLimit } from '${FILE}'; console.log(openFilesLimit());`;
      const command = 'ulimit -n 700; exec "$0" --input-type=module --eval "$1"';
      const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, script]);
      assert.equal(stdout.trim(), '700');
    });
  }
});
