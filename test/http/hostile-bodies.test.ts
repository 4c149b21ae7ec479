import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertDecent, assertEnvelope, type HostileWorld, startHostileWorld } from './hostile-world.ts';

describe('hostile bodies', () => {
  let world: HostileWorld;
  before(async () => {
    world = await startHostileWorld();
  });
  after(() => world.stop());
  afterEach(() => world.assertServes());

  const send: HostileWorld['send'] = (bytes, options) => world.send(bytes, options);
  const keyed: HostileWorld['keyed'] = (line, headers, body) => world.keyed(line, headers, body);

  describe('bodies where none is wanted', () => {
    const large = Buffer.alloc(20_000_000, 'a');
    const post = (target: string, headers: string) =>
      `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${large.length}\r\n${headers}\r\n`;

    for (const target of ['/api/v1/me', '/api/v1/nothing', '/nothing', '/docs/api']) {
      it(`are not read, and the answer arrives all the same: ${target}`, async () => {
        const client = world.open();
        client.write(post(target, ''));
        client.write(large);
        const response = await client.next();
        assertDecent(response);
        if (target.startsWith('/api')) assertEnvelope(response, 401, 'missing_authorization');
        if (target === '/nothing') assertEnvelope(response, 404, 'route_not_found');
        if (target === '/docs/api') assert.equal(response.status, 405);
        client.close();
      });
    }

    for (const [name, headers] of Object.entries({
      'bad JSON': 'Content-Type: application/json\r\nContent-Length: 5\r\n',
      'a bad content type': 'Content-Type: ;;;\r\nContent-Length: 5\r\n',
      'no content type': 'Content-Length: 5\r\n',
      'a form': 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n',
    })) {
      it(`are not looked at: ${name}`, async () => {
        assertEnvelope(await send(keyed('POST /api/v1/me HTTP/1.1', headers, '{"a":')), 405, 'method_not_allowed');
        assertEnvelope(await send(keyed('POST /nothing HTTP/1.1', headers, '{"a":')), 404, 'route_not_found');
        assertEnvelope(await send(keyed('QUERY /nothing HTTP/1.1', headers, '{"a":')), 404, 'route_not_found');
        assert.equal((await send(keyed('GET /api/v1/me HTTP/1.1', headers, '{"a":'))).status, 200);
      });
    }

    it('that break off in their chunks do not follow an answer with another', async () => {
      const client = world.open();
      client.write(keyed('POST /api/v1/me HTTP/1.1', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n'));
      assertEnvelope(await client.next(), 405, 'method_not_allowed');
      client.write('this is no chunk\r\n');
      await client.closed;
      assert.equal(client.rest(), '');
    });
  });

  describe('bodies that are read', () => {
    const LIMIT = 1_048_576;
    let orders = 0;
    /** The head of a POST that would report an order. */
    const order = (headers: string) => {
      orders += 1;
      const key = `Idempotency-Key: hostile-${orders}\r\n`;
      return keyed('POST /api/v1/orders HTTP/1.1', `${key}${headers}`);
    };
    const json = 'Content-Type: application/json\r\n';
    const sized = (length: number) => `${json}Content-Length: ${length}\r\n`;
    /** A good order, filled up with blanks. */
    const filled = (length: number) => `{"channel_order_id":"hostile-${orders}"}`.padEnd(length, ' ');

    it('may have 1,048,576 bytes and not one more', async () => {
      assert.equal((await send(order(sized(LIMIT)) + filled(LIMIT))).status, 201);
      const over = await send(order(sized(LIMIT + 1)) + filled(LIMIT + 1));
      assertEnvelope(over, 413, 'request_too_large');
      assert.ok(over.headers['x-ratelimit-remaining']);
      const chunked = `${json}Transfer-Encoding: chunked\r\n`;
      const chunks = (length: number) => `${length.toString(16)}\r\n${filled(length)}\r\n0\r\n\r\n`;
      assert.equal((await send(order(chunked) + chunks(LIMIT))).status, 201);
      assertEnvelope(await send(order(chunked) + chunks(LIMIT + 1)), 413, 'request_too_large');
    });

    it('that are far too large do not keep the answer from arriving, nor the next request', async () => {
      const client = world.open();
      const large = 20_000_000;
      client.write(order(sized(large)));
      client.write(Buffer.alloc(large, ' '));
      assertEnvelope(await client.next(), 413, 'request_too_large');
      client.write(keyed('GET /api/v1/me HTTP/1.1'));
      assert.equal((await client.next()).status, 200);
      client.close();
    });

    for (const [name, headers, body] of [
      ['no content type', '', '{}'],
      ['a content type that is none', 'Content-Type: ;;;\r\n', '{}'],
      ['a content type of letters only', 'Content-Type: json\r\n', '{}'],
      ['a form', 'Content-Type: application/x-www-form-urlencoded\r\n', 'a=b'],
      ['JSON that is cut off', json, '{"channel_order_id":'],
      ['JSON in Latin-1', json, '{"channel_order_id":"\xe9"}'],
      ['JSON that is deep', json, '['.repeat(100_000)],
    ] as const) {
      it(`are invalid_json: ${name}`, async () => {
        const length = `Content-Length: ${body.length}\r\n`;
        const bytes = Buffer.from(order(headers + length) + body, 'latin1');
        const response = await send(bytes);
        assertEnvelope(response, 400, 'invalid_json');
        assert.ok(response.headers['x-ratelimit-remaining']);
      });
    }

    it('are invalid_request where a character cannot be stored', async () => {
      const body = '{"channel_order_id":"a","customer":{"first_name":"\\u0000"}}';
      const response = await send(order(sized(body.length)) + body);
      assertEnvelope(response, 400, 'invalid_request');
      assert.equal(response.body.error.param, 'customer.first_name');
    });

    it('are looked at only after the Idempotency-Key', async () => {
      for (const body of ['{"a":', ' '.repeat(LIMIT + 1)]) {
        const response = await send(keyed('POST /api/v1/orders HTTP/1.1', sized(body.length), body));
        assertEnvelope(response, 400, 'missing_idempotency_key');
        assert.equal(response.body.error.param, 'Idempotency-Key');
      }
    });

    it('of broken chunks are answered 400 invalid_request', async () => {
      const client = world.open();
      client.write(`${order(`${json}Transfer-Encoding: chunked\r\n`)}5\r\n{"cha\r\n`);
      await sleep(20);
      client.write('this is no chunk\r\n');
      const response = await client.next();
      assertEnvelope(response, 400, 'invalid_request');
      assert.ok(response.headers['x-ratelimit-remaining']);
      await client.closed;
      assert.equal(client.rest(), '');
    });

    it('that are shorter than their length are answered 400 invalid_request', async () => {
      const client = world.open();
      client.socket.allowHalfOpen = true;
      client.write(`${order(sized(100))}{"channel_order_id":"a"}`);
      client.socket.end();
      assertEnvelope(await client.next(), 400, 'invalid_request');
    });
  });
});
