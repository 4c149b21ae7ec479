import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { until } from '../harness/database/locks.ts';
import { signedIn } from '../harness/http/dashboard-client.ts';
import { assertEnvelope, type HostileWorld, startHostileWorld } from './hostile-world.ts';

const MIB = 1_048_576;
const LARGE = Buffer.alloc(20 * MIB, 'a');
/** Of others, while the refused clients go on sending: Node alone would have read all of LARGE meanwhile. */
const REQUESTS_MEANWHILE = 50;

/** Sends the head and twenty megabytes after it; answers how many the server has read when others were served. */
async function bytesRead(world: HostileWorld, head: string, status: number): Promise<number> {
  const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
  const client = world.open();
  const [served] = await accepted;
  assert.equal(served.remotePort, client.socket.localPort);
  // In one write, so that the first packet has the beginning of the body, too.
  client.write(Buffer.concat([Buffer.from(head), LARGE]));
  try {
    assert.equal((await client.next()).status, status);
    for (let count = 0; count < REQUESTS_MEANWHILE; count++) await world.assertServes();
    return served.bytesRead;
  } finally {
    client.close();
  }
}

const json = 'Content-Type: application/json\r\n';
const sized = `Content-Length: ${LARGE.length}\r\n`;

describe('the rest of a refused body', () => {
  describe('while hardly anything may be discarded', () => {
    let world: HostileWorld;
    before(async () => {
      world = await startHostileWorld({ discardLimits: { bytesPerSecond: 1, burstBytes: 1, timeMs: 600_000 } });
    });
    after(() => world.stop());
    afterEach(() => world.assertServes());

    const chunk = `Transfer-Encoding: chunked\r\n\r\n${LARGE.length.toString(16)}\r\n`;
    const heads: Record<string, [string, number]> = {
      'without a key': [`POST /api/v1/customers/bulk HTTP/1.1\r\nHost: x\r\n${json}${sized}\r\n`, 401],
      'without a key, in chunks': [`POST /api/v1/customers/bulk HTTP/1.1\r\nHost: x\r\n${json}${chunk}`, 401],
      'to an unknown path': [`POST /nothing HTTP/1.1\r\nHost: x\r\n${sized}\r\n`, 404],
      'to a page': [`POST /docs/api HTTP/1.1\r\nHost: x\r\n${sized}\r\n`, 405],
      'to the dashboard without a session': [
        `POST /api/dashboard/views HTTP/1.1\r\nHost: x\r\nOrigin: https://crownwheel.test\r\n${json}${sized}\r\n`,
        401,
      ],
      'as a photo without a session': [
        `POST /api/dashboard/items/itm_1/photos HTTP/1.1\r\nHost: x\r\nOrigin: https://crownwheel.test\r\n${sized}\r\n`,
        401,
      ],
      'of a connection that closes': [`POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${sized}\r\n`, 404],
      'after something that is no HTTP': [`nothing like HTTP\r\n${sized}\r\n`, 400],
    };
    for (const [name, [head, status]] of Object.entries(heads)) {
      it(`is left in the network: ${name}`, async () => {
        const bytes = await bytesRead(
          world,
          head.replaceAll('https://crownwheel.test', world.channel.publicUrl),
          status,
        );
        assert.ok(bytes < MIB, `${bytes} bytes were read`);
      });
    }

    it('is left in the network: of a body that is too large', async () => {
      const idempotency = 'Idempotency-Key: refused-1\r\n';
      const announced = world.keyed('POST /api/v1/orders HTTP/1.1', `${idempotency}${json}${sized}`);
      assert.ok((await bytesRead(world, announced, 413)) < MIB);
      const head = world.keyed('POST /api/v1/orders HTTP/1.1', `${idempotency}${json}`).slice(0, -2);
      assert.ok((await bytesRead(world, head + chunk, 413)) < 3 * MIB);
    });

    it('is left in the network: of a file that is too large', async () => {
      const owner = await signedIn(world);
      const head = [
        'POST /api/dashboard/imports?kind=listing HTTP/1.1',
        'Host: x',
        `Origin: ${world.channel.publicUrl}`,
        `Cookie: ${owner.cookie()}`,
        'Content-Length: 100000000',
      ].join('\r\n');
      assert.ok((await bytesRead(world, `${head}\r\n\r\n`, 413)) < MIB);
    });
  });

  describe('is discarded, so that a client that reads late has its answer', () => {
    let world: HostileWorld;
    before(async () => {
      world = await startHostileWorld();
    });
    after(() => world.stop());
    afterEach(() => world.assertServes());

    /** Reads nothing before everything is sent, as many clients do. */
    async function sendThenRead(...parts: (string | Buffer)[]) {
      const client = world.open();
      client.socket.pause();
      const sent = Promise.all(
        parts.map(
          (part) =>
            new Promise<void>((resolve, reject) => {
              client.socket.write(part, (error) => (error ? reject(error) : resolve()));
            }),
        ),
      );
      await sent;
      client.socket.resume();
      return client;
    }

    it('and its next request, too', async () => {
      const client = await sendThenRead(
        `POST /api/v1/customers/bulk HTTP/1.1\r\nHost: x\r\nContent-Length: ${LARGE.length}\r\n\r\n`,
        LARGE,
      );
      assertEnvelope(await client.next(), 401, 'missing_authorization');
      client.write(world.keyed('GET /api/v1/me HTTP/1.1'));
      assert.equal((await client.next()).status, 200);
      client.close();
    });

    for (const version of ['1.1', '1.0']) {
      it(`also where the connection closes after it: HTTP/${version}`, async () => {
        const client = await sendThenRead(
          `POST /api/v1/customers/bulk HTTP/${version}\r\nHost: x\r\nConnection: close\r\n` +
            `Content-Length: ${LARGE.length}\r\n\r\n`,
          LARGE,
        );
        assertEnvelope(await client.next(), 401, 'missing_authorization');
        await client.closed;
        assert.equal(client.rest(), '');
      });
    }

    it('also where a file turns out to be too large', async () => {
      const owner = await signedIn(world);
      const chunk = [`${LARGE.length.toString(16)}\r\n`, LARGE, '\r\n'];
      const client = await sendThenRead(
        `POST /api/dashboard/imports?kind=listing HTTP/1.1\r\nHost: x\r\nOrigin: ${world.channel.publicUrl}\r\n` +
          `Cookie: ${owner.cookie()}\r\nTransfer-Encoding: chunked\r\n\r\n`,
        ...chunk,
        ...chunk,
        '0\r\n\r\n',
      );
      const answer = await client.next();
      assert.deepEqual([answer.status, answer.body.error.code], [413, 'request_too_large']);
      await client.closed;
    });
  });

  it('is never left to Node, however much of it had arrived before the answer', async (t) => {
    const world = await startHostileWorld({ discardLimits: { bytesPerSecond: 1, burstBytes: MIB } });
    t.after(() => world.stop());
    const head = world.keyed('POST /api/v1/orders HTTP/1.1', `Idempotency-Key: refused-2\r\n${json}${sized}`);
    const bytes = await bytesRead(world, head, 413);
    assert.ok(bytes < 3 * MIB, `${bytes} bytes were read`);
  });

  it('is bounded for each connection: one that sends more is cut', async (t) => {
    const world = await startHostileWorld({ discardLimits: { bytesPerConnection: 2 * MIB } });
    t.after(() => world.stop());
    const client = world.open();
    client.write(`POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${LARGE.length}\r\n\r\n`);
    client.write(LARGE);
    assertEnvelope(await client.next(), 404, 'route_not_found');
    await client.closed;
    await world.assertServes();
  });

  it('is bounded in time: one that stops sending is cut', async (t) => {
    const world = await startHostileWorld({ discardLimits: { timeMs: 50 } });
    t.after(() => world.stop());
    const client = world.open();
    client.write('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nbeginning');
    assertEnvelope(await client.next(), 404, 'route_not_found');
    await client.closed;
  });

  it('holds up a server that closes only for a moment, also if it is refused while the server closes', async () => {
    const world = await startHostileWorld({ discardLimits: { timeMs: 600_000 } });
    const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
    // It goes on after the server has closed its side.
    const client = connect({ port: world.port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    client.write('POST /nothing HTTP/1.1\r\nHost: x\r\n');
    const [served] = await accepted;
    // A connection with the beginning of a request is not idle, so the server waits for it.
    while (served.bytesRead === 0) await setImmediate();
    const stopped = world.stop();
    while (world.app.server.listening) await setImmediate();
    client.write('Content-Length: 1000\r\n\r\nbeginning');
    const [answer] = (await once(client, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 404 /);
    await stopped;
    client.destroy();
  });

  it('is discarded for so many connections at once: of more, those are cut that were read longest ago', async (t) => {
    const world = await startHostileWorld({ discardLimits: { connections: 2 } });
    t.after(() => world.stop());
    const clients = Array.from({ length: 20 }, () => world.open());
    for (const client of clients) t.after(() => client.close());
    // All at the same time, as somebody would who wants to fill the memory.
    for (const client of clients) {
      client.write('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nbeginning');
    }
    for (const client of clients) assertEnvelope(await client.next(), 404, 'route_not_found');
    const isOpen = () => clients.filter(({ socket }) => !socket.destroyed).length;
    await until(async () => isOpen() <= 2, 'more than two stay open');
    await world.assertServes();
    assert.equal(isOpen(), 2);
  });
});
