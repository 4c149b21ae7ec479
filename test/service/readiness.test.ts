import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { MIGRATION_LOCK } from '../../src/db/advisory-locks.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { rawSql, sql } from '../../src/db/sql.ts';
import { SERVER_VARIABLE } from '../harness/database/database.ts';
import { restartUnderLoad } from './rolling-restart.ts';
import { freePort, type Service, startService, statusOf, sweep, temporaryFolder, until } from './service-process.ts';

const SECRET_KEYS = 'a-secret-key-of-at-least-thirty-two-characters';
const KEY = 'svc_0123456789abcdefghijABCDEFGHIJ01';
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
    const seeding = await startService({
      env: { ...env, DEMO: 'on', DEMO_API_KEY: KEY, PORT: String(await freePort()) },
    });
    await untilReadiness(seeding, 200);
    seeding.signal('SIGTERM');
    await seeding.exit();
    const db = openDatabase({ address: { url: DATABASE_URL }, poolSize: 1, onIdleError: () => {} });
    await db.query(sql`update integrations set rate_limit_override = 1000000`);
    await db.close();
    const { sent, failures } = await restartUnderLoad({
      env: { ...env, DRAIN_SECONDS: '1' },
      apiKey: KEY,
      requests: REQUESTS,
      concurrency: 8,
    });
    assert.deepEqual(failures, []);
    assert.ok(sent >= REQUESTS);
  });
});
