import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cloneDatabase } from '../../../../test/harness/database/database.ts';
import { admissionCounter, holdLock, lockClock, untilBlocked } from '../../../../test/harness/database/locks.ts';
import type { ApiResponse } from '../../../../test/harness/http/api-client.ts';
import { sendBehind } from '../../../../test/harness/http/send-behind.ts';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { part, publishNew } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { rawSql, sql } from '../../../db/sql.ts';
import { confirmOrder } from '../../../sales/orders/order-operations.ts';

/** How many orders fit into one batch. */
const BATCH = 25;

let world: World;
before(async () => {
  world = await startWorld({ database: await cloneDatabase({ poolSize: 3 }) });
});
after(() => world.stop());

async function whileClockIsHeld(shop: Shop, send: () => Promise<ApiResponse>[]): Promise<ApiResponse[]> {
  const lock = () => lockClock(world.db, shop.integrationId);
  const first = () => shop.post('/v1/orders', { channel_order_id: 'goes first' });
  return await sendBehind(world.db, shop, { lock, first, cost: 2 }, send);
}

async function whileCustomersAreHeld(shop: Shop, send: () => Promise<ApiResponse>[]): Promise<ApiResponse[]> {
  const statement = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
  const lock = () => holdLock(world.db, statement, [`customers ${shop.organizationId}`]);
  const first = () => shop.post('/v1/customers', { external_id: 'goes first' });
  return await sendBehind(world.db, shop, { lock, first, cost: 2 }, send);
}

function countBy(answers: ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const name = answer.body.error?.code ?? String(answer.status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('orders that arrive together', () => {
  it('are committed apart if they are large: their work would keep other clients waiting', async () => {
    const shop = await openShop(world);
    const lines = Array.from({ length: 100 }, () => ({ title: 'x'.repeat(450) }));
    const answers = await whileClockIsHeld(shop, () =>
      ['a', 'b', 'c'].map((name) => shop.post('/v1/orders', { channel_order_id: name, lines })),
    );
    assert.deepEqual(countBy(answers), { 201: 3 });
    const [row] = await world.db.query<{ commits: number }>(sql`
      select count(distinct xmin::text) as commits from orders
      where integration_id = ${shop.integrationId} and channel_order_id in ('a', 'b', 'c')`);
    assert.equal(row?.commits, 3);
  });

  it('share a commit, and each has its own order', async () => {
    const shop = await openShop(world);
    const answers = await whileClockIsHeld(shop, () =>
      Array.from({ length: 2 * BATCH }, (_, index) =>
        shop.post('/v1/orders', { channel_order_id: `SO-${index}`, metadata: { index } }),
      ),
    );
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer.status, 201);
      assert.equal(answer.body.channel_order_id, `SO-${index}`);
      assert.deepEqual(answer.body.metadata, { index });
      assert.deepEqual((await shop.api.get(`/v1/orders/${answer.body.id}`)).body, answer.body);
    }
    // Each batch has one stamp.
    assert.equal(new Set(answers.map((answer) => answer.body.updated_at)).size, 2);
  });

  it('each get their own answer: new ones, duplicates within and before the batch, replays, reused keys', async () => {
    const shop = await openShop(world);
    const partId = await publishNew(world, shop, part({ units: 3 }));
    const replayed = freshKey();
    const earlier = await shop.api.post('/v1/orders', { channel_order_id: 'earlier' }, replayed);
    const report = (channelOrderId: string) => ({ channel_order_id: channelOrderId, lines: [{ part_id: partId }] });
    const answers = await whileClockIsHeld(shop, () => [
      shop.post('/v1/orders', report('first')),
      shop.post('/v1/orders', report('twice')),
      shop.post('/v1/orders', report('twice')),
      shop.post('/v1/orders', report('earlier')),
      shop.api.post('/v1/orders', { channel_order_id: 'earlier' }, replayed),
      shop.api.post('/v1/orders', report('other body'), replayed),
      shop.post('/v1/orders', report('second')),
      shop.post('/v1/orders', report('third')),
    ]);
    assert.deepEqual(countBy(answers), {
      201: 5,
      duplicate_channel_order_id: 2,
      key_reused_with_different_body: 1,
    });
    const [first, , , ofEarlier, replay, reused, second, third] = answers;
    assert.equal(first?.status, 201);
    assert.equal(faultOf(ofEarlier as ApiResponse).code, 'duplicate_channel_order_id');
    assert.equal(replay?.text, earlier.text);
    assert.equal(replay?.headers['idempotent-replay'], 'true');
    assert.equal(faultOf(reused as ApiResponse).code, 'key_reused_with_different_body');
    // A duplicate takes no stock: three units serve three of the four that are new.
    const matches = [first, answers[1], answers[2], second, third].filter((answer) => answer?.body.lines?.[0]?.match);
    assert.equal(matches.length, 3);
  });

  it('fail apart: the one that the database refuses fails, the others are stored', async () => {
    const shop = await openShop(world);
    await world.db.query(
      rawSql(`
        create function refuse_one() returns trigger language plpgsql as $$
        begin if new.channel_order_id = 'poison' then raise 'refused'; end if; return new; end $$;
        create trigger refuse_one before insert on orders for each row execute function refuse_one();`),
    );
    const ids = Array.from({ length: BATCH }, (_, index) => (index === 7 ? 'poison' : `SO-${index}`));
    const keys = ids.map(freshKey);
    const answers = await whileClockIsHeld(shop, () =>
      ids.map((id, index) => shop.api.post('/v1/orders', { channel_order_id: id }, keys[index])),
    );
    await world.db.query(rawSql('drop trigger refuse_one on orders; drop function refuse_one;'));
    assert.deepEqual(countBy(answers), { 201: BATCH - 1, insert_failed: 1 });
    assert.equal(faultOf(answers[7] as ApiResponse).code, 'insert_failed');
    const again = await shop.api.post('/v1/orders', { channel_order_id: 'poison' }, keys[7]);
    assert.equal(again.status, 201);
    assert.equal(again.headers['idempotent-replay'], undefined);
    assert.equal((await shop.api.get('/v1/orders')).body.data.length, BATCH + 1);
  });

  it('are answered as stored, whatever happens when workers are woken', async (t) => {
    const database = await cloneDatabase({ poolSize: 3 });
    const onEvents = () => {
      throw new Error('nobody listens');
    };
    const deaf = await startWorld({ database, channel: { ...world.channel, db: database.db, onEvents } });
    t.after(() => deaf.stop());
    const shop = await openShop(deaf);
    const key = freshKey();
    const first = await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    assert.equal(first.status, 201, first.text);
    assert.equal((await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key)).text, first.text);
    assert.equal((await shop.post(`/v1/orders/${first.body.id}/cancel`)).status, 200);
    assert.equal((await shop.post('/v1/test/webhook_ping')).status, 200);
    const faults = deaf.logLines
      .map((line) => JSON.parse(line))
      .filter((line) => line.err?.message === 'nobody listens');
    assert.equal(faults.length, 3);
  });

  it('of test mode and of live mode do not mix', async () => {
    const shop = await openShop(world);
    const setMode = (isTest: boolean) =>
      world.db.query(sql`update integrations set is_test_mode = ${isTest} where id = ${shop.integrationId}`);
    const untilAdmitted = await admissionCounter(shop);
    const clock = await lockClock(world.db, shop.integrationId);
    const first = shop.post('/v1/orders', { channel_order_id: 'first' });
    await untilBlocked(world.db);
    const live = shop.post('/v1/orders', { channel_order_id: 'live' });
    await untilAdmitted(4);
    // The mode is that of the moment in which a request was admitted.
    await setMode(true);
    const test = shop.post('/v1/orders', { channel_order_id: 'test' });
    await untilAdmitted(6);
    await clock.release();
    assert.equal((await first).body.is_test, false);
    assert.equal((await live).body.is_test, false);
    assert.equal((await test).body.is_test, true);
  });
});

describe('pings that arrive together', () => {
  it('share a commit, and each has its own event and delivery', async () => {
    const shop = await openShop(world);
    await world.db.query(sql`
      update webhook_endpoints set url = 'https://example.com/hooks' where integration_id = ${shop.integrationId}`);
    const ping = () => shop.post('/v1/test/webhook_ping');
    const lock = () => lockClock(world.db, shop.integrationId);
    const answers = await sendBehind(world.db, shop, { lock, first: ping, cost: 1 }, () =>
      Array.from({ length: 30 }, ping),
    );
    assert.deepEqual(countBy(answers), { 200: 30 });
    const events = await world.db.query<{ id: string; createdAt: Date; deliveryId: string }>(sql`
      select e.id, e.created_at as "createdAt", d.id as "deliveryId" from events e
      join deliveries d on d.integration_id = e.integration_id and d.event_id = e.id
      where e.id = any(${answers.map((answer) => answer.body.event_id)}::text[])`);
    const deliveryOf = new Map(events.map((event) => [event.id, event.deliveryId]));
    assert.equal(deliveryOf.size, 30);
    for (const { body } of answers) assert.equal(deliveryOf.get(body.event_id), body.delivery_id);
    assert.equal(new Set(events.map((event) => event.createdAt.getTime())).size, 1);
  });
});

describe('customers that arrive together', () => {
  it('share a commit, and each has its own answer: conflicts and bad phones harm nobody else', async () => {
    const shop = await openShop(world, { country: 'CH' });
    const replayed = freshKey();
    const earlier = await shop.api.post('/v1/customers', { external_id: 'c0', email: 'taken@example.ch' }, replayed);
    const bodies = [
      { external_id: 'c1', email: 'one@example.ch' },
      { external_id: 'c2', email: 'taken@example.ch' },
      { external_id: 'c3', phone: 'nobody could call this' },
      { external_id: 'c4', email: 'one@example.ch' },
      { external_id: 'c1', first_name: 'Ana' },
      { external_id: 'c5', phone: '022 730 00 00' },
    ];
    const answers = await whileCustomersAreHeld(shop, () => [
      ...bodies.map((body) => shop.post('/v1/customers', body)),
      shop.api.post('/v1/customers', { external_id: 'c0', email: 'taken@example.ch' }, replayed),
    ]);
    assert.deepEqual(
      answers.map((answer) => faultOf(answer).code ?? answer.status),
      [201, 'customer_contact_conflict', 'invalid_request', 'customer_contact_conflict', 200, 201, 201],
    );
    const [first, , badPhone, , update, , replay] = answers;
    assert.equal(badPhone?.body.error.param, 'phone');
    assert.equal(update?.body.id, first?.body.id);
    assert.equal(update?.body.first_name, 'Ana');
    assert.equal(update?.body.email, 'one@example.ch');
    assert.equal(first?.body.first_name, null);
    assert.equal(replay?.text, earlier.text);
    assert.equal(replay?.headers['idempotent-replay'], 'true');
    const rows = await world.db.query<{ id: string; transaction: string }>(sql`
      select id, xmin::text as transaction from customers
      where id = any(${[first?.body.id, answers[5]?.body.id]}::text[])`);
    assert.equal(rows.length, 2);
    assert.equal(new Set(rows.map((row) => row.transaction)).size, 1);
  });

  it('fail apart: the one that the database refuses fails, the others are stored', async () => {
    const shop = await openShop(world);
    await world.db.query(
      rawSql(`
        create function refuse_one() returns trigger language plpgsql as $$
        begin if new.email = 'poison@example.ch' then raise 'refused'; end if; return new; end $$;
        create trigger refuse_one before insert on customers for each row execute function refuse_one();`),
    );
    const names = ['a', 'poison', 'b', 'c'];
    const answers = await whileCustomersAreHeld(shop, () =>
      names.map((name) => shop.post('/v1/customers', { email: `${name}@example.ch` })),
    );
    await world.db.query(rawSql('drop trigger refuse_one on customers; drop function refuse_one;'));
    assert.deepEqual(
      answers.map((answer) => faultOf(answer).code ?? answer.status),
      [201, 'upsert_failed', 201, 201],
    );
  });
});

describe('cancellations that arrive together', () => {
  it('share a commit, and each has its own answer: matched and unknown orders harm nobody else', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const partId = await publishNew(world, shop, part({ units: 10 }));
    const report = async (id: string) =>
      (await shop.post('/v1/orders', { channel_order_id: id, lines: [{ part_id: partId, quantity: 2 }] })).body.id;
    const [first, one, two, sold] = [await report('0'), await report('1'), await report('2'), await report('3')];
    const foreign = (await sibling.post('/v1/orders', { channel_order_id: 'foreign' })).body.id;
    await confirmOrder(world.channel, COMMAND_LINE, shop.organizationId, sold);
    const cancel = (id: string, reason?: string) => shop.post(`/v1/orders/${id}/cancel`, { reason });
    const lock = () => lockClock(world.db, shop.integrationId);
    const answers = await sendBehind(world.db, shop, { lock, first: () => cancel(first), cost: 2 }, () => [
      cancel(one, 'first'),
      cancel(sold),
      cancel(foreign),
      cancel(two),
      cancel(one, 'again'),
    ]);
    assert.deepEqual(
      answers.map((answer) => faultOf(answer).code ?? answer.body.status),
      ['cancelled', 'order_matched', 'order_not_found', 'cancelled', 'cancelled'],
    );
    const [ofOne, , , ofTwo, again] = answers;
    assert.equal(ofOne?.body.cancellation.reason, 'first');
    assert.equal(again?.text, ofOne?.text);
    assert.equal(ofOne?.body.updated_at, ofTwo?.body.updated_at);
    for (const answer of [ofOne, ofTwo]) {
      assert.deepEqual((await shop.api.get(`/v1/orders/${answer?.body.id}`)).body, answer?.body);
    }
    assert.equal((await shop.api.get(`/v1/orders/${sold}`)).body.status, 'matched');
    // Of ten units two are sold; what the cancelled orders held is free again.
    assert.equal((await shop.api.get(`/v1/parts/${partId}`)).body.quantity, 8);
  });
});
