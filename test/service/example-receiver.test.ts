import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort, ROOT_DIR, type Service, seededFolder, startService, sweep, until } from './service-process.ts';

const SECRET = 'whsec_0123456789abcdefghijABCDEFGHIJ01';
const BODY = '{"id":"evt_1","type":"listing.sold","data":{"object":{"id":"lst_1","object":"listing"}}}';
const HOUR_SECONDS = 3_600;

describe('the example of a receiver', () => {
  let receiver: Service;

  before(async () => {
    receiver = await startReceiver(SECRET);
  });
  after(sweep);

  async function startReceiver(secret: string): Promise<Service> {
    const port = String(await freePort());
    const command: [string, ...string[]] = [process.execPath, 'examples/receiver.mjs'];
    const started = await startService({ env: { PORT: port, RECEIVER_PORT: port, SIGNING_SECRET: secret }, command });
    await started.says('Waiting for webhooks on');
    return started;
  }

  async function post(signature: string | null, body = BODY): Promise<number> {
    const headers = signature === null ? {} : { 'X-SVC-Signature': signature };
    return (await fetch(receiver.origin, { method: 'POST', headers, body })).status;
  }

  const now = () => Math.floor(Date.now() / 1000);
  const hmac = (time: number, secret = SECRET, body = BODY) =>
    createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');

  it('takes what is signed with its secret, with any of the signatures', async () => {
    const time = now();
    assert.equal(await post(`t=${time},v1=${hmac(time)}`), 204);
    assert.equal(await post(`t=${time},v1=${hmac(time, 'whsec_new')},v1=${hmac(time)}`), 204);
    assert.equal(await post(`t=${time},v1=${hmac(time)},v2=abc`), 204);
    await receiver.says('genuine  listing.sold lst_1 evt_1');
    await receiver.says('again    listing.sold lst_1 evt_1');
  });

  it('refuses what is altered, old, from the future, or signed with another secret or not at all', async () => {
    const time = now();
    const [old, future] = [time - HOUR_SECONDS, time + HOUR_SECONDS];
    for (const signature of [
      null,
      '',
      't=,v1=',
      `t=${time}`,
      `v1=${hmac(time)}`,
      `t=${time},v1=${hmac(time).slice(2)}`,
      `t=${time},v1=${hmac(time, 'whsec_another')}`,
      `t=${time},v2=${hmac(time)}`,
      `t=${time + 1},v1=${hmac(time)}`,
      `t=${old},v1=${hmac(old)}`,
      `t=${future},v1=${hmac(future)}`,
    ]) {
      assert.equal(await post(signature), 400, signature ?? 'without a signature');
    }
    assert.equal(await post(`t=${time},v1=${hmac(time)}`, BODY.replace('sold', 'gone')), 400);
    assert.equal(await post(`t=${time},v1=${hmac(time, SECRET, 'no json')}`, 'no json'), 400);
  });

  it('does not start without a secret, on a port that is none, or on one that is taken: one line says so', async () => {
    const command: [string, ...string[]] = [process.execPath, 'examples/receiver.mjs'];
    const taken = new URL(receiver.origin).port;
    const faults: [Record<string, string>, RegExp][] = [
      [{}, /^Set SIGNING_SECRET [^\n]+\n$/],
      [{ SIGNING_SECRET: SECRET, RECEIVER_PORT: 'abc' }, /^Set RECEIVER_PORT [^\n]+, not "abc"\.\n$/],
      [{ SIGNING_SECRET: SECRET, RECEIVER_PORT: '65536' }, /^Set RECEIVER_PORT [^\n]+, not "65536"\.\n$/],
      [{ SIGNING_SECRET: SECRET, RECEIVER_PORT: taken }, /^The port \d+ can't be used: [^\n]*EADDRINUSE[^\n]+\n$/],
    ];
    for (const [env, line] of faults) {
      const started = await startService({ env, command });
      assert.equal(await started.exit(), 1);
      assert.match(started.err(), line);
    }
  });
});

describe('the first webhook of the README', () => {
  after(sweep);

  it('arrives when its lines are pasted as they are, and is sent again', async () => {
    // The commands read the settings of the service, which has a port and a folder of its own here.
    const settings = { DATA_DIR: await seededFolder(), PORT: String(await freePort()) };
    const service = await startService({ env: settings });
    await service.isHealthy();
    const receiverPort = String(await freePort());
    const lines = (await linesOfSection('Receive your first webhook'))
      // No more than the port is another, and the commands are started without npm, which takes its time.
      .replaceAll('4100', receiverPort)
      .replaceAll('npm run -s crownwheel --', `'${process.execPath}' src/cli/main.ts`);
    assert.match(lines, /webhooks ping[\s\S]+integration presentation[\s\S]+webhooks deliveries[\s\S]+webhooks replay/);
    const shell = await startService({
      env: { ...settings, RECEIVER_PORT: receiverPort },
      command: ['sh', '-e', '-c', `${lines}\nwait`],
    });
    await shell.says('genuine  integration.test_event int_');
    await shell.says('is queued again.');
    await shell.says('again    ');
    const { out, err } = shell;
    await until(
      () => [...out().matchAll(/^genuine {2}(listing|part)\.updated /gm)].length > 50,
      () => `the change of all prices was not announced: ${out()}`,
    );
    assert.doesNotMatch(out(), /FORGED|BROKEN/);
    assert.equal(err(), '');
    assert.match(out(), /\n {2}sending +yes\n/);
    assert.match(out(), /\nDELIVERY +CREATED +EVENT +STATUS/);
  });
});

describe("the operator's command line of the README", () => {
  after(sweep);

  it('works when its lines are pasted in order, and leaves the rate of the demo dealer alone', async () => {
    const settings = { DATA_DIR: await seededFolder(), PORT: String(await freePort()) };
    const service = await startService({ env: settings });
    await service.isHealthy();
    const command = `'${process.execPath}' src/cli/main.ts`;
    const lines = (await linesOfSection("The operator's command line", 1))
      .replaceAll('npm run -s crownwheel --', command)
      .replaceAll(/\/tmp\/(?=\w+\.csv)/g, `${settings.DATA_DIR}/`)
      .replaceAll('--listings 100000', '--listings 10');
    const shell = await startService({ env: settings, command: ['sh', '-e', '-c', `${lines}\n${command} rates list`] });
    assert.equal(await shell.exit(), 0, shell.err() + shell.out());
    assert.match(shell.out(), /\nCHF +USD +1\.2418\n/);
    assert.match(shell.out(), /lars@example\.net is removed/);
  });
});

/** A block of commands under a heading; the first one, unless told. */
async function linesOfSection(heading: string, index = 0): Promise<string> {
  const text = await readFile(join(ROOT_DIR, 'README.md'), 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [, block] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)][index] ?? [];
  assert.ok(block, `there are no commands under ${heading}`);
  return block;
}
