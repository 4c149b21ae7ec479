import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { apiClient } from '../../harness/http/api-client.ts';
import {
  DEMO_KEY,
  giveToOrdinaryUser,
  migratedFolder,
  ORDINARY_USER,
  postmasterOf,
  ROOT_DIR,
  type Service,
  seededFolder,
  startAndFail,
  startService,
  sweep,
  temporaryFolder,
} from '../service-process.ts';

const COMMAND: [string, ...string[]] = [process.execPath, 'src/cli/main.ts'];
const asOrdinaryUser = ORDINARY_USER === undefined ? {} : { identity: ORDINARY_USER };

describe('where and as whom the service runs', () => {
  after(sweep);

  it('runs as an ordinary user in a folder of odd characters, beside commands of root that take nothing from it', async () => {
    const dataDir = await temporaryFolder(`my "watch" data, it's 100% fine`);
    await giveToOrdinaryUser(dataDir);
    const env = { DATA_DIR: dataDir };
    const fromBefore = await startService({ env, command: [...COMMAND, 'migrate'] });
    assert.equal(await fromBefore.exit(), 0, fromBefore.err());

    const service = await startService({ env, ...asOrdinaryUser });
    await service.isHealthy();
    const beside = await startService({ env, command: [...COMMAND, 'organization', 'list', '--json'] });
    assert.equal(await beside.exit(), 0, beside.err());
    assert.equal(JSON.parse(beside.out()).data.length, 1);
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());

    const again = await startService({ env, ...asOrdinaryUser });
    await again.isHealthy();
    again.signal('SIGTERM');
    assert.equal(await again.exit(), 0, again.err());
    const { uid } = await stat(dataDir);
    for (const name of await readdir(dataDir)) assert.equal((await stat(join(dataDir, name))).uid, uid, name);
  });

  it('refuses what stores something while its disk has less than the reserve, and serves the rest', async () => {
    const env = { DATA_DIR: await seededFolder(), DISK_RESERVE_MB: '100000000' };
    const service = await startService({ env });
    await service.isHealthy();
    const api = apiClient(service.origin, DEMO_KEY);
    const answer = await api.post('/v1/orders', { channel_order_id: 'SO-1' }, { 'idempotency-key': 'k1' });
    assert.deepEqual([answer.status, answer.body.error.code], [503, 'overloaded']);
    assert.equal((await api.get('/v1/listings')).status, 200);
    assert.match(service.err(), /the disk is nearly full/);
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
  });

  describe('with a closed folder under a very long path, started from another working directory', () => {
    let dataDir: string;
    let service: Service;

    before(async () => {
      const parent = await temporaryFolder();
      await chmod(parent, 0o700);
      dataDir = join(parent, ...Array.from({ length: 8 }, () => 'a-long-name-of-thirty-letters-'));
      service = await startService({
        env: { DATA_DIR: dataDir, DEMO: 'off' },
        command: ['sh', '-c', `cd / && exec "${process.execPath}" "${join(ROOT_DIR, 'src/main.ts')}"`],
      });
    });

    it('finds its own files from any working directory', async () => {
      await service.isHealthy();
    });

    it('runs in a closed folder under a very long path, whose socket then lies elsewhere', async () => {
      const command = await startService({
        // Temporary files somewhere else than the service's: the command finds the running database all the same.
        env: { DATA_DIR: dataDir, TMPDIR: await temporaryFolder() },
        command: [...COMMAND, 'integration', 'list', '--json'],
      });
      assert.equal(await command.exit(), 0, command.err());
      service.signal('SIGTERM');
      assert.equal(await service.exit(), 0, service.err());
      assert.equal(await postmasterOf(dataDir), null);
    });
  });

  it('says in one line that a data folder belongs to somebody else', async () => {
    const dataDir = await temporaryFolder();
    await chmod(dataDir, 0o555);
    const service = await startAndFail({ env: { DATA_DIR: dataDir }, ...asOrdinaryUser });
    assert.match(service.err(), /^crownwheel: DATA_DIR .* cannot be written by this user: .*\n$/);
    assert.deepEqual(await readdir(dataDir), []);
  });

  if (ORDINARY_USER !== undefined) {
    it('says to a command of another user that permission is denied, and whose the database is', async () => {
      const dataDir = await migratedFolder();
      const open = await migratedFolder();
      await chmod(open, 0o755);
      for (const [folder, closed] of [
        [dataDir, dataDir],
        [open, join(open, 'postgres')],
      ] as const) {
        const env = { DATA_DIR: folder };
        const list = await startService({ env, command: [...COMMAND, 'organization', 'list'], ...asOrdinaryUser });
        assert.equal(await list.exit(), 1);
        const told = `permission denied: ${closed} belongs to postgres and is closed to nobody; run this as postgres`;
        assert.equal(list.err(), `crownwheel: ${told}\n`);
        const doctor = await startService({ env, command: [...COMMAND, 'doctor', '--json'], ...asOrdinaryUser });
        assert.equal(await doctor.exit(), 1, doctor.err());
        const checks: { name: string; message: string }[] = JSON.parse(doctor.out()).checks;
        assert.equal(checks.find(({ name }) => name === 'database')?.message, told);
      }
    });

    it('says in one line whose a closed data folder is, and what to do', async () => {
      const dataDir = await temporaryFolder();
      await chmod(dataDir, 0o700);
      const service = await startAndFail({ env: { DATA_DIR: dataDir }, ...asOrdinaryUser });
      assert.match(service.err(), /^crownwheel: DATA_DIR .* belongs to root, not to \w+, .*; run "chown -R .*\n$/);
    });
  }

  it('says in one line that a folder holds something else than a database', async () => {
    const dataDir = await temporaryFolder();
    await mkdir(join(dataDir, 'postgres'));
    const service = await startAndFail({ env: { DATA_DIR: dataDir } });
    assert.match(service.err(), /^crownwheel: .*\/postgres exists, but holds no database.*\n$/);
  });

  if (ORDINARY_USER !== undefined) {
    it('says in one line that PostgreSQL wants a user with a name', async () => {
      const dataDir = await temporaryFolder();
      await chmod(dataDir, 0o777);
      const service = await startAndFail({ env: { DATA_DIR: dataDir }, identity: { uid: 54_321, gid: 54_321 } });
      assert.match(service.err(), /^crownwheel: the embedded database could not be created: .*54321 has none.*\n$/);
    });
  }
});
