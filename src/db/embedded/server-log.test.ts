import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { endedByFullDisk, freeBytesOf, lastLineSince, reasonOfEnd } from './server-log.ts';

const MUCH = 1_000_000_000;

describe('why the embedded server ended', () => {
  it('is a full disk if the server says so in its last words', async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'crownwheel-log-'));
    t.after(() => rm(dir, { recursive: true }));
    const file = join(dir, 'postgres.log');
    await writeFile(
      file,
      [
        '2026-05-07 10:00:00.000 UTC [7] WARNING:  something else',
        '2026-05-07 10:00:01.000 UTC [7] PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device',
        '2026-05-07 10:00:01.100 UTC [1] LOG:  server process (PID 7) was terminated by signal 6: Aborted',
        '',
      ].join('\n'),
    );
    const lastLine = await lastLineSince(file, 0);
    assert.match(
      reasonOfEnd(lastLine, MUCH),
      /^the disk of DATA_DIR is full; free some space \(could not write to file/,
    );
    assert.equal(endedByFullDisk(lastLine, MUCH), true);
  });

  it('is a full disk if it could not write a word, and the disk has no room for its log', () => {
    assert.equal(reasonOfEnd('', 0), 'the disk of DATA_DIR is full; free some space');
    assert.equal(endedByFullDisk('terminating connection due to administrator command', 4_096), true);
  });

  it('is what it said, or nothing, while the disk has room', async () => {
    const words = 'configuration file contains errors';
    assert.equal(reasonOfEnd(words, MUCH), words);
    assert.equal(reasonOfEnd('', MUCH), 'it said nothing');
    assert.equal(reasonOfEnd('', null), 'it said nothing');
    assert.equal(endedByFullDisk(words, MUCH), false);
    assert.ok(((await freeBytesOf(tmpdir())) ?? 0) > 0);
    assert.equal(await freeBytesOf('/no/such/folder'), null);
  });
});
