import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawResponse, rawSocket, sendRaw } from '../../test/harness/raw-socket.ts';
import { type Dealer, PUBLIC_URL, startWorld, type World } from '../../test/harness/world.ts';
import { setRateLimit } from '../dealers/integrations.ts';

/** What every response carries, whoever wrote it. */
const SECURITY_HEADERS = [
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
];

function assertDecent(response: RawResponse): void {
  for (const name of SECURITY_HEADERS) assert.ok(response.headers[name], `${name} is missing`);
  for (const name of ['server', 'x-powered-by', 'via']) assert.equal(response.headers[name], undefined);
  assert.match(response.headers['x-request-id'] ?? '', /^req_[0-9a-f]{32}$/);
  assert.ok(response.headers.date);
  assert.doesNotMatch(response.text, /node_modules|\.ts:\d|\n\s+at |fastify|HPE_|ERR_/i);
}

function assertEnvelope(response: RawResponse, status: number, code: string): void {
  assert.equal(response.body?.error?.code, code, response.text);
  assert.equal(response.status, status);
  assertDecent(response);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  const { error } = response.body;
  assert.equal(error.request_id, response.headers['x-request-id']);
  assert.equal(error.doc_url, `${PUBLIC_URL}/docs/api/errors#${code}`);
  assert.equal(typeof error.type, 'string');
  assert.equal(typeof error.message, 'string');
}

describe('hostile requests', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld({ timeouts: { headersMs: 400, requestMs: 800, idleMs: 1_500, checkEveryMs: 50 } });
    dealer = await world.dealer();
    await setRateLimit(world.db, dealer.integrationId, 100_000);
  });
  after(() => world.stop());
  afterEach(async () => {
    assert.equal((await dealer.api.get('/v1/me')).status, 200, 'the server lives and serves');
  });

  const send = (bytes: string | Buffer, options?: { isHead?: boolean }) => sendRaw(world.port, bytes, options);
  /** A request with the dealer's key. */
  const keyed = (line: string, headers = '', body = '') =>
    `${line}\r\nHost: x\r\nAuthorization: Bearer ${dealer.apiKey}\r\n${headers}\r\n${body}`;

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
        const client = rawSocket(world.port);
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
      const client = rawSocket(world.port);
      client.write('garbage\r\n\r\n');
      const response = await client.next();
      assertEnvelope(response, 400, 'invalid_request');
      for (let sent = 0; sent < 20; sent++) client.write('more garbage\r\n\r\n');
      await client.closed;
      assert.equal(client.rest(), '');
    });

    it('is closed in the end also when the client keeps its side open', async () => {
      const client = rawSocket(world.port);
      client.socket.allowHalfOpen = true;
      client.write('garbage\r\n\r\n');
      await client.next();
      // Only bytes that nobody takes any more make the end known to a client that does not close.
      const probing = setInterval(() => client.write('?'), 50);
      await client.closed;
      clearInterval(probing);
    });

    it('does not answer in the place of the good requests before it', async () => {
      const client = rawSocket(world.port);
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
      'a long URL': `GET /api/v1/${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'a long query': `GET /api/v1/me?${'a=b&'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    })) {
      it(`that are too large are answered 431 headers_too_large: ${name}`, async () => {
        assertEnvelope(await send(head), 431, 'headers_too_large');
      });
    }

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

    it('that ask to go on first are told to, and answered', async () => {
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
      const twice = `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_${'0'.repeat(32)}\r\nAuthorization: Bearer ${dealer.apiKey}\r\n\r\n`;
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
        assert.deepEqual([response.status, response.body?.id], [200, dealer.integrationId]);
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

    it('are told the allowed ones also for a path that is spelt oddly', async () => {
      assertEnvelope(await send(keyed('POST /api/v1/m%65?x=y HTTP/1.1')), 405, 'method_not_allowed');
    });

    it('answer HEAD with the headers alone', async () => {
      const response = await send(keyed('HEAD /api/v1/nothing HTTP/1.1'), { isHead: true });
      assert.deepEqual([response.status, response.text], [404, '']);
      assertDecent(response);
    });

    it('are refused when they want a tunnel', async () => {
      const client = rawSocket(world.port);
      client.write('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n');
      assertEnvelope(await client.next(), 400, 'invalid_request');
      client.write('what goes through a tunnel');
      await client.closed;
      const vanishing = rawSocket(world.port);
      vanishing.write('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
      vanishing.socket.on('connect', () => vanishing.socket.resetAndDestroy());
      await vanishing.closed;
    });
  });

  describe('bodies where none is wanted', () => {
    const large = Buffer.alloc(20_000_000, 'a');
    const post = (target: string, headers: string) =>
      `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${large.length}\r\n${headers}\r\n`;

    for (const target of ['/api/v1/me', '/api/v1/nothing', '/nothing', '/docs/api']) {
      it(`are not read, and the answer arrives all the same: ${target}`, async () => {
        const client = rawSocket(world.port);
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
      const client = rawSocket(world.port);
      client.write(keyed('POST /api/v1/me HTTP/1.1', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n'));
      assertEnvelope(await client.next(), 405, 'method_not_allowed');
      client.write('this is no chunk\r\n');
      await client.closed;
      assert.equal(client.rest(), '');
    });

    it('that never end do not follow an answer with another', async () => {
      const client = rawSocket(world.port);
      client.write(keyed('POST /api/v1/me HTTP/1.1', 'Content-Length: 100\r\n', 'a few'));
      assertEnvelope(await client.next(), 405, 'method_not_allowed');
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
      const client = rawSocket(world.port);
      const large = 20_000_000;
      client.write(order(sized(large)));
      client.write(Buffer.alloc(large, ' '));
      assertEnvelope(await client.next(), 413, 'request_too_large');
      client.write(keyed('GET /api/v1/me HTTP/1.1'));
      assert.equal((await client.next()).status, 200);
      client.close();
    });

    it('that never end are cut off', async () => {
      const client = rawSocket(world.port);
      client.write(order(`${json}Transfer-Encoding: chunked\r\n`));
      const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
      const flooding = setInterval(() => client.write(chunk), 5);
      assertEnvelope(await client.next(), 413, 'request_too_large');
      await client.closed;
      clearInterval(flooding);
      assert.equal(client.rest(), '');
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

    it('that do not arrive in time are answered 408 request_timeout, as the request that they are', async () => {
      const client = rawSocket(world.port);
      client.write(`${order(sized(100))}{"channel_`);
      const response = await client.next();
      assertEnvelope(response, 408, 'request_timeout');
      assert.ok(response.headers['x-ratelimit-remaining'], 'it was counted');
      assert.equal(response.headers.connection, 'close');
      await client.closed;
      assert.equal(client.rest(), '');
    });

    it('that drip are answered 408 request_timeout', async () => {
      const client = rawSocket(world.port);
      client.write(order(sized(1_000)));
      const dripping = setInterval(() => client.write(' '), 50);
      assertEnvelope(await client.next(), 408, 'request_timeout');
      clearInterval(dripping);
      await client.closed;
    });

    it('of broken chunks are answered 400 invalid_request', async () => {
      const client = rawSocket(world.port);
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
      const client = rawSocket(world.port);
      client.socket.allowHalfOpen = true;
      client.write(`${order(sized(100))}{"channel_order_id":"a"}`);
      client.socket.end();
      assertEnvelope(await client.next(), 400, 'invalid_request');
    });

    it('that break off with their client leave no trace', async () => {
      const client = rawSocket(world.port);
      client.write(`${order(sized(100))}{"channel_order_id":"broken-off"`);
      await sleep(20);
      client.socket.resetAndDestroy();
      await client.closed;
      const { body } = await dealer.api.get('/v1/orders?limit=250');
      assert.ok(body.data.every((one: { channel_order_id: string }) => one.channel_order_id !== 'broken-off'));
    });
  });

  describe('slow clients', () => {
    it('that do not finish their headers in time are answered 408 request_timeout', async () => {
      for (const beginning of ['GET /api/v1/me HTT', 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Slow: ']) {
        const client = rawSocket(world.port);
        client.write(beginning);
        const response = await client.next();
        assertEnvelope(response, 408, 'request_timeout');
        assert.equal(response.headers.connection, 'close');
        await client.closed;
      }
    });

    it('that drip their headers are answered 408 request_timeout', async () => {
      const client = rawSocket(world.port);
      client.write('GET /api/v1/me HTTP/1.1\r\n');
      const dripping = setInterval(() => client.write('X-Drip: drop\r\n'), 50);
      assertEnvelope(await client.next(), 408, 'request_timeout');
      clearInterval(dripping);
      client.close();
    });

    it('that do not read are let go, and hold up nobody', async () => {
      const client = rawSocket(world.port);
      client.socket.pause();
      const request = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
      client.write(request.repeat(2_000));
      assert.equal((await dealer.api.get('/v1/me')).status, 200);
      const connections = () => new Promise<number>((resolve) => world.app.server.getConnections((_, n) => resolve(n)));
      while ((await connections()) > 3) await sleep(50);
      client.close();
    });

    it('that disconnect in the middle of a request leave no trace', async () => {
      for (const beginning of [
        'GET /api',
        keyed('GET /api/v1/me HTTP/1.1'),
        keyed('POST /api/v1/me HTTP/1.1', 'Content-Length: 1000\r\n', 'a few'),
        `${keyed('GET /api/v1/me HTTP/1.1')}GET /api`,
      ]) {
        for (const leave of ['end', 'resetAndDestroy'] as const) {
          const client = rawSocket(world.port);
          client.write(beginning);
          await sleep(5);
          client.socket[leave]();
          await client.closed;
        }
      }
    });
  });

  it('that are pipelined are answered in their order', async () => {
    const client = rawSocket(world.port);
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
