import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addCustomer, addShop, faultOf, type Shop } from '../../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';

describe('the customers in the dashboard', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let staff: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    shop = await addShop(world, owner);
  });
  after(() => world.stop());

  const customer = (fields: object, from = shop) => addCustomer(from, fields);
  const read = async (path: string) => {
    const answer = await staff.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const found = async (q: string, more = '') => {
    const { data } = await read(`/customers?q=${encodeURIComponent(q)}${more}`);
    return data.map(({ id }: { id: string }) => id);
  };

  it('are found by words of the name, company, email, by phone, external id and id', async () => {
    await world.db.query(sql`update organizations set country = 'CH' where id = ${owner.organizationId}`);
    const id = await customer({
      external_id: 'WOO-77_a',
      email: 'Zoe.Muller@Example.ch',
      phone: '+41227311122',
      first_name: 'Zoé',
      last_name: 'von Müller',
      company: 'Galerie Quadrant',
    });
    const texts = ['zoe mull', 'Müller', 'quadr', 'zoe.muller@example.ch', '+41 22 731 11 22', '022 731 11 22'];
    for (const text of [...texts, 'WOO-77_', id]) assert.deepEqual(await found(text), [id], text);
    for (const text of ['zoe berger', 'WOO-78', 'woo%', '!']) assert.deepEqual(await found(text), [], text);
    const stranger = await signedIn(world);
    assert.deepEqual((await stranger.call('GET', '/customers?q=quadrant')).body.data, []);
  });

  it('hide test customers unless they are asked for, and page both ways', async () => {
    const test = await addShop(world, owner, { isTestMode: true });
    const made = [];
    for (const name of ['One', 'Two', 'Three']) {
      made.unshift(await customer({ email: `${name}@pages.example`, last_name: 'Pages' }));
    }
    const tested = await customer({ email: 'test@pages.example', last_name: 'Pages' }, test);
    assert.deepEqual(await found('pages'), made);
    assert.deepEqual(await found('pages', '&test=show'), [tested, ...made]);
    assert.deepEqual(await found('pages', '&test=only'), [tested]);
    const first = await read('/customers?q=pages&limit=2');
    assert.equal(first.count.value, 3);
    const second = await read(`/customers?q=pages&limit=2&after=${first.next_cursor}`);
    assert.deepEqual(
      [...first.data, ...second.data].map(({ id }) => id),
      made,
    );
    const back = await read(`/customers?q=pages&limit=2&before=${second.previous_cursor}`);
    assert.deepEqual(back.data, first.data);
    assert.deepEqual(await found('pages', '&sort=created'), made.toReversed());
    assert.equal((await owner.call('GET', '/customers?sort=name')).status, 400);
  });

  it('show orders, what was spent by currency, and what the channels call them', async () => {
    const id = await customer({ external_id: 'spender', email: 'spender@example.ch', first_name: 'Sam' });
    const itemId = await publishNew(world, shop, watch());
    const { body: order } = await shop.post('/v1/orders', {
      channel_order_id: 'SPENT-1',
      currency: 'EUR',
      customer: { email: 'spender@example.ch' },
      lines: [{ listing_id: itemId, unit_amount: 250_000 }],
    });
    assert.deepEqual((await read(`/customers/${id}`)).spent, []);
    assert.equal((await owner.call('POST', `/orders/${order.id}/confirm`)).status, 204);
    const counterItem = await publishNew(world, shop, watch());
    const sale = { item_id: counterItem, units: 1, amount: 90_000, customer_id: id };
    assert.equal((await owner.call('POST', '/sales', sale)).status, 200);

    const page = await read(`/customers/${id}`);
    assert.deepEqual(page.orders, { value: 1, is_capped: false });
    assert.deepEqual(page.spent, [
      { amount: 250_000, currency: 'EUR' },
      { amount: 90_000, currency: 'USD' },
    ]);
    assert.deepEqual(
      page.links.map((link: { external_id: string }) => link.external_id),
      ['spender'],
    );
    const [row] = (await read('/customers?q=spender')).data;
    assert.deepEqual([row.name, row.spent, row.channels.length], ['Sam', page.spent, 1]);
    const orders = await read(`/orders?tab=all&customer_id=${id}`);
    assert.deepEqual(
      orders.data.map((one: { id: string }) => one.id),
      [order.id],
    );

    const exported = await staff.call('GET', `/customers/${id}/export`);
    assert.match(exported.headers.get('content-disposition') ?? '', /cus_\w+\.json/);
    assert.equal(exported.body.customer.email, 'spender@example.ch');
    assert.deepEqual(exported.body.orders, [(await shop.api.get(`/v1/orders/${order.id}`)).body]);
    assert.equal(exported.body.counter_sales[0].amount, 90_000);
    assert.equal(exported.body.external_ids[0].external_id, 'spender');
  });

  it('are corrected with an audit row that names fields without values', async () => {
    const other = await customer({ email: 'taken@example.ch', phone: '+41227333333' });
    const id = await customer({ email: 'edit@example.ch', first_name: 'Old', company: 'Stays' });
    const { updated_at } = await read(`/customers/${id}`);
    const save = (body: object) => staff.call('PATCH', `/customers/${id}`, body);
    const change = { updated_at, first_name: 'New', email: 'New@example.ch', phone: '+41 22 744 44 44' };
    for (const [field, value] of [
      ['email', 'TAKEN@example.ch'],
      ['phone', '+41227333333'],
    ] as const) {
      const { error } = (await save({ updated_at, [field]: value })).body;
      assert.deepEqual([error.code, error.field], ['contact_taken', field]);
    }
    assert.equal((await save({ updated_at, phone: '12' })).body.error.field, 'phone');
    assert.equal((await save(change)).status, 204);
    const page = await read(`/customers/${id}`);
    assert.deepEqual(
      [page.first_name, page.email, page.phone, page.company],
      ['New', 'New@example.ch', '+41227444444', 'Stays'],
    );
    assert.equal((await save({ ...change, first_name: 'Newer' })).body.error.code, 'changed_meanwhile');
    const { data } = (await owner.call('GET', `/audit?object_id=${id}`)).body;
    assert.equal(data.length, 1);
    assert.equal(data[0].action, 'customer.changed');
    const text = JSON.stringify(data[0]);
    assert.match(text, /firstName|first_name/);
    assert.doesNotMatch(text, /New@example|744 ?44 ?44/);
    // The site finds the customer by the corrected email.
    assert.equal((await shop.post('/v1/customers', { email: 'new@example.ch' })).body.id, id);
    assert.notEqual(other, id);
  });

  it('in conflict are listed and counted, and merged after a preview; then the request passes', async () => {
    const kept = await customer({ external_id: 'm1', email: 'merge@example.ch', first_name: 'Mia' });
    const merged = await customer({ external_id: 'm2', phone: '+41227355555', last_name: 'Roth' });
    const buyer = { email: 'merge@example.ch', phone: '+41227355555' };
    const request = { ...buyer, external_id: 'm2' };
    assert.equal(faultOf(await shop.post('/v1/customers', request)).code, 'customer_contact_conflict');
    const { body: order } = await shop.post('/v1/orders', { channel_order_id: 'MERGE-1', customer: buyer });
    const { data, count } = await read('/customers/conflicts');
    assert.equal(count.value, 1);
    assert.equal(data[0].order.id, order.id);
    assert.equal(data[0].is_decided_by_merge, true);
    assert.deepEqual(data[0].customers.map(({ id }: { id: string }) => id).sort(), [kept, merged].sort());
    assert.equal((await read('/badges')).counts.customers, 1);

    const preview = await read(`/customers/${kept}/merge/${merged}`);
    assert.deepEqual(
      preview.fields.find(({ field }: { field: string }) => field === 'last_name'),
      { field: 'last_name', kept: null, merged: 'Roth', result: 'Roth' },
    );
    assert.equal(preview.resolved_orders, 1);
    assert.equal((await staff.call('GET', `/customers/${kept}/merge/${kept}`)).body.error.field, 'merged_id');
    assert.equal((await staff.call('POST', `/customers/${kept}/merge/${merged}`)).status, 204);
    assert.equal((await read('/badges')).counts.customers, 0);
    assert.equal((await staff.call('GET', `/customers/${merged}`)).status, 404);
    assert.equal((await shop.post('/v1/customers', request)).body.id, kept);
    assert.equal((await read(`/orders/${order.id}`)).customer.id, kept);
  });

  it('stand in the audit log by their name, and by their id when they are erased', async () => {
    const id = await customer({ email: 'audited@example.ch', first_name: 'Ada', last_name: 'Ruf' });
    const { updated_at } = await read(`/customers/${id}`);
    await staff.call('PATCH', `/customers/${id}`, { updated_at, company: 'Ruf Watches' });
    const named = async () => (await owner.call('GET', `/audit?object_id=${id}`)).body.data.at(-1).object;
    assert.deepEqual(await named(), { kind: 'customer', id, name: 'Ada Ruf' });
    assert.equal((await owner.call('POST', `/customers/${id}/erase`)).status, 204);
    assert.deepEqual(await named(), { kind: 'customer', id, name: null });
  });

  it('are chosen among by words of the name, by email, phone and external id', async () => {
    const id = await customer({
      external_id: 'pick-1',
      email: 'pick@me.example',
      phone: '+41227317788',
      last_name: 'Von Pick',
    });
    for (const q of ['pick', 'von pick', 'pick@me', '+41 22 731 77 88', 'pick-1', id]) {
      const { data } = await read(`/customer-choices?q=${encodeURIComponent(q)}`);
      assert.deepEqual(
        data.map((one: { id: string }) => one.id),
        [id],
        q,
      );
    }
    assert.deepEqual((await read('/customer-choices?q=pick&is_test=yes')).data, []);
  });
});
