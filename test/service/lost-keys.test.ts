import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import { setUrl } from '../../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../../src/webhooks/endpoints/secret-encryption.ts';
import { TESTER } from '../harness/actor.ts';
import { guard } from '../harness/webhooks/webhook-world.ts';
import { command, seededFolder, startService, sweep, whileStopped } from './service-process.ts';

const OTHER_KEY = 'another secret key that never encrypted anything';

describe('a start with secret keys that decrypt no signing secret', () => {
  let dataDir: string;
  let keysFile: string;
  let oldKey: string;
  let integrationIds: string[];

  before(async () => {
    dataDir = await seededFolder();
    keysFile = join(dataDir, 'secret-keys');
    oldKey = (await readFile(keysFile, 'utf8')).trim();
    const encryption = createSecretEncryption([oldKey]);
    integrationIds = await whileStopped(dataDir, async (db) => {
      const ids = (await db.query<{ id: string }>(sql`select id from integrations order by id`)).map(({ id }) => id);
      for (const id of ids) await setUrl(db, TESTER, { guard, encryption }, id, 'http://127.0.0.1:9/nobody');
      return ids;
    });
  });
  after(sweep);

  /** What a start and a stop leave in the log about keys. A machine that is busy may give the log something else to say. */
  async function warningsOf(env: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
    const service = await startService({ env: { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...env } });
    await service.says('Stop:');
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0);
    const lines = service.err().split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line)).filter(({ msg }) => /secret key/.test(msg));
  }

  async function assertWarned(message: RegExp, env: Record<string, string> = {}): Promise<void> {
    const [warning, ...others] = await warningsOf(env);
    assert.deepEqual(others, []);
    assert.deepEqual([warning?.level, warning?.integrations], ['warn', integrationIds]);
    assert.match(String(warning?.msg), message);
    assert.match(
      String(warning?.msg),
      /none of the secret keys decrypts the signing secrets of 2 integrations, .*; put the old key back behind those in .* rotate-secret/,
    );
  }

  it('says so in one line with their number and the remedy, whatever its roles', async () => {
    await assertWarned(/^none .* behind those in SECRET_KEYS /, { SECRET_KEYS: OTHER_KEY });
    await assertWarned(/^none .* behind those in SECRET_KEYS /, { SECRET_KEYS: OTHER_KEY, ROLES: 'api' });
  });

  it('is left to the service: a command refuses instead of making a new file, and the doctor says what is lost', async () => {
    await rename(keysFile, `${keysFile}.aside`);
    for (const words of [
      ['organization', 'list'],
      ['organization', 'create', '--name', 'One'],
      ['webhooks', 'rotate-secret', integrationIds[0] ?? ''],
      ['migrate'],
    ]) {
      const { code, out, err } = await command(dataDir, ...words);
      assert.deepEqual([code, out], [1, ''], words.join(' '));
      assert.match(err, /^crownwheel: \S+\/secret-keys is missing, though there is a database; restore it .*\n$/);
    }
    const { code, out } = await command(dataDir, 'doctor', '--json');
    const found = new Map(JSON.parse(out).checks.map((check: { name: string }) => [check.name, check]));
    assert.equal(code, 1);
    assert.partialDeepStrictEqual(found.get('secret keys'), {
      is_ok: false,
      message: `${keysFile} is missing, though there is a database`,
    });
    assert.partialDeepStrictEqual(found.get('signing secrets'), {
      is_ok: false,
      message: `none of the secret keys decrypts those of ${integrationIds.join(', ')}`,
    });
    assert.equal(existsSync(keysFile), false);
    await rename(`${keysFile}.aside`, keysFile);
  });

  it('says that the file of keys was missing when it makes it anew beside a database that has secrets', async () => {
    await rm(keysFile);
    await assertWarned(
      /^\S+\/secret-keys was missing and is made anew, but the database is older: none .*\/secret-keys /,
    );
    assert.notEqual((await readFile(keysFile, 'utf8')).trim(), oldKey);
    await assertWarned(/^none .* behind those in \S+\/secret-keys /);
  });

  it('is quiet once the old key is back behind the new one', async () => {
    await writeFile(keysFile, `${await readFile(keysFile, 'utf8')}${oldKey}\n`);
    assert.deepEqual(await warningsOf(), []);
  });
});
