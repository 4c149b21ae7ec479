import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { HEADERS_LIMIT } from '../../src/contract/limits.ts';
import { assertDecent, assertEnvelope, type HostileWorld, startHostileWorld } from './hostile-world.ts';

describe('hostile requests', () => {
  let world: HostileWorld;
  before(async () => {
    world = await startHostileWorld();
  });
  after(() => world.stop());
  afterEach(() => world.assertServes());

  const send: HostileWorld['send'] = (bytes, options) => world.send(bytes, options);
  const keyed: HostileWorld['keyed'] = (line, headers, body) => world.keyed(line, headers, body);

  describe('HTTP that is none', () => {
    for (const [name, bytes] of Object.entries({
      garbage: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03garbage\r\n\r\n',
      'an empty line and garbage': '\r\n\r\n\r\nhello there\r\n\r\n',
      'a version that is none': 'GET /api/v1/me HTTP/9.9\r\nHost: x\r\n\r\n',
      'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'a method that is none': 'G\x01T /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n',
      'a method that nobody knows': 'FROBNICATE /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n',
      'a lower-case method': 'get /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n',
      'no target': 'GET HTTP/1.1\r\nHost: x\r\n\r\n',
      'a space in the target': 'GET /api/v1/ me HTTP/1.1\r\nHost: x\r\n\r\n',
      'a header without a colon': 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n',
      'a header name with a space': 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX Y: z\r\n\r\n',
      'a header without a name': 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\n: z\r\n\r\n',
      'a NUL in a header': 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Y: a\0b\r\n\r\n',
      'a bare carriage return in a header': 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Y: a\rb\r\n\r\n',
      'a folded header': 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Y: a\r\n b\r\n\r\n'.replace('X-Y', 'X-Y :'),
      'a negative length': 'POST /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      'a length that is no number': 'POST /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n',
      'a length beyond all numbers': `POST /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(40)}\r\n\r\n`,
      'two lengths': 'POST /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'a length and chunks':
        'POST /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'an encoding after chunks':
        'POST /api/v1/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
    })) {
      it(`is answered 400 invalid_request: ${name}`, async () => {
        const client = world.open();
        client.write(Buffer.from(bytes, 'latin1'));
        const response = await client.next();
        assertEnvelope(response, 400, 'invalid_request');
        assert.equal(response.headers.connection, 'close');
        assert.equal(response.headers['x-api-version'], '2026-05-07');
        assert.equal('param' in response.body.error, false);
        await client.closed;
        assert.equal(client.rest(), '');
      });
    }

    it('is answered as HTTP/1.1 where it is merely ancient', async () => {
      assertEnvelope(await send('GET /api/v1/me\r\n\r\n'), 401, 'missing_authorization');
    });

    it('is answered once, however much more of it comes', async () => {
      const client = world.open();
      client.write('garbage\r\n\r\n');
      const response = await client.next();
      assertEnvelope(response, 400, 'invalid_request');
      for (let sent = 0; sent < 20; sent++) client.write('more garbage\r\n\r\n');
      await client.closed;
      assert.equal(client.rest(), '');
    });

    it('is closed in the end also when the client keeps its side open', async () => {
      const client = world.open();
      client.socket.allowHalfOpen = true;
      client.write('garbage\r\n\r\n');
      await client.next();
      // Only bytes that nobody takes any more make the end known to a client that does not close.
      const probing = setInterval(() => client.write('?'), 50);
      await client.closed;
      clearInterval(probing);
    });

    it('does not answer instead of the good requests before it', async () => {
      const client = world.open();
      const paths = ['/api/v1/me', '/api/v1/health', '/api/v1/nothing', '/api/v1/me'];
      client.write(paths.map((path) => keyed(`GET ${path} HTTP/1.1`)).join(''));
      for (let sent = 0; sent < 20; sent++) client.write('garbage\r\n\r\n');
      for (const status of [200, 200, 404, 200]) assert.equal((await client.next()).status, status);
      assertEnvelope(await client.next(), 400, 'invalid_request');
      await client.closed;
      assert.equal(client.rest(), '');
    });
  });

  describe('headers', () => {
    for (const [name, head] of Object.entries({
      'one long header': `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`,
      'a header that never ends': `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(200_000)}`,
      'many headers': `GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${'X-Many: abcdefgh\r\n'.repeat(2_000)}\r\n`,
      'more headers than anybody sends': `GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${'X-Many: 1\r\n'.repeat(HEADERS_LIMIT)}\r\n`,
      'a long URL': `GET /api/v1/${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'a long query': `GET /api/v1/me?${'a=b&'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    })) {
      it(`that are too large are answered 431 headers_too_large: ${name}`, async () => {
        assertEnvelope(await send(head), 431, 'headers_too_large');
      });
    }

    it('that are as many as they may be are all read', async () => {
      const others = 'X-Many: 1\r\n'.repeat(HEADERS_LIMIT - 3);
      const head = `GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${others}Authorization: Bearer ${world.victim.apiKey}\r\n`;
      const [full, over] = [`${head}X-Last: 1\r\n\r\n`, `${head}X-Last: 1\r\nX-Over: 1\r\n\r\n`];
      assert.equal((await send(full)).status, 200);
      assertEnvelope(await send(over), 431, 'headers_too_large');
    });

    it('that are too many are refused also with a body, whose length was not read', async () => {
      const others = 'X-Many: 1\r\n'.repeat(HEADERS_LIMIT);
      const client = world.open();
      client.write(`POST /api/v1/orders HTTP/1.1\r\nHost: x\r\n${others}Content-Length: 2000000\r\n\r\n`);
      client.write(Buffer.alloc(2_000_000, ' '));
      assertEnvelope(await client.next(), 431, 'headers_too_large');
      await client.closed;
    });

    it('must name the host in HTTP/1.1', async () => {
      const response = await send('GET /api/v1/health HTTP/1.1\r\n\r\n');
      assertEnvelope(response, 400, 'invalid_request');
      assert.equal(response.body.error.param, 'Host');
    });

    it('need not name the host in HTTP/1.0', async () => {
      const response = await send('GET /api/v1/health HTTP/1.0\r\n\r\n');
      assert.deepEqual([response.status, response.body.status], [200, 'ok']);
      assertDecent(response);
    });

    it('that expect something odd are answered like others', async () => {
      assert.equal((await send(keyed('GET /api/v1/me HTTP/1.1', 'Expect: the-unexpected\r\n'))).status, 200);
      assertEnvelope(
        await send('GET /api/v1/me HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\n\r\n'),
        401,
        'missing_authorization',
      );
    });

    it('with Expect: 100-continue get 100, and then their answer', async () => {
      const request = keyed('POST /api/v1/me HTTP/1.1', 'Expect: 100-continue\r\nContent-Length: 2\r\n', '{}');
      assertEnvelope(await send(request), 405, 'method_not_allowed');
    });

    it('that ask for another protocol are answered in this one', async () => {
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
      assert.equal((await send(keyed('GET /api/v1/me HTTP/1.1', upgrade))).status, 200);
      const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
      assert.equal((await send(keyed('GET /api/v1/me HTTP/1.1', h2c))).status, 200);
    });

    it('that come twice do not lend one request two keys', async () => {
      const twice = `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_${'0'.repeat(32)}\r\nAuthorization: Bearer ${world.victim.apiKey}\r\n\r\n`;
      assertEnvelope(await send(twice), 401, 'invalid_api_key');
    });

    it('cannot choose the request id', async () => {
      const response = await send(keyed('GET /api/v1/me HTTP/1.1', 'X-Request-Id: mine\r\nRequest-Id: mine\r\n'));
      assertDecent(response);
    });

    it('cannot choose the version', async () => {
      const response = await send(
        keyed('GET /api/v1/me HTTP/1.1', 'X-API-Version: 1999-01-01\r\nAccept-Version: 9\r\n'),
      );
      assert.deepEqual([response.status, response.headers['x-api-version']], [200, '2026-05-07']);
    });
  });

  describe('odd targets', () => {
    for (const target of [
      '/api/v1/me%ZZ',
      '/api/v1/me%',
      '/api/v1/me%2',
      '/api/v1/%FF',
      '/api/v1/%C0%AF',
      '/api/v1/%ED%A0%80',
      '/api/v1/%E0%A4%A',
      '/api/v1/me%00',
      '/api/v1/%00',
      '/api/v1%2Fme',
      '/api%2Fv1%2Fme',
      '/api/v1/me%2F',
      '/api/v1/me/',
      '/api/v1//me',
      '/api//v1/me',
      '//api/v1/me',
      '/api/v1/../v1/me',
      '/api/v1/%2e%2e/%2e%2e/etc/passwd',
      '/api/../../etc/passwd',
      '/api/v1/..%5c..%5cwindows',
      '/api',
      '/api/',
      '/api/v1',
      '/api/v2/me',
      '/api/v1/ME',
      '/api/v1/me;x=1',
      `/api/v1/${'a'.repeat(10_000)}`,
      `/api/v1/${'%25'.repeat(5_000)}`,
      `/api/v1/${'/'.repeat(10_000)}`,
      '/api/v1/__proto__',
      '/api/v1/constructor',
      '/api/v1/"><script>alert(1)</script>',
    ]) {
      it(`name no endpoint, which is said only to who has a key: ${target.slice(0, 40)}`, async () => {
        const isOfTheApi = target.startsWith('/api/') || target === '/api';
        const anonymous = await send(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
        if (isOfTheApi) assertEnvelope(anonymous, 401, 'missing_authorization');
        else assertEnvelope(anonymous, 404, 'route_not_found');
        const known = await send(keyed(`GET ${target} HTTP/1.1`));
        assertEnvelope(known, 404, 'route_not_found');
        if (isOfTheApi) assert.ok(known.headers['x-ratelimit-remaining']);
      });
    }

    for (const target of [
      '/api/v1/me?',
      '/api/v1/me?%',
      '/api/v1/me?%ZZ=%FF&a[b]=c&__proto__=x&a=1&a=2',
      '/api/v1/me?a=%00',
      '/api/v1/me#fragment',
      '/api/v1/m%65',
      'http://elsewhere.example/api/v1/me',
      'http://user:password@elsewhere.example:99/api/v1/me?x=y',
      'https://elsewhere.example/api/v1/me',
      'HTTP://x/api/v1/me',
    ]) {
      it(`are served where they do name one: ${target}`, async () => {
        const response = await send(keyed(`GET ${target} HTTP/1.1`));
        assert.deepEqual([response.status, response.body?.id], [200, world.victim.integrationId]);
      });
    }

    for (const target of [
      '*',
      'me',
      'http://',
      'http:///',
      'http://x',
      'http://x?api/v1/me',
      'ftp://x/api/v1/me',
      '?',
      '%',
      '#',
      ':',
    ]) {
      it(`that are hardly any lead nowhere: ${target}`, async () => {
        const response = await send(keyed(`OPTIONS ${target} HTTP/1.1`));
        if (response.status === 400) assertEnvelope(response, 400, 'invalid_request');
        else assertEnvelope(response, 404, 'route_not_found');
      });
    }
  });

  describe('odd methods', () => {
    for (const method of [
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'SEARCH',
      'QUERY',
      'PURGE',
      'M-SEARCH',
    ]) {
      it(`are 405 method_not_allowed where the endpoint exists: ${method}`, async () => {
        const response = await send(keyed(`${method} /api/v1/me HTTP/1.1`));
        assertEnvelope(response, 405, 'method_not_allowed');
        assert.equal(response.headers.allow, 'GET, HEAD');
        assert.ok(response.headers['x-ratelimit-remaining']);
        const anonymous = await send(`${method} /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n`);
        assertEnvelope(anonymous, 401, 'missing_authorization');
        assertEnvelope(await send(keyed(`${method} /api/v1/nothing HTTP/1.1`)), 404, 'route_not_found');
        const elsewhere = await send(`${method} /nothing HTTP/1.1\r\nHost: x\r\n\r\n`);
        assertEnvelope(elsewhere, 404, 'route_not_found');
      });
    }

    it('get the allowed ones also for a path that is spelt oddly', async () => {
      assertEnvelope(await send(keyed('POST /api/v1/m%65?x=y HTTP/1.1')), 405, 'method_not_allowed');
    });

    it('answer HEAD with the headers alone', async () => {
      const response = await send(keyed('HEAD /api/v1/nothing HTTP/1.1'), { isHead: true });
      assert.deepEqual([response.status, response.text], [404, '']);
      assertDecent(response);
    });

    it('are refused when they want a tunnel', async () => {
      const client = world.open();
      client.write('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n');
      assertEnvelope(await client.next(), 400, 'invalid_request');
      client.write('what goes through a tunnel');
      await client.closed;
      const vanishing = world.open();
      vanishing.write('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
      vanishing.socket.on('connect', () => vanishing.socket.resetAndDestroy());
      await vanishing.closed;
    });
  });

  it('that go on after their answer leave the client time to read it', async () => {
    const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
    const client = world.open();
    client.write('none\r\n\r\n');
    const [served] = await accepted;
    assertEnvelope(await client.next(), 400, 'invalid_request');
    // As for each further packet.
    world.app.server.emit('clientError', Object.assign(new Error('again'), { code: 'HPE_INVALID_METHOD' }), served);
    assert.equal(served.destroyed, false);
    client.close();
  });

  it('that are pipelined are answered in their order', async () => {
    const client = world.open();
    const paths = ['/api/v1/me', '/api/v1/health', '/api/v1/nothing', '/nothing', '/api/v1/me', '/api/v1/health'];
    client.write(paths.map((path) => keyed(`GET ${path} HTTP/1.1`)).join(''));
    const statuses: number[] = [];
    for (const _ of paths) {
      const response = await client.next();
      assertDecent(response);
      statuses.push(response.status);
    }
    assert.deepEqual(statuses, [200, 200, 404, 404, 200, 200]);
    client.close();
  });

  it('leave security headers and no banner on good answers too', async () => {
    for (const path of ['/api/v1/health', '/api/v1/openapi.json', '/docs/api', '/docs/api/errors']) {
      assertDecent(await send(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
    }
    assertDecent(await send(keyed('GET /api/v1/me HTTP/1.1')));
  });
});
