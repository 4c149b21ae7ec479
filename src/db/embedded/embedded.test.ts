import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../database.ts';
import { sql } from '../sql.ts';
import { type EmbeddedDatabase, startEmbedded } from './embedded.ts';
import { isAlive } from './embedded-server.ts';

/** Some looks of the watcher long. */
const LOOKS_MS = 1_500;

const BYTES_PER_BLOCK = 512;

describe('an embedded server', () => {
  let dataDir: string;
  let server: EmbeddedDatabase;
  let faults: string[];
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'crownwheel-embedded-'));
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

  it('begins a segment of its log without filling it with zeros, for which all commits would wait', async () => {
    const db = openDatabase({ address: server.address, poolSize: 1, onIdleError: () => {} });
    await db.query(sql`select pg_switch_wal()`);
    await db.query(sql`create table written (id integer)`);
    const [log] = await db.query<{ file: string }>(sql`select pg_walfile_name(pg_current_wal_flush_lsn()) as file`);
    await db.close();
    const { size, blocks } = await stat(join(dataDir, 'postgres', 'pg_wal', log?.file ?? ''));
    assert.ok(blocks * BYTES_PER_BLOCK < size / 2, `${blocks} blocks of ${size} bytes are written`);
  });

  it('is not taken for dead while its pid file can not be read: no other one is started, and it is stopped', async () => {
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
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
