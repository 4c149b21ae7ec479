import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import { cloneDatabase } from '../../../../test/harness/database/database.ts';
import { admissionCounter, holdLock, lockClock, untilBlocked } from '../../../../test/harness/database/locks.ts';
import type { ApiResponse } from '../../../../test/harness/http/api-client.ts';
import { faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { customersLock, idempotencyLock, lockByName } from '../../../db/advisory-locks.ts';
import { openDatabase } from '../../../db/database.ts';
import { rawSql, sql } from '../../../db/sql.ts';
import { setRateLimit } from '../../../dealers/integrations/integrations.ts';
import { deleteTestData } from '../../../sales/test-mode/test-data.ts';
import { pruneRecords, tryLockKeys } from './idempotency-records.ts';

const RACERS = 100;
const HOUR_MS = 60 * 60 * 1000;

let world: World;
before(async () => {
  world = await startWorld({ database: await cloneDatabase({ poolSize: 2 }) });
});
after(() => world.stop());

function assertOneFirst(answers: ApiResponse[], status: number): void {
  assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [status]);
  assert.equal(new Set(answers.map((answer) => answer.text)).size, 1, 'the answers differ');
  const firsts = answers.filter((answer) => answer.headers['idempotent-replay'] === undefined);
  assert.equal(firsts.length, 1, 'not exactly one is the first');
  const firstId = firsts[0]?.headers['x-request-id'];
  for (const answer of answers) {
    if (answer === firsts[0]) assert.equal(answer.headers['original-request-id'], undefined);
    else assert.equal(answer.headers['original-request-id'], firstId);
  }
  assert.equal(new Set(answers.map((answer) => answer.headers['x-request-id'])).size, answers.length);
}

async function countOf(table: 'orders' | 'customers' | 'events', shop: Shop): Promise<number> {
  const [row] = await world.db.query<{ count: number }>(
    table === 'customers'
      ? sql`select count(*) as count from customers where organization_id = ${shop.organizationId}`
      : table === 'orders'
        ? sql`select count(*) as count from orders where integration_id = ${shop.integrationId}`
        : sql`select count(*) as count from events where integration_id = ${shop.integrationId}`,
  );
  return row?.count ?? 0;
}

describe('a hundred racing requests with one key', () => {
  const writes: [string, object, number, 'orders' | 'customers' | 'events'][] = [
    ['/v1/orders', { channel_order_id: 'SO-1', customer: { email: 'a@b.ch' } }, 201, 'orders'],
    ['/v1/customers', { email: 'a@b.ch' }, 201, 'customers'],
    ['/v1/customers/bulk', { customers: [{ email: 'a@b.ch' }] }, 200, 'customers'],
    ['/v1/test/webhook_ping', {}, 200, 'events'],
  ];
  for (const [path, body, status, table] of writes) {
    it(`do ${path} once, through two connections, and get equal answers`, async () => {
      const shop = await openShop(world);
      const key = freshKey();
      const answers = await Promise.all(Array.from({ length: RACERS }, () => shop.api.post(path, body, key)));
      assertOneFirst(answers, status);
      assert.equal(await countOf(table, shop), 1);
    });
  }

  it('cancel an order once', async () => {
    const shop = await openShop(world);
    const { id } = (await shop.post('/v1/orders', { channel_order_id: 'SO-1' })).body;
    const key = freshKey();
    const path = `/v1/orders/${id}/cancel`;
    const answers = await Promise.all(Array.from({ length: RACERS }, () => shop.api.post(path, undefined, key)));
    assertOneFirst(answers, 200);
  });

  it('make one order over two nodes on one database', async (t) => {
    const { address } = world.database;
    const pool = () => openDatabase({ address, poolSize: 2, onIdleError: () => {} });
    const database = () => {
      const db = pool();
      return { db, address, drop: () => db.close() };
    };
    const nodes: World[] = [];
    for (const _ of [1, 2]) {
      const node = await startWorld({ database: database() });
      t.after(() => node.stop());
      nodes.push(node);
    }
    const shop = await openShop(world);
    const clients = nodes.map((node) => node.client(shop.apiKey));
    for (let round = 0; round < 3; round++) {
      const key = freshKey();
      const body = { channel_order_id: `SO-${round}`, lines: [{ title: 'Watch' }] };
      const answers = await Promise.all(
        Array.from({ length: RACERS }, (_, index) => clients[index % 2]?.post('/v1/orders', body, key)),
      );
      assertOneFirst(answers as ApiResponse[], 201);
    }
    assert.equal(await countOf('orders', shop), 3);
  });

  it('of which the first fails: the next one runs, and the others replay that', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    await failFirstInsert();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key)),
    );
    const failed = answers.filter((answer) => answer.status !== 201);
    assert.deepEqual(failed.map(faultOf), [{ status: 500, code: 'insert_failed' }]);
    assertOneFirst(
      answers.filter((answer) => answer.status === 201),
      201,
    );
    assert.equal(await countOf('orders', shop), 1);
  });
});

/** Has the database refuse the next order, and no more after it: a sequence does not roll back. */
async function failFirstInsert(): Promise<void> {
  await world.db.query(
    rawSql(`
      create sequence orders_tried;
      create function refuse_first() returns trigger language plpgsql as $$
      begin if nextval('orders_tried') = 1 then raise 'refused'; end if; return new; end $$;
      create trigger refuse_first before insert on orders for each row execute function refuse_first();`),
  );
}

describe('a replay', () => {
  it('sends the stored status and bytes, its own request id, the first one’s, and fresh rate headers', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const body = { channel_order_id: 'SO-1', metadata: { b: 1, a: [2] } };
    const first = await shop.api.post('/v1/orders', body, key);
    const replay = await shop.api.post('/v1/orders', body, key);
    assert.equal(replay.status, 201);
    assert.equal(replay.text, first.text);
    assert.equal(replay.headers['idempotent-replay'], 'true');
    assert.notEqual(replay.headers['x-request-id'], first.headers['x-request-id']);
    assert.equal(replay.headers['original-request-id'], first.headers['x-request-id']);
    const tokens = ({ headers }: ApiResponse) => Number(headers['x-ratelimit-remaining']);
    assert.equal(tokens(first) - tokens(replay), 2);
  });

  it('shows what was answered then, not what has become of it', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const first = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    await shop.post(`/v1/orders/${first.body.id}/cancel`);
    const replay = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    assert.equal(replay.text, first.text);
    assert.equal(replay.body.status, 'received');
  });

  it('is the answer of then, also if the dealer’s country no longer explains the phone', async () => {
    const shop = await openShop(world, { country: 'CH' });
    const phone = '022 730 00 00';
    for (const [path, body] of [
      ['/v1/customers', { phone }],
      ['/v1/customers/bulk', { customers: [{ phone }] }],
      ['/v1/orders', { channel_order_id: 'SO-1', customer: { phone } }],
    ] as const) {
      const setCountry = (country: string | null) =>
        world.db.query(sql`update organizations set country = ${country} where id = ${shop.organizationId}`);
      const key = freshKey();
      const first = await shop.api.post(path, body, key);
      assert.ok(first.status < 300, first.text);
      await setCountry(null);
      const replay = await shop.api.post(path, body, key);
      assert.equal(replay.text, first.text);
      assert.equal(replay.headers['idempotent-replay'], 'true');
      await setCountry('CH');
    }
  });

  it('is gone with the test order that it is about, also if that was cancelled after going live', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const { id } = (await shop.post('/v1/orders', { channel_order_id: 'SO-1' })).body;
    await world.db.query(sql`update integrations set is_test_mode = false where id = ${shop.integrationId}`);
    const [key, liveKey] = [freshKey(), freshKey()];
    assert.equal((await shop.api.post(`/v1/orders/${id}/cancel`, undefined, key)).status, 200);
    const live = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, liveKey);
    await deleteTestData(world.channel, TESTER, shop.organizationId, shop.integrationId);
    const notFound = { status: 404, code: 'order_not_found' };
    assert.deepEqual(faultOf(await shop.api.post(`/v1/orders/${id}/cancel`, undefined, key)), notFound);
    const replay = await shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, liveKey);
    assert.equal(replay.text, live.text);
  });

  it('counts against the limit, and is refused beyond it', async () => {
    const shop = await openShop(world);
    await setRateLimit(world.db, TESTER, shop.integrationId, 10);
    const key = freshKey();
    const statuses: number[] = [];
    for (let time = 0; time < 6; time++) {
      statuses.push((await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key)).status);
    }
    assert.deepEqual(statuses, [201, 201, 201, 201, 201, 429]);
  });

  it('survives a restart of the process', async (t) => {
    const shop = await openShop(world);
    const key = freshKey();
    const first = await shop.api.post('/v1/customers', { email: 'a@b.ch' }, key);
    const db = openDatabase({ address: world.database.address, poolSize: 2, onIdleError: () => {} });
    const next = await startWorld({ database: { db, address: world.database.address, drop: () => db.close() } });
    t.after(() => next.stop());
    const replay = await next.client(shop.apiKey).post('/v1/customers', { email: 'a@b.ch' }, key);
    assert.equal(replay.status, 201);
    assert.equal(replay.text, first.text);
    assert.equal(replay.headers['idempotent-replay'], 'true');
  });
});

describe('a key', () => {
  it('belongs to one request: another body, spelling or path under it is refused', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const json = { ...key, 'content-type': 'application/json' };
    await shop.api.post('/v1/customers', '{"email":"a@b.ch"}', json);
    const refused = { status: 409, code: 'key_reused_with_different_body' };
    assert.deepEqual(faultOf(await shop.api.post('/v1/customers', '{"email":"c@d.ch"}', json)), refused);
    assert.deepEqual(faultOf(await shop.api.post('/v1/customers', '{"email": "a@b.ch"}', json)), refused);
    assert.deepEqual(faultOf(await shop.api.post('/v1/test/webhook_ping', '{"email":"a@b.ch"}', json)), refused);
    const order = '{"channel_order_id":"SO-1","email":"a@b.ch"}';
    assert.deepEqual(faultOf(await shop.api.post('/v1/orders', order, json)), refused);
    assert.equal((await shop.api.post('/v1/customers', '{"email":"a@b.ch"}', json)).status, 201);
  });

  it('is refused with another body also while the first request runs', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const clock = await lockClock(world.db, shop.integrationId);
    const first = shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    await untilBlocked(world.db);
    const second = shop.api.post('/v1/orders', { channel_order_id: 'SO-2' }, key);
    await shop.api.get('/v1/me');
    await clock.release();
    assert.equal((await first).status, 201);
    assert.deepEqual(faultOf(await second), { status: 409, code: 'key_reused_with_different_body' });
  });

  it('is the integration’s own', async () => {
    const key = freshKey();
    for (const shop of [await openShop(world), await openShop(world)]) {
      const answer = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
      assert.equal(answer.status, 201);
      assert.equal(answer.headers['idempotent-replay'], undefined);
    }
  });

  it('has 1 to 255 printable ASCII characters', async () => {
    const shop = await openShop(world);
    for (const key of ['k', ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~ x', 'k'.repeat(255)]) {
      const answer = await shop.api.post('/v1/test/webhook_ping', undefined, { 'idempotency-key': key });
      assert.equal(answer.status, 200, key);
    }
    const param = 'Idempotency-Key';
    for (const key of ['k'.repeat(256), 'kéy', 'tab\there']) {
      const answer = await shop.api.post('/v1/test/webhook_ping', undefined, { 'idempotency-key': key });
      assert.deepEqual(faultOf(answer), { status: 400, code: 'invalid_request', param }, key);
    }
    for (const headers of [{}, { 'idempotency-key': '' }, { 'idempotency-key': '   ' }]) {
      const answer = await shop.api.post('/v1/test/webhook_ping', undefined, headers);
      assert.deepEqual(faultOf(answer), { status: 400, code: 'missing_idempotency_key', param });
    }
  });

  it('is not spent by a failure: the same key runs again', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    await shop.post('/v1/orders', { channel_order_id: 'taken' });
    const attempt = async (body: object) => await shop.api.post('/v1/orders', body, key);
    assert.equal(faultOf(await attempt({})).code, 'invalid_request');
    assert.equal(faultOf(await attempt({ channel_order_id: 'taken' })).code, 'duplicate_channel_order_id');
    const success = await attempt({ channel_order_id: 'free' });
    assert.equal(success.status, 201);
    assert.equal(success.headers['idempotent-replay'], undefined);
    assert.equal((await attempt({ channel_order_id: 'free' })).headers['idempotent-replay'], 'true');

    const other = freshKey();
    const missing = await shop.api.post('/v1/orders/ord_00000000000000000000000000/cancel', undefined, other);
    assert.equal(faultOf(missing).code, 'order_not_found');
    assert.equal((await shop.api.post(`/v1/orders/${success.body.id}/cancel`, undefined, other)).status, 200);

    const third = freshKey();
    await shop.post('/v1/customers', { email: 'a@b.ch', external_id: 'c1' });
    const conflict = await shop.api.post('/v1/customers', { email: 'a@b.ch', external_id: 'c2' }, third);
    assert.equal(faultOf(conflict).code, 'customer_contact_conflict');
    assert.equal((await shop.api.post('/v1/customers', { email: 'a@b.ch' }, third)).status, 200);
  });

  it('is kept for 24 hours and is new after them', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const start = new Date();
    world.setTime(start);
    try {
      const first = await shop.api.post('/v1/customers', { email: 'a@b.ch' }, key);
      world.setTime(new Date(start.getTime() + 24 * HOUR_MS - 1));
      await pruneRecords(world.db, world.channel.now());
      assert.equal((await shop.api.post('/v1/customers', { email: 'a@b.ch' }, key)).text, first.text);
      world.setTime(new Date(start.getTime() + 24 * HOUR_MS));
      const renewed = await shop.api.post('/v1/customers', { email: 'c@d.ch' }, key);
      assert.equal(renewed.status, 201);
      assert.notEqual(renewed.body.id, first.body.id);
      world.setTime(new Date(start.getTime() + 25 * HOUR_MS));
      const replay = await shop.api.post('/v1/customers', { email: 'c@d.ch' }, key);
      assert.equal(replay.headers['idempotent-replay'], 'true');
      world.setTime(new Date(start.getTime() + 49 * HOUR_MS));
      assert.ok((await pruneRecords(world.db, world.channel.now())) >= 1);
      const records = await world.db.query(sql`
        select key from idempotency_records where integration_id = ${shop.integrationId}`);
      assert.deepEqual(records, []);
    } finally {
      world.setTime(null);
    }
  });
});

describe('a key that another request holds too long', () => {
  const inUse = { status: 409, code: 'idempotency_key_in_use' };

  it('is answered idempotency_key_in_use with Retry-After: 1, and is free afterwards', async (t) => {
    const database = await cloneDatabase({ poolSize: 4 });
    const impatient = await startWorld({ database, writeWaitMs: 300 });
    t.after(() => impatient.stop());
    const shop = await openShop(impatient);
    for (const [path, body] of [
      ['/v1/orders', { channel_order_id: 'SO-1' }],
      ['/v1/customers', { email: 'a@b.ch' }],
    ] as const) {
      const key = freshKey();
      const name = idempotencyLock(shop.integrationId, key['idempotency-key']);
      // As another node holds it while it runs the request.
      const elsewhere = await holdLock(database.db, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
      const answer = await shop.api.post(path, body, key);
      assert.deepEqual(faultOf(answer), inUse);
      assert.equal(answer.body.error.type, 'idempotency_error');
      assert.equal(answer.headers['retry-after'], '1');
      await elsewhere.release();
      const again = await shop.api.post(path, body, key);
      assert.equal(again.status, 201);
      assert.equal(again.headers['idempotent-replay'], undefined);
    }
  });

  it('is waited for in the process too, by all but one without a connection', async (t) => {
    const database = await cloneDatabase({ poolSize: 2 });
    const impatient = await startWorld({ database, writeWaitMs: 300 });
    t.after(() => impatient.stop());
    const shop = await openShop(impatient);
    const key = freshKey();
    const clock = await lockClock(database.db, shop.integrationId);
    const first = shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    await untilBlocked(database.db);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key)),
    );
    for (const answer of answers) {
      assert.deepEqual(faultOf(answer), inUse);
      assert.equal(answer.headers['retry-after'], '1');
    }
    await clock.release();
    assert.equal((await first).status, 201);
  });

  it('shares its lock with nothing else, whatever the client has computed', async () => {
    // As texts the two names have the same hash in PostgreSQL; the key was found within a second.
    const request = {
      integrationId: 'int_01h455vb4pex5vsknk084sn02q',
      key: 'AAAA1[S|AcmVIPbL',
      fingerprint: Buffer.alloc(0),
      requestId: 'req_1',
      bodyBytes: 0,
    };
    const victim = customersLock('org_01h455vb4pex5vsknk084sn02q');
    const [hashes] = await world.db.query<{ areEqual: boolean }>(sql`
      select hashtextextended(${`idempotency ${request.integrationId} ${request.key}`}, 0) = hashtextextended(${victim}, 0)
        as "areEqual"`);
    assert.equal(hashes?.areEqual, true);
    const isLocked = await world.db.transaction(async (tx) => {
      await tx.query(lockByName(victim));
      return await world.db.transaction((other) => tryLockKeys(other, [request]));
    });
    assert.deepEqual(isLocked, [true]);
  });

  it('does not keep other orders of its batch waiting', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const name = idempotencyLock(shop.integrationId, key['idempotency-key']);
    const untilAdmitted = await admissionCounter(shop);
    const clock = await lockClock(world.db, shop.integrationId);
    const first = shop.post('/v1/orders', { channel_order_id: 'goes first' });
    await untilBlocked(world.db);
    const elsewhere = await holdLock(world.db, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
    const busy = shop.api.post('/v1/orders', { channel_order_id: 'busy' }, key);
    const others = ['a', 'b', 'c'].map((id) => shop.post('/v1/orders', { channel_order_id: id }));
    await untilAdmitted(10);
    await clock.release();
    for (const answer of await Promise.all([first, ...others])) assert.equal(answer.status, 201);
    await elsewhere.release();
    assert.equal((await busy).status, 201);
    assert.equal(await countOf('orders', shop), 5);
  });
});
