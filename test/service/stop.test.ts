import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import {
  assertNoStack,
  DEMO_KEY,
  databaseIn,
  migratedFolder,
  postmasterOf,
  type Service,
  seededFolder,
  serverLog,
  startService,
  statusOf,
  sweep,
  temporaryFolder,
  until,
} from './service-process.ts';

describe('stopping the service', () => {
  after(sweep);

  for (const [name, send] of [
    ['Ctrl-C in a terminal', (service: Service) => service.signalGroup('SIGINT')],
    ['SIGTERM', (service: Service) => service.signal('SIGTERM')],
  ] as const) {
    it(`lets a request under way finish and stops the database cleanly on ${name}`, async () => {
      const dataDir = await seededFolder();
      const service = await startService({ env: { DATA_DIR: dataDir } });
      await service.isHealthy();
      const idle = await keepAlive(service);
      const release = await blockKeyLookups(dataDir);
      const answer = statusOf(`${service.origin}/api/v1/me`, { authorization: `Bearer ${DEMO_KEY}` });
      await untilBlocked(dataDir);
      send(service);
      await service.says('Stopping: finishing requests under way');
      await until(
        async () => (await statusOf(`${service.origin}/api/v1/health`)) === null,
        () => 'new connections are still taken',
      );
      assert.equal(service.hasExited(), false);
      await release();
      assert.equal(await answer, 200);
      assert.equal(await service.exit(), 0);
      assert.match(service.out(), /Stopped\.\n$/);
      assertNoStack(service);
      idle.destroy();
      await assertCleanlyStopped(dataDir);
    });
  }

  it('takes the two signals of a Ctrl-C under npm for one, and still drains', async () => {
    const dataDir = await seededFolder();
    const service = await startService({ env: { DATA_DIR: dataDir }, command: ['npm', 'start', '--silent'] });
    await service.isHealthy();
    const release = await blockKeyLookups(dataDir);
    const answer = statusOf(`${service.origin}/api/v1/me`, { authorization: `Bearer ${DEMO_KEY}` });
    await untilBlocked(dataDir);
    service.signalGroup('SIGINT');
    await service.says('Stopping: finishing requests under way');
    await sleep(200);
    await release();
    assert.equal(await answer, 200);
    await service.exit();
    assert.match(service.out(), /Stopped\.\n/);
    await until(
      async () => (await postmasterOf(dataDir)) === null,
      () => 'the database is still there',
    );
    await assertCleanlyStopped(dataDir);
  });

  it('stops when npm alone gets the signal, as from a supervisor that knows no other process', async () => {
    const dataDir = await migratedFolder();
    const env = { DATA_DIR: dataDir, DEMO: 'off' };
    const service = await startService({ env, command: ['npm', 'start', '--silent'] });
    await service.isHealthy();
    service.signal('SIGTERM');
    await service.exit();
    assert.match(service.out(), /Stopped\.\n/);
    assert.equal(await postmasterOf(dataDir), null);
    await assertCleanlyStopped(dataDir);
  });

  it('does not wait for requests after a second signal, but stops the database cleanly even so', async () => {
    const dataDir = await seededFolder();
    const service = await startService({ env: { DATA_DIR: dataDir } });
    await service.isHealthy();
    const release = await blockKeyLookups(dataDir);
    const answer = statusOf(`${service.origin}/api/v1/me`, { authorization: `Bearer ${DEMO_KEY}` });
    await untilBlocked(dataDir);
    service.signalGroup('SIGINT');
    await service.says('Stopping');
    await sleep(1_200);
    assert.equal(service.hasExited(), false);
    service.signalGroup('SIGINT');
    assert.equal(await service.exit(), 0);
    assert.equal(await answer, null);
    await release().catch(() => {});
    await assertCleanlyStopped(dataDir);
  });

  it('stops cleanly although nobody reads its output any more', async () => {
    const dataDir = await migratedFolder();
    const service = await startService({
      env: { DATA_DIR: dataDir, DEMO: 'off' },
      command: ['sh', '-c', `exec "${process.execPath}" src/main.ts | true`],
    });
    await until(
      async () => (await statusOf(`${service.origin}/api/v1/health`)) === 200,
      () => 'it never answered',
    );
    service.signalGroup('SIGHUP');
    await until(
      async () =>
        (await postmasterOf(dataDir)) === null && (await statusOf(`${service.origin}/api/v1/health`)) === null,
      () => 'it is still there',
    );
    await assertCleanlyStopped(dataDir);
  });

  it('leaves nothing running when it is interrupted in the middle of its first start', async () => {
    for (const moment of ['Creating the database', 'Making the tables']) {
      const dataDir = await temporaryFolder();
      const service = await startService({ env: { DATA_DIR: dataDir } });
      await service.says(moment);
      service.signalGroup('SIGINT');
      assert.equal(await service.exit(), 0, service.err());
      assert.equal(service.err(), '');
      assert.equal(await postmasterOf(dataDir), null);
      const again = await startService({ env: { DATA_DIR: dataDir } });
      await again.says('Live key');
      again.signal('SIGTERM');
      assert.equal(await again.exit(), 0);
    }
  });
});

/** Holds a lock that every key lookup waits for; the answer lets it go. */
async function blockKeyLookups(dataDir: string): Promise<() => Promise<void>> {
  const db = databaseIn(dataDir);
  const client: pg.Client = await db.connect();
  await client.query('begin');
  await client.query('lock table integrations in access exclusive mode');
  return async () => {
    await client.query('commit');
    await client.end();
    await db.close();
  };
}

/** The lookup of the key itself: workers wait for the same table. */
async function untilBlocked(dataDir: string): Promise<void> {
  const db = databaseIn(dataDir);
  const client = await db.connect();
  const waiting = `
    select from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%key_hash%' and pid <> pg_backend_pid()`;
  await until(
    async () => (await client.query(waiting)).rows.length > 0,
    () => 'the request does not wait for the lock',
  );
  await client.end();
  await db.close();
}

/** A connection that did its work and stays open, as browsers and proxies keep theirs. */
async function keepAlive(service: Service): Promise<Agent> {
  const agent = new Agent({ keepAlive: true });
  await new Promise<void>((resolve, reject) => {
    get(`${service.origin}/api/v1/health`, { agent }, (response) => response.resume().once('end', resolve)).once(
      'error',
      reject,
    );
  });
  return agent;
}

async function assertCleanlyStopped(dataDir: string): Promise<void> {
  assert.equal(await postmasterOf(dataDir), null);
  assert.equal(existsSync(join(dataDir, 'postgres', 'postmaster.pid')), false);
  await until(
    async () => /database system is shut down\n$/.test(await serverLog(dataDir)),
    () => 'the database was not shut down in order',
  );
}
