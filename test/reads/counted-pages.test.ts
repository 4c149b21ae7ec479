import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { limitSending } from '../../src/http/public/reads/send-list.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';

const PAGE = '/v1/listings?limit=50';
/** With this many bytes an answer counts while it is on its way. */
const COUNTED_BYTES = 65_536;
/** Published by Fastify whenever it calls a handler. */
const HANDLER_CHANNEL = 'tracing:fastify.request.handler:start';
/** Longer than any of these tests waits for one answer, on a busy machine too. */
const READ_WAIT_MS = 60_000;

describe('a cached page that counts while it is on its way', () => {
  let world: World;
  let shop: Shop;
  let handled = 0;
  const count = () => {
    handled += 1;
  };
  before(async () => {
    // What is heavier than the limit counts as the limit, so one such page may be on its way at a time.
    world = await startWorld({ readLimits: { waitLimitMs: READ_WAIT_MS, bytesPerIntegration: 1 } });
    shop = await openShop(world);
    for (let index = 0; index < 5; index++) await publishNew(world, shop, watch({ description: 'x'.repeat(20_000) }));
    subscribe(HANDLER_CHANNEL, count);
  });
  after(async () => {
    unsubscribe(HANDLER_CHANNEL, count);
    await world.stop();
  });

  it('gives its bytes back each time it has been sent', async () => {
    const { text } = await shop.api.get(PAGE);
    assert.ok(Buffer.byteLength(text) >= COUNTED_BYTES);
    const before = handled;
    for (let index = 0; index < 5; index++) assert.equal((await shop.api.get(PAGE)).text, text);
    assert.equal(handled, before, 'the framework answered none of them');
  });

  it('waits in the framework when another one is on its way', async () => {
    await shop.api.get(PAGE);
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.api.get(PAGE)));
    assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200]);
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
  });
});

describe('an answer that its client does not read', () => {
  /** More than the sockets of a connection take. */
  const BODY = Buffer.alloc(64 * 1_048_576);

  it('is cut after its time, and gives its bytes back', async (t) => {
    let giveBack = () => {};
    const released = new Promise<void>((resolve) => {
      giveBack = resolve;
    });
    const server = createServer((_request, response) => {
      limitSending(response, { pieceLimitMs: 100, release: giveBack });
      response.end(BODY);
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => {});
    t.after(() => client.destroy());
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await released;
    client.resume();
    await once(client, 'close');
    assert.ok(client.bytesRead < BODY.length, 'the body has no end');
  });
});
