import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DEMO_KEY,
  postmasterOf,
  type Service,
  seededFolder,
  serverLog,
  startService,
  statusOf,
  sweep,
  temporaryFolder,
  until,
} from '../service-process.ts';

describe('starting after a crash', () => {
  after(sweep);

  it('takes over the database that outlived a killed service', async () => {
    const dataDir = await seededFolder();
    const first = await startService({ env: { DATA_DIR: dataDir } });
    await first.isHealthy();
    const orphan = await postmasterOf(dataDir);
    first.signal('SIGKILL');
    await first.exit();
    assert.equal(await postmasterOf(dataDir), orphan);

    const second = await startService({ env: { DATA_DIR: dataDir } });
    await assertServes(second);
    assert.equal(await postmasterOf(dataDir), orphan);
    await stop(second);
    assert.equal(await postmasterOf(dataDir), null);
    assert.match(await serverLog(dataDir), /database system is shut down\n$/);
  });

  it('starts although the pid file of a killed database names a living stranger', async () => {
    const dataDir = await seededFolder();
    const first = await startService({ env: { DATA_DIR: dataDir } });
    await first.isHealthy();
    const postmaster = (await postmasterOf(dataDir)) ?? 0;
    first.signal('SIGKILL');
    await first.exit();
    process.kill(postmaster, 'SIGKILL');
    // PostgreSQL itself believes any pid of its own user, so the stranger is one.
    const stranger = await strangerOf(dataDir);
    await rewritePid(join(dataDir, 'postgres', 'postmaster.pid'), postmaster, stranger.pid);
    await rewritePid(join(dataDir, 'run', '.s.PGSQL.5432.lock'), postmaster, stranger.pid);

    const second = await startService({ env: { DATA_DIR: dataDir } });
    await assertServes(second);
    await stop(second);
    assert.equal(stranger.exitCode ?? stranger.signalCode, null, 'the stranger was harmed');
    stranger.kill();
  });

  it('starts after a kill in the middle of the first start', async () => {
    for (const moment of ['Creating the database', 'Making the tables']) {
      const dataDir = await temporaryFolder();
      const first = await startService({ env: { DATA_DIR: dataDir, DEMO_API_KEY: DEMO_KEY } });
      await first.says(moment);
      first.signalGroup('SIGKILL');
      await first.exit();
      const second = await startService({ env: { DATA_DIR: dataDir, DEMO_API_KEY: DEMO_KEY } });
      await assertServes(second);
      assert.match(second.out(), /Test key {3}svc_/);
      await stop(second);
    }
  });

  it('brings back a database that dies while the service runs', async () => {
    const dataDir = await seededFolder();
    const service = await startService({ env: { DATA_DIR: dataDir } });
    await assertServes(service);
    const postmaster = (await postmasterOf(dataDir)) ?? 0;
    process.kill(postmaster, 'SIGKILL');
    await until(
      async () => ![null, postmaster].includes(await postmasterOf(dataDir)),
      () => 'the database did not come back',
    );
    await assertServes(service);
    await until(
      () => service.err().includes('the embedded database is back'),
      () => 'the log does not say that it is back',
    );
    await stop(service);
  });
});

async function assertServes(service: Service): Promise<void> {
  await until(
    async () => (await statusOf(`${service.origin}/api/v1/me`, { authorization: `Bearer ${DEMO_KEY}` })) === 200,
    () => `it does not serve: ${service.out()}${service.err()}`,
  );
}

async function stop(service: Service): Promise<void> {
  service.signal('SIGTERM');
  assert.equal(await service.exit(), 0, service.err());
}

/** A process that has nothing to do with us, of the same user as the database. */
async function strangerOf(dataDir: string): Promise<ChildProcess & { pid: number }> {
  const { uid, gid } = await stat(join(dataDir, 'postgres'));
  const child = spawn('sleep', ['60'], { stdio: 'ignore', ...(process.getuid?.() === 0 ? { uid, gid } : {}) });
  await sleep(50);
  return child as ChildProcess & { pid: number };
}

async function rewritePid(file: string, from: number, to: number): Promise<void> {
  const text = await readFile(file, 'utf8');
  assert.ok(text.startsWith(`${from}\n`), `${file} does not name the killed server`);
  await writeFile(file, text.replace(`${from}\n`, `${to}\n`));
}
