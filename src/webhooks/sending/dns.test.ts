import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HostileReceiver, startHostile } from '../../../test/harness/servers/hostile-receiver.ts';
import { type NameServer, startNameServer } from '../../../test/harness/servers/name-server.ts';
import { resolveByDns } from './dns.ts';
import { createSender } from './send.ts';
import { createSsrfGuard } from './ssrf-guard.ts';

describe('names of receivers', () => {
  let names: NameServer;
  let receiver: HostileReceiver;

  before(async () => {
    receiver = await startHostile((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    names = await startNameServer({
      'shop.example': ['93.184.216.34', '93.184.216.35'],
      'inside.example': ['127.0.0.1'],
      'metadata.example': ['169.254.169.254'],
      'empty.example': [],
      'many.example': Array.from({ length: 20 }, (_, index) => `93.184.216.${index + 1}`),
      ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`silent${index}.example`, 'silent' as const])),
    });
  });
  after(async () => {
    await receiver.stop();
    await names.stop();
  });

  it('names of receivers are asked of the name servers', async () => {
    const resolve = resolveByDns({ servers: [names.address] });
    assert.deepEqual(await resolve('shop.example'), [
      { address: '93.184.216.34', family: 4 },
      { address: '93.184.216.35', family: 4 },
    ]);
    await assert.rejects(resolve('missing.example'), /ENOTFOUND/);
    await assert.rejects(resolve('empty.example'), /ENODATA/);
    await assert.rejects(resolve('localhost.shop.example'), /ENOTFOUND/);
  });

  it('names of receivers lead to a few addresses, however many they have', async () => {
    assert.equal((await resolveByDns({ servers: [names.address] })('many.example')).length, 8);
  });

  it('names of receivers that lead inside are refused, whatever the name server says', async (t) => {
    const sender = createSender({
      guard: createSsrfGuard(false, resolveByDns({ servers: [names.address] })),
      timeoutMs: 10_000,
    });
    t.after(() => sender.close());
    for (const name of ['inside.example', 'metadata.example']) {
      const result = await sender.send({
        dealer: 'org_1',
        url: `https://${name}:${receiver.port}/`,
        headers: {},
        body: '{}',
      });
      assert.match(result.error ?? '', /^ERR_FORBIDDEN_ADDRESS/, name);
    }
    const missing = await sender.send({ dealer: 'org_1', url: 'https://missing.example/', headers: {}, body: '{}' });
    assert.match(missing.error ?? '', /ENOTFOUND/);
    assert.equal(receiver.connections, 0);
  });

  it('names of receivers that no server answers for do not make others wait', async () => {
    const resolve = resolveByDns({ servers: [names.address], timeoutMs: 250 });
    let ended = 0;
    const silent = Array.from({ length: 20 }, (_, index) =>
      resolve(`silent${index}.example`).catch(() => {
        ended += 1;
      }),
    );
    assert.equal((await resolve('shop.example')).length, 2);
    assert.equal(ended, 0, 'it waited for the silent ones');
    await Promise.all(silent);
    assert.equal(ended, 20);
  });
});
