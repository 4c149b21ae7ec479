import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  type Behaviour,
  type HostileReceiver,
  keepWriting,
  startHostile,
} from '../../../test/harness/servers/hostile-receiver.ts';
import { type Receiver, startReceiver } from '../../../test/harness/servers/receiver.ts';
import { SELF_SIGNED } from '../../../test/harness/servers/self-signed.ts';
import { type AttemptResult, CONNECTION_AGE_MS, createSender, type Sender, type SenderOptions } from './send.ts';
import { createSsrfGuard, type SsrfGuard } from './ssrf-guard.ts';

/** For receivers that never answer. All others have time enough, also on a busy machine. */
const TIMEOUT_MS = 500;
const PATIENT_MS = 30_000;
const OK = 'HTTP/1.1 200 OK\r\n';
const TIMED_OUT = /^no complete response within 0\.5 s$/;

describe('an attempt', () => {
  /** Ends what a test has started, also if it fails: an open port would keep the process alive. */
  const stops: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });

  function senderWith(options: Partial<SenderOptions> = {}): Sender {
    const sender = createSender({ guard: createSsrfGuard(true), timeoutMs: PATIENT_MS, ...options });
    stops.push(() => sender.close());
    return sender;
  }

  async function hostile(behaviour: Behaviour): Promise<HostileReceiver> {
    const receiver = await startHostile(behaviour);
    stops.push(() => receiver.stop());
    return receiver;
  }

  async function wellBehaved(): Promise<Receiver> {
    const receiver = await startReceiver();
    stops.push(() => receiver.stop());
    return receiver;
  }

  const attempt = (url: string, dealer = 'org_1') => ({
    dealer,
    url,
    headers: { 'content-type': 'application/json' },
    body: '{"id":"evt_1"}',
  });
  const post = async (behaviour: Behaviour): Promise<AttemptResult> =>
    await senderWith().send(attempt((await hostile(behaviour)).url));

  const deadlines: [name: string, behaviour: Behaviour][] = [
    ['never answers', () => {}],
    [
      'drips its headers',
      (socket) => {
        socket.write(`${OK}X-Long: `);
        keepWriting(socket, 'x', 20);
      },
    ],
    ['drips its status line', (socket) => dripText(socket, `${OK}Content-Length: 0\r\n\r\n`, 100)],
    [
      'drips its body',
      (socket) => {
        socket.write(`${OK}Content-Length: 100000\r\n\r\n`);
        keepWriting(socket, 'x', 20);
      },
    ],
    [
      'drips chunks',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
        keepWriting(socket, '1\r\nx\r\n', 20);
      },
    ],
    ['promises a body that does not come', (socket) => socket.write(`${OK}Content-Length: 10\r\n\r\n12345`)],
    [
      'takes most of the time for the headers, and again for the body',
      (socket) => {
        setTimeout(() => socket.write(`${OK}Content-Length: 2\r\n\r\n`), TIMEOUT_MS * 0.7);
        setTimeout(() => socket.write('ok'), TIMEOUT_MS * 1.4);
      },
    ],
  ];
  for (const [name, behaviour] of deadlines) {
    it(`an attempt at a receiver that ${name} costs one deadline, and its connection is given up`, async () => {
      const receiver = await hostile(behaviour);
      const result = await senderWith({ timeoutMs: TIMEOUT_MS }).send(attempt(receiver.url));
      assert.deepEqual([result.isSuccess, result.responseCode, result.responseBody], [false, null, null]);
      assert.match(result.error ?? '', TIMED_OUT);
      await gone(receiver);
    });
  }

  const faults: [name: string, behaviour: Behaviour, error: RegExp][] = [
    ['resets', (socket) => socket.resetAndDestroy(), /ECONNRESET|UND_ERR_SOCKET/],
    ['hangs up', (socket) => socket.end(), /UND_ERR_SOCKET/],
    ['hangs up within the headers', (socket) => socket.end(`${OK}Content-Le`), /UND_ERR_SOCKET|HPE/],
    ['hangs up within the body', (socket) => socket.end(`${OK}Content-Length: 10\r\n\r\n123`), /UND_ERR/],
    ['does not speak HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'), /does not match the HTTP/],
    [
      'sends two lengths',
      (socket) => socket.end(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`),
      /HPE_|UND_ERR/,
    ],
    [
      'sends headers of a megabyte',
      (socket) => {
        socket.write(OK);
        keepWriting(socket, `X: ${'x'.repeat(4_000)}\r\n`);
      },
      /OVERFLOW/,
    ],
    [
      'switches protocols',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      /UND_ERR/,
    ],
  ];
  for (const [name, behaviour, error] of faults) {
    it(`an attempt at a receiver that ${name} fails at once`, async () => {
      const receiver = await hostile(behaviour);
      const result = await senderWith().send(attempt(receiver.url));
      assert.deepEqual([result.isSuccess, result.responseCode], [false, null]);
      assert.match(result.error ?? '', error);
      assert.doesNotMatch(result.error ?? '', TIMED_OUT);
      await gone(receiver);
    });
  }

  it('an attempt where nobody listens, or where TLS is broken, fails at once and sends nothing', async () => {
    const closed = await hostile(() => {});
    await closed.stop();
    const refused = await senderWith().send(attempt(closed.url));
    assert.match(refused.error ?? '', /ECONNREFUSED/);

    const plain = await hostile((socket) => socket.end(`${OK}Content-Length: 0\r\n\r\n`));
    const notTls = await senderWith().send(attempt(plain.url.replace('http:', 'https:')));
    assert.equal(notTls.error, 'ERR_SSL_WRONG_VERSION_NUMBER: wrong version number');

    let requests = 0;
    const server = createServer(SELF_SIGNED, (_, response) => {
      requests += 1;
      response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const { port } = server.address() as AddressInfo;
    const selfSigned = await senderWith().send(attempt(`https://127.0.0.1:${port}/`));
    assert.match(selfSigned.error ?? '', /CERT|certificate/i);
    assert.equal(requests, 0);
  });

  it('an attempt reads an endless body to 16 KiB and no further, and takes the status that it came with', async () => {
    const chunk = Buffer.alloc(16_384, 'x');
    const receiver = await hostile((socket) => {
      socket.write(`${OK}Content-Length: 100000000000\r\n\r\n`);
      keepWriting(socket, chunk);
    });
    const sender = senderWith();
    const results = await Promise.all(Array.from({ length: 10 }, () => sender.send(attempt(receiver.url))));
    for (const result of results) {
      assert.deepEqual([result.isSuccess, result.responseCode, result.error], [true, 200, null]);
      assert.equal(result.responseBody, 'x'.repeat(1_024));
    }
    await gone(receiver);
    // What lies in the buffers of both sides' systems was written, but not read.
    assert.ok(receiver.sentBytes() < 10 * 16_000_000, `${receiver.sentBytes()} bytes were taken`);
  });

  it('an attempt does not inflate a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    assert.ok(bomb.length < 60_000);
    const head = `${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
    const before = process.memoryUsage().rss;
    const sender = senderWith();
    const receiver = await hostile((socket) => socket.write(Buffer.concat([Buffer.from(head), bomb])));
    const results = await Promise.all(Array.from({ length: 10 }, () => sender.send(attempt(receiver.url))));
    assert.ok(results.every(({ isSuccess, responseBody }) => isSuccess && (responseBody ?? '').length <= 1_024));
    assert.ok(process.memoryUsage().rss - before < 400_000_000, 'ten bombs of 50 MB went off');
  });

  it('an attempt keeps the beginning of an answer as text, whatever its bytes are', async () => {
    const answer =
      (body: Buffer): Behaviour =>
      (socket) => {
        socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 500 Oops\r\nContent-Length: ${body.length}\r\n\r\n`), body]));
      };
    const kept = async (body: Buffer) => (await post(answer(body))).responseBody;
    assert.equal(await kept(Buffer.from('a\0b\0')), 'a\u{fffd}b\u{fffd}');
    assert.equal(await kept(Buffer.from([0x61, 0xff, 0xc3, 0x28])), 'a\u{fffd}\u{fffd}(');
    assert.equal(await kept(Buffer.alloc(0)), null);
    const cut = await kept(Buffer.from(`${'x'.repeat(1_023)}é`));
    assert.equal(cut, `${'x'.repeat(1_023)}\u{fffd}`);
    assert.equal((await kept(Buffer.alloc(60_000, 'y')))?.length, 1_024);
  });

  it('attempts at bad receivers cost others nothing: a good one is served while all the bad ones use up their time', async () => {
    const sender = senderWith();
    const bad = await Promise.all(deadlines.map(([, behaviour]) => hostile(behaviour)));
    let isOver = false;
    const ended = Promise.all(bad.flatMap(({ url }) => Array.from({ length: 5 }, () => sender.send(attempt(url)))));
    void ended.then(() => {
      isOver = true;
    });
    const good = await wellBehaved();
    for (let count = 0; count < 20; count++) assert.equal((await sender.send(attempt(good.url))).isSuccess, true);
    assert.equal(isOver, false, 'the good one had to wait');
  });

  it('an attempt reuses a connection after an answer that was read to its end, and after no other', async () => {
    const receiver = await wellBehaved();
    const sender = senderWith();
    for (const [bytes, connections] of [
      [1_000, 1],
      [200_000, 3],
    ] as const) {
      receiver.received.length = 0;
      receiver.answer = (response) => response.end('x'.repeat(bytes));
      for (let count = 0; count < 3; count++) {
        assert.equal((await sender.send(attempt(receiver.url))).isSuccess, true);
        // The client hands out a connection again in the next round of the event loop.
        await new Promise(setImmediate);
      }
      assert.equal(new Set(receiver.received.map(({ port }) => port)).size, connections);
    }
  });

  it('an attempt takes a new connection after a minute of steady traffic, so that a change of the name is noticed', async () => {
    const receiver = await wellBehaved();
    const sender = senderWith({ connectionAgeMs: 100 });
    const ports = new Set<number>();
    for (const start = performance.now(); ports.size < 2 && performance.now() - start < PATIENT_MS; ) {
      assert.equal((await sender.send(attempt(receiver.url))).isSuccess, true);
      for (const { port } of receiver.received.splice(0)) ports.add(port);
      await new Promise(setImmediate);
    }
    assert.equal(ports.size, 2);
    assert.equal(CONNECTION_AGE_MS, 60_000);
  });

  it('an attempt that is under way when its connection has become old ends on it', async () => {
    const receiver = await wellBehaved();
    const sender = senderWith({ connectionAgeMs: 1 });
    const hanging: (() => void)[] = [];
    receiver.answer = (response) => void hanging.push(() => response.end('late'));
    const first = sender.send(attempt(receiver.url));
    await receiver.until(1);
    const second = sender.send(attempt(receiver.url));
    await receiver.until(2);
    for (const answer of hanging) answer();
    assert.deepEqual(
      (await Promise.all([first, second])).map(({ isSuccess, responseBody }) => [isSuccess, responseBody]),
      [
        [true, 'late'],
        [true, 'late'],
      ],
    );
    assert.equal(new Set(receiver.received.map(({ port }) => port)).size, 2);
  });

  it('an attempt never begins when the URL has an address inside, or a name that leads there', async () => {
    const receiver = await hostile((socket) => socket.end(`${OK}Content-Length: 0\r\n\r\n`));
    const { port } = receiver;
    const toLoopback: SsrfGuard = {
      ...createSsrfGuard(false, async () => [{ address: '127.0.0.1', family: 4 }]),
      isProtocolAllowed: () => true,
    };
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', '[::1]', 'rebound.example', 'localhost']) {
      for (const scheme of ['http', 'https']) {
        const result = await senderWith({ guard: toLoopback }).send(attempt(`${scheme}://${host}:${port}/`));
        assert.match(result.error ?? '', /^ERR_FORBIDDEN_ADDRESS/, host);
      }
    }
    assert.equal(receiver.connections, 0);
  });

  it('an attempt never goes over plain http unless that is allowed, whenever the URL was saved', async () => {
    const receiver = await hostile(() => {});
    const strict = createSsrfGuard(false);
    // As if the name had a public address: nothing but the protocol is wrong with it.
    const reachable: SsrfGuard = {
      ...strict,
      isAllowed: () => true,
      lookupFor: createSsrfGuard(true, async () => [{ address: '127.0.0.1', family: 4 }]).lookupFor,
    };
    for (const host of ['shop.example', '127.0.0.1']) {
      const url = `http://${host}:${receiver.port}/hook`;
      const result = await senderWith({ guard: reachable }).send(attempt(url));
      assert.deepEqual([result.isSuccess, result.responseCode], [false, null]);
      assert.match(result.error ?? '', /webhooks go to https:\/\/ only/);
    }
    assert.equal(receiver.connections, 0);
  });

  it('an attempt is checked by the address that the connection really has, before a byte is sent', async () => {
    const receiver = await hostile((socket) => socket.end(`${OK}Content-Length: 0\r\n\r\n`));
    // As if the system had resolved the name to another address than the check saw.
    const fooled: SsrfGuard = {
      ...createSsrfGuard(false),
      isProtocolAllowed: () => true,
      lookupFor: createSsrfGuard(true, async () => [{ address: '127.0.0.1', family: 4 }]).lookupFor,
    };
    const result = await senderWith({ guard: fooled }).send(attempt(`http://rebound.example:${receiver.port}/`));
    assert.match(result.error ?? '', /^ERR_FORBIDDEN_ADDRESS/);
    assert.equal(receiver.requests, 0);
  });

  it('an attempt resolves the name with each connection: what was public yesterday may lead inside today', async () => {
    const answers = ['93.184.216.34', '127.0.0.1'];
    const receiver = await hostile(() => {});
    const guard = createSsrfGuard(false, async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]);
    assert.equal(guard.problemOf('https://rebound.example/'), null);
    await new Promise<void>((resolve, reject) => {
      const lookup = guard.lookupFor('org_1', PATIENT_MS);
      lookup('rebound.example', { all: true }, (error) => (error === null ? resolve() : reject(error)));
    });
    const result = await senderWith({ guard }).send(attempt(`https://rebound.example:${receiver.port}/`));
    assert.match(result.error ?? '', /^ERR_FORBIDDEN_ADDRESS/);
    assert.equal(receiver.connections, 0);
  });

  it('an attempt ends well for whatever could be called a URL', async () => {
    for (const url of ['', 'nonsense', 'http://', 'ftp://127.0.0.1/', 'http://127.0.0.1:0/', 'http://a b/']) {
      const result = await senderWith().send(attempt(url));
      assert.equal(result.isSuccess, false, url);
      assert.ok((result.error ?? '').length > 0, url);
    }
  });
});

/** The other side has let go of every connection. */
async function gone(receiver: HostileReceiver): Promise<void> {
  for (let round = 0; receiver.open() > 0; round++) {
    assert.ok(round < 3_000, 'the connection stays open');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function dripText(socket: Parameters<Behaviour>[0], text: string, pauseMs: number): void {
  if (socket.destroyed || text === '') return;
  socket.write(text.slice(0, 1));
  setTimeout(() => dripText(socket, text.slice(1), pauseMs), pauseMs);
}
