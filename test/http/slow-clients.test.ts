import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createItem } from '../../src/inventory/items/item-operations.ts';
import { TESTER } from '../harness/actor.ts';
import { signedIn } from '../harness/http/dashboard-client.ts';
import { watch } from '../harness/stock.ts';
import { assertEnvelope, type HostileWorld, startHostileWorld } from './hostile-world.ts';

describe('slow clients', () => {
  let world: HostileWorld;
  before(async () => {
    world = await startHostileWorld({ timeouts: { headersMs: 400, requestMs: 800, idleMs: 1_500, checkEveryMs: 50 } });
  });
  after(() => world.stop());
  afterEach(() => world.assertServes());

  let orders = 0;
  /** The head of a POST that would report an order. */
  const order = (headers: string) => {
    orders += 1;
    const type = 'Content-Type: application/json\r\n';
    return world.keyed('POST /api/v1/orders HTTP/1.1', `Idempotency-Key: slow-${orders}\r\n${type}${headers}`);
  };

  it('that do not finish their headers in time are answered 408 request_timeout', async () => {
    for (const beginning of ['GET /api/v1/me HTT', 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Slow: ']) {
      const client = world.open();
      client.write(beginning);
      const response = await client.next();
      assertEnvelope(response, 408, 'request_timeout');
      assert.equal(response.headers.connection, 'close');
      await client.closed;
    }
  });

  it('that are late by the hundred are answered one after the other', async () => {
    const { server } = world.app;
    const late = new Set<Socket>();
    let mostWaiting = 0;
    const note = (_fault: Error, socket: Socket) => {
      late.add(socket);
      mostWaiting = Math.max(mostWaiting, [...late].filter(({ writableEnded }) => !writableEnded).length);
    };
    server.on('clientError', note);
    const clients = Array.from({ length: 200 }, () => world.open());
    for (const client of clients) client.write('GET /api/v1/me HTT');
    for (const client of clients) assertEnvelope(await client.next(), 408, 'request_timeout');
    server.off('clientError', note);
    assert.equal(late.size, clients.length);
    assert.ok(mostWaiting > 0, 'each was answered as soon as it was late');
  });

  it('that drip their headers are answered 408 request_timeout', async () => {
    const client = world.open();
    client.write('GET /api/v1/me HTTP/1.1\r\n');
    const dripping = setInterval(() => client.write('X-Drip: drop\r\n'), 50);
    assertEnvelope(await client.next(), 408, 'request_timeout');
    clearInterval(dripping);
    client.close();
  });

  it('that do not finish their body in time are answered 408 request_timeout, as the request that it is', async () => {
    const client = world.open();
    client.write(`${order('Content-Length: 100\r\n')}{"channel_`);
    const response = await client.next();
    assertEnvelope(response, 408, 'request_timeout');
    assert.ok(response.headers['x-ratelimit-remaining'], 'it was counted');
    assert.equal(response.headers.connection, 'close');
    await client.closed;
    assert.equal(client.rest(), '');
  });

  it('that drip their body are answered 408 request_timeout', async () => {
    const client = world.open();
    client.write(order('Content-Length: 1000\r\n'));
    const dripping = setInterval(() => client.write(' '), 50);
    assertEnvelope(await client.next(), 408, 'request_timeout');
    clearInterval(dripping);
    await client.closed;
  });

  it('that upload a file over a slow line have longer than others', async (t) => {
    const slow = await startHostileWorld({ timeouts: { requestMs: 100, uploadMs: 60_000, checkEveryMs: 20 } });
    t.after(() => slow.stop());
    const owner = await signedIn(slow);
    const head = (path: string) =>
      [
        `POST /api/dashboard${path} HTTP/1.1`,
        'Host: x',
        `Origin: ${slow.channel.publicUrl}`,
        `Cookie: ${owner.cookie()}`,
        'Content-Length: 5',
      ].join('\r\n');
    const itemId = await createItem(slow.channel, TESTER, owner.organizationId, watch());
    const upload = slow.open();
    upload.write(`${head(`/items/${itemId}/photos`)}\r\nContent-Type: image/jpeg\r\n\r\nab`);
    const other = slow.open();
    other.write(`${head('/items')}\r\nContent-Type: application/json\r\n\r\n{`);
    assert.notEqual((await other.next()).status, 200, 'the body of another request is cut off meanwhile');
    upload.write('cde');
    const answer = await upload.next();
    assert.equal(answer.status, 400);
    assert.match(answer.text, /not a photo/);
    upload.close();
  });

  it('that never end a body are cut off, and not answered twice', async () => {
    const unread = world.open();
    unread.write(world.keyed('POST /api/v1/me HTTP/1.1', 'Content-Length: 100\r\n', 'a few'));
    assertEnvelope(await unread.next(), 405, 'method_not_allowed');
    const refused = world.open();
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    refused.write(order('Transfer-Encoding: chunked\r\n') + chunk.repeat(17));
    assertEnvelope(await refused.next(), 413, 'request_too_large');
    const flooding = setInterval(() => refused.write(chunk), 10);
    for (const client of [unread, refused]) {
      await client.closed;
      assert.equal(client.rest(), '');
    }
    clearInterval(flooding);
  });

  it('that do not read their answers are let go, and hold up nobody', async () => {
    const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
    const client = world.open();
    client.socket.pause();
    const [served] = await accepted;
    client.write('GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200));
    await world.assertServes();
    if (!served.destroyed) await once(served, 'close');
    client.close();
  });

  it('that do not read a document of the service share its bytes', async () => {
    const bodies: unknown[] = [];
    const note = (_request: IncomingMessage, response: ServerResponse) => {
      const { end } = response;
      response.end = (...args: unknown[]) => {
        bodies.push(args[0]);
        return Reflect.apply(end, response, args);
      };
    };
    world.app.server.prependListener('request', note);
    for (const path of ['/api/v1/openapi.json', '/api/dashboard/openapi.json', '/docs/api', '/docs/missing']) {
      bodies.length = 0;
      const client = world.open();
      client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(2));
      await client.next();
      await client.next();
      client.close();
      // Each text would be encoded again, and kept until it is read.
      assert.ok(Buffer.isBuffer(bodies[0]), path);
      assert.equal(bodies[0], bodies[1], path);
    }
    world.app.server.off('request', note);
  });

  it('that disconnect in the middle of a request leave no trace', async () => {
    for (const beginning of [
      'GET /api',
      world.keyed('GET /api/v1/me HTTP/1.1'),
      world.keyed('POST /api/v1/me HTTP/1.1', 'Content-Length: 1000\r\n', 'a few'),
      `${world.keyed('GET /api/v1/me HTTP/1.1')}GET /api`,
      `${order('Content-Length: 1000\r\n')}{"channel_order_id":"broken-off",`,
    ]) {
      for (const leave of ['end', 'resetAndDestroy'] as const) {
        const client = world.open();
        client.write(beginning);
        await sleep(5);
        client.socket[leave]();
        await client.closed;
      }
    }
    const { body } = await world.send(world.keyed('GET /api/v1/orders HTTP/1.1'));
    assert.deepEqual(body.data, []);
  });
});
