import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  command,
  freePort,
  migratedFolder,
  postmasterOf,
  ROOT_DIR,
  startService,
  sweep,
  temporaryFolder,
} from './service-process.ts';

describe('commands on the embedded database', () => {
  after(sweep);

  it('start it for the moment, wait for one another, and leave nothing running', async () => {
    const dataDir = join(await temporaryFolder(), 'fresh');
    const healthy = await command(dataDir, 'doctor', '--json');
    assert.equal(healthy.code, 0, healthy.out);
    assert.equal(existsSync(dataDir), false, 'a look made the folder');

    const made = await Promise.all(
      ['One', 'Two', 'Three'].map((name) => command(dataDir, 'organization', 'create', '--name', name, '--json')),
    );
    for (const { code, err } of made) assert.deepEqual([code, err], [0, '']);
    const { out } = await command(dataDir, 'organization', 'list', '--json');
    const names = JSON.parse(out).data.map((row: { name: string }) => row.name);
    assert.deepEqual(names.toSorted(), ['One', 'Three', 'Two']);
    assert.equal(await postmasterOf(dataDir), null);
  });

  it('refuse a folder without a database and leave it as it is, unless they make the first dealer', async () => {
    const dataDir = join(await temporaryFolder(), 'elsewhere');
    for (const words of [
      ['integration', 'list'],
      ['rates', 'set', 'USD', 'EUR', '0.92'],
      ['generate', '--listings', '1', '--organization', 'org_x'],
    ]) {
      assert.deepEqual(await command(dataDir, ...words), {
        code: 1,
        out: '',
        err: `crownwheel: There is no database in ${dataDir}; is DATA_DIR that of the service?\n`,
      });
    }
    assert.equal(existsSync(dataDir), false);
    const { code, err } = await command(dataDir, 'generate', '--listings', '1', '--json');
    assert.deepEqual([code, err], [0, '']);
  });

  it('read a password from standard input and end with a code that scripts can test', async () => {
    const dataDir = await migratedFolder();
    const organization = JSON.parse((await command(dataDir, 'organization', 'create', '--name', 'One', '--json')).out);
    const child = spawn(
      process.execPath,
      [
        'src/cli/main.ts',
        'user',
        'create',
        '--organization',
        organization.id,
        '--name',
        'D',
        '--email',
        'd@dealer.example',
        '--password-stdin',
        '--json',
      ],
      { cwd: ROOT_DIR, env: { ...process.env, DATA_DIR: dataDir }, stdio: ['pipe', 'pipe', 'inherit'] },
    );
    child.stdin.end('battery staple\n');
    const [text] = await Promise.all([
      child.stdout.setEncoding('utf8').toArray(),
      new Promise((resolve) => child.once('exit', resolve)),
    ]);
    assert.equal(JSON.parse(text.join('')).email, 'd@dealer.example');
    const failure = await command(dataDir, 'integration', 'delete', 'int_x', '--json');
    assert.deepEqual([failure.code, failure.out], [1, '']);
    assert.match(JSON.parse(failure.err).error, /add --yes/);
  });

  it('fail if their output can not be written, unless whoever reads it has seen enough', async () => {
    const dataDir = join(await temporaryFolder(), 'fresh');
    const endOf = async (line: string) => {
      const program = await startService({
        env: { DATA_DIR: dataDir },
        command: ['bash', '-c', line, process.execPath],
      });
      const code = await program.exit();
      return { code, err: program.err() };
    };
    const complaint = 'the output could not be written (ENOSPC: no space left on device, write)';
    for (const words of ['doctor', '--help', '--version', 'stock import --help']) {
      const { code, err } = await endOf(`"$0" src/cli/main.ts ${words} > /dev/full`);
      assert.equal(code, 1, words);
      assert.ok(err.startsWith(`crownwheel: ${complaint}; `), err);
    }
    const asJson = await endOf('"$0" src/cli/main.ts doctor --json > /dev/full');
    assert.equal(asJson.code, 1);
    assert.ok(JSON.parse(asJson.err).error.startsWith(complaint), asJson.err);
    // The message can't be written either; the code says it.
    assert.deepEqual(await endOf('"$0" src/cli/main.ts doctor > /dev/full 2> /dev/full'), { code: 1, err: '' });
    assert.deepEqual(await endOf('set -o pipefail; "$0" src/cli/main.ts --help | true'), { code: 0, err: '' });
  });

  it('are reached by npm run, whose own words stay out of the output', async () => {
    const dataDir = join(await temporaryFolder(), 'fresh');
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'crownwheel', '--', 'doctor', '--json'], {
      cwd: ROOT_DIR,
      env: { ...process.env, DATA_DIR: dataDir, PORT: String(await freePort()) },
    });
    assert.equal(JSON.parse(stdout).object, 'examination');
  });
});
