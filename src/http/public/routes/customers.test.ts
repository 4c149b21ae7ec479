import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import { holdLock, untilBlocked } from '../../../../test/harness/database/locks.ts';
import { addShop, faultOf, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { customersLock } from '../../../db/advisory-locks.ts';
import { sql } from '../../../db/sql.ts';
import { setOrganization } from '../../../dealers/integrations/attach-integration.ts';

const TOO_LONG = 'x'.repeat(501);
const PHONE = '+41227300000';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

async function upsert(shop: Shop, fields: object, status?: 200 | 201) {
  const answer = await shop.post('/v1/customers', fields);
  if (status !== undefined) assert.equal(answer.status, status, answer.text);
  return answer.body;
}

const conflict = { status: 409, code: 'customer_contact_conflict' };

async function assertConflict(shop: Shop, fields: object, param: 'email' | 'phone'): Promise<void> {
  const everybody = sql`
    select c.id, to_jsonb(c) as details, (select json_agg(x order by x.external_id) from customer_external_ids x
      where x.customer_id = c.id) as links
    from customers c where c.organization_id = ${shop.organizationId} order by c.id`;
  const before = await world.db.query(everybody);
  assert.deepEqual(faultOf(await shop.post('/v1/customers', fields)), { ...conflict, param });
  assert.deepEqual(await world.db.query(everybody), before);
}

describe('upserting a customer', () => {
  for (const [path, body] of [
    ['/v1/customers', { email: 'late@b.ch' }],
    ['/v1/customers/bulk', { customers: [{ email: 'late@b.ch' }] }],
  ] as const) {
    it(`by ${path} is refused if the integration is detached while it waits, like any later request`, async () => {
      const shop = await openShop(world);
      const lock = await holdLock(world.db, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        customersLock(shop.organizationId),
      ]);
      const late = shop.post(path, body);
      await untilBlocked(world.db);
      await setOrganization(world.db, TESTER, shop.integrationId, null);
      await lock.release();
      assert.deepEqual(faultOf(await late), { status: 403, code: 'integration_org_missing' });
      assert.deepEqual(faultOf(await shop.post(path, body)), { status: 403, code: 'integration_org_missing' });
    });
  }

  it('creates with every field, and reads them back', async () => {
    const shop = await openShop(world);
    const body = await upsert(
      shop,
      {
        external_id: 'c_77',
        email: 'Ana@Example.ch',
        phone: '+41 22 730 00 00',
        first_name: 'Ana',
        last_name: 'Berger',
        company: 'Berger SA',
        address: { name: 'nobody keeps this', line1: 'Rue 1', city: 'Geneva', postal_code: '1201', country: 'ch' },
        metadata: { source: 'METADATA' },
        surprise: 'SURPRISE',
      },
      201,
    );
    assert.match(body.id, /^cus_/);
    assert.deepEqual(body, {
      id: body.id,
      object: 'customer',
      is_test: false,
      external_id: 'c_77',
      email: 'Ana@Example.ch',
      phone: PHONE,
      first_name: 'Ana',
      last_name: 'Berger',
      company: 'Berger SA',
      address: { line1: 'Rue 1', line2: null, city: 'Geneva', state: null, postal_code: '1201', country: 'CH' },
      created_at: body.created_at,
      updated_at: body.created_at,
    });
    const stored = await world.db.query(sql`select to_jsonb(c)::text as text from customers c where id = ${body.id}`);
    assert.doesNotMatch(JSON.stringify(stored), /METADATA|SURPRISE|nobody/);
  });

  it('finds by external id, then by email, then by phone', async () => {
    const shop = await openShop(world);
    const byId = await upsert(shop, { external_id: 'c1' }, 201);
    const byEmail = await upsert(shop, { email: 'a@b.ch' }, 201);
    const byPhone = await upsert(shop, { phone: PHONE }, 201);
    assert.equal((await upsert(shop, { external_id: 'c1', email: 'new@b.ch' }, 200)).id, byId.id);
    assert.equal((await upsert(shop, { email: 'a@b.ch', phone: '+41227300001' }, 200)).id, byEmail.id);
    assert.equal((await upsert(shop, { phone: PHONE, email: 'c@d.ch' }, 200)).id, byPhone.id);
    // What was learnt is found by from then on.
    assert.equal((await upsert(shop, { email: 'new@b.ch' }, 200)).external_id, 'c1');
    assert.equal((await upsert(shop, { phone: '+41227300001' }, 200)).id, byEmail.id);
    assert.equal((await upsert(shop, { email: 'c@d.ch' }, 200)).id, byPhone.id);
  });

  it('links an external id to the customer that the contact found, and answers with it', async () => {
    const shop = await openShop(world);
    const { id } = await upsert(shop, { email: 'a@b.ch', phone: PHONE }, 201);
    const linked = await upsert(shop, { external_id: 'c1', phone: PHONE }, 200);
    assert.deepEqual([linked.id, linked.external_id, linked.email], [id, 'c1', 'a@b.ch']);
    assert.equal((await upsert(shop, { external_id: 'c1', email: 'other@b.ch' }, 200)).id, id);
    assert.equal((await upsert(shop, { email: 'other@b.ch' }, 200)).external_id, 'c1');
  });

  it('compares emails without regard to case, and keeps the newest spelling', async () => {
    const shop = await openShop(world);
    const { id } = await upsert(shop, { email: 'Zoë.MÜLLER@Example.CH' }, 201);
    const again = await upsert(shop, { email: 'zoË.müller@example.ch'.normalize('NFD') }, 200);
    assert.equal(again.id, id);
    assert.equal(again.email, 'zoË.müller@example.ch'.normalize('NFD'));
  });

  it('compares emails by what Unicode folds, also where a letter has no one other case', async () => {
    const shop = await openShop(world);
    for (const spellings of [
      ['straße@x.ch', 'STRASSE@x.ch', 'STRAẞE@x.ch'],
      ['ΟΔΥΣΣΕΥΣ@x.ch', 'οδυσσευσ@x.ch', 'Οδυσσευς@x.ch'],
      ['µ@x.ch', 'Μ@x.ch', 'μ@x.ch'],
      ['ﬁnn@x.ch', 'FINN@x.ch'],
    ]) {
      const ids = [];
      for (const email of spellings) ids.push((await shop.post('/v1/customers', { email })).body.id);
      assert.equal(new Set(ids).size, 1, spellings.join(' '));
    }
    // A Turkish i without its dot, or with it as a capital, is another letter.
    const ids = [];
    for (const email of ['i@y.ch', 'ı@y.ch', 'İ@y.ch']) ids.push((await shop.post('/v1/customers', { email })).body.id);
    assert.equal(new Set(ids).size, 3);
  });

  it('understands a phone without a country code by the dealer’s country, if it has one', async () => {
    const swiss = await openShop(world, { country: 'CH' });
    const { id } = await upsert(swiss, { phone: '022 730 00 00' }, 201);
    for (const phone of ['+41 22 730 00 00', '0041227300000', '(022) 730-00-00']) {
      const { id: found, phone: kept } = await upsert(swiss, { phone }, 200);
      assert.deepEqual([found, kept], [id, PHONE]);
    }
    assert.equal((await upsert(swiss, { phone: '+1 212 555 0100' }, 201)).phone, '+12125550100');
    const nowhere = await openShop(world);
    const invalid = { status: 400, code: 'invalid_request', param: 'phone' };
    assert.deepEqual(faultOf(await nowhere.post('/v1/customers', { phone: '022 730 00 00' })), invalid);
    assert.equal((await upsert(nowhere, { phone: PHONE }, 201)).phone, PHONE);
  });

  it('keeps what is absent and clears what is null', async () => {
    const shop = await openShop(world);
    const full = await upsert(
      shop,
      {
        external_id: 'c1',
        email: 'a@b.ch',
        phone: PHONE,
        first_name: 'Ana',
        last_name: 'B',
        company: 'C',
        address: { line1: 'Rue 1' },
      },
      201,
    );
    const same = await upsert(shop, { external_id: 'c1' }, 200);
    assert.deepEqual(same, full);
    const sameAgain = await upsert(shop, { external_id: 'c1', address: { line1: 'Rue 1' }, first_name: 'Ana' }, 200);
    assert.deepEqual(sameAgain, full, 'nothing changed, not even updated_at');
    const nothing = { email: null, phone: null, first_name: null, last_name: null, company: null, address: null };
    const cleared = await upsert(shop, { external_id: 'c1', ...nothing }, 200);
    assert.deepEqual(cleared, { ...full, ...nothing, updated_at: cleared.updated_at });
    assert.ok(cleared.updated_at > full.updated_at);
    // The cleared email and phone are free.
    assert.equal((await upsert(shop, { email: 'a@b.ch', phone: PHONE }, 201)).external_id, null);
  });

  it('takes an empty text for null: it clears, and identifies nobody', async () => {
    const shop = await openShop(world);
    const address = { line1: 'Rue 1', line2: '', country: '' };
    const full = await upsert(
      shop,
      { external_id: 'c1', email: 'a@b.ch', phone: PHONE, first_name: 'Ana', company: '', address },
      201,
    );
    assert.deepEqual([full.company, full.address.line2, full.address.country], [null, null, null]);
    const empty = { email: '', phone: '', first_name: '', last_name: '', company: '' };
    const cleared = await upsert(shop, { external_id: 'c1', ...empty }, 200);
    assert.deepEqual([cleared.id, cleared.email, cleared.phone, cleared.first_name], [full.id, null, null, null]);
    const unlinked = await upsert(shop, { external_id: '', email: 'a@b.ch' }, 201);
    assert.equal(unlinked.external_id, null);
  });

  it('replaces an address as a whole', async () => {
    const shop = await openShop(world);
    await upsert(shop, { external_id: 'c1', address: { line1: 'Rue 1', city: 'Geneva' } }, 201);
    const { address } = await upsert(shop, { external_id: 'c1', address: { city: 'Bern' } }, 200);
    assert.deepEqual(address, {
      line1: null,
      line2: null,
      city: 'Bern',
      state: null,
      postal_code: null,
      country: null,
    });
  });

  it('unlinks the external id that is null', async () => {
    const shop = await openShop(world);
    const { id } = await upsert(shop, { external_id: 'c1', email: 'a@b.ch' }, 201);
    const unlinked = await upsert(shop, { external_id: null, email: 'a@b.ch' }, 200);
    assert.deepEqual([unlinked.id, unlinked.external_id], [id, null]);
    const other = await upsert(shop, { external_id: 'c1' }, 201);
    assert.notEqual(other.id, id);
    assert.equal((await upsert(shop, { external_id: 'c2', email: 'a@b.ch' }, 200)).id, id);
  });

  it('knows the customers of the whole dealer by contact, and external ids within the integration', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const stranger = await openShop(world);
    const { id } = await upsert(shop, { external_id: 'c1', email: 'a@b.ch' }, 201);
    const seen = await upsert(sibling, { email: 'A@B.ch' }, 200);
    assert.deepEqual([seen.id, seen.external_id], [id, null]);
    assert.equal((await upsert(sibling, { external_id: 'd1', email: 'a@b.ch' }, 200)).id, id);
    assert.notEqual((await upsert(sibling, { external_id: 'c1' }, 201)).id, id);
    assert.equal((await upsert(shop, { email: 'a@b.ch' }, 200)).external_id, 'c1');
    assert.notEqual((await upsert(stranger, { external_id: 'c1', email: 'a@b.ch' }, 201)).id, id);
  });

  it('never mixes test and live customers', async () => {
    const live = await openShop(world);
    const test = await addShop(world, live, { isTestMode: true });
    const ofLive = await upsert(live, { external_id: 'c1', email: 'a@b.ch', phone: PHONE }, 201);
    const ofTest = await upsert(test, { external_id: 'c1', email: 'a@b.ch', phone: PHONE }, 201);
    assert.notEqual(ofTest.id, ofLive.id);
    assert.equal(ofTest.is_test, true);
    await world.db.query(sql`update integrations set is_test_mode = false where id = ${test.integrationId}`);
    assert.equal((await upsert(test, { email: 'a@b.ch' }, 200)).id, ofLive.id);
    assert.equal((await upsert(test, { external_id: 'c1', email: 'a@b.ch' }, 200)).id, ofLive.id);
  });

  it('gives one customer to many requests at once', async () => {
    const shop = await openShop(world);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        shop.post('/v1/customers', { email: index % 2 === 0 ? 'a@b.ch' : 'A@B.CH', first_name: `Ana ${index}` }),
      ),
    );
    assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
    assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1);
  });
});

describe('a contact conflict', () => {
  it('is an email and a phone of two different customers', async () => {
    const shop = await openShop(world);
    await upsert(shop, { email: 'a@b.ch' }, 201);
    await upsert(shop, { phone: PHONE }, 201);
    await assertConflict(shop, { email: 'a@b.ch', phone: PHONE }, 'phone');
    await assertConflict(shop, { external_id: 'new', email: 'a@b.ch', phone: PHONE }, 'phone');
  });

  it('is the contact of a customer with another external id', async () => {
    const shop = await openShop(world);
    await upsert(shop, { external_id: 'c1', email: 'a@b.ch', phone: PHONE }, 201);
    await assertConflict(shop, { external_id: 'c2', email: 'a@b.ch' }, 'email');
    await assertConflict(shop, { external_id: 'c2', phone: PHONE }, 'phone');
    await assertConflict(shop, { external_id: 'c2', email: 'new@b.ch', phone: PHONE }, 'phone');
    await assertConflict(shop, { external_id: 'c2', email: 'A@b.ch', phone: PHONE }, 'email');
    assert.equal((await shop.post('/v1/customers', { external_id: 'c1', phone: PHONE })).status, 200);
  });

  it('is a contact of somebody else than the external id’s customer', async () => {
    const shop = await openShop(world);
    await upsert(shop, { external_id: 'c1', email: 'one@b.ch' }, 201);
    await upsert(shop, { email: 'two@b.ch' }, 201);
    await upsert(shop, { phone: PHONE }, 201);
    await upsert(shop, { external_id: 'c4', email: 'four@b.ch' }, 201);
    await assertConflict(shop, { external_id: 'c1', email: 'two@b.ch' }, 'email');
    await assertConflict(shop, { external_id: 'c1', phone: PHONE }, 'phone');
    await assertConflict(shop, { external_id: 'c1', email: 'one@b.ch', phone: PHONE }, 'phone');
    await assertConflict(shop, { external_id: 'c1', email: 'four@b.ch' }, 'email');
  });

  it('is none with another integration’s external id', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const { id } = await upsert(shop, { external_id: 'c1', email: 'a@b.ch' }, 201);
    assert.equal((await upsert(sibling, { external_id: 'c2', email: 'a@b.ch' }, 200)).id, id);
  });

  it('in an order leaves the customer to the dealer, and stores the order', async () => {
    const shop = await openShop(world);
    await upsert(shop, { external_id: 'c1', email: 'a@b.ch' }, 201);
    const customer = { external_id: 'c2', email: 'a@b.ch', first_name: 'Ana' };
    const { status, body } = await shop.post('/v1/orders', { channel_order_id: 'SO-1', customer });
    assert.equal(status, 201);
    assert.equal(body.customer_id, null);
    assert.equal(body.customer.external_id, 'c2');
    const [row] = await world.db.query<{ has_customer_conflict: boolean }>(sql`
      select has_customer_conflict from orders where id = ${body.id}`);
    assert.equal(row?.has_customer_conflict, true);
    assert.equal((await upsert(shop, { email: 'a@b.ch' }, 200)).first_name, null);
  });
});

describe('the customer of an order', () => {
  it('is found or created, and learns what the order says; what it leaves empty clears nothing', async () => {
    const shop = await openShop(world);
    const { id } = await upsert(shop, { external_id: 'c1', email: 'a@b.ch', phone: PHONE, last_name: 'Berger' }, 201);
    const customer = { email: 'A@b.ch', phone: null, external_id: null, first_name: 'Ana', last_name: null };
    const order = await shop.post('/v1/orders', { channel_order_id: 'SO-1', customer });
    assert.equal(order.body.customer_id, id);
    const { external_id, phone, first_name, last_name } = await upsert(shop, { email: 'a@b.ch' }, 200);
    assert.deepEqual([external_id, phone, first_name, last_name], ['c1', PHONE, 'Ana', 'Berger']);
  });
});

describe('a customer that is not valid', () => {
  const faults: [string, object, string][] = [
    ['nobody', {}, 'external_id'],
    ['nobody but a name', { first_name: 'Ana' }, 'external_id'],
    ['all three null', { external_id: null, email: null, phone: null }, 'external_id'],
    ['an external id that is a number', { external_id: 77 }, 'external_id'],
    ['all three empty', { external_id: '', email: '', phone: '' }, 'external_id'],
    ['an external id too long', { external_id: TOO_LONG }, 'external_id'],
    ['an email without an @', { email: 'ana' }, 'email'],
    ['an email with two', { email: 'a@b@c.ch' }, 'email'],
    ['an email that is a list', { email: ['a@b.ch'] }, 'email'],
    ['an impossible phone', { phone: '+41 1' }, 'phone'],
    ['a phone with words', { phone: 'call +41227300000' }, 'phone'],
    ['a name too long', { email: 'a@b.ch', last_name: TOO_LONG }, 'last_name'],
    ['a company that is a number', { email: 'a@b.ch', company: 1 }, 'company'],
    ['an address that is text', { email: 'a@b.ch', address: 'Rue 1' }, 'address'],
    ['a country of one letter', { email: 'a@b.ch', address: { country: 'C' } }, 'address.country'],
    ['metadata that is text', { email: 'a@b.ch', metadata: 'x' }, 'metadata'],
    ['metadata of 10,001 bytes', { email: 'a@b.ch', metadata: { k: 'x'.repeat(9_993) } }, 'metadata'],
  ];
  let shop: Shop;
  before(async () => {
    shop = await openShop(world, { country: 'CH' });
  });
  for (const [what, fields, param] of faults) {
    it(`is refused for ${what}, naming ${param}`, async () => {
      const answer = await shop.post('/v1/customers', fields);
      assert.deepEqual(faultOf(answer), { status: 400, code: 'invalid_request', param });
    });
  }

  it('needs a key', async () => {
    const answer = await shop.api.post('/v1/customers', { email: 'a@b.ch' });
    assert.deepEqual(faultOf(answer), { status: 400, code: 'missing_idempotency_key', param: 'Idempotency-Key' });
  });

  it('stores nothing', async () => {
    const rows = await world.db.query(sql`select id from customers where organization_id = ${shop.organizationId}`);
    assert.deepEqual(rows, []);
  });
});
