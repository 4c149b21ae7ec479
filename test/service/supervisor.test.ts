import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  childrenOf,
  commandOf,
  DEMO_KEY,
  freePort,
  postmasterOf,
  ROOT_DIR,
  type Service,
  seededFolder,
  startAndFail,
  startService,
  statusOf,
  sweep,
  temporaryFolder,
  until,
} from './service-process.ts';

const PROCESSES = 2;
const KILLS = 4;
const DRAIN_SECONDS = 2;

/** One story of one data folder: each test goes on where the one before it ended. */
describe('the process that supervises several others', () => {
  let dataDir: string;
  let env: Record<string, string>;
  let service: Service;

  before(async () => {
    dataDir = await seededFolder();
    env = {
      DATA_DIR: dataDir,
      PROCESSES: String(PROCESSES),
      ROLES: 'api,worker',
      DRAIN_SECONDS: String(DRAIN_SECONDS),
    };
    service = await startService({ env });
    await service.says('Stop:');
  });
  after(sweep);

  const meOf = (from: Service) => statusOf(`${from.origin}/api/v1/me`, { authorization: `Bearer ${DEMO_KEY}` });

  it('waits twice as long each time before it starts one again that dies at once, while the others answer', async () => {
    const [survivor = 0] = await childrenOf(service);
    for (let kill = 1; kill <= KILLS; kill++) {
      const [victim] = await othersThan(service, survivor);
      process.kill(victim, 'SIGKILL');
      await until(
        () => backoffs(service).length === kill,
        () => `the end of ${victim} was not noticed: ${service.err().slice(-2_000)}`,
      );
      assert.equal(await meOf(service), 200);
    }
    assert.deepEqual(backoffs(service), [100, 200, 400, 800]);
    await othersThan(service, survivor);
    assert.deepEqual((await childrenOf(service)).includes(survivor), true);
  });

  it('takes the others with it when it is killed, and the next start takes over the database that outlived it', async () => {
    const postmaster = await postmasterOf(dataDir);
    const [survivor = 0] = await childrenOf(service);
    // One that is just being started shows the command of its supervisor, then none for a moment, and then its own.
    const pids = [survivor, ...(await othersThan(service, survivor))];
    service.signal('SIGKILL');
    await service.exit();
    for (const pid of pids) {
      await until(
        async () => (await commandOf(pid)) === '',
        () => `process ${pid} outlived its supervisor`,
      );
    }
    service = await startService({ env });
    await service.says('Stop:');
    assert.equal(await postmasterOf(dataDir), postmaster, 'the same server goes on');
    assert.equal(await meOf(service), 200);
  });

  it('goes on taking requests for DRAIN_SECONDS after a SIGTERM, says that it is not ready, and ends with 0', async () => {
    const pids = await childrenOf(service);
    const postmaster = await postmasterOf(dataDir);
    assert.notEqual(postmaster, null);
    service.signal('SIGTERM');
    const statuses = new Set<number | null>();
    await until(
      async () => {
        const isReady = await statusOf(`${service.origin}/api/v1/ready`);
        if (isReady === 503) statuses.add(await meOf(service));
        return service.hasExited();
      },
      () => `it did not stop: ${service.out()}`,
    );
    assert.ok(statuses.has(200), `no request was answered during the drain: ${[...statuses]}`);
    assert.equal(await service.exit(), 0, service.err());
    assert.match(service.out(), /Stopped\.\n$/);
    for (const pid of [...pids, postmaster ?? 0]) assert.equal(await commandOf(pid), '', `${pid} is still there`);
  });

  it('does not start if one of them can’t: it says why in one line, ends with 1 and leaves nothing running', async () => {
    const fixture = join(ROOT_DIR, 'test/service/only-in-processes.mjs');
    const failed = await startAndFail({ env: { ...env, NODE_OPTIONS: `--import=${fixture}` } });
    assert.match(failed.err(), /^crownwheel: process [12] of 2 could not start: READ_CACHE_MB must be .*"much"\n$/);
    assert.equal(await failed.exit(), 1);
    assert.equal(await postmasterOf(dataDir), null);
    assert.equal(await statusOf(`${failed.origin}/api/v1/health`), null);
  });

  it('says in one line that its port is taken, before it starts a database', async (t) => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    t.after(() => other.close());
    const fresh = await temporaryFolder();
    const failed = await startAndFail({ env: { ...env, DATA_DIR: fresh, PORT: String(port) } });
    assert.match(failed.err(), new RegExp(`^crownwheel: port ${port} is taken on [^\\n]*\\n$`));
    assert.equal(failed.out().includes('Creating the database'), false);
    assert.equal(await postmasterOf(fresh), null);
  });
});

/** Those beside the given one, once there are as many as there should be. */
async function othersThan(service: Service, survivor: number): Promise<[number, ...number[]]> {
  let others: number[] = [];
  await until(
    async () => {
      others = (await childrenOf(service)).filter((pid) => pid !== survivor);
      return others.length === PROCESSES - 1;
    },
    () => `it was not started again: ${service.err().slice(-2_000)}`,
  );
  return others as [number, ...number[]];
}

/** How long the log says that it waits before each start. */
function backoffs(service: Service): number[] {
  return [...service.err().matchAll(/"inMs":(\d+),"msg":"a process ended; it is started again"/g)].map(([, ms]) =>
    Number(ms),
  );
}
