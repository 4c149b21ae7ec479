import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';

describe('large bodies', () => {
  let world: World;
  let attacker: Dealer;
  let neighbour: Dealer;
  const sockets: Socket[] = [];
  before(async () => {
    world = await startWorld();
    attacker = await world.dealer();
    neighbour = await world.dealer();
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await world.stop();
  });

  /** Announces a bulk of 10 MB and sends only its beginning. */
  async function announceBulk({ apiKey }: Dealer): Promise<Socket> {
    const socket = connect(world.port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(
      `POST /api/v1/customers/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nIdempotency-Key: ${sockets.length}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n{"customers":[',
    );
    return socket;
  }

  it('of one integration are bounded: one more waits, is refused as overloaded, and others are not concerned', async () => {
    const opened = await Promise.all(Array.from({ length: 4 }, () => announceBulk(attacker)));
    const refused = await Promise.race(
      opened.map(async (socket) => {
        const [chunk] = (await once(socket, 'data')) as [Buffer];
        return chunk.toString();
      }),
    );
    assert.match(refused, /^HTTP\/1\.1 503 /);
    assert.match(refused, /"code":"overloaded"/);
    assert.match(refused, /retry-after: 1/i);
    const customers = [{ external_id: 'c', metadata: { note: 'x'.repeat(9_000) } }];
    const many = Array.from({ length: 100 }, (_, index) => ({ ...customers[0], external_id: `c${index}` }));
    const answer = await neighbour.api.post('/v1/customers/bulk', { customers: many }, { 'Idempotency-Key': 'n' });
    assert.equal(answer.status, 200);
  });
});
