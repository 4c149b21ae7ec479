import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import { until } from '../../../../test/harness/database/locks.ts';
import { part, publishNew, watch } from '../../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../../test/harness/world.ts';
import { sql } from '../../../db/sql.ts';
import { setEnabled, setRateLimit } from '../../../dealers/integrations/integrations.ts';
import { rotateApiKey } from '../../../dealers/integrations/rotate-api-key.ts';
import { editItem } from '../../../inventory/items/item-operations.ts';

/** What differs between two answers by nature. */
const VARYING = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
/** The fast path takes no request that says how long its body is, not even that it has none. */
const FRAMEWORK_ONLY = { 'content-length': '0' };
/** With this many bytes an answer is counted while it is on its way. */
const COUNTED_BYTES = 65_536;
/** Published by Fastify whenever it calls a handler. */
const HANDLER_CHANNEL = 'tracing:fastify.request.handler:start';

describe('a cached read on the fast path', () => {
  let world: World;
  let dealer: Dealer;
  let id: string;
  let agent: Agent;
  let handled = 0;
  const count = () => {
    handled += 1;
  };
  before(async () => {
    world = await startWorld();
    subscribe(HANDLER_CHANNEL, count);
  });
  after(async () => {
    unsubscribe(HANDLER_CHANNEL, count);
    await world.stop();
  });
  beforeEach(async () => {
    dealer = await world.dealer();
    id = await publishNew(world, dealer, watch({ description: 'Long. '.repeat(400) }));
    agent = new Agent({ keepAlive: true });
  });
  afterEach(() => agent.destroy());

  type Answer = { status: number; headers: Record<string, string>; fixed: string[]; bytes: string; isHandled: boolean };

  async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
    const handledBefore = handled;
    const outgoing = request(`${world.origin}/api${path}`, {
      method,
      agent,
      headers: { authorization: `Bearer ${dealer.apiKey}`, ...headers },
    });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const { rawHeaders } = response;
    const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
    return {
      status: response.statusCode ?? 0,
      headers: response.headers as Record<string, string>,
      // As they are sent, in letters and number.
      fixed: lines.filter((line) => !VARYING.includes(line.split(':', 1)[0]?.toLowerCase() ?? '')).sort(),
      bytes: Buffer.concat(chunks).toString('base64'),
      isHandled: handled > handledBefore,
    };
  }

  /** The same request on both paths; the first one makes the answer that is cached. */
  async function askBoth(path: string, headers: Record<string, string> = {}): Promise<{ fast: Answer; slow: Answer }> {
    await ask(path, headers);
    const fast = await ask(path, headers);
    const slow = await ask(path, { ...headers, ...FRAMEWORK_ONLY });
    assert.deepEqual([fast.isHandled, slow.isHandled], [false, true], path);
    const comparable = ({ status, fixed, bytes }: Answer) => ({ status, fixed, bytes });
    assert.deepEqual(comparable(fast), comparable(slow), path);
    assert.notEqual(fast.headers['x-request-id'], slow.headers['x-request-id']);
    const tokens = [fast, slow].map((answer) => Number(answer.headers['x-ratelimit-remaining']));
    assert.equal(tokens[1], (tokens[0] ?? 0) - 1, 'one token for each');
    return { fast, slow };
  }

  it('is answered with the status, headers and bytes of the framework, in every encoding', async () => {
    const partId = await publishNew(world, dealer, part());
    for (const path of [
      `/v1/listings/${id}`,
      `/v1/parts/${partId}`,
      '/v1/listings',
      '/v1/listings?limit=10&status=active',
      '/v1/parts?updated_after=2026-01-01',
      `/v1/listings?ids=${id}`,
    ]) {
      for (const encoding of ['identity', 'br', 'gzip', 'gzip;q=0, br;q=0']) {
        const { fast } = await askBoth(path, { 'accept-encoding': encoding });
        assert.equal(fast.status, 200);
      }
    }
  });

  it('is answered by 304 like the framework does, whatever the tags', async () => {
    for (const path of [`/v1/listings/${id}`, '/v1/listings']) {
      const { headers } = await ask(path);
      const etag = headers.etag ?? '';
      for (const [tags, status] of [
        [etag, 304],
        ['*', 304],
        [`"other", ${etag.replace('W/', '')}`, 304],
        ['"other"', 200],
        ['', 200],
      ] as const) {
        const { fast } = await askBoth(path, { 'if-none-match': tags });
        assert.equal(fast.status, status, tags);
      }
    }
  });

  it('is answered so whether its page is small or counted while it is on its way', async () => {
    for (let index = 0; index < 40; index++) {
      await publishNew(world, dealer, watch({ description: `Long ${index}. `.repeat(200) }));
    }
    for (const limit of [2, 40]) {
      const { fast } = await askBoth(`/v1/listings?limit=${limit}`);
      const size = Number(fast.headers['content-length']);
      assert.equal(size >= COUNTED_BYTES, limit === 40, `${size} bytes`);
    }
  });

  it('gives way to the framework for HEAD, refusals and unknown ids, which say the same cold and warm', async () => {
    await ask(`/v1/listings/${id}`);
    const head = await ask(`/v1/listings/${id}`, {}, 'HEAD');
    assert.deepEqual([head.status, head.bytes, head.isHandled], [200, '', true]);
    for (const [path, status] of [
      ['/v1/listings/lst_0000000000000000000000000z', 404],
      ['/v1/listings/x', 404],
      ['/v1/listings?limit=0', 400],
      ['/v1/listings?after=x', 400],
    ] as const) {
      const [first, second] = [await ask(path), await ask(path)];
      assert.deepEqual([first.status, second.status], [status, status], path);
      assert.deepEqual(second.fixed, first.fixed);
    }
  });

  it('is the new answer from the next request after a change on', async () => {
    for (const path of [`/v1/listings/${id}`, '/v1/listings']) {
      for (let round = 0; round < 5; round++) {
        const title = `${path} ${round}`;
        await dealer.api.get(path);
        await editItem(world.channel, TESTER, dealer.organizationId, id, { title });
        for (let again = 0; again < 2; again++) assert.ok((await dealer.api.get(path)).text.includes(title));
      }
    }
  });

  it('is refused like any other when the integration is disabled, and when its key is replaced', async () => {
    const path = `/v1/listings/${id}`;
    await dealer.api.get(path);
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    const refused = await dealer.api.get(path);
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'integration_disabled']);
    await setEnabled(world.db, TESTER, dealer.integrationId, true);
    assert.equal((await dealer.api.get(path)).status, 200);
    await rotateApiKey(world.db, TESTER, dealer.integrationId);
    const unknown = await dealer.api.get(path);
    assert.deepEqual([unknown.status, unknown.body.error.code], [401, 'invalid_api_key']);
    assert.equal(unknown.headers['x-ratelimit-limit'], undefined);
  });

  it('spends one token also when the framework refuses it', async () => {
    const path = `/v1/listings/${id}`;
    await setRateLimit(world.db, TESTER, dealer.integrationId, 10);
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) statuses.push((await dealer.api.get(path)).status);
    assert.deepEqual(statuses, [...Array(10).fill(200), 429, 429]);
  });

  it('is never the answer to another integration, which can not read the item', async () => {
    const path = `/v1/listings/${id}`;
    await dealer.api.get(path);
    const other = await world.dealer();
    assert.equal((await other.api.get(path)).status, 404);
    assert.equal((await other.api.get(path)).status, 404);
  });

  it('names ignored parameters each time', async () => {
    for (let count = 0; count < 3; count++) {
      const { headers } = await dealer.api.get('/v1/listings?limit=5&updated_afer=x');
      assert.equal(headers['x-ignored-fields'], 'updated_afer');
    }
  });

  it('leaves the same line and the same row in the logs', async () => {
    const { fast, slow } = await askBoth('/v1/listings?limit=7', { 'idempotency-key': 'of no use here' });
    const ids = [fast, slow].map((answer) => answer.headers['x-request-id'] ?? '');
    type Row = { request_id: string };
    let rows: Row[] = [];
    await until(async () => {
      rows = await world.db.query<Row>(sql`
        select request_id, integration_id, method, route, query, status, code, key_hint, idempotency_key, object_id,
          ignored_fields, original_request_id
        from api_requests where request_id = any(${ids}::text[])`);
      return rows.length === 2;
    }, 'the two requests were never logged');
    const [one, other] = ids.map((requestId) => rows.find((row) => row.request_id === requestId));
    assert.deepEqual({ ...one, request_id: '' }, { ...other, request_id: '' });
    const lines = ids.map((requestId) => JSON.parse(world.logLines.find((line) => line.includes(requestId)) ?? '{}'));
    const [oneLine, otherLine] = lines.map((line) => ({ ...line, requestId: '', durationMs: 0, time: '' }));
    assert.equal(oneLine?.msg, 'GET /api/v1/listings 200');
    assert.deepEqual(oneLine, otherLine);
  });

  it('is answered in its turn when requests are pipelined, cached ones and others', async (t) => {
    const paths = [
      `/v1/listings/${id}`,
      '/v1/me',
      '/v1/listings',
      `/v1/listings/${id}`,
      '/v1/listings?limit=5',
      '/v1/me',
    ];
    const alone: string[] = [];
    for (const path of paths) alone.push((await ask(path)).bytes);
    const socket = connect(world.port, '127.0.0.1');
    t.after(() => socket.destroy());
    const lines = `Host: x\r\nAuthorization: Bearer ${dealer.apiKey}\r\n`;
    socket.write(paths.map((path) => `GET /api${path} HTTP/1.1\r\n${lines}\r\n`).join(''));
    socket.write(`GET /api/v1/me HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const bodies = bodiesOf(Buffer.concat(chunks)).map((body) => body.toString('base64'));
    assert.deepEqual(bodies.slice(0, -1), alone);
  });
});

/** The bodies of answers that follow each other on one connection. */
function bodiesOf(bytes: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const start = bytes.indexOf('\r\n\r\n', from) + 4;
    const length = Number(/content-length: (\d+)/i.exec(bytes.toString('latin1', from, start))?.[1]);
    bodies.push(bytes.subarray(start, start + length));
    from = start + length;
  }
  return bodies;
}
