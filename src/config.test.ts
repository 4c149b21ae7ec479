import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readConfig, sharesDatabase, withSecretKeys } from './config.ts';

const KEY = 'a-secret-key-of-at-least-thirty-two-characters';
const DATABASE_URL = 'postgresql://me:hush@db.example.com/crownwheel';

describe('settings', () => {
  const folders: string[] = [];
  const folder = async () => {
    const path = await mkdtemp(join(tmpdir(), 'crownwheel-config-'));
    folders.push(path);
    return path;
  };
  after(() => Promise.all(folders.map((path) => rm(path, { recursive: true, force: true }))));

  it('have defaults that run the whole service on an embedded database with demo data', () => {
    const config = readConfig({});
    assert.deepEqual(
      [config.host, config.port, config.publicUrl, config.dataDir, config.databaseUrl],
      ['127.0.0.1', 4000, 'http://localhost:4000', '.data', null],
    );
    assert.deepEqual(config.roles, ['api', 'dashboard', 'worker']);
    assert.deepEqual([config.isDemoWanted, config.rateLimitStore], [true, 'memory']);
  });

  it('change their defaults with DATABASE_URL: no demo data, a limit that all nodes share', () => {
    const config = readConfig({ DATABASE_URL, SECRET_KEYS: KEY });
    assert.deepEqual([config.isDemoWanted, config.rateLimitStore], [false, 'postgres']);
  });

  it('count the rate limit in the database with several processes, which only work that answers requests can have', () => {
    const config = readConfig({ PROCESSES: '3' });
    assert.deepEqual([config.processes, config.rateLimitStore, sharesDatabase(config)], [3, 'postgres', true]);
    assert.deepEqual([readConfig({}).processes, sharesDatabase(readConfig({}))], [1, false]);
    assert.equal(readConfig({ PROCESSES: 'auto' }).processes, Math.min(availableParallelism(), 64));
    assert.equal(readConfig({ PROCESSES: 'Auto', ROLES: 'worker' }).processes, 1);
    assert.throws(() => readConfig({ PROCESSES: '2', ROLES: 'worker' }), /PROCESSES above 1 needs the role api/);
    assert.throws(() => readConfig({ PROCESSES: '0' }), /PROCESSES must be a whole number from 1 to 64/);
    assert.throws(() => readConfig({ PROCESSES: '2', RATE_LIMIT_STORE: 'memory' }), /must be postgres/);
  });

  it('count an empty variable as not set, and forgive spaces and the case of choices', () => {
    const config = readConfig({ PORT: ' ', DATABASE_URL: '', ROLES: ' API , worker,', DEMO: 'Off', LOG_LEVEL: 'WARN' });
    assert.deepEqual(
      [config.port, config.databaseUrl, config.isDemoWanted, config.logLevel],
      [4000, null, false, 'warn'],
    );
    assert.deepEqual(config.roles, ['api', 'worker']);
  });

  it('take the base URL without its trailing slashes, and a path in it', () => {
    assert.equal(readConfig({ PUBLIC_URL: 'https://example.com/shop//' }).publicUrl, 'https://example.com/shop');
  });

  it('take every form of a database URL that the driver does', () => {
    for (const url of [
      'postgres://me@db/x',
      'postgresql:///x?host=/run/postgresql&user=me',
      'postgresql://me@/x?host=/run/postgresql',
      'postgresql://me:p%40ss@[::1]:5433/x?sslmode=verify-full',
    ]) {
      assert.equal(readConfig({ DATABASE_URL: url, SECRET_KEYS: KEY }).databaseUrl, url);
    }
  });

  it('take several secret keys, the first of which signs', () => {
    assert.deepEqual(readConfig({ SECRET_KEYS: `${KEY}1, ${KEY}2` }).secretKeys, [`${KEY}1`, `${KEY}2`]);
  });

  it('are refused together, one line for each that is wrong', () => {
    const wrongs: [name: string, value: string, line: RegExp][] = [
      ['PORT', '0', /^PORT must be a whole number from 1 to 65535; it is "0"$/],
      ['DATABASE_POOL_SIZE', '1e3', /^DATABASE_POOL_SIZE must be a whole number from 2 to 500; it is "1e3"$/],
      [
        'DASHBOARD_STORAGE_QUOTA_MB_PER_DAY',
        '0',
        /^DASHBOARD_STORAGE_QUOTA_MB_PER_DAY must be a whole number from 1 to \d+; it is "0"$/,
      ],
      ['STORAGE_QUOTA_MB_PER_DAY', '0', /^STORAGE_QUOTA_MB_PER_DAY must be a whole number from 1 to \d+; it is "0"$/],
      ['DISK_RESERVE_MB', '-1', /^DISK_RESERVE_MB must be a whole number from 0 to \d+; it is "-1"$/],
      ['READ_CACHE_MB', '-1', /^READ_CACHE_MB must be a whole number from 1 to \d+; it is "-1"$/],
      ['PUBLIC_URL', 'https://u:p@example.com', /^PUBLIC_URL must not have a user or a password$/],
      ['ROLES', ',', /^ROLES must name at least one of api, dashboard, worker$/],
      ['DEMO', 'yes', /^DEMO must be one of on, off; it is "yes"$/],
      ['DEMO_API_KEY', 'svc_short', /^DEMO_API_KEY must be "svc_" followed by exactly 32 letters or digits$/],
      ['SECRET_KEYS', `${KEY},short`, /^SECRET_KEYS: every key must have at least 32 characters$/],
      ['RATE_LIMIT_STORE', 'redis', /^RATE_LIMIT_STORE must be one of memory, postgres; it is "redis"$/],
      ['LOG_LEVEL', 'loud', /^LOG_LEVEL must be one of trace, .*; it is "loud"$/],
    ];
    const environment = Object.fromEntries(wrongs.map(([name, value]) => [name, value]));
    assert.throws(
      () => readConfig(environment),
      (error: Error) => {
        const lines = error.message.split('\n');
        assert.equal(lines.length, wrongs.length, error.message);
        for (const [name, , line] of wrongs) {
          assert.match(lines.find((candidate) => candidate.startsWith(name)) ?? `nothing on ${name}`, line);
        }
        return true;
      },
    );
  });

  it('never show a secret in a complaint', () => {
    for (const environment of [
      { DATABASE_URL: 'postgresql://me:hush@db:port/x', SECRET_KEYS: KEY },
      { DATABASE_URL, SECRET_KEYS: 'hush' },
      { DEMO_API_KEY: 'svc_hush' },
      { PUBLIC_URL: 'https://me:hush@example.com' },
    ]) {
      assert.throws(
        () => readConfig(environment),
        (error: Error) => !error.message.includes('hush'),
      );
    }
  });

  it('need secret keys with DATABASE_URL', () => {
    assert.throws(() => readConfig({ DATABASE_URL }), /^StartError: SECRET_KEYS is required with DATABASE_URL/);
  });

  it('make secret keys once with the embedded database, readable by their owner alone', async () => {
    const dataDir = join(await folder(), 'new');
    const config = readConfig({ DATA_DIR: dataDir });
    const made = withSecretKeys(config).secretKeys;
    assert.match(made.join(), /^[0-9a-f]{64}$/);
    assert.deepEqual(withSecretKeys(config).secretKeys, made);
    assert.equal((await stat(join(dataDir, 'secret-keys'))).mode & 0o777, 0o600);
  });

  it('refuse an empty file of secret keys instead of making new ones', async () => {
    const dataDir = await folder();
    await writeFile(join(dataDir, 'secret-keys'), '\n');
    await chmod(join(dataDir, 'secret-keys'), 0o600);
    assert.throws(() => withSecretKeys(readConfig({ DATA_DIR: dataDir })), /holds no key; restore it from the backup/);
  });

  it('of a bucket for photos count only with PHOTO_STORAGE=s3, and are checked then', () => {
    const bucket = { PHOTO_S3_BUCKET: 'photos', PHOTO_S3_ENDPOINT: 'http://127.0.0.1:9000' };
    assert.equal(readConfig({ ...bucket, PHOTO_S3_ACCESS_KEY_ID: 'id' }).photoBucket, null);
    assert.deepEqual(readConfig({ ...bucket, PHOTO_STORAGE: 's3' }).photoBucket, {
      bucket: 'photos',
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:9000',
      credentials: null,
      isPathStyle: true,
      prefix: '',
    });
    const wrong = { PHOTO_STORAGE: 's3', PHOTO_S3_ACCESS_KEY_ID: 'id', PHOTO_S3_PREFIX: '../x' };
    assert.throws(() => readConfig(wrong), {
      message:
        /^PHOTO_S3_BUCKET is required .*\nPHOTO_S3_ACCESS_KEY_ID and PHOTO_S3_SECRET_ACCESS_KEY belong .*\nPHOTO_S3_PREFIX must be a path .*$/,
    });
  });

  it('of mail belong together, and a wrong URL does not show its password', () => {
    const mail = { SMTP_URL: 'smtps://shop:secret@mail.example.com', MAIL_FROM: 'Crownwheel <alerts@example.com>' };
    assert.deepEqual(readConfig(mail).mail, { url: mail.SMTP_URL, from: mail.MAIL_FROM });
    assert.equal(readConfig({}).mail, null);
    assert.throws(() => readConfig({ SMTP_URL: mail.SMTP_URL }), {
      message: /^SMTP_URL and MAIL_FROM belong together/,
    });
    const wrong = { SMTP_URL: 'mail.example.com:secret', MAIL_FROM: 'nobody' };
    assert.throws(() => readConfig(wrong), { message: /^SMTP_URL must be a URL [^\n]*\nMAIL_FROM must be an address/ });
  });

  it('are all in the table of the README, and no other', async () => {
    const asked = new Set<string>();
    // Some settings are looked at only where another one asks for them.
    const environment = { PHOTO_STORAGE: 's3', PHOTO_S3_BUCKET: 'photos' } as Record<string, string>;
    readConfig(
      new Proxy(environment, {
        get(values, name: string) {
          asked.add(name);
          return values[name];
        },
      }),
    );
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    const settings = readme.slice(
      readme.indexOf('## Settings'),
      readme.indexOf('\n## ', readme.indexOf('## Settings') + 1),
    );
    const listed = [...settings.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map((match) => match[1]);
    assert.deepEqual(listed.toSorted(), [...asked].toSorted());
  });
});
