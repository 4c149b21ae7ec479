import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cloneDatabase } from '../../../../test/harness/database/database.ts';
import { lockClock } from '../../../../test/harness/database/locks.ts';
import { countRoundTrips } from '../../../../test/harness/database/round-trips.ts';
import type { ApiResponse } from '../../../../test/harness/http/api-client.ts';
import { sendBehind } from '../../../../test/harness/http/send-behind.ts';
import { faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { sql } from '../../../db/sql.ts';

let world: World;
before(async () => {
  world = await startWorld({ database: await cloneDatabase({ poolSize: 3 }) });
});
after(() => world.stop());

/** Documents of 0.3 MB: one is more than a transaction takes besides others. */
const lines = Array.from({ length: 100 }, () => ({ title: '\u0001'.repeat(500) }));
const small = [{ title: 'A strap' }];

async function report(shop: Shop, names: string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const name of names) {
    const body = { channel_order_id: name, lines: name.startsWith('large') ? lines : small };
    const { status, body: order } = await shop.post('/v1/orders', body);
    assert.equal(status, 201);
    ids.set(name, order.id);
  }
  return ids;
}

type Write = { path: string; body: object; cost: number };
type Sent = { answers: ApiResponse[]; transactions: string[] };

/** Sends writes together, behind one that goes first; returns their answers, and the transaction of each. */
async function sendTogether(shop: Shop, first: Write, writes: Write[], keys = writes.map(freshKey)): Promise<Sent> {
  const lock = () => lockClock(world.db, shop.integrationId);
  const answers = await sendBehind(
    world.db,
    shop,
    { lock, first: () => shop.post(first.path, first.body), cost: first.cost },
    () => writes.map(({ path, body }, index) => shop.api.post(path, body, keys[index])),
  );
  const names = keys.map((key) => key['idempotency-key']);
  const rows = await world.db.query<{ transaction: string }>(sql`
    select xmin::text as transaction from idempotency_records
    where integration_id = ${shop.integrationId} and key = any(${names}::text[])
    order by array_position(${names}::text[], key)`);
  return { answers, transactions: rows.map((row) => row.transaction) };
}

const cancel = (id: string | undefined, reason: string): Write => {
  return { path: `/v1/orders/${id}/cancel`, body: { reason }, cost: 2 };
};

const NAMES = ['small 1', 'large 1', 'large 2', 'small 2', 'small 3', 'large 3', 'small 4', 'small 5'];

/** Requests need not arrive in the order in which they are sent, so it is open which small ones go with which large one. */
function assertSplit(transactions: string[]): void {
  assert.equal(transactions.length, NAMES.length);
  const ofLarge = transactions.filter((_, index) => NAMES[index]?.startsWith('large'));
  assert.equal(new Set(ofLarge).size, 3, 'large ones share a transaction');
  assert.ok(new Set(transactions).size < NAMES.length, 'no small ones share a transaction');
}

describe('writes that handle large documents', () => {
  it('are split: cancellations of large orders are committed apart, now and when they are cancelled already', async () => {
    const shop = await openShop(world);
    const ids = await report(shop, ['first', ...NAMES]);
    const first = cancel(ids.get('first'), 'first');
    const cancellations = NAMES.map((name) => cancel(ids.get(name), name));
    const { answers, transactions } = await sendTogether(shop, first, cancellations);
    assertSplit(transactions);
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer.body.cancellation.reason, NAMES[index]);
      assert.equal((await shop.api.get(`/v1/orders/${answer.body.id}`)).text, answer.text);
    }
    const again = await sendTogether(shop, first, cancellations);
    assertSplit(again.transactions);
    assert.deepEqual(
      again.answers.map((answer) => answer.text),
      answers.map((answer) => answer.text),
    );
  });

  it('are split: orders of many lines are reported and cancelled apart, though their bodies are small', async () => {
    const shop = await openShop(world);
    const first = { path: '/v1/orders', body: { channel_order_id: 'first' }, cost: 2 };
    const many = Array.from({ length: 200 }, () => ({}));
    const reports = NAMES.map((name) => ({ ...first, body: { channel_order_id: name, lines: many } }));
    const reported = await sendTogether(shop, first, reports);
    // A transaction takes a thousand lines.
    assert.equal(new Set(reported.transactions).size, 2);
    assert.deepEqual(
      reported.answers.map(({ body }) => [body.channel_order_id, body.lines.length]),
      NAMES.map((name) => [name, 200]),
    );
    const [ofFirst] = (await shop.api.get('/v1/orders?channel_order_id=first')).body.data;
    const cancellations = reported.answers.map(({ body }) => cancel(body.id, body.channel_order_id));
    const cancelled = await sendTogether(shop, cancel(ofFirst.id, 'first'), cancellations);
    assert.equal(new Set(cancelled.transactions).size, 2);
    assert.deepEqual(
      cancelled.answers.map(({ body }) => body.cancellation.reason),
      NAMES,
    );
  });

  it('are split also if they are about the same order, and if others are about none', async () => {
    const shop = await openShop(world);
    const ids = await report(shop, ['first', 'large']);
    const unknown = `ord_${'0'.repeat(26)}`;
    const orders = [unknown, ids.get('large'), unknown, ids.get('large'), ids.get('large')];
    const { answers, transactions } = await sendTogether(
      shop,
      cancel(ids.get('first'), 'first'),
      orders.map((id) => cancel(id, 'sold elsewhere')),
    );
    assert.deepEqual(
      answers.map((answer) => faultOf(answer).code ?? answer.body.status),
      ['order_not_found', 'cancelled', 'order_not_found', 'cancelled', 'cancelled'],
    );
    assert.equal(new Set([1, 3, 4].map((index) => answers[index]?.text)).size, 1);
    assert.equal(transactions.length, 3);
    assert.equal(new Set(transactions).size, 3);
  });

  it('are split if their recorded answers are large', async (t) => {
    const shop = await openShop(world);
    const ids = await report(shop, ['first', ...NAMES]);
    const cancellations = NAMES.map((name) => cancel(ids.get(name), name));
    const keys = NAMES.map(freshKey);
    const first = cancel(ids.get('first'), 'first');
    const { answers } = await sendTogether(shop, first, cancellations, keys);
    const trips = countRoundTrips(world.db);
    t.after(() => trips.stop());
    const replays = await sendTogether(shop, first, cancellations, keys);
    assert.deepEqual(
      replays.answers.map((answer) => [answer.text, answer.headers['idempotent-replay']]),
      answers.map((answer) => [answer.text, 'true']),
    );
    const lookups = trips.transactions().filter((one) => one.flat().some((text) => text.includes('storage_usage')));
    // One is of the write that goes first.
    assert.ok(lookups.length >= 1 + 3 && lookups.length < 1 + NAMES.length, `${lookups.length} transactions`);
  });

  it('are split: test events of large orders are recorded apart', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const ids = await report(shop, ['first', ...NAMES]);
    const trigger = (name: string): Write => {
      const body = { type: 'order.fulfilled', object_id: ids.get(name) };
      return { path: '/v1/test/webhook_ping', body, cost: 1 };
    };
    const { answers, transactions } = await sendTogether(shop, trigger('first'), NAMES.map(trigger));
    assertSplit(transactions);
    const events = await world.db.query<{ id: string; body: string }>(sql`
      select id, body from events where integration_id = ${shop.integrationId}`);
    const objectOf = new Map(events.map(({ id, body }) => [id, JSON.parse(body).data.object.id]));
    assert.deepEqual(
      answers.map(({ body }) => objectOf.get(body.event_id)),
      NAMES.map((name) => ids.get(name)),
    );
  });
});
