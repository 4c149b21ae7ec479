import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cloneDatabase } from '../../../../test/harness/database/database.ts';
import { holdLock, lockClock } from '../../../../test/harness/database/locks.ts';
import { faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { rawSql, sql } from '../../../db/sql.ts';

let world: World;
let shop: Shop;
let listingId: string;
before(async () => {
  world = await startWorld({ database: await cloneDatabase({ poolSize: 4, lockTimeoutMs: 400 }) });
  shop = await openShop(world);
  listingId = await publishNew(world, shop, watch({ units: 1_000 }));
  await world.db.query(
    rawSql(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused by the test'; end $$;`),
  );
});
after(() => world.stop());

/** A fault in the database, and how to repair it. */
type Fault = { breaks: string; repairs: string };

function refusing(event: 'insert' | 'update', table: string): Fault {
  return {
    breaks: `create trigger refuse before ${event} on ${table} for each row execute function refuse()`,
    repairs: `drop trigger refuse on ${table}`,
  };
}

/** Everything goes well until the commit itself. */
function refusingCommit(table: string): Fault {
  return {
    breaks: `create constraint trigger refuse after insert or update on ${table} deferrable initially deferred
      for each row execute function refuse()`,
    repairs: `drop trigger refuse on ${table}`,
  };
}

function missing(table: string): Fault {
  return { breaks: `alter table ${table} rename to lost`, repairs: `alter table lost rename to ${table}` };
}

let madeOrders = 0;
const newOrder = () => {
  madeOrders += 1;
  const customer = { external_id: `c${madeOrders}`, email: `c${madeOrders}@example.ch` };
  return { channel_order_id: `SO-${madeOrders}`, customer, lines: [{ listing_id: listingId }] };
};
const placeOrder = async () => (await shop.post('/v1/orders', newOrder())).body.id;

/** The writes of the API: the path and body of one that would succeed. */
const writes = {
  order: async () => ({ path: '/v1/orders', body: newOrder(), status: 201 }),
  cancellation: async () => ({ path: `/v1/orders/${await placeOrder()}/cancel`, body: {}, status: 200 }),
  customer: async () => ({ path: '/v1/customers', body: { email: 'x@example.ch', external_id: 'x' }, status: 201 }),
  bulk: async () => ({
    path: '/v1/customers/bulk',
    body: { customers: [{ email: 'x@example.ch' }, { email: 'y@example.ch', external_id: 'y' }] },
    status: 200,
  }),
  ping: async () => ({ path: '/v1/test/webhook_ping', body: {}, status: 200 }),
};

const faults: [keyof typeof writes, string, string, Fault][] = [
  ['order', 'lookup_failed', 'the idempotency record can’t be read', missing('idempotency_records')],
  ['order', 'insert_failed', 'the order is refused', refusing('insert', 'orders')],
  ['order', 'insert_failed', 'its lines are refused', refusing('insert', 'order_lines')],
  ['order', 'insert_failed', 'its stock can’t be held', refusing('update', 'items')],
  ['order', 'insert_failed', 'its customer is refused', refusing('insert', 'customers')],
  ['order', 'insert_failed', 'its event is refused', refusing('insert', 'events')],
  ['order', 'insert_failed', 'its idempotency record is refused', refusing('insert', 'idempotency_records')],
  ['order', 'insert_failed', 'the commit fails', refusingCommit('orders')],
  ['cancellation', 'lookup_failed', 'the idempotency record can’t be read', missing('idempotency_records')],
  ['cancellation', 'cancel_failed', 'the order can’t be changed', refusing('update', 'orders')],
  ['cancellation', 'cancel_failed', 'the stock can’t be given back', refusing('update', 'items')],
  ['cancellation', 'cancel_failed', 'its idempotency record is refused', refusing('insert', 'idempotency_records')],
  ['cancellation', 'cancel_failed', 'the commit fails', refusingCommit('orders')],
  ['customer', 'lookup_failed', 'the idempotency record can’t be read', missing('idempotency_records')],
  ['customer', 'upsert_failed', 'the customer is refused', refusing('insert', 'customers')],
  ['customer', 'upsert_failed', 'its external id is refused', refusing('insert', 'customer_external_ids')],
  ['customer', 'upsert_failed', 'its idempotency record is refused', refusing('insert', 'idempotency_records')],
  ['customer', 'upsert_failed', 'the commit fails', refusingCommit('customers')],
  ['bulk', 'lookup_failed', 'the idempotency record can’t be read', missing('idempotency_records')],
  ['bulk', 'bulk_upsert_failed', 'the customers are refused', refusing('insert', 'customers')],
  ['bulk', 'bulk_upsert_failed', 'an external id is refused', refusing('insert', 'customer_external_ids')],
  ['bulk', 'bulk_upsert_failed', 'the commit fails', refusingCommit('customers')],
  ['ping', 'lookup_failed', 'the idempotency record can’t be read', missing('idempotency_records')],
  ['ping', 'ping_failed', 'the event is refused', refusing('insert', 'events')],
  ['ping', 'ping_failed', 'the commit fails', refusingCommit('events')],
];

/** All that a write could leave behind. */
async function traces(): Promise<unknown> {
  return await world.db.query(sql`
    select (select json_agg(o.document order by o.id) from orders o) as orders,
      (select json_agg(l order by l.id) from order_lines l) as lines,
      (select json_agg(c order by c.id) from customers c) as customers,
      (select json_agg(x order by x.external_id) from customer_external_ids x) as links,
      (select json_agg(i.reserved_units) from items i) as held,
      (select count(*) from events) as events,
      (select count(*) from deliveries) as deliveries,
      (select json_agg(c.stamp) from channel_clocks c) as clocks,
      (select json_agg(r.key order by r.key) from idempotency_records r) as records`);
}

describe('a write that fails in the database', () => {
  for (const [name, code, what, fault] of faults) {
    it(`answers ${code} for ${name}, if ${what}; nothing stays behind, and the same key succeeds later`, async () => {
      await world.db.query(rawSql('delete from customers'));
      const { path, body, status } = await writes[name]();
      const key = freshKey();
      const before = await traces();
      await world.db.query(rawSql(fault.breaks));
      const failed = await shop.api.post(path, body, key);
      await world.db.query(rawSql(fault.repairs));
      assert.deepEqual(faultOf(failed), { status: 500, code });
      assert.doesNotMatch(failed.text, /refused by the test|lost|idempotency_records/);
      assert.deepEqual(await traces(), before);
      const repeated = await shop.api.post(path, body, key);
      assert.equal(repeated.status, status, repeated.text);
      assert.equal(repeated.headers['idempotent-replay'], undefined);
      const replay = await shop.api.post(path, body, key);
      assert.equal(replay.text, repeated.text);
      assert.equal(replay.headers['idempotent-replay'], 'true');
    });
  }

  it('leaves the cause in the log', () => {
    const lines = world.logLines.map((line) => JSON.parse(line)).filter((line) => line.code === 'upsert_failed');
    assert.ok(lines.some((line) => line.level === 'error' && line.err.message === 'refused by the test'));
  });
});

describe('a write that can’t get its locks', () => {
  const lock = 'select 1 from items where id = $1 for update';
  const customers = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
  const holds: [string, keyof typeof writes, () => ReturnType<typeof holdLock>][] = [
    ['the clock', 'order', () => lockClock(world.db, shop.integrationId)],
    ['the stock', 'order', () => holdLock(world.db, lock, [listingId])],
    ['the customers', 'order', () => holdLock(world.db, customers, [`customers ${shop.organizationId}`])],
    ['the stock', 'cancellation', () => holdLock(world.db, lock, [listingId])],
    ['the customers', 'customer', () => holdLock(world.db, customers, [`customers ${shop.organizationId}`])],
    ['the customers', 'bulk', () => holdLock(world.db, customers, [`customers ${shop.organizationId}`])],
    ['the clock', 'ping', () => lockClock(world.db, shop.integrationId)],
  ];
  for (const [what, name, take] of holds) {
    it(`answers lookup_failed for ${name} without ${what}, and the same key succeeds later`, async () => {
      await world.db.query(rawSql('delete from customers'));
      const { path, body, status } = await writes[name]();
      const key = freshKey();
      const before = await traces();
      const held = await take();
      const failed = await shop.api.post(path, body, key);
      await held.release();
      assert.deepEqual(faultOf(failed), { status: 500, code: 'lookup_failed' });
      assert.deepEqual(await traces(), before);
      assert.equal((await shop.api.post(path, body, key)).status, status);
    });
  }
});

describe('a read that fails in the database', () => {
  it('answers query_failed for orders', async () => {
    const id = await placeOrder();
    const { breaks, repairs } = missing('orders');
    // The clock moves, so that no answer is left over from before.
    await shop.post('/v1/test/webhook_ping');
    await world.db.query(rawSql(breaks));
    const answers = [await shop.api.get('/v1/orders'), await shop.api.get(`/v1/orders/${id}`)];
    await world.db.query(rawSql(repairs));
    for (const answer of answers) assert.deepEqual(faultOf(answer), { status: 500, code: 'query_failed' });
    assert.equal((await shop.api.get(`/v1/orders/${id}`)).status, 200);
  });
});
