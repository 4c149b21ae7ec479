import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { commandLine, settingsFor } from '../../../test/harness/command-line.ts';
import { startOwnServer } from '../../../test/harness/servers/own-server.ts';
import { BUCKET, startS3 } from '../../../test/harness/servers/s3.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { encryption, guard, SECRET_KEY } from '../../../test/harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { runJobs } from '../../channel/jobs/run-jobs.ts';
import type { Config } from '../../config.ts';
import { openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { rawSql, sql } from '../../db/sql.ts';
import { changePresentation } from '../../dealers/integrations/integration-settings.ts';
import { setRate } from '../../dealers/rates/exchange-rates.ts';
import { newId } from '../../ids/new-id.ts';
import { setUrl } from '../../webhooks/endpoints/endpoint-settings.ts';
import { rotateSigningSecret } from '../../webhooks/endpoints/rotate-signing-secret.ts';
import { createSecretEncryption } from '../../webhooks/endpoints/secret-encryption.ts';
import { reencryptSecrets } from '../../webhooks/endpoints/signing-secrets.ts';

type CheckJson = { name: string; is_ok: boolean; is_warning: boolean; message: string; mend: string | null };

const OTHER_KEY = 'another key that is long enough to be one';

describe('the doctor', () => {
  let world: World;
  let good: Config;
  let settings: Config;
  let dir: string;
  const { run, json, refusal } = commandLine(() => settings);

  before(async () => {
    // Not the server that the tests share, which trades durability for speed: the doctor finds that.
    const server = await startOwnServer({ isDurable: true });
    const db = openDatabase({ address: server.address, poolSize: 5, onIdleError: () => {} });
    await migrate(db);
    const drop = async () => {
      await db.close();
      await server.remove();
    };
    world = await startWorld({ database: { db, address: server.address, drop } });
    dir = await mkdtemp(join(tmpdir(), 'crownwheel-doctor-'));
    good = { ...settingsFor(world, { DATA_DIR: dir }), secretKeys: [SECRET_KEY], trustedProxies: ['10.0.0.7'] };
  });
  beforeEach(() => {
    settings = good;
  });
  after(async () => {
    await world.stop();
    await rm(dir, { recursive: true });
  });

  async function check(name: string): Promise<CheckJson & { code: number }> {
    const { code, out } = await run('doctor', '--json');
    const found = JSON.parse(out).checks.find((each: CheckJson) => each.name === name);
    assert.ok(found, `${name} was not looked at`);
    return { ...found, code };
  }

  it('finds that all is well', async () => {
    const { is_ok, checks } = await json('doctor');
    assert.equal(is_ok, true);
    assert.deepEqual(
      checks.map((each: CheckJson) => each.name),
      [
        'settings',
        'secret keys',
        'database',
        'durability',
        'migrations',
        'signing secrets',
        'photo storage',
        'prices',
        'clock',
        'photos',
        'webhooks',
        'mail',
        'proxies',
        'port',
      ],
    );
    assert.match((await run('doctor')).out, /^ok {5}settings .*[\s\S]*All is well\.\n$/);
  });

  it('finds migrations that are missing, changed or unknown', async () => {
    const [last] = await world.db.query<{ version: number; name: string; checksum: string }>(sql`
      delete from schema_migrations where version = (select max(version) from schema_migrations)
      returning version, name, checksum`);
    const pending = await run('doctor');
    assert.equal(pending.code, 1);
    assert.match(pending.out, /WRONG {2}migrations +pending: \d{4}_\w+\.sql\n +→ run "crownwheel migrate"/);
    assert.match(await refusal('organization', 'list'), /^the database lacks 1 of this release's migrations; /);
    await world.db.query(sql`
      insert into schema_migrations (version, name, checksum) values (${last?.version}, ${last?.name}, 'else')`);
    assert.match((await run('doctor')).out, /WRONG {2}migrations +changed after they were applied: \d{4}_/);
    await world.db.query(
      sql`update schema_migrations set checksum = ${last?.checksum} where version = ${last?.version}`,
    );
    await world.db.query(rawSql(`insert into schema_migrations (version, name, checksum) values (9999, 'x', 'x')`));
    assert.match((await run('doctor')).out, /WRONG {2}migrations +9999 unknown to this release/);
    await world.db.query(rawSql('delete from schema_migrations where version = 9999'));
    assert.deepEqual(await json('migrate'), { object: 'migration', applied: [] });
  });

  it('finds a database that cannot be reached, without a fault of its own', async () => {
    settings = { ...good, databaseUrl: 'postgresql://me@127.0.0.1:1/x' };
    const { code, is_ok, message } = await check('database');
    assert.deepEqual([code, is_ok], [1, false]);
    assert.match(message, /ECONNREFUSED/);
    assert.match(await refusal('organization', 'list'), /^the database cannot be reached: connect ECONNREFUSED/);
  });

  it('finds a server that may lose what it acknowledged', async () => {
    const set = async (assignment: string) => {
      await world.db.query(rawSql(`alter system ${assignment}`));
      await world.db.query(rawSql('select pg_reload_conf()'));
    };
    /** The server takes a moment to read its settings anew. */
    const until = async (message: RegExp) => {
      for (;;) {
        const found = await check('durability');
        if (message.test(found.message)) return found;
      }
    };
    assert.equal((await check('durability')).message, 'fsync, full_page_writes and synchronous_commit are on');
    await set('set fsync = off');
    const lossy = await until(/^fsync is off: /);
    assert.deepEqual([lossy.code, lossy.is_ok], [1, false]);
    await set('set fsync = on');
    await set('set full_page_writes = off');
    assert.equal((await until(/^full_page_writes is off: /)).is_warning, true);
    await set('set full_page_writes = on');
    // Our own connections overrule it, so there is nothing to complain of.
    await set('set synchronous_commit = off');
    await until(/are on$/);
    await world.db.query(rawSql(`alter role crownwheel set session_replication_role = 'replica'`));
    assert.match((await check('durability')).message, /^session_replication_role is replica: /);
    await world.db.query(rawSql('alter role crownwheel reset session_replication_role'));
    await world.db.query(rawSql(`alter role crownwheel set transaction_timeout = '10s'`));
    assert.match((await check('durability')).message, /^transaction_timeout is 10s: /);
    await world.db.query(rawSql('alter role crownwheel reset transaction_timeout'));
  });

  it('decrypts every signing secret in use, and names the integrations for which no key fits', async () => {
    assert.equal((await check('signing secrets')).message, 'none yet');
    const [one, two] = [await world.dealer(), await world.dealer()];
    for (const { integrationId } of [one, two]) {
      await setUrl(world.db, TESTER, { guard, encryption }, integrationId, 'https://shop.example/webhooks');
    }
    assert.equal((await check('signing secrets')).message, 'all 2 can be decrypted');

    settings = { ...good, secretKeys: [OTHER_KEY] };
    const lost = await check('signing secrets');
    assert.deepEqual([lost.code, lost.is_ok], [1, false]);
    assert.equal(lost.message, `none of the secret keys decrypts those of ${one.integrationId}, ${two.integrationId}`);
    assert.match(lost.mend ?? '', /rotate-secret/);

    // What it advises helps: the old secret that cannot be decrypted is gone at once.
    await rotateSigningSecret(world.db, TESTER, createSecretEncryption([OTHER_KEY]), one.integrationId, 0, null);
    assert.equal(
      (await check('signing secrets')).message,
      `none of the secret keys decrypts those of ${two.integrationId}`,
    );

    settings = { ...good, secretKeys: [OTHER_KEY, SECRET_KEY] };
    const rotated = await check('signing secrets');
    assert.deepEqual([rotated.code, rotated.is_ok], [0, true]);
    assert.equal(
      rotated.message,
      `all 2 can be decrypted; until a worker has encrypted them again, only an older key decrypts those of ${two.integrationId}`,
    );
    await reencryptSecrets(world.db, createSecretEncryption(settings.secretKeys));
    assert.equal((await check('signing secrets')).message, 'all 2 can be decrypted');
    settings = { ...good, secretKeys: [OTHER_KEY] };
    assert.equal((await check('signing secrets')).message, 'all 2 can be decrypted');
    // One that has expired is not used any more and needs no key.
    await world.db.query(sql`
      insert into webhook_secrets (integration_id, ciphertext, expires_at)
      values (${one.integrationId}, ${encryption.encrypt('whsec_old')}, now() - interval '1 second')`);
    assert.equal((await check('signing secrets')).message, 'all 2 can be decrypted');
    await world.db.query(rawSql('delete from webhook_secrets'));
  });

  it('counts what cannot be priced, and names the rate that is missing', async () => {
    const dealer = await world.dealer();
    for (const title of ['One', 'Two']) await publishNew(world, dealer, watch({ title, priceAmount: 1_000_000 }));
    assert.equal((await check('prices')).message, 'every item has one in the currency of its channel');
    const { organizationId, integrationId } = dealer;
    const yen = { currency: 'JPY' };
    await changePresentation(world.channel, TESTER, organizationId, integrationId, yen, { isForced: true });
    await runJobs(world.channel);
    const lost = await check('prices');
    assert.deepEqual([lost.code, lost.is_ok], [1, false]);
    assert.equal(lost.message, `2 items of ${integrationId} cannot be priced: there is no rate for USD/JPY`);
    assert.equal(lost.mend, 'run "rates set USD JPY …"');
    await setRate(world.channel, TESTER, 'USD', 'JPY', '150');
    await runJobs(world.channel);
    assert.equal((await check('prices')).is_ok, true);
  });

  it('writes a photo where photos are kept, reads it, and leaves nothing behind', async () => {
    assert.equal((await check('photos')).message, `the first start creates ${join(dir, 'photos')}`);
    assert.deepEqual(await readdir(dir), [], 'a look made the folder');
    await mkdir(join(dir, 'photos'));
    assert.equal((await check('photos')).message, `can be written and read in ${join(dir, 'photos')}`);
    const left = await readdir(join(dir, 'photos'), { recursive: true, withFileTypes: true });
    assert.deepEqual(
      left.filter((entry) => entry.isFile() || entry.name.startsWith('pho_')),
      [],
    );
    await rm(join(dir, 'photos'), { recursive: true });
    await writeFile(join(dir, 'photos'), '');
    const broken = await check('photos');
    assert.deepEqual([broken.code, broken.is_ok], [1, false]);
    assert.match(broken.message, /^photos cannot be kept in .*: EEXIST/);
    await rm(join(dir, 'photos'));
  });

  it('finds a link that leads nowhere, which looks like something that the first start creates', async () => {
    const link = join(dir, 'link');
    const told = (path: string) => `${path} is a link to ${join(dir, 'unplugged')}, which does not exist`;
    await symlink(join(dir, 'unplugged'), link);
    settings = { ...good, databaseUrl: null, dataDir: link };
    const whole = await check('data folder');
    assert.deepEqual([whole.code, whole.is_ok, whole.message], [1, false, told(link)]);
    settings = { ...good, databaseUrl: null, dataDir: join(link, 'below') };
    assert.equal((await check('data folder')).message, told(link));
    await rm(link);

    for (const name of ['postgres', 'photos', 'secret-keys']) {
      const folder = join(dir, 'data');
      await mkdir(folder);
      await symlink(join(dir, 'unplugged'), join(folder, name));
      settings = { ...good, databaseUrl: null, dataDir: folder };
      const part = await check('data folder');
      assert.deepEqual([part.code, part.is_ok, part.message], [1, false, told(join(folder, name))]);
      if (name !== 'secret-keys') {
        assert.equal((await check(name === 'postgres' ? 'database' : 'photos')).message, told(join(folder, name)));
      }
      await rm(folder, { recursive: true });
    }
    await symlink(join(dir, 'unplugged'), join(dir, 'photos'));
    settings = good;
    assert.equal((await check('photos')).message, told(join(dir, 'photos')));
    await rm(join(dir, 'photos'));
  });

  it('does the same with a bucket, and finds a key that may not write', async () => {
    const s3 = await startS3();
    const photoBucket = {
      bucket: BUCKET,
      region: 'us-east-1',
      endpoint: s3.endpoint,
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      isPathStyle: true,
      prefix: '',
    };
    try {
      settings = { ...good, photoBucket };
      assert.equal((await check('photos')).message, `can be written and read in the bucket ${BUCKET}`);
      assert.equal(s3.objects.size, 0);
      s3.isReadOnly = true;
      const denied = await check('photos');
      assert.deepEqual([denied.code, denied.is_ok], [1, false]);
      assert.match(denied.message, /^cannot be kept in the bucket .*: AccessDenied/);
      settings = { ...good, photoBucket: { ...photoBucket, bucket: 'another' } };
      assert.match((await check('photos')).message, /^photos cannot be kept in the bucket another: NoSuchBucket/);
    } finally {
      await s3.stop();
    }
  });

  it('reports whose storage of photos it is, and "photos claim" makes it ours', async (t) => {
    const s3 = await startS3();
    t.after(() => s3.stop());
    settings = {
      ...good,
      photoBucket: {
        bucket: BUCKET,
        region: 'us-east-1',
        endpoint: s3.endpoint,
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
        isPathStyle: true,
        prefix: '',
      },
    };
    const id = newId('photo');
    s3.objects.set(`${id.slice(-2)}/${id}/original.jpg`, Buffer.from('a'));
    const unmarked = await check('photo storage');
    assert.deepEqual([unmarked.is_ok, unmarked.is_warning], [true, true]);
    assert.match(unmarked.mend ?? '', /photos claim/);
    assert.match(
      await refusal('photos', 'claim'),
      /is unmarked; it has 1 photos, of which .* does not know 1.*add --yes/,
    );
    assert.deepEqual(await json('photos', 'claim', '--yes'), {
      object: 'photo_storage',
      owner: 'ours',
      photos: 1,
      unknown_photos: 1,
    });
    assert.equal((await check('photo storage')).message, 'marked as this installation’s');
    await world.db.query(sql`update installation set id = gen_random_uuid()`);
    const foreign = await check('photo storage');
    assert.deepEqual([foreign.code, foreign.is_ok], [1, false]);
    assert.match(foreign.message, /belongs to another installation/);
    assert.match(await refusal('photos', 'claim'), /is foreign/);
  });

  it('warns of private targets where others reach the service, and is content with them in development', async () => {
    assert.equal((await check('webhooks')).message, 'go to https and public addresses only');
    const local = { ...good, isPrivateWebhookAllowed: true, publicUrl: 'http://localhost:4000' };
    for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) {
      settings = { ...local, host };
      assert.equal((await check('webhooks')).is_warning, false, host);
    }
    for (const [change, sign] of [
      [{ host: '0.0.0.0' }, 'HOST is 0.0.0.0'],
      [{ host: '::' }, 'HOST is ::'],
      [{ publicUrl: 'https://api.example.com' }, 'PUBLIC_URL is https'],
      [{ host: '10.0.0.7', publicUrl: 'https://api.example.com' }, 'HOST is 10.0.0.7 and PUBLIC_URL is https'],
    ] as const) {
      settings = { ...local, host: '127.0.0.1', ...change };
      const { is_ok, is_warning, message, mend } = await check('webhooks');
      assert.deepEqual([is_ok, is_warning], [true, true]);
      assert.equal(message, `may go to http and private addresses, though ${sign}`);
      assert.match(mend ?? '', /^set WEBHOOK_PRIVATE_TARGETS=off/);
    }
    settings = { ...local, host: '127.0.0.1', publicUrl: 'https://api.example.com' };
    const { code, out } = await run('doctor');
    assert.equal(code, 0, 'a warning is nothing wrong');
    assert.match(out, /\nwarn {3}webhooks +may go [^\n]+\n +→ set WEBHOOK_PRIVATE_TARGETS=off[\s\S]+one warning\.\n$/);
  });

  it('warns of a proxy that is not trusted, whose connections would all count as those of one client', async () => {
    settings = { ...good, publicUrl: 'https://api.example.com', trustedProxies: [] };
    const untrusted = await check('proxies');
    assert.deepEqual([untrusted.code, untrusted.is_ok, untrusted.is_warning], [0, true, true]);
    assert.match(untrusted.message, /none is trusted: it counts as one client with 500 connections$/);
    assert.equal(untrusted.mend, 'set TRUSTED_PROXIES to its addresses');
    for (const change of [
      { trustedProxies: ['10.0.0.0/8'] },
      { publicUrl: 'http://localhost:4000' },
      { roles: ['worker'] as const },
    ]) {
      settings = { ...good, publicUrl: 'https://api.example.com', trustedProxies: [], ...change };
      assert.equal((await check('proxies')).is_warning, false);
    }
  });
});
