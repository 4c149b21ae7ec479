import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { holdLock, untilBlocked } from '../../../../../test/harness/database/locks.ts';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addShop, type Shop } from '../../../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { openDatabase } from '../../../../db/database.ts';
import { sql } from '../../../../db/sql.ts';

describe('the sales in the dashboard', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    shop = await addShop(world, owner);
  });
  after(() => world.stop());

  const read = async (path: string) => {
    const answer = await owner.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };

  it('are recorded with amount and buyer, listed, corrected and voided', async () => {
    const itemId = await publishNew(world, shop, watch({ title: 'Speedmaster', stockNumber: 'W-900' }));
    const customerId = (await shop.post('/v1/customers', { email: 'ana@example.ch', first_name: 'Ana' })).body.id;
    const choices = await read('/customer-choices?q=ana');
    assert.deepEqual(choices.data, [{ id: customerId, name: 'Ana', email: 'ana@example.ch', phone: null }]);
    const sale = { item_id: itemId, units: 1, amount: 500_000, customer_id: customerId };
    const { status, body } = await owner.call('POST', '/sales', sale);
    assert.equal(status, 200);
    const [row] = (await read('/sales?q=w-900')).data;
    assert.equal(row.id, body.id);
    assert.deepEqual(row.price, { amount: 500_000, currency: 'USD' });
    assert.deepEqual([row.channel, row.channel_name, row.order], ['counter', 'Over the counter', null]);
    assert.deepEqual(row.buyer, { name: 'Ana', customer_id: customerId });
    const again = await owner.call('POST', '/sales', sale);
    assert.equal(again.body.error.code, 'not_enough_units');
    assert.equal((await owner.call('PATCH', `/sales/${body.id}`, { amount: 450_000 })).status, 204);
    const { totals, tabs, unpriced } = await read('/sales/choices?q=w-900');
    assert.deepEqual([totals, unpriced], [[{ amount: 450_000, currency: 'USD' }], 0]);
    assert.equal((await owner.call('PATCH', `/sales/${body.id}`, { amount: null })).status, 204);
    const without = await read('/sales/choices?q=w-900');
    assert.deepEqual([without.totals, without.unpriced], [[], 1]);
    assert.equal(tabs.completed.value, 1);
    assert.equal((await owner.call('POST', `/sales/${body.id}/void`)).status, 204);
    assert.equal((await owner.call('POST', `/sales/${body.id}/void`)).body.error.code, 'already_voided');
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    assert.deepEqual((await read('/sales?q=w-900')).data, []);
    assert.equal((await read('/sales?q=w-900&tab=voided')).data[0].status, 'voided');
  });

  it('name the currency in which an amount is corrected, also before there is one', async () => {
    const itemId = await publishNew(world, shop, watch({ stockNumber: 'W-901' }));
    const { body } = await owner.call('POST', '/sales', { item_id: itemId, units: 1, amount: null, customer_id: null });
    const sale = async () => (await read('/sales?q=w-901')).data[0];
    // The business had another currency then, or the order has.
    await world.db.query(sql`update sales set currency = 'JPY' where id = ${body.id}`);
    assert.deepEqual([(await sale()).price, (await sale()).currency], [null, 'JPY']);
    assert.equal((await owner.call('PATCH', `/sales/${body.id}`, { amount: 890_000 })).status, 204);
    assert.deepEqual((await sale()).price, { amount: 890_000, currency: 'JPY' });
    // Sales of older releases have none: an amount is in the currency of the business.
    await world.db.query(sql`update sales set currency = null, amount = null where id = ${body.id}`);
    assert.equal((await sale()).currency, 'USD');
    assert.equal((await owner.call('PATCH', `/sales/${body.id}`, { amount: 890_000 })).status, 204);
    assert.deepEqual((await sale()).price, { amount: 890_000, currency: 'USD' });
  });

  it('are recorded once by an attempt that comes again, also at the same moment', async () => {
    const itemId = await publishNew(world, shop, part({ units: 5 }));
    const body = { item_id: itemId, units: 2, amount: null, customer_id: null, attempt: crypto.randomUUID() };
    const answers = await Promise.all([1, 2, 3].map(() => owner.call('POST', '/sales', body)));
    const [first, ...others] = answers.map((answer) => answer.body.id);
    assert.match(first, /^sal_/);
    assert.deepEqual(others, [first, first]);
    assert.deepEqual(await stockOf(world, itemId), { units: 3, held: 0 });
    const { status } = await owner.call('POST', '/sales', { ...body, attempt: 'another' });
    assert.equal(status, 200);
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    // The names are each dealer's own.
    const stranger = await signedIn(world);
    const theirs = await publishNew(world, await addShop(world, stranger), watch());
    const own = await stranger.call('POST', '/sales', { ...body, item_id: theirs, units: 1 });
    assert.equal(own.status, 200);
    assert.notEqual(own.body.id, first);
    assert.equal((await owner.call('POST', '/sales', { ...body, attempt: 'no blanks' })).status, 400);
  });

  it('answer an attempt that comes again as the first time, also when the item is sold and deleted since', async () => {
    const itemId = await publishNew(world, shop, watch());
    const body = { item_id: itemId, units: 1, amount: 100, customer_id: null, attempt: crypto.randomUUID() };
    const first = await owner.call('POST', '/sales', body);
    assert.equal(first.status, 200, first.text);
    assert.deepEqual((await owner.call('POST', '/sales', body)).body, first.body);
    assert.equal((await owner.call('DELETE', `/items/${itemId}`)).status, 204);
    assert.deepEqual((await owner.call('POST', '/sales', body)).body, first.body);
    const moved = await publishNew(world, shop, part({ units: 1 }));
    const movement = { movement: 'remove', units: 1, attempt: crypto.randomUUID() };
    assert.equal((await owner.call('POST', `/items/${moved}/movements`, movement)).status, 204);
    assert.equal((await owner.call('POST', `/items/${moved}/movements`, movement)).status, 204);
    assert.equal((await owner.call('DELETE', `/items/${moved}`)).status, 204);
    assert.equal((await owner.call('POST', `/items/${moved}/movements`, movement)).status, 204);
  });

  it('refuse an attempt whose name comes with something else, also at the same moment on another node', async (t) => {
    const ids = [await publishNew(world, shop, part({ units: 9 })), await publishNew(world, shop, part({ units: 9 }))];
    const [one, other] = ids;
    const isRefused = ({ status, body }: { status: number; body: { error?: { field: string } } }) =>
      status === 400 && body.error?.field === 'attempt';
    const body = { item_id: one, units: 1, amount: 100, customer_id: null, attempt: crypto.randomUUID() };
    assert.equal((await owner.call('POST', '/sales', body)).status, 200);
    for (const change of [{ item_id: other }, { units: 2 }, { amount: 200 }, { releases_reservations: true }]) {
      assert.ok(isRefused(await owner.call('POST', '/sales', { ...body, ...change })), JSON.stringify(change));
    }
    const movement = { movement: 'remove', units: 1, attempt: crypto.randomUUID() };
    assert.equal((await owner.call('POST', `/items/${one}/movements`, movement)).status, 204);
    for (const [id, change] of [
      [other, {}],
      [one, { units: 2 }],
      [one, { movement: 'restock' }],
    ] as const) {
      assert.ok(isRefused(await owner.call('POST', `/items/${id}/movements`, { ...movement, ...change })));
    }
    // A node makes the writes of a dealer one after the other.
    const { address } = world.database;
    const db = openDatabase({ address, poolSize: 4, onIdleError: () => {} });
    const secondNode = await startWorld({ database: { db, address, drop: () => db.close() } });
    t.after(() => secondNode.stop());
    const elsewhere = await signedIn(secondNode, { organizationId: owner.organizationId });
    const attempt = crypto.randomUUID();
    for (const send of [
      (by: typeof owner, id: string) => by.call('POST', '/sales', { ...body, item_id: id, attempt }),
      (by: typeof owner, id: string) => by.call('POST', `/items/${id}/movements`, { ...movement, attempt }),
    ]) {
      const items = await holdLock(world.db, 'select from items where id = any($1) for update', [ids]);
      const sent = [send(owner, one ?? ''), send(elsewhere, other ?? '')];
      await untilBlocked(world.db, 2);
      await items.release();
      const answers = await Promise.all(sent);
      assert.equal(answers.filter(({ status }) => status < 300).length, 1, answers.map(({ text }) => text).join());
      assert.equal(answers.filter(isRefused).length, 1);
    }
    const left = (await Promise.all(ids.map((id) => stockOf(world, id)))).map(({ units }) => units);
    assert.equal((left[0] ?? 0) + (left[1] ?? 0), 18 - 4);
  });

  it('show the newest customers for a choice before anything is typed', async () => {
    const { data } = await read('/customer-choices');
    assert.ok(data.length > 0);
  });

  it('of an order name its channel, number and buyer, and take the order back to the queue when they are voided', async () => {
    const itemId = await publishNew(world, shop, watch());
    const report = {
      channel_order_id: 'SO-77',
      customer: { first_name: 'Ben', last_name: 'Roth', email: 'ben@example.ch' },
      lines: [{ listing_id: itemId, unit_amount: 900 }],
    };
    const { body: order } = await shop.post('/v1/orders', report);
    await owner.call('POST', `/orders/${order.id}/confirm`);
    const [row] = (await read(`/sales?q=${order.id}`)).data;
    assert.deepEqual(row.order, { id: order.id, channel_order_id: 'SO-77' });
    assert.deepEqual([row.channel, row.buyer.name, row.price.amount], [shop.integrationId, 'Ben Roth', 900]);
    assert.equal((await read(`/sales?channel=${shop.integrationId}`)).data.length, 1);
    assert.equal((await owner.call('POST', `/sales/${row.id}/void`)).status, 204);
    assert.equal((await read(`/orders/${order.id}`)).order.status, 'received');
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
  });

  it('refuse unknown items and customers by the field of the form', async () => {
    const itemId = await publishNew(world, shop, watch());
    const sell = (fields: object) =>
      owner.call('POST', '/sales', { item_id: itemId, units: 1, amount: null, customer_id: null, ...fields });
    assert.equal((await sell({ item_id: 'lst_x' })).status, 404);
    const customer = await sell({ customer_id: 'cus_x' });
    assert.deepEqual([customer.status, customer.body.error.field], [404, 'customer_id']);
    assert.equal((await sell({ units: 0 })).status, 400);
    assert.equal((await sell({ amount: -1 })).status, 400);
  });
});
