import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { BULK_BODY_LIMIT_BYTES, BULK_RECORDS_LIMIT } from '../../../contract/limits.ts';
import { sql } from '../../../db/sql.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

const bulk = (shop: Shop, customers: unknown) => shop.post('/v1/customers/bulk', { customers });
const phone = (index: number) => `+4122730${String(index).padStart(4, '0')}`;
const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    external_id: `c${index}`,
    email: `c${index}@example.ch`,
    phone: phone(index),
    first_name: `Person ${index}`,
  }));

async function customersOf(
  shop: Shop,
): Promise<{ email: string | null; phone: string | null; first_name: string | null }[]> {
  return await world.db.query(sql`
    select email, phone, first_name from customers where organization_id = ${shop.organizationId} order by email`);
}

type Row = { index: number; id: string; external_id: string | null; result: string };

describe('a bulk of customers', () => {
  it('takes 1000 records in one call, and again', async () => {
    const shop = await openShop(world);
    const { status, body } = await bulk(shop, people(BULK_RECORDS_LIMIT));
    assert.equal(status, 200);
    assert.equal(body.object, 'bulk_result');
    assert.deepEqual(body.bulk_result, { total: 1000, created: 1000, updated: 0 });
    assert.equal(new Set(body.data.map((row: Row) => row.id)).size, 1000);
    for (const [index, row] of body.data.entries()) {
      assert.deepEqual(row, { index, id: row.id, external_id: `c${index}`, result: 'created' });
    }
    const changed = people(BULK_RECORDS_LIMIT)
      .reverse()
      .map((person) => ({ ...person, first_name: 'Changed' }));
    const again = await bulk(shop, changed);
    assert.deepEqual(again.body.bulk_result, { total: 1000, created: 0, updated: 1000 });
    assert.equal(again.body.data[0].id, body.data[999].id);
    const stored = await customersOf(shop);
    assert.equal(stored.length, 1000);
    assert.ok(stored.every((customer) => customer.first_name === 'Changed'));
  });

  it('takes its records in their order: a later one sees an earlier one', async () => {
    const shop = await openShop(world);
    const { body } = await bulk(shop, [
      { email: 'a@b.ch', first_name: 'First' },
      { email: 'A@B.ch', external_id: 'c1', first_name: 'Second' },
      { external_id: 'c1', phone: phone(1) },
      { phone: phone(1), last_name: 'Last' },
      { email: 'b@b.ch' },
    ]);
    assert.deepEqual(body.bulk_result, { total: 5, created: 2, updated: 3 });
    assert.equal(new Set(body.data.slice(0, 4).map((row: Row) => row.id)).size, 1);
    assert.deepEqual(
      body.data.map((row: Row) => row.external_id),
      [null, 'c1', 'c1', 'c1', null],
    );
    const { first_name, last_name, email } = (await shop.post('/v1/customers', { external_id: 'c1' })).body;
    assert.deepEqual([first_name, last_name, email], ['Second', 'Last', 'A@B.ch']);
  });

  it('lets keys pass from one customer to another', async () => {
    const shop = await openShop(world);
    await bulk(shop, [
      { external_id: 'a', email: 'one@b.ch', phone: phone(1) },
      { external_id: 'b', email: 'two@b.ch', phone: phone(2) },
      { external_id: 'c', email: 'three@b.ch' },
    ]);
    // a gives its email up, b takes it and gives its own to c, whose goes to somebody new; the phones swap.
    const swapped = await bulk(shop, [
      { external_id: 'a', email: null, phone: null },
      { external_id: 'b', email: 'one@b.ch', phone: phone(1) },
      { external_id: 'c', email: 'two@b.ch' },
      { external_id: 'd', email: 'three@b.ch' },
      { external_id: 'a', phone: phone(2) },
    ]);
    assert.equal(swapped.status, 200, swapped.text);
    const contact = async (externalId: string) => {
      const { email, phone } = (await shop.post('/v1/customers', { external_id: externalId })).body;
      return [email, phone];
    };
    assert.deepEqual(await contact('a'), [null, phone(2)]);
    assert.deepEqual(await contact('b'), ['one@b.ch', phone(1)]);
    assert.deepEqual(await contact('c'), ['two@b.ch', null]);
    assert.deepEqual(await contact('d'), ['three@b.ch', null]);
  });

  it('lets external ids pass too', async () => {
    const shop = await openShop(world);
    await bulk(shop, [{ external_id: 'a', email: 'one@b.ch' }, { email: 'two@b.ch' }]);
    const moved = await bulk(shop, [
      { external_id: null, email: 'one@b.ch' },
      { external_id: 'a', email: 'two@b.ch' },
    ]);
    assert.equal(moved.status, 200, moved.text);
    assert.equal((await shop.post('/v1/customers', { external_id: 'a' })).body.email, 'two@b.ch');
    assert.equal((await shop.post('/v1/customers', { email: 'one@b.ch' })).body.external_id, null);
  });

  it('is all or nothing: one bad record of 1000 is named, and nothing stays behind', async () => {
    const shop = await openShop(world);
    await shop.post('/v1/customers', { external_id: 'owner', email: 'taken@example.ch' });
    const before = await customersOf(shop);
    const faults: [object, { status: number; code: string; param: string }][] = [
      [{ email: 'nonsense' }, { status: 400, code: 'invalid_request', param: 'customers[900].email' }],
      [{ phone: '1' }, { status: 400, code: 'invalid_request', param: 'customers[900].phone' }],
      [{ first_name: 'Nobody' }, { status: 400, code: 'invalid_request', param: 'customers[900].external_id' }],
      [
        { email: 'a@b.ch', metadata: { k: 'x'.repeat(10_000) } },
        { status: 400, code: 'invalid_request', param: 'customers[900].metadata' },
      ],
      [
        { external_id: 'other', email: 'taken@example.ch' },
        { status: 409, code: 'customer_contact_conflict', param: 'customers[900].email' },
      ],
      // In conflict with a record before it.
      [
        { external_id: 'other', email: 'c899@example.ch' },
        { status: 409, code: 'customer_contact_conflict', param: 'customers[900].email' },
      ],
    ];
    for (const [bad, fault] of faults) {
      assert.deepEqual(faultOf(await bulk(shop, people(1000).with(900, bad as never))), fault);
      assert.deepEqual(await customersOf(shop), before);
    }
    const links = await world.db.query(sql`
      select external_id from customer_external_ids where integration_id = ${shop.integrationId}`);
    assert.deepEqual(links, [{ external_id: 'owner' }]);
  });

  it('has 1 to 1000 records', async () => {
    const shop = await openShop(world);
    const refused = { status: 400, code: 'invalid_request', param: 'customers' };
    // More than 1000 is said before anything else is said of them.
    assert.deepEqual(faultOf(await bulk(shop, people(1001).with(3, { email: 'nonsense' } as never))), refused);
    assert.deepEqual(faultOf(await bulk(shop, [])), refused);
    assert.deepEqual(faultOf(await bulk(shop, undefined)), refused);
    assert.deepEqual(faultOf(await bulk(shop, { 0: {} })), refused);
    assert.deepEqual(faultOf(await bulk(shop, ['a@b.ch'])), { ...refused, param: 'customers[0]' });
    assert.deepEqual(await customersOf(shop), []);
  });

  it('may have 10 MB and not a byte more, and counts ten tokens', async () => {
    const shop = await openShop(world);
    const padded = (size: number) => {
      const head = '{"customers":[{"email":"a@b.ch"}],"note":"';
      return `${head}${'x'.repeat(size - head.length - 2)}"}`;
    };
    const send = (size: number) =>
      shop.api.post('/v1/customers/bulk', padded(size), { ...freshKey(), 'content-type': 'application/json' });
    const tokens = async () => Number((await shop.api.get('/v1/me')).headers['x-ratelimit-remaining']);
    const before = await tokens();
    assert.equal((await send(BULK_BODY_LIMIT_BYTES)).status, 200);
    assert.equal(before - (await tokens()), 11);
    assert.deepEqual(faultOf(await send(BULK_BODY_LIMIT_BYTES + 1)), { status: 413, code: 'request_too_large' });
  });

  it('goes well beside others with the same people in the opposite order', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const contacts = people(300).map(({ email, phone }) => ({ email, phone }));
    const answers = await Promise.all(
      [0, 1, 2, 3].map((call) =>
        bulk(
          call % 2 === 0 ? shop : sibling,
          (call < 2 ? contacts : contacts.toReversed()).map((person) => ({ ...person, first_name: `Call ${call}` })),
        ),
      ),
    );
    for (const answer of answers) assert.equal(answer.status, 200, answer.text);
    assert.equal(answers.filter((answer) => answer.body.bulk_result.created === 300).length, 1);
    const stored = await customersOf(shop);
    assert.equal(stored.length, 300);
    assert.equal(new Set(stored.map((customer) => customer.first_name)).size, 1, 'one of them was the last, wholly');
  });

  it('goes well beside orders of the same people', async () => {
    const shop = await openShop(world);
    const contacts = people(100).map(({ email, phone }) => ({ email, phone }));
    const orders = contacts
      .slice(0, 30)
      .map((customer, index) => shop.post('/v1/orders', { channel_order_id: `SO-${index}`, customer }));
    const answers = await Promise.all([bulk(shop, contacts), bulk(shop, contacts.toReversed()), ...orders]);
    for (const answer of answers) assert.ok(answer.status < 300, answer.text);
    assert.equal((await customersOf(shop)).length, 100);
  });
});
