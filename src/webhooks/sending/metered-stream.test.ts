import assert from 'node:assert/strict';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../test/harness/database/locks.ts';
import { SELF_SIGNED } from '../../../test/harness/servers/self-signed.ts';
import { createTokenBuckets } from '../../concurrency/limits/token-buckets.ts';
import { createMeteredStream } from './metered-stream.ts';
import { createSender, type Sender } from './send.ts';
import { createSsrfGuard } from './ssrf-guard.ts';

const PATIENT_MS = 30_000;
const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

describe('an attempt over TLS', () => {
  function newSender(): Sender {
    const sender = createSender({ guard: createSsrfGuard(true), timeoutMs: PATIENT_MS, ca: SELF_SIGNED.cert });
    stops.push(() => sender.close());
    return sender;
  }

  async function startReceiver(answer: string, options: ServerOptions = {}) {
    let [connections, received] = [0, ''];
    const server = createHttpsServer({ ...SELF_SIGNED, ...options }, (request, response) => {
      received = '';
      request.on('data', (chunk) => {
        received += chunk;
      });
      request.on('end', () => response.end(answer));
    });
    server.on('secureConnection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}/`;
    return { url, connections: () => connections, received: () => received };
  }

  const attempt = (url: string, body = '{}', dealer = 'org_1') => ({ dealer, url, headers: {}, body });

  it('carries large bodies both ways, and keeps its connection', async () => {
    const receiver = await startReceiver('y'.repeat(16_000));
    const sender = newSender();
    const body = 'x'.repeat(1_000_000);
    for (let count = 0; count < 3; count++) {
      const result = await sender.send(attempt(receiver.url, body));
      assert.deepEqual([result.isSuccess, result.error], [true, null]);
      assert.equal(result.responseBody, 'y'.repeat(1_024));
      assert.equal(receiver.received().length, body.length);
      // The client hands out a connection again in the next round of the event loop.
      await sleep(1);
    }
    assert.equal(receiver.connections(), 1);
  });

  it('takes the status of a response that has more than is read', async () => {
    const receiver = await startReceiver('y'.repeat(1_000_000));
    const result = await newSender().send(attempt(receiver.url));
    assert.deepEqual([result.isSuccess, result.responseCode, result.error], [true, 200, null]);
  });

  it('shares no connection with another dealer', async () => {
    const receiver = await startReceiver('ok');
    const sender = newSender();
    for (const dealer of ['org_1', 'org_2', 'org_1', 'org_2']) {
      assert.equal((await sender.send(attempt(receiver.url, '{}', dealer))).isSuccess, true);
      await sleep(1);
    }
    assert.equal(receiver.connections(), 2);
  });

  it('fails if the receiver sends more certificates than an honest one', async () => {
    const receiver = await startReceiver('ok', { cert: `${SELF_SIGNED.cert}\n`.repeat(60) });
    const result = await newSender().send(attempt(receiver.url));
    assert.equal(result.isSuccess, false);
    assert.match(result.error ?? '', /^ERR_LARGE_HANDSHAKE: the TLS handshake has more than 12 KiB/);
  });

  it('offers no key exchange whose group the receiver chooses', async () => {
    let hello: Buffer = Buffer.alloc(0);
    const server = createServer((socket) =>
      socket.once('data', (chunk: Buffer) => {
        hello = chunk;
        socket.destroy();
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => server.close(resolve)));
    await newSender().send(attempt(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    // The record's head, the message's head, version and random bytes; then the session id and the ciphers.
    const ciphersAt = 43 + 1 + (hello[43] ?? 0);
    const ciphers = hello.subarray(ciphersAt + 2, ciphersAt + 2 + hello.readUInt16BE(ciphersAt));
    assert.ok(ciphers.length >= 10);
    // TLS 1.3, ECDHE, ECDHE with ChaCha20, and a number that stands for no cipher.
    for (let at = 0; at < ciphers.length; at += 2) {
      const cipher = ciphers.toString('hex', at, at + 2);
      assert.match(cipher, /^(13..|c0..|cca[89]|00ff)$/);
    }
  });

  it('that the receiver cuts off fails at once', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.destroy()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const result = await newSender().send(attempt(`https://127.0.0.1:${port}/`));
    assert.equal(result.isSuccess, false);
    assert.notEqual(result.error, null);
  });
});

describe('the time that TLS takes', () => {
  /** A connection whose other side has sent a few bytes. */
  async function openStream(dealer: string, times: ReturnType<typeof createTokenBuckets>) {
    const server = createServer((socket) => socket.on('error', () => {}).write('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const raw = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await new Promise<void>((resolve) => raw.once('connect', resolve));
    const stream = createMeteredStream(raw, dealer, { times });
    stops.push(async () => {
      stream.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return { stream, raw };
  }

  it('is counted for its dealer, who waits after more than a share; others do not', async () => {
    let nowMs = 0;
    const times = createTokenBuckets({ burst: 100, perSecond: 10_000, keys: 10 }, () => nowMs);
    const first = await openStream('org_1', times);
    first.stream.on('data', () => {
      // Time of a processor, however long that takes on a busy machine.
      const endMicros = process.threadCpuUsage().user + 300_000;
      while (process.threadCpuUsage().user < endMicros);
    });
    await until(async () => times.debtMs('org_1') > 0, 'the time was not counted');

    const [waiting, other] = [await openStream('org_1', times), await openStream('org_2', times)];
    let received = '';
    waiting.stream.on('data', (chunk) => {
      received += chunk;
    });
    await new Promise((resolve) => other.stream.once('data', resolve));
    assert.equal(received, '');
    nowMs += 1_000;
    await until(async () => received === 'hello', 'its turn never came');
  });

  it('of a connection that ends while it waits is not waited for', async () => {
    const times = createTokenBuckets({ burst: 0, perSecond: 1, keys: 10 }, () => 0);
    times.spend('org_1', 1_000_000);
    const { stream, raw } = await openStream('org_1', times);
    stream.on('data', () => assert.fail('it has no share'));
    stream.destroy();
    await new Promise((resolve) => stream.once('close', resolve));
    assert.equal(raw.destroyed, true);
  });
});
