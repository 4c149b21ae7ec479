import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedDatabase, startEmbedded } from './embedded.ts';
import { isAlive } from './embedded-server.ts';

/** Some looks of the watcher long. */
const LOOKS_MS = 1_500;

describe('an embedded server whose pid file can not be read', () => {
  let dataDir: string;
  let pidFile: string;
  let server: EmbeddedDatabase;
  let faults: string[];
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'crownwheel-embedded-'));
    pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    faults = [];
    server = await startEmbedded({
      dataDir,
      isExclusive: true,
      onProgress: () => {},
      onFault: (message) => faults.push(message),
      settings: { fsync: 'off', full_page_writes: 'off' },
    });
  });
  after(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true });
  });

  it('is not taken for dead: no other one is started, and it is stopped', async () => {
    const pid = (await server.pid()) ?? 0;
    await rename(pidFile, `${pidFile}.aside`);
    await mkdir(pidFile);
    await sleep(LOOKS_MS);
    assert.deepEqual([await server.pid(), faults], [pid, []]);

    await rm(pidFile, { recursive: true });
    await sleep(LOOKS_MS);
    assert.deepEqual([await server.pid(), faults], [pid, []]);

    await server.stop();
    assert.equal(isAlive(pid), false);
  });
});
