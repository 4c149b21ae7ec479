import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  copyOf,
  databaseIn,
  giveToOrdinaryUser,
  migratedFolder,
  ORDINARY_USER,
  type SpawnOptions,
  startAndFail,
  startService,
  sweep,
  temporaryFolder,
  until,
} from './service-process.ts';

const execute = promisify(execFile);
const OTHERS = 0o077;

describe('what lies in a data folder', () => {
  after(sweep);

  async function startAndStop(options: SpawnOptions): Promise<void> {
    const service = await startService(options);
    await service.isHealthy();
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
  }
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  async function assertClosed(dataDir: string): Promise<void> {
    assert.equal(await modeOf(dataDir), 0o700);
    for (const name of (await readdir(dataDir)).filter((each) => each !== 'photos')) {
      assert.equal((await modeOf(join(dataDir, name))) & OTHERS, 0, name);
    }
    assert.equal(await modeOf(join(dataDir, 'lock')), 0o600);
  }

  it('is closed to other users, also where an earlier release left it open', async () => {
    const dataDir = join(await temporaryFolder(), 'deep', 'data');
    const env = { DATA_DIR: dataDir, DEMO: 'off' };
    await startAndStop({ env, command: ['sh', '-c', `umask 0 && exec "${process.execPath}" src/main.ts`] });
    await assertClosed(dataDir);
    assert.equal((await modeOf(join(dataDir, 'photos'))) & 0o022, 0, 'others may write photos');

    await chmod(dataDir, 0o755);
    await chmod(join(dataDir, 'lock'), 0o644);
    await chmod(join(dataDir, 'secret-keys'), 0o644);
    await startAndStop({ env });
    await assertClosed(dataDir);
  });

  it('is closed by itself in a folder that holds other things, which stays as open as it is', async () => {
    const dataDir = await temporaryFolder();
    await writeFile(join(dataDir, 'notes.txt'), 'not of the service');
    await chmod(dataDir, 0o755);
    await startAndStop({ env: { DATA_DIR: dataDir } });
    assert.equal(await modeOf(dataDir), 0o755);
    for (const name of ['lock', 'secret-keys', 'demo.json', 'postgres', 'postgres.log']) {
      assert.equal((await modeOf(join(dataDir, name))) & OTHERS, 0, name);
    }
  });

  it('never leads to a socket folder whose name can be guessed', async () => {
    const dataDir = await migratedFolder(Array.from({ length: 5 }, () => 'a-name-of-twenty-let').join('/'));
    const victim = await temporaryFolder();
    await chmod(victim, 0o755);
    const name = `crownwheel-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
    const trap = join(tmpdir(), name);
    await symlink(victim, trap);
    try {
      const service = await startService({ env: { DATA_DIR: dataDir, DEMO: 'off' } });
      await service.isHealthy();
      const socketDir = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[4] ?? '';
      assert.notEqual(socketDir, trap);
      assert.equal(await modeOf(socketDir), 0o700);
      service.signal('SIGTERM');
      assert.equal(await service.exit(), 0, service.err());
      await assert.rejects(stat(socketDir), { code: 'ENOENT' });
      assert.equal(await modeOf(victim), 0o755);
      assert.equal((await stat(victim)).uid, process.getuid?.());
    } finally {
      await rm(trap);
    }
  });

  it('has a log of the database that does not grow without bound', async () => {
    const dataDir = await migratedFolder();
    const service = await startService({ env: { DATA_DIR: dataDir, DEMO: 'off' } });
    await service.isHealthy();
    const log = join(dataDir, 'postgres.log');
    await appendFile(log, `${'x'.repeat(99)}\n`.repeat(110_000));
    await until(
      async () => (await stat(log)).size < 1_000_000,
      () => 'the log keeps its size',
    );
    assert.ok((await stat(`${log}.1`)).size > 10_000_000);
    // The server goes on writing at the start of the same file.
    const db = databaseIn(dataDir);
    await assert.rejects(db.query({ text: 'select nonsense', values: [], name: undefined }));
    await db.close();
    await until(
      async () => /nonsense/.test(await readFile(log, 'utf8')),
      () => 'the server writes elsewhere',
    );
    assert.ok((await stat(log)).size < 1_000_000);
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
  });

  if (ORDINARY_USER !== undefined) {
    const identity = ORDINARY_USER;
    /** As a stopped service of the ordinary user left it, who also made the database in it. */
    let usersFolder: string;

    before(async () => {
      usersFolder = await temporaryFolder();
      await giveToOrdinaryUser(usersFolder);
      await startAndStop({ env: { DATA_DIR: usersFolder, DEMO: 'off' }, identity });
    });

    it('cannot be locked by another user, who would keep the service from starting', async () => {
      const dataDir = await migratedFolder();
      await assertClosed(dataDir);
      const attack = `
        import { DatabaseSync } from 'node:sqlite';
        const file = new DatabaseSync(${JSON.stringify(join(dataDir, 'lock'))}, { readOnly: true });
        file.exec('begin; select * from sqlite_master');`;
      const attempt = await startService({
        env: {},
        identity,
        command: [process.execPath, '--input-type=module', '--eval', attack],
      });
      assert.notEqual(await attempt.exit(), 0, 'another user can open the lock');
      await startAndStop({ env: { DATA_DIR: dataDir, DEMO: 'off' } });
    });

    it('starts as root from a copy that root made with "cp -r"', async () => {
      const copy = await temporaryFolder('restored');
      await execute('cp', ['-r', `${usersFolder}/.`, copy]);
      assert.equal((await stat(join(copy, 'postgres', 'PG_VERSION'))).uid, 0);
      await startAndStop({ env: { DATA_DIR: copy, DEMO: 'off' } });
      await assertClosed(copy);
      assert.notEqual((await stat(join(copy, 'postgres', 'PG_VERSION'))).uid, 0);

      // Copied back by root into the folder of an ordinary user: root's next command gives all of it to that user.
      const back = await temporaryFolder('back');
      await giveToOrdinaryUser(back);
      await execute('cp', ['-r', `${usersFolder}/.`, back]);
      await giveToOrdinaryUser(back);
      const explained = await startAndFail({ env: { DATA_DIR: back }, identity });
      assert.match(
        explained.err(),
        /^crownwheel: DATA_DIR .* cannot be written by this user: .*\/lock belongs to root, .*; run "chown -R \w+ .*" as root\n$/,
      );
      await startAndStop({ env: { DATA_DIR: back, DEMO: 'off' }, command: [process.execPath, 'src/main.ts'] });
      await startAndStop({ env: { DATA_DIR: back, DEMO: 'off' }, identity });
    });

    it('is explained by the doctor and at the start when a part of it belongs to root', async () => {
      const copy = await copyOf(usersFolder);
      await giveToOrdinaryUser(copy);
      await execute('chown', ['-R', 'root', join(copy, 'postgres', 'base')]);
      const failed = await startAndFail({ env: { DATA_DIR: copy }, identity });
      assert.match(
        failed.err(),
        /^crownwheel: .*\/base belongs to root, not to \w+, who runs .*chown -R \w+ .*" as root\n$/,
      );
      const doctor = await startService({
        env: { DATA_DIR: copy },
        identity,
        command: [process.execPath, 'src/cli/main.ts', 'doctor'],
      });
      assert.equal(await doctor.exit(), 1);
      assert.match(doctor.out(), /WRONG {2}data folder +\S+\/base belongs to root, .*\n +→ run "chown -R \w+ /);
    });
  }

  it('is not taken from a link in place of its socket folder', async () => {
    const dataDir = await temporaryFolder();
    const victim = await temporaryFolder();
    await mkdir(join(victim, 'target'));
    await chmod(join(victim, 'target'), 0o755);
    await symlink(join(victim, 'target'), join(dataDir, 'run'));
    const service = await startAndFail({ env: { DATA_DIR: dataDir } });
    assert.match(service.err(), /^crownwheel: .*\/run cannot be made or is not this user's own: .*\n$/);
    assert.equal(await modeOf(join(victim, 'target')), 0o755);
  });
});
