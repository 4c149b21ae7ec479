import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { sendRaw } from '../../../test/harness/http/raw-socket.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';

const MIB = 1_048_576;
/** Of another client, while a large body waits: without a limit it would have been read meanwhile. */
const REQUESTS_MEANWHILE = 50;

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
  async function announceBulk(dealer: Dealer): Promise<Socket> {
    const socket = connect(world.port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(`${bulkHead(dealer, String(sockets.length), 10_000_000)}{"customers":[`);
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

describe('the bytes of large bodies', () => {
  it('pass at a limited rate, and small bodies beside them', async (t) => {
    const world = await startSlowWorld(t);
    const sender = await world.dealer();
    const neighbour = await world.dealer();
    await assertPasses(sender, 'within what may pass at once', 2 * MIB);

    const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
    const waiting = connect(world.port, '127.0.0.1');
    t.after(() => waiting.destroy());
    const [served] = await accepted;
    waiting.write(bulkHead(sender, 'waits', 3 * MIB));
    waiting.write(Buffer.alloc(3 * MIB, ' '));
    for (let count = 0; count < REQUESTS_MEANWHILE; count++) await assertPasses(neighbour, `small ${count}`, 100);
    assert.ok(served.bytesRead < MIB, `${served.bytesRead} bytes were read`);
    waiting.destroy();
    await assertPasses(neighbour, 'after it has gone', 100);
  });

  it('count as they come where the size was not announced', async (t) => {
    const world = await startSlowWorld(t);
    const sender = await world.dealer();
    // Their limit is 10 MB each, which would never pass.
    for (let count = 0; count < 5; count++) await assertChunkedPasses(sender, world, `small ${count}`, 100);
    await assertChunkedPasses(sender, world, 'large', 3 * MIB);

    const next = connect(world.port, '127.0.0.1');
    t.after(() => next.destroy());
    const answer = once(next, 'data');
    next.write(`${bulkHead(sender, 'next', 2 * MIB)}{"customers":[]${' '.repeat(2 * MIB - 16)}}`);
    const neighbour = await world.dealer();
    for (let count = 0; count < REQUESTS_MEANWHILE; count++) await assertPasses(neighbour, `small ${count}`, 100);
    assert.equal(await Promise.race([answer, 'waits']), 'waits');
  });
});

/** Lets 4 MiB pass at once, and then nothing for as long as the test runs. */
async function startSlowWorld(t: TestContext): Promise<World> {
  const world = await startWorld({ bodyRate: { bytesPerSecond: 1, burstBytes: 4 * MIB } });
  t.after(() => {
    // A body that waits is not read, so nobody sees that its client has gone.
    world.app.server.closeAllConnections();
    return world.stop();
  });
  return world;
}

function bulkHead({ apiKey }: Pick<Dealer, 'apiKey'>, idempotencyKey: string, bytes: number): string {
  return (
    `POST /api/v1/customers/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n` +
    `Idempotency-Key: ${idempotencyKey}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
  );
}

describe('a write without any body', () => {
  it('is answered like one with an empty body', async (t) => {
    const world = await startWorld();
    t.after(() => world.stop());
    const dealer = await world.dealer();
    const empty = bulkHead(dealer, 'empty', 0);
    for (const head of [empty, empty.replace('Content-Length: 0\r\n', '')]) {
      const answer = await sendRaw(world.port, head);
      assert.deepEqual([answer.status, answer.body.error.param], [400, 'customers']);
    }
  });
});

async function assertChunkedPasses({ apiKey }: Dealer, world: World, key: string, bytes: number): Promise<void> {
  const body = JSON.stringify(bulkOf(bytes));
  const head = bulkHead({ apiKey }, key, 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked');
  const { status } = await sendRaw(world.port, `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  assert.equal(status, 200);
}

async function assertPasses(dealer: Dealer, idempotencyKey: string, bytes: number): Promise<void> {
  const answer = await dealer.api.post('/v1/customers/bulk', bulkOf(bytes), { 'Idempotency-Key': idempotencyKey });
  assert.equal(answer.status, 200);
}

/** A bulk of one customer, and bytes that nobody reads. */
function bulkOf(bytes: number) {
  return { customers: [{ external_id: 'c' }], unread: 'x'.repeat(bytes) };
}
