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
