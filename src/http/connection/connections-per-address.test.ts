import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { limitConnections } from './connections-per-address.ts';
import { limitUnanswered } from './unanswered-requests.ts';

describe('connections that are refused', () => {
  it('are answered up to a number that wait at once, and cut beyond it', async (t) => {
    const answered: Socket[] = [];
    let cut = 0;
    const server = limitConnections(createServer(), {
      perAddress: 0,
      total: 1_000,
      trustedProxies: [],
      unanswered: limitUnanswered(),
      refuse: (socket) => answered.push(socket),
      onCut: () => {
        cut += 1;
      },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const clients: Socket[] = [];
    t.after(() => {
      for (const socket of [...clients, ...answered]) socket.destroy();
      server.close();
    });
    const open = async () => {
      const seen = once(server, 'connection');
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
      clients.push(client);
      await seen;
    };
    while (cut === 0) await open();
    assert.equal(answered.length, 50);
    const [first] = answered as [Socket];
    const closed = once(first, 'close');
    first.destroy();
    await closed;
    await open();
    assert.deepEqual([answered.length, cut], [51, 1]);
  });
});

describe('all connections together', () => {
  const TOTAL = 6;

  it('make room for a new one by the oldest of whoever has most, and none for that one', async (t) => {
    const refused: (string | null)[] = [];
    const server = limitConnections(createServer(), {
      perAddress: TOTAL,
      total: TOTAL,
      trustedProxies: [],
      unanswered: limitUnanswered(),
      refuse(socket, address) {
        refused.push(address);
        socket.destroy();
      },
      onCut: () => {},
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const clients: Socket[] = [];
    t.after(() => {
      for (const socket of clients) socket.destroy();
      server.close();
    });
    const open = async (localAddress: string) => {
      const seen = once(server, 'connection');
      const { port } = server.address() as AddressInfo;
      const client = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
      clients.push(client);
      await seen;
      return { client, closed: once(client, 'close') };
    };
    const loud = [];
    for (let count = 0; count < TOTAL - 1; count++) loud.push(await open('127.0.0.2'));
    const quiet = await open('127.0.0.3');
    await (await open('127.0.0.2')).closed;
    assert.deepEqual(refused, [null]);

    await open('127.0.0.4');
    await open('127.0.0.4');
    await Promise.all(loud.slice(0, 2).map(({ closed }) => closed));
    assert.deepEqual(
      loud.map(({ client }) => client.destroyed),
      [true, true, false, false, false],
    );
    // Three here, two there, one there: nobody has two more than a newcomer of the second would have then.
    await (await open('127.0.0.4')).closed;
    assert.deepEqual([refused.length, quiet.client.destroyed], [2, false]);
  });
});
