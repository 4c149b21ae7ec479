import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RawResponse, RawSocket } from '../harness/http/raw-socket.ts';
import { assertEnvelope, type HostileWorld, startHostileWorld } from './hostile-world.ts';

const LIMIT = 5;

describe('an address with too many connections', () => {
  let world: HostileWorld;
  before(async () => {
    world = await startHostileWorld({ connectionsPerAddress: LIMIT });
  });
  after(() => world.stop());

  const ask = async (client: RawSocket): Promise<RawResponse> => {
    client.write(world.keyed('GET /api/v1/me HTTP/1.1'));
    return await client.next();
  };
  const order = (id: string) => {
    const body = JSON.stringify({ channel_order_id: id, lines: [{ title: 'Strap', unit_amount: 100 }] });
    const headers = `Idempotency-Key: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    return world.keyed('POST /api/v1/orders HTTP/1.1', headers, body);
  };
  /** A connection that is served: the server hears a moment late of those that have closed. */
  async function openServed(): Promise<RawSocket> {
    for (;;) {
      const client = world.open();
      if ((await ask(client)).status === 200) return client;
      await client.closed;
      await sleep(20);
    }
  }
  const openAll = async () => {
    const clients: RawSocket[] = [];
    while (clients.length < LIMIT) clients.push(await openServed());
    return clients;
  };
  const closeAll = (clients: RawSocket[]) => {
    for (const client of clients) client.close();
  };

  it('is answered 503 overloaded on one more, whose request is never read, and keeps those that it has', async () => {
    const clients = await openAll();
    const refused = world.open();
    refused.write(order('one-too-many'));
    const response = await refused.next();
    assertEnvelope(response, 503, 'overloaded');
    assert.match(response.body.error.message, /connections are open from 127\.0\.0\.1/);
    assert.equal(response.headers['retry-after'], '1');
    assert.equal(response.headers.connection, 'close');
    await refused.closed;
    const [first] = clients as [RawSocket];
    first.write(world.keyed('GET /api/v1/orders HTTP/1.1'));
    const orders = await first.next();
    assert.deepEqual([orders.status, orders.body.data], [200, []]);
    closeAll(clients);
  });

  it('is served again when one of them has closed', async () => {
    const clients = await openAll();
    closeAll(clients.splice(0, 1));
    clients.push(await openServed());
    assertEnvelope(await world.open().next(), 503, 'overloaded');
    closeAll(clients);
  });

  it('is not counted if it is a trusted proxy', async () => {
    const proxied = await startHostileWorld({ connectionsPerAddress: LIMIT, trustedProxies: ['127.0.0.0/8'] });
    const clients = Array.from({ length: 3 * LIMIT }, () => proxied.open());
    try {
      for (const client of clients) {
        client.write(proxied.keyed('GET /api/v1/me HTTP/1.1'));
        assert.equal((await client.next()).status, 200);
      }
    } finally {
      for (const client of clients) client.close();
      await proxied.stop();
    }
  });
});
