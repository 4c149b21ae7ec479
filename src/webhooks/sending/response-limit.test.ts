import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { createServer as createTlsServer, Server as TlsServer } from 'node:tls';
import { buildConnector, Client } from 'undici';
import { type Behaviour, keepWriting, startHostile } from '../../../test/harness/servers/hostile-receiver.ts';
import { SELF_SIGNED } from '../../../test/harness/servers/self-signed.ts';
import { limitResponses, WEBHOOK_RESPONSE } from './response-limit.ts';
import { createSender, type Sender } from './send.ts';
import { createSsrfGuard } from './ssrf-guard.ts';

const PATIENT_MS = 30_000;
const OK = 'HTTP/1.1 200 OK\r\n';
const EMPTY = `${OK}Content-Length: 0\r\n`;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
const REQUEST_BODY = '{"id":"evt_1"}';
/** What lies in the buffers of both sides' systems was written, but not read. */
const BUFFERS_BYTES = 16_000_000;

const TOO_MANY_LINES = 'the response has too many header lines: more than 256';
const TOO_LARGE = 'the response is too large before its body: more than 64 KiB';

describe('the limit on responses', () => {
  const stops: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });

  function newSender(): Sender {
    const sender = createSender({ guard: createSsrfGuard(true), timeoutMs: PATIENT_MS });
    stops.push(() => sender.close());
    return sender;
  }

  /** One attempt, and how many bytes the receiver could write until its connection was closed. */
  async function attempt(behaviour: Behaviour) {
    const receiver = await startHostile(behaviour);
    stops.push(() => receiver.stop());
    const sender = newSender();
    const result = await sender.send({ dealer: 'org_1', url: receiver.url, headers: {}, body: REQUEST_BODY });
    await sender.close();
    while (receiver.open() > 0) await new Promise(setImmediate);
    return { ...result, sentBytes: receiver.sentBytes() };
  }

  /** Answers every request on a connection with the same bytes, in pieces that arrive one by one. */
  async function listen(server: Server, answerOf: (request: number) => string, pieceLength: number) {
    const sockets = new Set<Socket>();
    let requests = 0;
    const answer = (socket: Socket, text: string): void => {
      if (text === '' || socket.destroyed) return;
      socket.write(text.slice(0, pieceLength), () => setImmediate(answer, socket, text.slice(pieceLength)));
    };
    const onConnection = (socket: Socket): void => {
      sockets.add(socket);
      let received = '';
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received += chunk;
        if (!received.endsWith(REQUEST_BODY)) return;
        received = '';
        answer(socket, answerOf(requests++));
      });
    };
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', onConnection);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return { port: (server.address() as AddressInfo).port, connections: () => sockets.size };
  }

  const endless: [name: string, start: string, repeated: string, error: string][] = [
    ['103 responses', '', EARLY_HINTS.repeat(100), TOO_MANY_LINES],
    ['empty lines', '', '\r\n'.repeat(8_192), TOO_MANY_LINES],
    ['headers of one byte', OK, 'a:\r\n'.repeat(4_096), TOO_MANY_LINES],
    ['a status', OK.trimEnd(), 'x'.repeat(16_384), TOO_LARGE],
  ];
  for (const [name, start, repeated, error] of endless) {
    it(`an attempt at a receiver that answers with ${name} without end fails, and reads no further`, async () => {
      const result = await attempt((socket) => {
        socket.write(start);
        keepWriting(socket, repeated);
      });
      assert.deepEqual([result.isSuccess, result.responseCode, result.error], [false, null, error]);
      assert.ok(result.sentBytes < BUFFERS_BYTES, `${result.sentBytes} bytes were taken`);
    });
  }

  const surplus: [name: string, start: string, repeated: string, body: string | null][] = [
    ['a chunk extension', `${CHUNKED}1;a`, 'x'.repeat(16_384), null],
    ['chunks of one byte', CHUNKED, '1\r\nx\r\n'.repeat(2_700), 'x'.repeat(1_024)],
    ['chunks of one byte with extensions', CHUNKED, '1;a=b\r\nx\r\n'.repeat(1_600), 'x'.repeat(1_024)],
    ['trailers of one byte', `${CHUNKED}2\r\nok\r\n0\r\n`, 'a:\r\n'.repeat(4_096), 'ok'],
    ['a body', `${OK}Content-Length: 100000000\r\n\r\n`, 'x'.repeat(16_384), 'x'.repeat(1_024)],
  ];
  for (const [name, start, repeated, body] of surplus) {
    it(`a 200 with ${name} without end is a success, and no more than its beginning is read`, async () => {
      const result = await attempt((socket) => {
        socket.write(start);
        keepWriting(socket, repeated);
      });
      assert.deepEqual([result.isSuccess, result.responseCode, result.error], [true, 200, null]);
      assert.equal(result.responseBody, body);
      assert.ok(result.sentBytes < BUFFERS_BYTES, `${result.sentBytes} bytes were taken`);
    });
  }

  it('a 500 with a body without end is a failure with its code', async () => {
    const result = await attempt((socket) => {
      socket.write('HTTP/1.1 500 Oops\r\n\r\n');
      keepWriting(socket, 'x'.repeat(16_384));
    });
    assert.deepEqual([result.isSuccess, result.responseCode, result.error], [false, 500, null]);
  });

  const slow: [name: string, repeated: string][] = [
    ['103 responses', EARLY_HINTS],
    ['empty lines', '\r\n'],
  ];
  for (const [name, repeated] of slow) {
    it(`an attempt at a receiver that drips ${name} fails as soon as there are too many lines`, async () => {
      const result = await attempt((socket) => keepWriting(socket, repeated, 1));
      assert.deepEqual([result.isSuccess, result.error], [false, TOO_MANY_LINES]);
      assert.ok(result.sentBytes < 32_768, `${result.sentBytes} bytes were taken`);
    });
  }

  const whole: [name: string, answer: string][] = [
    ['a response with 16,000 headers', `${EMPTY}${'a:\r\n'.repeat(16_000)}\r\n`],
    ['a 103 with 16,000 headers', `HTTP/1.1 103 OK\r\n${'a:\r\n'.repeat(16_000)}\r\n${EMPTY}\r\n`],
    ['16,000 headers after a 103', `${EARLY_HINTS}${EMPTY}${'a:\r\n'.repeat(16_000)}\r\n`],
    ['16,000 headers after a 103 of another protocol', `ICE/1.1 123 OK\r\n\r\n${OK}${'a:\r\n'.repeat(16_000)}\r\n`],
    ['one line too many', `${EMPTY}${'a: b\r\n'.repeat(254)}\r\n`],
  ];
  for (const [name, answer] of whole) {
    it(`an attempt that is answered with ${name} fails`, async () => {
      const result = await attempt((socket) => socket.write(answer));
      assert.deepEqual([result.isSuccess, result.responseCode, result.error], [false, null, TOO_MANY_LINES]);
    });
  }

  const dripped: [name: string, start: string, expected: unknown[]][] = [
    ['a head', `${OK}X-Long: `, [false, null, 'the response came in too many pieces before its body: more than 1024']],
    ['a body', `${OK}Content-Length: 100000\r\n\r\n`, [true, 200, null]],
  ];
  for (const [name, start, expected] of dripped) {
    it(`a response with ${name} that comes byte by byte is read for a thousand pieces`, async () => {
      const receiver = await listen(createServer(), () => `${start}${'x'.repeat(4_000)}`, 1);
      const sender = newSender();
      const url = `http://127.0.0.1:${receiver.port}/`;
      const result = await sender.send({ dealer: 'org_1', url, headers: {}, body: REQUEST_BODY });
      assert.deepEqual([result.isSuccess, result.responseCode, result.error], expected);
    });
  }

  const lines = (count: number): string =>
    Array.from({ length: count }, (_, index) => `X-Header-${index}: value ${index}\r\n`).join('');
  const honest: [name: string, answer: string, body: string | null][] = [
    ['100 header lines', `${EMPTY}${lines(100)}\r\n`, null],
    ['as many lines as there may be', `${EMPTY}${lines(253)}\r\n`, null],
    ['a 100 before it that nobody asked for', `HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`, 'ok'],
    ['two 103 responses before it', `${EARLY_HINTS.repeat(2)}${OK}Content-Length: 2\r\n\r\nok`, 'ok'],
    ['many lines in its body', `${OK}Content-Length: 60000\r\n\r\n${'\r\n'.repeat(30_000)}`, '\r\n'.repeat(512)],
    [
      'more body than is read, in small chunks',
      `${CHUNKED}${'a\r\n0123456789\r\n'.repeat(20_000)}`,
      '0123456789'.repeat(103).slice(0, 1_024),
    ],
  ];
  for (const [name, answer, body] of honest) {
    it(`a response with ${name} is a success`, async () => {
      const result = await attempt((socket) => socket.write(answer));
      assert.deepEqual([result.isSuccess, result.responseCode, result.error], [true, 200, null]);
      assert.equal(result.responseBody, body);
    });
  }

  for (const pieceLength of [5, 7, 100_000]) {
    it(`each response on one connection has the whole limit, in pieces of ${pieceLength} bytes`, async () => {
      const honestAnswer = `${EARLY_HINTS}${OK}Content-Length: 2\r\n${lines(100)}\r\nok`;
      // So short that its lines are too many before its pieces are.
      const hostileAnswer = `${EARLY_HINTS}${EMPTY}${'a: b\r\n'.repeat(260)}\r\n`;
      const receiver = await listen(
        createServer(),
        (request) => (request < 4 ? honestAnswer : hostileAnswer),
        pieceLength,
      );
      const sender = newSender();
      const send = () =>
        sender.send({ dealer: 'org_1', url: `http://127.0.0.1:${receiver.port}/`, headers: {}, body: REQUEST_BODY });
      for (let count = 0; count < 4; count++) {
        assert.equal((await send()).responseBody, 'ok');
        // The client hands out a connection again in the next round of the event loop.
        await new Promise(setImmediate);
      }
      assert.equal((await send()).error, TOO_MANY_LINES);
      assert.equal(receiver.connections(), 1);
    });
  }

  it('each response on one TLS connection has the whole limit', async () => {
    const answerOf = (request: number) => `${EMPTY}${lines(request < 4 ? 200 : 300)}\r\n`;
    const receiver = await listen(createTlsServer(SELF_SIGNED), answerOf, 1_000);
    const connect = buildConnector({ rejectUnauthorized: false });
    const client = new Client(`https://127.0.0.1:${receiver.port}`, {
      connect: (options, done) =>
        connect(options, (...[error, socket]) => {
          if (error !== null) return done(error, null);
          limitResponses(socket, WEBHOOK_RESPONSE);
          return done(null, socket);
        }),
    });
    stops.push(() => client.destroy());
    const send = () => client.request({ path: '/', method: 'POST', body: REQUEST_BODY });
    for (let count = 0; count < 4; count++) await (await send()).body.dump();
    await assert.rejects(send(), { message: TOO_MANY_LINES });
    assert.equal(receiver.connections(), 1);
  });
});
