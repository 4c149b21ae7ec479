import assert from 'node:assert/strict';
import { existsSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import {
  assertNoStack,
  copyOf,
  databaseIn,
  freePort,
  migratedFolder,
  postmasterOf,
  type Service,
  startAndFail,
  startService,
  statusOf,
  sweep,
  temporaryFolder,
  whileStopped,
} from './service-process.ts';

const DEMO_KEY = 'svc_0123456789abcdefghijABCDEFGHIJ01';

describe('starting the service', () => {
  /** A stopped service's folder, for tests that need data to start from. */
  let template: string;
  let firstOutput: string;

  before(async () => {
    template = await temporaryFolder();
    const service = await startService({ env: { DATA_DIR: template, ROLES: '' } });
    await service.says('Stop:');
    assert.deepEqual(await tryCurl(service), { status: 200, livemode: true });
    assert.equal(await statusOf(service.origin, { accept: 'text/html' }), 200);
    firstOutput = service.out();
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0);
  });
  after(sweep);

  it('shows its progress, where to go, and a curl that works', () => {
    assert.match(firstOutput, /Creating the database/);
    assert.match(firstOutput, /Making the tables …/);
    assert.match(firstOutput, /Dashboard {2}http:\/\/localhost:\d+\n/);
    assert.match(firstOutput, /API {8}http:\/\/localhost:\d+\/api\/v1\n/);
    assert.match(firstOutput, /Docs {7}http:\/\/localhost:\d+\/docs\/api\n/);
    assert.match(firstOutput, /curl -i http:\/\/localhost:\d+\/api\/v1\/me -H 'Authorization: Bearer svc_\w{32}'/);
  });

  it('keeps secrets readable by their owner alone', () => {
    for (const name of ['secret-keys', 'demo.json', 'postgres.log']) {
      assert.equal(statSync(join(template, name)).mode & 0o077, 0, name);
    }
  });

  describe('a second time', () => {
    let dataDir: string;
    let service: Service;

    before(async () => {
      dataDir = await copyOf(template);
      service = await startService({ env: { DATA_DIR: dataDir } });
      await service.says('Stop:');
    });
    after(async () => {
      service.signal('SIGTERM');
      assert.equal(await service.exit(), 0);
    });

    it('makes one dealer with a user, a live and a test integration, and shows the same keys at every start', async () => {
      assert.deepEqual(demoOf(service.out()), demoOf(firstOutput));
      const [live, test] = demoOf(firstOutput).keys;
      assert.equal(await livemodeOf(service, live), true);
      assert.equal(await livemodeOf(service, test), false);
      const db = databaseIn(dataDir);
      const [count] = await db.query<object>(sql`
        select (select count(*) from organizations) as organizations, (select count(*) from users) as users,
          (select count(*) from integrations) as integrations`);
      assert.deepEqual(count, { organizations: 1, users: 1, integrations: 2 });
      await db.close();
    });

    it('refuses a data folder that another service has, and leaves that one alone', async () => {
      const second = await startAndFail({ env: { DATA_DIR: dataDir } });
      assert.match(
        second.err(),
        new RegExp(`^crownwheel: DATA_DIR .* is in use by another Crownwheel service \\(pid ${service.pid}\\); .*\\n$`),
      );
      assert.equal(await statusOf(`${service.origin}/api/v1/health`), 200);
    });
  });

  it('gives the live demo integration the key of DEMO_API_KEY, also at a later start, and keeps it', async () => {
    const dataDir = await copyOf(template);
    for (const env of [{ DEMO_API_KEY: DEMO_KEY }, {}]) {
      const service = await startService({ env: { DATA_DIR: dataDir, ...env } });
      await service.says('Stop:');
      assert.equal(demoOf(service.out()).keys[0], DEMO_KEY);
      assert.equal(await livemodeOf(service, DEMO_KEY), true);
      service.signal('SIGTERM');
      assert.equal(await service.exit(), 0);
    }
  });

  it('shows no key that was changed since, and refuses a DEMO_API_KEY that another integration has', async () => {
    const dataDir = await copyOf(template);
    const [, testKey] = demoOf(firstOutput).keys;
    await whileStopped(dataDir, (db) =>
      db.query(sql`update integrations set key_hash = sha256('lost') where not is_test_mode`),
    );

    const refused = await startAndFail({ env: { DATA_DIR: dataDir, DEMO_API_KEY: testKey ?? '' } });
    assert.match(refused.err(), /^crownwheel: DEMO_API_KEY cannot be used: That API key belongs to another .*\n$/);
    assert.equal(await postmasterOf(dataDir), null);

    const second = await startService({ env: { DATA_DIR: dataDir } });
    await second.says('Stop:');
    assert.deepEqual(demoOf(second.out()).keys, [testKey]);
    second.signal('SIGTERM');
    assert.equal(await second.exit(), 0);
  });

  it('names each wrong setting in one line, ends, and leaves no trace', async () => {
    const brokenLink = join(await temporaryFolder(), 'link');
    symlinkSync('/nowhere', brokenLink);
    const wrongs: [setting: Record<string, string>, line: RegExp][] = [
      [{ PORT: 'abc' }, /^crownwheel: PORT must be a whole number from 1 to 65535; it is "abc"\n$/],
      [{ ROLES: 'api,cook' }, /^crownwheel: ROLES must be a list of api, dashboard, worker; it names "cook"\n$/],
      [{ PUBLIC_URL: 'example.com' }, /^crownwheel: PUBLIC_URL must be an absolute URL .*\n$/],
      [
        { DATABASE_URL: 'mysql://x' },
        /^crownwheel: DATABASE_URL must be a URL that begins with .*\ncrownwheel: SECRET_KEYS is required .*\n$/,
      ],
      [{ HOST: '203.0.113.7' }, /^crownwheel: HOST 203\.0\.113\.7 is not an address of this machine\n$/],
      [
        { DATA_DIR: join(ROOT_FILE, 'x') },
        /^crownwheel: DATA_DIR .* cannot be made or entered: a part of the path is a file.*\n$/,
      ],
      [
        { DATA_DIR: '/proc/x/y' },
        /^crownwheel: DATA_DIR \/proc\/x\/y cannot be made or entered: no folder can be made there\n$/,
      ],
      [{ DATA_DIR: brokenLink }, /^crownwheel: DATA_DIR .*: \S+ is a link to \/nowhere, which does not exist\n$/],
    ];
    await Promise.all(
      wrongs.map(async ([setting, line]) => {
        const dataDir = join(await temporaryFolder(), 'not-made');
        const service = await startAndFail({ env: { DATA_DIR: dataDir, ...setting } });
        assert.match(service.err(), line);
        assert.equal(service.out(), '');
        assert.equal(existsSync(dataDir), false);
      }),
    );
  });

  it('says in one line that its port is taken, and leaves nothing running', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    const dataDir = await temporaryFolder();
    const service = await startAndFail({ env: { DATA_DIR: dataDir, PORT: String(port) } });
    assert.match(service.err(), new RegExp(`^crownwheel: port ${port} is taken on 127\\.0\\.0\\.1; .*\\n$`));
    assert.equal(await postmasterOf(dataDir), null);
    other.close();
  });

  it('runs exactly one of two services that start at the same moment on a fresh folder', async () => {
    const dataDir = await temporaryFolder();
    const env = { DATA_DIR: dataDir, DEMO: 'off' };
    const services = await Promise.all([1, 2].map(() => startService({ env })));
    const loser = await Promise.race(services.map(async (service) => [await service.exit(), service] as const)).then(
      ([, service]) => service,
    );
    const winner = services.find((service) => service !== loser) as Service;
    assert.match(loser.err(), /^crownwheel: DATA_DIR .* is in use by another Crownwheel service \(pid \d+\); .*\n$/);
    assertNoStack(loser);
    await winner.isHealthy();
    winner.signal('SIGTERM');
    assert.equal(await winner.exit(), 0);
    assert.equal(await postmasterOf(dataDir), null);
  });

  it('leaves the database empty with DEMO=off, and serves no API without that role', async () => {
    // A start with DEMO=off has made that folder, too: a demo that it left there would be found.
    const dataDir = await migratedFolder();
    const service = await startService({ env: { DATA_DIR: dataDir, DEMO: 'off', ROLES: 'worker,dashboard' } });
    await service.says('Stop:');
    assert.doesNotMatch(service.out(), /svc_|api\/v1/);
    assert.equal(await statusOf(`${service.origin}/api/v1/health`), 404);
    assert.equal(await statusOf(`${service.origin}/docs/api`), 200);
    const db = databaseIn(dataDir);
    assert.deepEqual(await db.query(sql`select id from organizations`), []);
    await db.close();
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0);
  });
});

const ROOT_FILE = new URL('../../package.json', import.meta.url).pathname;

function demoOf(output: string): { keys: string[]; password: string | undefined } {
  return {
    keys: [...output.matchAll(/(?:Live|Test) key {3}(svc_\w{32})/g)].map((match) => match[1] ?? ''),
    password: /password (\S+)/.exec(output)?.[1],
  };
}

/** Does what the printed line says. */
async function tryCurl(service: Service): Promise<{ status: number; livemode: boolean }> {
  const [, url = '', key = ''] = /curl -i (\S+) -H 'Authorization: Bearer (\w+)'/.exec(service.out()) ?? [];
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, connection: 'close' } });
  const body = (await response.json()) as { is_test_mode: boolean };
  return { status: response.status, livemode: !body.is_test_mode };
}

async function livemodeOf(service: Service, key: string | undefined): Promise<boolean> {
  const response = await fetch(`${service.origin}/api/v1/me`, {
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
  });
  assert.equal(response.status, 200);
  return !((await response.json()) as { is_test_mode: boolean }).is_test_mode;
}
