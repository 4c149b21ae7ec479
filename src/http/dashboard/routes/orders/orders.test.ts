import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addShop, freshKey, type Shop } from '../../../../../test/harness/shop.ts';
import { publishNew, stockOf, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { LIST_PAGE_BYTES } from '../../../../contract/dashboard/list.ts';
import { sql } from '../../../../db/sql.ts';

describe('the orders in the dashboard', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    shop = await addShop(world, owner);
  });
  after(() => world.stop());

  async function report(fields: object = {}, from = shop) {
    const answer = await from.post('/v1/orders', { channel_order_id: freshKey()['idempotency-key'], ...fields });
    assert.equal(answer.status, 201, answer.text);
    return { ...answer.body, requestId: answer.headers['x-request-id'] };
  }
  const read = async (path: string) => {
    const answer = await owner.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const act = async (path: string, body: unknown = {}) => await owner.call('POST', path, body);

  it('go from the queue to fulfilled, and each step is in the timeline with who did it', async () => {
    const itemId = await publishNew(world, shop, watch({ title: 'Submariner' }));
    const order = await report({ lines: [{ title: 'A Submariner', unit_amount: 1_299_000 }], currency: 'USD' });
    const path = `/orders/${order.id}`;
    const page = await read(path);
    assert.equal(page.order.id, order.id);
    assert.deepEqual(page.lines[0].unmatched, { reason: 'unnamed', available_units: 0, held_by: [], reserved_by: [] });
    const { lines } = await read(`${path}/suggestions`);
    const [suggestion] = lines[0].suggestions.filter((one: { item: { id: string } }) => one.item.id === itemId);
    assert.deepEqual([suggestion.reasons, suggestion.price_difference_percent], [['price'], 0]);

    assert.equal((await act(`${path}/confirm`)).body.error.code, 'nothing_matched');
    assert.equal((await act(`${path}/match`, { line_id: order.lines[0].id, item_id: itemId })).status, 204);
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 1 });
    assert.equal((await act(`${path}/fulfil`)).body.error.message, 'An order that is received cannot be fulfilled.');
    assert.equal((await act(`${path}/confirm`)).status, 204);
    assert.equal((await act(`${path}/fulfil`)).status, 204);
    assert.equal((await read(path)).order.status, 'fulfilled');

    const { entries } = await read(`${path}/timeline`);
    const told = entries.map((entry: Record<string, unknown>) => entry.action ?? entry.type ?? entry.what);
    assert.deepEqual(told, ['order.fulfilled', 'order.fulfilled', 'order.confirmed', 'order.line_matched', 'reported']);
    const [event, fulfilled, , matched, reported] = entries;
    assert.deepEqual([event.kind, event.delivery, fulfilled.kind], ['event', null, 'change']);
    assert.match(fulfilled.actor, /^Person /);
    assert.deepEqual(matched.items, [{ id: itemId, name: matched.items[0].name }]);
    assert.match(matched.items[0].name, /Submariner/);
    assert.equal(reported.request_id, order.requestId);
  });

  it('have a timeline that ends at its limits, and says so', async () => {
    const order = await report();
    const path = `/orders/${order.id}/timeline`;
    assert.equal((await read(path)).is_cut, false);
    const fill = async (count: number, bytes: number) =>
      await world.db.query(sql`
        insert into audit_log (organization_id, id, at, actor_kind, action, object_kind, object_id, new_values)
        select ${owner.organizationId}, 'aud_' || ${bytes}::text || '_' || lpad(n::text, 4, '0'),
          clock_timestamp() - n * interval '1 minute', 'command_line', 'order.line_matched', 'order', ${order.id},
          jsonb_build_object('matches', jsonb_build_object('oln_1', repeat('x', ${bytes}::integer)))
        from generate_series(1, ${count}::integer) as n`);
    await fill(150, 10);
    const many = await read(path);
    assert.deepEqual([many.entries.length, many.is_cut], [101, true]);
    await fill(50, 240_000);
    const large = await owner.call('GET', path);
    assert.ok(large.text.length < LIST_PAGE_BYTES + 65_536, `an answer of ${large.text.length} bytes`);
    assert.equal(large.body.is_cut, true);
  });

  it('are dismissed with a reason that the site reads, and cancelled by the site with its request', async () => {
    const [dismissed, cancelled] = [await report(), await report()];
    assert.equal((await act(`/orders/${dismissed.id}/dismiss`, { reason: 'Sold in the shop' })).status, 204);
    const read1 = (await shop.api.get(`/v1/orders/${dismissed.id}`)).body;
    assert.deepEqual(read1.cancellation, { by: 'dealer', reason: 'Sold in the shop' });
    const { entries: first } = await read(`/orders/${dismissed.id}/timeline`);
    assert.deepEqual(
      first.map((entry: { kind: string }) => entry.kind),
      ['event', 'change', 'request'],
    );
    assert.equal(first[1].reason, 'Sold in the shop');
    const answer = await shop.post(`/v1/orders/${cancelled.id}/cancel`, { reason: 'Changed my mind' });
    const { entries: second } = await read(`/orders/${cancelled.id}/timeline`);
    assert.deepEqual(
      [second[0].what, second[0].request_id, second[0].reason],
      ['cancelled', answer.headers['x-request-id'], 'Changed my mind'],
    );
  });

  it('return to the queue when the sale is cancelled, with the stock back', async () => {
    const itemId = await publishNew(world, shop, watch());
    const order = await report({ lines: [{ listing_id: itemId }] });
    await act(`/orders/${order.id}/confirm`);
    assert.deepEqual(await stockOf(world, itemId), { units: 0, held: 0 });
    assert.equal((await act(`/orders/${order.id}/cancel-sale`)).status, 204);
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    const page = await read(`/orders/${order.id}`);
    assert.deepEqual([page.order.status, page.lines[0].unmatched.reason], ['received', 'free']);
  });

  it('lose an item from a line, and get one by an added line', async () => {
    const itemId = await publishNew(world, shop, watch());
    const order = await report({ lines: [{ listing_id: itemId }] });
    const path = `/orders/${order.id}`;
    assert.equal((await act(`${path}/unmatch`, { line_id: order.lines[0].id })).status, 204);
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    const missing = await act(`${path}/unmatch`, { line_id: 'oln_x' });
    assert.deepEqual([missing.status, missing.body.error.field], [404, 'line_id']);
    assert.equal((await act(`${path}/match`, { line_id: null, item_id: itemId, units: 1 })).status, 204);
    assert.equal((await read(path)).order.lines.length, 2);
    const tooMany = await act(`${path}/match`, { line_id: null, item_id: itemId, units: 1 });
    assert.deepEqual([tooMany.status, tooMany.body.error.code], [409, 'not_enough_units']);
  });

  it('show whom an unclear buyer may be, until somebody decides', async () => {
    const ana = (await shop.post('/v1/customers', { email: 'ana@example.ch', first_name: 'Ana' })).body.id;
    await shop.post('/v1/customers', { phone: '+41227300000' });
    const order = await report({ customer: { email: 'ana@example.ch', phone: '+41227300000' } });
    const page = await read(`/orders/${order.id}`);
    assert.equal(page.has_customer_conflict, true);
    assert.equal(page.conflicting_customers.length, 2);
    const list = await read('/orders?conflict=yes');
    assert.deepEqual(
      list.data.map(({ id }: { id: string }) => id),
      [order.id],
    );
    const assign = await owner.call('PUT', `/orders/${order.id}/customer`, { customer_id: ana });
    assert.equal(assign.status, 204);
    const decided = await read(`/orders/${order.id}`);
    assert.deepEqual([decided.has_customer_conflict, decided.customer.name], [false, 'Ana']);
    const unknown = await owner.call('PUT', `/orders/${order.id}/customer`, { customer_id: 'cus_x' });
    assert.deepEqual([unknown.status, unknown.body.error.field], [404, 'customer_id']);
  });

  it('of test mode are hidden, unless the list asks for them or the account shows them', async () => {
    const test = await addShop(world, owner, { isTestMode: true });
    const { id } = await report({ channel_order_id: 'TEST-ONLY' }, test);
    const ids = async (query: string) =>
      (await read(`/orders?q=TEST-ONLY${query}`)).data.map((row: { id: string }) => row.id);
    assert.deepEqual(await ids(''), []);
    assert.deepEqual(await ids('&test=show'), [id]);
    assert.deepEqual(await ids('&test=only'), [id]);
    await owner.call('PATCH', '/account', { show_test_data: true });
    assert.deepEqual(await ids(''), [id]);
    assert.deepEqual(await ids('&test=hide'), []);
    await owner.call('PATCH', '/account', { show_test_data: false });
  });

  it('are counted by tab as the search and the filters narrow them, and refuse what is no filter', async () => {
    await report({ channel_order_id: 'COUNT-1' });
    const { id } = await report({ channel_order_id: 'COUNT-2' });
    await act(`/orders/${id}/dismiss`, { reason: null });
    const { tabs, channels } = await read('/orders/choices?q=count');
    assert.deepEqual(
      Object.values(tabs).map((count) => (count as { value: number }).value),
      [1, 0, 0, 1, 2],
    );
    assert.ok(channels.some((channel: { integration_id: string }) => channel.integration_id === shop.integrationId));
    for (const query of ['tab=other', 'sort=total', 'period=decade', 'from=yesterday', 'after=nonsense', 'limit=0']) {
      assert.equal((await owner.call('GET', `/orders?${query}`)).status, 400, query);
    }
    assert.equal((await read('/orders?q=count&tab=all&period=day')).data.length, 2);
  });

  it('count as a badge while they wait', async () => {
    const before = (await read('/badges')).counts.orders;
    const { id } = await report();
    assert.equal((await read('/badges')).counts.orders, before + 1);
    await act(`/orders/${id}/dismiss`, { reason: null });
    assert.equal((await read('/badges')).counts.orders, before);
  });
});
