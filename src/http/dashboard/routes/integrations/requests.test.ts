import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addShop, freshKey, openShop, type Shop } from '../../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { ERRORS } from '../../../../contract/errors.ts';
import { sql } from '../../../../db/sql.ts';
import { RATE_LIMIT_OVERRIDE_MIN } from '../../../../dealers/input-rules.ts';
import { setRateLimit } from '../../../../dealers/integrations/integrations.ts';
import { pruneApiRequests } from '../../../logging/api-requests.ts';

const READS_PER_MINUTE = 5;
const ERRORS_PER_MINUTE = 20;
const THROTTLED_PER_MINUTE = 2;
const WAIT_LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;

type Answer = { headers: Record<string, unknown> };
const requestIdOf = ({ headers }: Answer) => String(headers['x-request-id']);

describe('the log of API requests', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  before(async () => {
    world = await startWorld({
      requestLogLimits: {
        batchMs: 20,
        readsPerMinute: READS_PER_MINUTE,
        errorsPerMinute: ERRORS_PER_MINUTE,
        throttledPerMinute: THROTTLED_PER_MINUTE,
      },
    });
    owner = await signedIn(world);
    shop = await addShop(world, owner);
  });
  after(() => world.stop());

  /** The log is written behind the answers. */
  async function logged(answer: Answer) {
    const end = Date.now() + WAIT_LIMIT_MS;
    for (;;) {
      const found = await owner.call('GET', `/requests/${requestIdOf(answer)}`);
      if (found.status === 200) return found.body;
      assert.equal(found.status, 404, found.text);
      assert.ok(Date.now() < end, 'the request is not in the log');
      await sleep(10);
    }
  }
  async function list(query: Record<string, string>) {
    const answer = await owner.call('GET', `/requests?${new URLSearchParams(query)}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }
  const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

  it('shows a write with what it made, what was ignored, and nothing of its body', async () => {
    const key = freshKey();
    const body = { channel_order_id: 'SO-1', channel_orderid: 'x', customer: { email: 'ada@person.example' } };
    const answer = await shop.api.post('/v1/orders', body, key);
    assert.equal(answer.status, 201, answer.text);
    const { request, integration_name, replay_ids } = await logged(answer);
    const { at, duration_ms, ...rest } = request;
    assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000);
    assert.ok(duration_ms >= 0);
    assert.deepEqual(rest, {
      id: requestIdOf(answer),
      integration_id: shop.integrationId,
      method: 'POST',
      route: '/v1/orders',
      query: [],
      status: 201,
      code: null,
      key_hint: `${shop.apiKey.slice(0, 8)}…`,
      idempotency_key: key['idempotency-key'],
      object_id: answer.body.id,
      ignored_fields: [{ path: 'channel_orderid', meant: 'channel_order_id' }],
      original_request_id: null,
    });
    assert.equal(typeof integration_name, 'string');
    assert.deepEqual(replay_ids, []);
    const rows = await world.db.query(
      sql`select request_id from api_requests where api_requests::text like '%person.example%'`,
    );
    assert.deepEqual(rows, []);
  });

  it('leads from a replay to its original and back', async () => {
    const key = freshKey();
    const first = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, key);
    const again = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, key);
    const replay = await logged(again);
    assert.equal(replay.request.original_request_id, requestIdOf(first));
    assert.equal(replay.request.object_id, first.body.id);
    assert.equal((await logged(first)).replay_ids[0], requestIdOf(again));
    assert.equal((await logged(again)).is_original_logged, true);
    assert.deepEqual(idsOf(await list({ q: key['idempotency-key'] })), [requestIdOf(again), requestIdOf(first)]);
  });

  it('names what other writes made: a customer, a cancelled order, the event of a ping', async () => {
    const customer = await shop.post('/v1/customers', { external_id: 'c-1' });
    assert.equal((await logged(customer)).request.object_id, customer.body.id);
    const order = await shop.post('/v1/orders', { channel_order_id: 'SO-3' });
    const cancel = await shop.post(`/v1/orders/${order.body.id}/cancel`);
    const { request } = await logged(cancel);
    assert.deepEqual([request.route, request.object_id], ['/v1/orders/{id}/cancel', order.body.id]);
    const ping = await shop.post('/v1/test/webhook_ping');
    assert.equal((await logged(ping)).request.object_id, ping.body.event_id);
  });

  it('keeps the values of known parameters alone, and no cursor', async () => {
    const other = await addShop(world, owner);
    await publishNew(world, other, watch());
    const path = '/v1/listings?limit=2&status=active&email=ada@person.example&status=%00';
    for (const answer of [await other.api.get(path), await other.api.get(path.replace('&status=%00', ''))]) {
      const { request } = await logged(answer);
      assert.deepEqual(request.query, [
        { name: 'limit', value: '2' },
        { name: 'status', value: 'active' },
      ]);
    }
    const cursor = await logged(await other.api.get('/v1/orders?after=abc%00'));
    assert.deepEqual(cursor.request.query, [{ name: 'after', value: null }]);
    assert.equal(cursor.request.status, 400);
  });

  it('has the reads of the fast path, up to the limit of a minute, and counts the others', async () => {
    const other = await addShop(world, owner);
    const itemId = await publishNew(world, other, watch());
    const answers = [];
    for (let count = 0; count < 3 * READS_PER_MINUTE; count++)
      answers.push(await other.api.get(`/v1/listings/${itemId}`));
    await logged(await other.api.get('/v1/orders/ord_00000000000000000000000000'));
    const { data } = await list({ integration_id: other.integrationId, status: '2xx' });
    // The minute may have turned meanwhile.
    assert.ok(data.length >= READS_PER_MINUTE && data.length <= 2 * READS_PER_MINUTE, String(data.length));
    assert.equal(data[0].route, '/v1/listings/{id}');
    assert.equal(data.at(-1).id, requestIdOf(answers[0] as Answer));
    const end = Date.now() + WAIT_LIMIT_MS;
    const uncounted = async () =>
      3 * READS_PER_MINUTE - data.length - (await owner.call('GET', '/requests/choices')).body.reads_not_logged;
    while ((await uncounted()) > 0) {
      assert.ok(Date.now() < end, 'the reads are not counted');
      await sleep(10);
    }
  });

  it('has all errors, also of unknown paths, found by status, method, route and request id', async () => {
    const other = await addShop(world, owner);
    const missing = await other.api.get('/v1/orders/ord_00000000000000000000000000');
    // The log has milliseconds; the time range below tells these requests apart.
    await sleep(5);
    const unknown = await other.api.get('/v1/nothing?email=ada@person.example');
    const refused = await other.post('/v1/orders', {
      channel_orderid: 'SO-1',
      lines: [{ listingId: 'x', colour: 'y' }],
    });
    await sleep(5);
    const made = await other.post('/v1/orders', { channel_order_id: 'SO-1' });
    await logged(made);
    // A typo is the likeliest reason of a refusal, so the log says what was meant.
    const { request: refusal, error } = await logged(refused);
    assert.equal(error.cause, ERRORS.invalid_request.cause);
    assert.equal((await logged(made)).error, null);
    assert.deepEqual(refusal.ignored_fields, [
      { path: 'channel_orderid', meant: 'channel_order_id' },
      { path: 'lines[0].listingId', meant: 'lines[0].listing_id' },
      { path: 'lines[0].colour', meant: null },
    ]);
    const integration_id = other.integrationId;
    assert.deepEqual(
      idsOf(await list({ integration_id, status: '4xx' })),
      [refused, unknown, missing].map(requestIdOf),
    );
    assert.deepEqual(idsOf(await list({ integration_id, method: 'POST' })), [made, refused].map(requestIdOf));
    assert.deepEqual(idsOf(await list({ integration_id, route: '/v1/orders/{id}' })), [requestIdOf(missing)]);
    assert.deepEqual(idsOf(await list({ q: requestIdOf(refused) })), [requestIdOf(refused)]);
    // From the first instant on, before the second: with and without another filter.
    const at = await Promise.all([unknown, made].map(async (one) => (await logged(one)).request.at as string));
    const [from = '', to = ''] = at;
    assert.deepEqual(idsOf(await list({ integration_id, from, to })), [refused, unknown].map(requestIdOf));
    assert.deepEqual(idsOf(await list({ integration_id, from, status: '2xx' })), [requestIdOf(made)]);
    assert.deepEqual(idsOf(await list({ integration_id, to: from, status: '4xx' })), [requestIdOf(missing)]);
    assert.equal((await list({ integration_id, period: 'day' })).count.value, 4);
    const { request } = await logged(unknown);
    assert.deepEqual([request.route, request.code, request.query], [null, 'route_not_found', []]);
    const found = await owner.call('GET', `/search?q=${requestIdOf(refused)}`);
    assert.deepEqual(
      found.body.data.map(({ kind, id }: { kind: string; id: string }) => [kind, id]),
      [['request', requestIdOf(refused)]],
    );
  });

  it('has errors up to the limit of a minute, 429 up to another, and every write that succeeded', async () => {
    const dealer = await signedIn(world);
    const other = await addShop(world, dealer);
    const sent = 3 * ERRORS_PER_MINUTE;
    for (let count = 0; count < sent; count++) await other.post('/v1/orders', {});
    // The rate limit ends them: the refusals beyond it cost the client nothing.
    await setRateLimit(world.db, TESTER, other.integrationId, RATE_LIMIT_OVERRIDE_MIN);
    let throttled = 0;
    while (throttled < 3 * THROTTLED_PER_MINUTE) if ((await other.post('/v1/orders', {})).status === 429) throttled++;
    await setRateLimit(world.db, TESTER, other.integrationId, 1_000_000);
    const made = await other.post('/v1/orders', { channel_order_id: 'SO-1' });
    assert.equal(made.status, 201, made.text);
    const rowsOf = async () =>
      await world.db.query<{ id: string; status: number }>(sql`
        select request_id as id, status from api_requests where integration_id = ${other.integrationId}`);
    const uncounted = async () => {
      const { errors_not_logged } = (await dealer.call('GET', '/requests/choices')).body;
      return sent + throttled + 1 - (await rowsOf()).length - errors_not_logged;
    };
    const end = Date.now() + WAIT_LIMIT_MS;
    while ((await uncounted()) !== 0) {
      assert.ok(Date.now() < end, 'not all errors are logged or counted');
      await sleep(10);
    }
    const rows = await rowsOf();
    assert.ok(rows.some(({ id }) => id === requestIdOf(made)));
    // The minute may have turned meanwhile.
    const errors = rows.filter(({ status }) => status === 400 || status === 422).length;
    assert.ok(errors >= ERRORS_PER_MINUTE && errors <= 2 * ERRORS_PER_MINUTE, `${errors} errors`);
    const refused = rows.filter(({ status }) => status === 429).length;
    assert.ok(refused >= THROTTLED_PER_MINUTE && refused <= 2 * THROTTLED_PER_MINUTE, `${refused} of 429`);
  });

  it('is read page by page over all integrations, forwards and back', async () => {
    const dealer = await signedIn(world);
    const shops = [await addShop(world, dealer), await addShop(world, dealer)];
    const sent: string[] = [];
    for (let count = 0; count < 6; count++) {
      const answer = await (shops[count % 2] as Shop).post('/v1/orders', { channel_order_id: `SO-${count}` });
      sent.unshift(requestIdOf(answer));
    }
    const page = async (query: string) => (await dealer.call('GET', `/requests?limit=2${query}`)).body;
    const end = Date.now() + WAIT_LIMIT_MS;
    while ((await page('')).count.value < sent.length) {
      assert.ok(Date.now() < end, 'the requests are not in the log');
      await sleep(10);
    }
    const first = await page('');
    const second = await page(`&after=${first.next_cursor}`);
    const third = await page(`&after=${second.next_cursor}`);
    assert.deepEqual([first, second, third].flatMap(idsOf), sent);
    assert.equal(third.next_cursor, null);
    assert.deepEqual(idsOf(await page(`&before=${third.previous_cursor}`)), idsOf(second));
  });

  it('shows a dealer nothing of another’s', async () => {
    const stranger = await openShop(world);
    const answer = await stranger.post('/v1/orders', { channel_order_id: 'SO-1' });
    await logged(await shop.post('/v1/orders', { channel_order_id: 'SO-9' }));
    for (const query of [{ q: requestIdOf(answer) }, { integration_id: stranger.integrationId }] as const) {
      assert.deepEqual((await list(query)).data, []);
    }
  });

  it('forgets requests after seven days', async () => {
    const answer = await shop.post('/v1/orders', { channel_order_id: 'SO-10' });
    await logged(answer);
    await pruneApiRequests(world.db, new Date(Date.now() + 7 * DAY_MS - 3_600_000));
    await logged(answer);
    while ((await pruneApiRequests(world.db, new Date(Date.now() + 7 * DAY_MS + 60_000))) > 0);
    assert.equal((await owner.call('GET', `/requests/${requestIdOf(answer)}`)).status, 404);
  });
});

describe('the log of API requests under load', () => {
  it('drops and counts what does not fit, and writes what waits when the service stops', async (t) => {
    const limits = { batchMs: 3_600_000, batchRows: 4, pendingRows: 3 };
    const world = await startWorld({ requestLogLimits: limits });
    t.after(() => world.stop());
    const shop = await openShop(world);
    for (let count = 0; count < 5; count++) await shop.post('/v1/orders', { channel_order_id: `SO-${count}` });
    const { db } = world;
    assert.deepEqual(await db.query(sql`select request_id from api_requests`), []);
    await world.app.close();
    const [row] = await db.query(sql`
      select (select count(*) from api_requests) as logged, (select sum(dropped)::bigint from api_request_counts) as dropped`);
    assert.deepEqual(row, { logged: 3, dropped: 2 });
  });

  it('logs ten times as many requests of all integrations of a dealer as of one, and counts the others', async (t) => {
    const world = await startWorld({ requestLogLimits: { readsPerMinute: 1 } });
    t.after(() => world.stop());
    const shop = await openShop(world);
    const shops = [shop, ...(await Promise.all(Array.from({ length: 24 }, () => addShop(world, shop))))];
    for (const one of shops) assert.equal((await one.api.get('/v1/me')).status, 200);
    await world.app.close();
    const [row] = await world.db.query<{ logged: number; counted: number }>(sql`
      select (select count(*) from api_requests) as logged,
        (select sum(reads_not_logged)::bigint from api_request_counts) as counted`);
    // A new minute may begin meanwhile.
    assert.ok(row?.logged === 10 || row?.logged === 20, JSON.stringify(row));
    assert.equal(row.logged + row.counted, shops.length);
  });
});
