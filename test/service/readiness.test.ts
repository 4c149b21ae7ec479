import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { VERSIONS } from '../../src/contract/versions.ts';
import { MIGRATION_LOCK } from '../../src/db/advisory-locks.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { rawSql } from '../../src/db/sql.ts';
import { SERVER_VARIABLE } from '../harness/database/database.ts';
import { apiClient } from '../harness/http/api-client.ts';
import { openShop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import { restartUnderLoad } from './rolling-restart.ts';
import { type Service, startService, statusOf, sweep, temporaryFolder, until } from './service-process.ts';

const SECRET_KEYS = 'a-secret-key-of-at-least-thirty-two-characters';
const LISTINGS = 10;
const REQUESTS = 1_000;

describe('the readiness of a process', () => {
  const name = `test_ready_${randomBytes(4).toString('hex')}`;
  const server = JSON.parse(process.env[SERVER_VARIABLE] ?? '{}') as { socketDir: string; user: string };
  const DATABASE_URL = `postgresql:///${name}?host=${encodeURIComponent(server.socketDir)}&user=${server.user}`;
  let admin: Database;
  let env: Record<string, string>;

  before(async () => {
    admin = openDatabase({ address: { ...server, database: 'postgres' }, poolSize: 1, onIdleError: () => {} });
    await admin.query(rawSql(`create database ${name}`));
    env = { DATA_DIR: await temporaryFolder(), DATABASE_URL, SECRET_KEYS, LOG_LEVEL: 'error' };
  });
  after(async () => {
    await sweep();
    await admin.query(rawSql(`drop database ${name} with (force)`));
    await admin.close();
  });

  const readiness = (service: Service) => statusOf(`${service.origin}/api/v1/ready`);
  const untilReadiness = (service: Service, status: number | null) =>
    until(
      async () => (await readiness(service)) === status,
      () => `readiness never was ${status}: ${service.out()}${service.err()}`,
    );

  /** The key of a website without a limit on requests, whose pages of five listings are full. */
  async function openStockedShop(): Promise<string> {
    const db = openDatabase({ address: { url: DATABASE_URL }, poolSize: 1, onIdleError: () => {} });
    const channel = {
      db,
      now: () => null,
      publicUrl: 'https://api.crownwheel.test',
      versions: VERSIONS,
      onEvents: () => {},
    };
    const shop = await openShop({ db, client: (key) => apiClient('', key) });
    for (let made = 0; made < LISTINGS; made++) await publishNew({ channel }, shop, watch());
    await db.close();
    return shop.apiKey;
  }

  it('is 503 while it starts, 200 when it serves, on every role', async () => {
    const db = openDatabase({ address: { url: DATABASE_URL }, poolSize: 1, onIdleError: () => {} });
    const migrating = await db.connect();
    await migrating.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const nodes = await Promise.all(
      ['api', 'worker', 'dashboard'].map((ROLES) => startService({ env: { ...env, ROLES } })),
    );
    for (const node of nodes) {
      await node.says('Waiting for another node');
      const response = await fetch(`${node.origin}/api/v1/ready`, { headers: { connection: 'close' } });
      const body = (await response.json()) as { error: { code: string; message: string } };
      assert.deepEqual([response.status, body.error.code], [503, 'not_ready']);
      assert.equal(body.error.message, 'The service is starting.');
    }
    await migrating.end();
    await db.close();
    for (const node of nodes) await untilReadiness(node, 200);
    for (const node of nodes) node.signal('SIGTERM');
    for (const node of nodes) assert.equal(await node.exit(), 0, node.err());
  });

  it('is 503 from SIGTERM on, while requests are served for DRAIN_SECONDS; a second signal does not wait', async () => {
    const service = await startService({ env: { ...env, DRAIN_SECONDS: '600' } });
    await untilReadiness(service, 200);
    service.signal('SIGTERM');
    await untilReadiness(service, 503);
    const health = await fetch(`${service.origin}/api/v1/health`);
    assert.deepEqual([health.status, health.headers.get('connection')], [200, 'close']);
    await health.arrayBuffer();
    await until(
      async () => {
        // Two signals within a second are one wish, as Ctrl-C under npm sends two.
        service.signal('SIGTERM');
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        return service.hasExited() || service.out().includes('Stopping: finishing');
      },
      () => service.out(),
    );
    assert.equal(await service.exit(), 0, service.err());
  });

  it('lets nodes be restarted behind a proxy that obeys it, without a failed request', async () => {
    const { sent, failures } = await restartUnderLoad({
      env: { ...env, DRAIN_SECONDS: '1' },
      apiKey: await openStockedShop(),
      requests: REQUESTS,
      concurrency: 8,
    });
    assert.deepEqual(failures, []);
    assert.ok(sent >= REQUESTS);
  });
});
