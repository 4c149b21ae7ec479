import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { WHOLE_PAGE_BYTES } from '../../src/db/large-pages.ts';
import { rawSql, sql } from '../../src/db/sql.ts';
import { until } from '../harness/database/locks.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

const ORDERS = 60;
const MEGABYTE = 1_048_576;
const TEST_LIMIT_MS = 90_000;
/** More than what one integration may have on its way at once. */
const WAITING_CLIENTS = 12;
/** A client that reads takes a piece in a moment; this test's other clients never do. */
const PIECE_LIMIT_MS = 3_000;

describe('a page of many bytes', { timeout: TEST_LIMIT_MS }, () => {
  let world: World;
  let shop: Shop;
  let neighbour: Shop;
  /** The bytes of the largest order that can be reported. */
  let orderBytes: number;
  before(async () => {
    world = await startWorld({
      timeouts: { pieceMs: PIECE_LIMIT_MS },
      readLimits: { waitLimitMs: 2 * PIECE_LIMIT_MS },
      readCacheBytes: 4 * MEGABYTE,
    });
    shop = await openShop(world);
    neighbour = await openShop(world);
    orderBytes = await fill(world, shop);
  });
  after(() => world.stop());

  const list = (limit = ORDERS) => `/v1/orders?limit=${limit}`;

  it('comes whole, in the order of the list', async () => {
    assert.ok(orderBytes > 700_000, `an order has ${orderBytes} bytes`);
    const answer = await shop.api.get(list());
    assert.equal(answer.status, 200);
    assert.ok(Buffer.byteLength(answer.text) > ORDERS * orderBytes);
    assert.equal(answer.body.data.length, ORDERS);
    const single = await shop.api.get(`/v1/orders/${answer.body.data[40].id}`);
    assert.deepEqual(answer.body.data[40], single.body);
    const first = await shop.api.get('/v1/orders?limit=1');
    assert.equal(first.body.has_more, true);
    const ids = answer.body.data.map((order: { id: string }) => order.id);
    assert.equal(first.body.data[0].id, ids[0]);
    assert.deepEqual([...ids].sort().reverse(), ids);
  });

  it('goes on after its cursor', async () => {
    const first = await shop.api.get(list(ORDERS - 10));
    assert.equal(first.body.has_more, true);
    const second = await shop.api.get(`${list()}&after=${first.body.next_cursor}`);
    assert.equal(second.body.data.length, 10);
    assert.equal(second.body.has_more, false);
  });

  it('has an ETag that names it until it changes, and is not sent again to whoever has it', async () => {
    const head = await shop.api.send(list(), { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    assert.notEqual(head.headers['content-length'], '0');
    const { etag = '' } = head.headers;
    assert.match(etag, /^W\/"[\w-]+"$/);
    assert.equal((await shop.api.get(list())).headers.etag, etag);
    const again = await shop.api.get(list(), { 'if-none-match': etag });
    assert.equal(again.status, 304);
    assert.equal(again.text, '');
    assert.notEqual((await shop.api.get(list(ORDERS - 1), { 'if-none-match': etag })).status, 304);
  });

  it('is compressed as the client wishes', async () => {
    const plain = (await shop.api.get(list())).text;
    for (const [encoding, decompress] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const response = await open(list(), { 'accept-encoding': encoding });
      assert.equal(response.headers['content-encoding'], encoding);
      assert.ok(decompress(await bytesOf(response)).toString() === plain, `${encoding} gives other bytes`);
    }
  });

  it('takes the memory of its pieces, however many clients ask for it and never read, who are cut in the end', async (t) => {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const clients = Array.from({ length: 12 }, () => {
      const socket = connect(world.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.pause();
      socket.write(`GET /api${list()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${shop.apiKey}\r\n\r\n`);
      t.after(() => socket.destroy());
      return socket;
    });
    const sampler = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 5);
    t.after(() => clearInterval(sampler));
    await until(async () => openAnswers(world) === 0, 'the clients that never read were never cut');
    assert.equal((await neighbour.api.get('/v1/orders')).status, 200);
    assert.ok(most < 128 * MEGABYTE, `${Math.round(most / MEGABYTE)} MB in memory`);
    assert.ok(clients.every((client) => client.bytesRead < 4 * WHOLE_PAGE_BYTES));
  });

  it('that meets a change, or a fault of the database, ends in a cut and never in a body that can be parsed', async (t) => {
    const response = await open(list());
    const [first] = (await once(response, 'data')) as [Buffer];
    response.pause();
    await world.db.query(sql`
      update orders set updated_at = updated_at + interval '1 millisecond'
      where integration_id = ${shop.integrationId} and channel_order_id = 'SO-1-30'`);
    t.after(() => response.destroy());
    const rest: Buffer[] = [];
    response.on('data', (chunk: Buffer) => rest.push(chunk));
    response.on('error', () => {});
    const closed = new Promise((resolve) => response.once('close', resolve));
    response.resume();
    await closed;
    assert.equal(response.complete, false);
    const text = Buffer.concat([first, ...rest]).toString();
    assert.throws(() => JSON.parse(text));
    assert.ok(world.logLines.some((line) => line.includes('changed or went while the page was sent')));
    assert.equal((await shop.api.get(list())).body.data.length, ORDERS);
  });

  const open = (path: string, headers: Record<string, string> = {}) => openAnswer(world, shop, path, headers);
});

describe('pages of many bytes, of all clients together', { timeout: TEST_LIMIT_MS }, () => {
  it('pass at a set rate: the next piece waits, holds nothing that others need, and ends with its client', async (t) => {
    const world = await startWorld({ readLimits: { waitLimitMs: PIECE_LIMIT_MS, largePageBytesPerSecond: 1 } });
    t.after(() => world.stop());
    const shop = await openShop(world);
    const orderBytes = await fill(world, shop);
    const clients = await Promise.all(
      Array.from({ length: WAITING_CLIENTS }, () => openAnswer(world, shop, `/v1/orders?limit=${ORDERS}`)),
    );
    let received = 0;
    for (const client of clients) {
      client.on('error', () => {});
      client.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
    }
    // Each has its first piece before it waits.
    await until(async () => received >= WAITING_CLIENTS * orderBytes, 'the pages never began');
    assert.equal((await shop.api.get('/v1/orders?limit=1')).status, 200);
    assert.ok(received < ORDERS * orderBytes, `${received} bytes passed`);
    for (const client of clients) client.destroy();
    await until(async () => world.db.pool.idleCount === world.db.pool.totalCount, 'a connection is still in use');
    assert.ok(!world.logLines.some((line) => line.includes('query_failed')));
  });
});

async function openAnswer(
  world: World,
  shop: Shop,
  path: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const outgoing = request(`${world.origin}/api${path}`, {
    headers: { authorization: `Bearer ${shop.apiKey}`, ...headers },
    agent: false,
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Requests that were logged as begun and not as ended can't be seen; connections that are open can. */
function openAnswers(world: World): number {
  return (world.app.server as unknown as { _connections: number })._connections;
}

/** One order as large as can be reported, and copies of it under ids of their own. */
async function fill(world: World, shop: Shop): Promise<number> {
  const line = { listing_id: '⌚'.repeat(500), title: '😀'.repeat(500), quantity: 1 };
  const answer = await shop.post('/v1/orders', {
    channel_order_id: 'SO-1',
    lines: Array.from({ length: 200 }, () => line),
    metadata: { padding: 'x'.repeat(9_000) },
  });
  assert.equal(answer.status, 201);
  await world.db.query(
    rawSql(`
      insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, created_at, updated_at)
      select integration_id, left(id, -3) || lpad(i::text, 3, '0'), organization_id, channel_order_id || '-' || i, status, is_test,
        replace(document, '"' || id || '"', '"' || left(id, -3) || lpad(i::text, 3, '0') || '"'), created_at, updated_at
      from orders, generate_series(1, ${ORDERS}) i
      -- Now and then the order itself has one of these ids.
      where integration_id = '${shop.integrationId}' and right(id, 3) <> lpad(i::text, 3, '0')
      order by i limit ${ORDERS - 1}`),
  );
  const size = Buffer.byteLength(answer.text);
  assert.ok(size * ORDERS > 10 * WHOLE_PAGE_BYTES);
  return size;
}
