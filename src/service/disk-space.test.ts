import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { watchDiskSpace } from './disk-space.ts';

const log = { error: () => {}, info: () => {}, warn: () => {} };

describe('the space on the disk', () => {
  it('is low below the reserve, is never low without one, and is not guessed', async () => {
    const isLow = async (folder: string, reserveBytes: number) => {
      const disk = await watchDiskSpace({ folder, reserveBytes, log });
      await disk.stop();
      return disk.isLow();
    };
    assert.equal(await isLow(tmpdir(), Number.MAX_SAFE_INTEGER), true);
    assert.equal(await isLow(tmpdir(), 1), false);
    assert.equal(await isLow(tmpdir(), 0), false);
    assert.equal(await isLow('/no/such/folder', Number.MAX_SAFE_INTEGER), false);
  });
});
