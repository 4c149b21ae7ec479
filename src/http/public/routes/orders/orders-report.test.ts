import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { BODY_LIMIT_BYTES } from '../../../../contract/limits.ts';
import { sql } from '../../../../db/sql.ts';
import { setEnabled } from '../../../../dealers/integrations/integrations.ts';

const TOO_LONG = 'x'.repeat(501);

let world: World;
let shop: Shop;
before(async () => {
  world = await startWorld();
  shop = await openShop(world, { country: 'CH', currency: 'CHF' });
});
after(() => world.stop());

let ordersMade = 0;
function orderId(): string {
  ordersMade += 1;
  return `SO-${ordersMade}`;
}

async function countOrders(): Promise<number> {
  const [row] = await world.db.query<{ count: number }>(sql`select count(*) as count from orders`);
  return row?.count ?? 0;
}

describe('reporting an order', () => {
  it('reads every field back as it was reported', async () => {
    const listingId = await publishNew(world, shop, watch({ units: 3 }));
    const { status, body } = await shop.post('/v1/orders', {
      channel_order_id: 'SO-every-field ✓',
      currency: 'USD',
      placed_at: '2026-05-08T11:00:00.5+02:00',
      customer: {
        external_id: 'c_77',
        email: 'Ana@Example.ch',
        phone: '022 730 00 00',
        first_name: 'Ana',
        last_name: 'Berger',
      },
      shipping_address: {
        name: 'Ana Berger',
        line1: 'Rue du Lac 1',
        line2: '3rd floor',
        city: 'Geneva',
        state: 'GE',
        postal_code: '1201',
        country: 'ch',
      },
      billing_address: { line1: 'Rue du Lac 2' },
      lines: [
        { listing_id: listingId, quantity: 2, unit_amount: 1_199_000, discount_amount: 50_000, title: 'Submariner' },
        { unit_amount: 0 },
      ],
      shipping_amount: 2_500,
      discount_amount: 100,
      tax_amount: 77,
      metadata: { cart: '9', nested: { list: [1, null, 'ü'] } },
    });
    assert.equal(status, 201);
    assert.match(body.id, /^ord_[0-7][0-9a-z]{25}$/);
    assert.match(body.customer_id, /^cus_/);
    assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const line of body.lines) assert.match(line.id, /^oln_/);
    const [first, second] = body.lines;
    assert.deepEqual(body, {
      id: body.id,
      object: 'order',
      status: 'received',
      is_test: false,
      channel_order_id: 'SO-every-field ✓',
      currency: 'USD',
      placed_at: '2026-05-08T09:00:00.500Z',
      customer: {
        external_id: 'c_77',
        email: 'Ana@Example.ch',
        phone: '+41227300000',
        first_name: 'Ana',
        last_name: 'Berger',
      },
      customer_id: body.customer_id,
      shipping_address: {
        name: 'Ana Berger',
        line1: 'Rue du Lac 1',
        line2: '3rd floor',
        city: 'Geneva',
        state: 'GE',
        postal_code: '1201',
        country: 'CH',
      },
      billing_address: {
        name: null,
        line1: 'Rue du Lac 2',
        line2: null,
        city: null,
        state: null,
        postal_code: null,
        country: null,
      },
      lines: [
        {
          id: first.id,
          listing_id: listingId,
          part_id: null,
          quantity: 2,
          unit_amount: 1_199_000,
          discount_amount: 50_000,
          title: 'Submariner',
          match: { object: 'listing', id: listingId, remaining_quantity: 1 },
        },
        {
          id: second.id,
          listing_id: null,
          part_id: null,
          quantity: 1,
          unit_amount: 0,
          discount_amount: null,
          title: null,
          match: null,
        },
      ],
      shipping_amount: 2_500,
      discount_amount: 100,
      tax_amount: 77,
      subtotal_amount: 2_398_000,
      total_amount: 2_398_000 - 50_000 - 100 + 2_500 + 77,
      metadata: { cart: '9', nested: { list: [1, null, 'ü'] } },
      fulfilled_at: null,
      cancelled_at: null,
      cancellation: null,
      created_at: body.created_at,
      updated_at: body.created_at,
    });
    assert.deepEqual((await shop.api.get(`/v1/orders/${body.id}`)).body, body);
  });

  it('needs nothing but its id; what was not sent reads back as null, and the currency is the integration’s', async () => {
    const bare = await shop.post('/v1/orders', { channel_order_id: orderId() });
    assert.equal(bare.status, 201);
    assert.equal(bare.body.currency, 'CHF');
    assert.deepEqual(bare.body.lines, []);
    assert.equal(bare.body.subtotal_amount, 0);
    assert.equal(bare.body.total_amount, 0);
    const unsaid = ['placed_at', 'customer', 'customer_id', 'shipping_address', 'billing_address', 'shipping_amount'];
    for (const field of [...unsaid, 'discount_amount', 'tax_amount', 'metadata']) {
      assert.equal(bare.body[field], null, field);
    }
  });

  it('takes null for a field that was not sent', async () => {
    const fields = ['currency', 'placed_at', 'customer', 'shipping_address', 'billing_address', 'lines'];
    const amounts = ['shipping_amount', 'discount_amount', 'tax_amount', 'metadata'];
    const nothing = Object.fromEntries([...fields, ...amounts].map((field) => [field, null]));
    const { status, body } = await shop.post('/v1/orders', { ...nothing, channel_order_id: orderId() });
    assert.equal(status, 201);
    assert.equal(body.currency, 'CHF');
    assert.deepEqual(body.lines, []);
    const line = { listing_id: null, part_id: null, quantity: null, unit_amount: null, title: null };
    const withLine = await shop.post('/v1/orders', { channel_order_id: orderId(), lines: [line] });
    assert.equal(withLine.body.lines[0].quantity, 1);
  });

  it('takes an empty text for null, as forms send it for what was left blank', async () => {
    const blank = (fields: string[], value: string | null) => Object.fromEntries(fields.map((field) => [field, value]));
    const person = ['external_id', 'email', 'phone', 'first_name', 'last_name'];
    const place = ['name', 'line1', 'line2', 'city', 'state', 'postal_code', 'country'];
    const report = (value: string | null) => ({
      channel_order_id: orderId(),
      currency: value,
      placed_at: value,
      customer: blank(person, value),
      shipping_address: blank(place, value),
      lines: [blank(['listing_id', 'part_id', 'title'], value)],
    });
    const [empty, none] = [await shop.post('/v1/orders', report('')), await shop.post('/v1/orders', report(null))];
    assert.deepEqual([empty.status, none.status], [201, 201]);
    const said = ({ body }: typeof empty) => {
      const { currency, placed_at, customer, customer_id, shipping_address, lines } = body;
      return { currency, placed_at, customer, customer_id, shipping_address, line: { ...lines[0], id: '' } };
    };
    assert.deepEqual(said(empty), said(none));
    assert.equal(empty.body.shipping_address.line2, null);
  });

  it('ignores fields that it does not know, and stores none of them', async () => {
    const { status, body } = await shop.post('/v1/orders', {
      channel_order_id: orderId(),
      id: 'ord_mine',
      status: 'fulfilled',
      surprise: 'SURPRISE',
      customer: {
        email: 'unknown-fields@example.ch',
        company: ['SURPRISE'],
        address: 'SURPRISE',
        metadata: { huge: 'SURPRISE'.repeat(5_000) },
      },
      shipping_address: { surprise: 'SURPRISE' },
      lines: [{ match: 'SURPRISE', surprise: 'SURPRISE' }],
    });
    assert.equal(status, 201);
    assert.equal(body.status, 'received');
    assert.notEqual(body.id, 'ord_mine');
    const stored = await world.db.query(sql`
      select o.document, to_jsonb(c)::text as customer from orders o left join customers c on c.id = o.customer_id
      where o.id = ${body.id}`);
    assert.doesNotMatch(JSON.stringify(stored), /SURPRISE/);
    assert.notEqual(body.customer_id, null);
  });

  it('keeps a buyer without any identity in the order alone', async () => {
    const { body } = await shop.post('/v1/orders', {
      channel_order_id: orderId(),
      customer: { first_name: 'Ana', email: null },
    });
    assert.equal(body.customer_id, null);
    assert.deepEqual(body.customer, {
      external_id: null,
      email: null,
      phone: null,
      first_name: 'Ana',
      last_name: null,
    });
  });

  it('keeps a phone that nobody can call as it was reported, and does not know the buyer by it', async () => {
    for (const phone of ['n/a', '12', 'call me', '022 730 00 00 x']) {
      const buyer = { email: `${orderId()}@example.ch`, phone, first_name: 'Ana' };
      const { status, body } = await shop.post('/v1/orders', { channel_order_id: orderId(), customer: buyer });
      assert.equal(status, 201);
      assert.deepEqual(body.customer, { external_id: null, ...buyer, last_name: null });
      const known = await shop.post('/v1/customers', { email: buyer.email });
      assert.deepEqual([known.body.id, known.body.phone], [body.customer_id, null]);
      const alone = await shop.post('/v1/orders', { channel_order_id: orderId(), customer: { phone } });
      assert.equal(alone.status, 201);
      assert.deepEqual([alone.body.customer_id, alone.body.customer.phone], [null, phone]);
    }
  });

  it('has no sums as soon as one line lacks its amount', async () => {
    const { body } = await shop.post('/v1/orders', {
      channel_order_id: orderId(),
      lines: [{ unit_amount: 100 }, { quantity: 3 }],
      shipping_amount: 5,
    });
    assert.equal(body.subtotal_amount, null);
    assert.equal(body.total_amount, null);
    assert.equal(body.shipping_amount, 5);
  });

  it('adds up exactly, also to less than nothing', async () => {
    const { body } = await shop.post('/v1/orders', {
      channel_order_id: orderId(),
      lines: [{ unit_amount: 999_999_999_999, quantity: 9_000 }, { unit_amount: 1 }],
      tax_amount: 1,
    });
    assert.equal(body.subtotal_amount, 8_999_999_999_991_001);
    assert.equal(body.total_amount, 8_999_999_999_991_002);
    const gift = await shop.post('/v1/orders', {
      channel_order_id: orderId(),
      lines: [{ unit_amount: 100, discount_amount: 40 }],
      discount_amount: 80,
    });
    assert.equal(gift.body.total_amount, -20);
  });

  it('takes every limit to its last value', async () => {
    const text = '🕰'.repeat(500);
    const { status } = await shop.post('/v1/orders', {
      channel_order_id: '🕰'.repeat(255),
      customer: { external_id: text, first_name: text, last_name: text, email: `${'e'.repeat(495)}@b.ch` },
      shipping_address: { name: text, line1: text, line2: text, city: text, state: text, postal_code: text },
      lines: [
        { listing_id: text, title: text, quantity: 10_000, unit_amount: 1 },
        { part_id: text, unit_amount: 1_000_000_000_000, discount_amount: 1_000_000_000_000 },
        ...Array.from({ length: 198 }, () => ({})),
      ],
      shipping_amount: 1_000_000_000_000,
      discount_amount: 0,
      tax_amount: 1_000_000_000_000,
    });
    assert.equal(status, 201);
  });
});

describe('a report that is not valid', () => {
  const line = (fields: object, at = 0) => ({ lines: [...Array.from({ length: at }, () => ({})), fields] });
  const faults: [string, object, string][] = [
    ['no id', { channel_order_id: undefined }, 'channel_order_id'],
    ['an id that is null', { channel_order_id: null }, 'channel_order_id'],
    ['an id that is a number', { channel_order_id: 7 }, 'channel_order_id'],
    ['an empty id', { channel_order_id: '' }, 'channel_order_id'],
    ['an id of 256 characters', { channel_order_id: 'x'.repeat(256) }, 'channel_order_id'],
    ['an unknown currency', { currency: 'XQQ' }, 'currency'],
    ['a currency in lower case', { currency: 'usd' }, 'currency'],
    ['a currency that is a number', { currency: 756 }, 'currency'],
    ['a time that is none', { placed_at: 'yesterday' }, 'placed_at'],
    ['a time on February 30th', { placed_at: '2026-02-30T09:00:00Z' }, 'placed_at'],
    ['a time that is a number', { placed_at: 1_778_230_800 }, 'placed_at'],
    ['a time past the year 9999', { placed_at: '9999-12-31T23:59:59-12:00' }, 'placed_at'],
    ['a time before the year 0', { placed_at: '0000-01-01T00:00:00+12:00' }, 'placed_at'],
    ['a customer that is text', { customer: 'Ana' }, 'customer'],
    ['an email without an @', { customer: { email: 'ana' } }, 'customer.email'],
    ['an email with a blank', { customer: { email: 'a b@c.ch' } }, 'customer.email'],
    ['an email of 501 characters', { customer: { email: `${'e'.repeat(496)}@b.ch` } }, 'customer.email'],
    ['a phone that is a number', { customer: { phone: 41227300000 } }, 'customer.phone'],
    ['a name too long', { customer: { first_name: TOO_LONG } }, 'customer.first_name'],
    ['an external id too long', { customer: { external_id: TOO_LONG } }, 'customer.external_id'],
    ['an address that is text', { shipping_address: 'Rue 1' }, 'shipping_address'],
    ['an address line too long', { shipping_address: { line1: TOO_LONG } }, 'shipping_address.line1'],
    ['a country of three letters', { billing_address: { country: 'CHE' } }, 'billing_address.country'],
    ['lines that are no array', { lines: { 0: {} } }, 'lines'],
    ['201 lines', { lines: Array.from({ length: 201 }, () => ({})) }, 'lines'],
    ['a line that is text', { lines: ['Submariner'] }, 'lines[0]'],
    ['both a listing and a part', line({ listing_id: 'lst_1', part_id: 'prt_1' }, 2), 'lines[2].part_id'],
    ['a listing id that is a number', line({ listing_id: 1 }), 'lines[0].listing_id'],
    ['a part id too long', line({ part_id: TOO_LONG }), 'lines[0].part_id'],
    ['no units', line({ quantity: 0 }, 1), 'lines[1].quantity'],
    ['10,001 units', line({ quantity: 10_001 }), 'lines[0].quantity'],
    ['one and a half units', line({ quantity: 1.5 }), 'lines[0].quantity'],
    ['units as text', line({ quantity: '1' }), 'lines[0].quantity'],
    ['a negative amount', line({ unit_amount: -1 }), 'lines[0].unit_amount'],
    ['an amount over 10^12', line({ unit_amount: 1_000_000_000_001 }), 'lines[0].unit_amount'],
    ['a line discount as text', line({ discount_amount: '5' }), 'lines[0].discount_amount'],
    ['a title too long', line({ title: TOO_LONG }), 'lines[0].title'],
    ['sums past exact numbers', line({ unit_amount: 1_000_000_000_000, quantity: 10_000 }), 'lines'],
    ['shipping that is a fraction', { shipping_amount: 0.5 }, 'shipping_amount'],
    ['a discount over 10^12', { discount_amount: 1_000_000_000_001 }, 'discount_amount'],
    ['a tax that is true', { tax_amount: true }, 'tax_amount'],
    ['metadata that is an array', { metadata: [] }, 'metadata'],
    ['metadata that is text', { metadata: 'x' }, 'metadata'],
    ['NUL in a text', { customer: { email: 'a@b.ch', first_name: 'A\0' } }, 'customer.first_name'],
    ['half a surrogate pair', { metadata: { list: ['\ud800'] } }, 'metadata.list[0]'],
  ];
  for (const [what, fields, param] of faults) {
    it(`is refused for ${what}, naming ${param}`, async () => {
      const answer = await shop.post('/v1/orders', { channel_order_id: 'SO-invalid', ...fields });
      assert.deepEqual(faultOf(answer), { status: 400, code: 'invalid_request', param });
    });
  }

  it('stores nothing', async () => {
    const rows = await world.db.query(sql`select id from orders where channel_order_id = 'SO-invalid'`);
    assert.deepEqual(rows, []);
  });

  it('measures metadata as the UTF-8 bytes of its compact JSON', async () => {
    // {"k":"…"} is 8 bytes around the text; ü has two, and the blanks of the request count for nothing.
    const body = (text: string) =>
      `{ "channel_order_id": ${JSON.stringify(orderId())},   "metadata": {   "k"  :  "${text}"   } }`;
    const send = (text: string) =>
      shop.api.post('/v1/orders', body(text), { ...freshKey(), 'content-type': 'application/json' });
    assert.equal((await send('ü'.repeat(4_996))).status, 201);
    const answer = await send(`${'ü'.repeat(4_996)}x`);
    assert.deepEqual(faultOf(answer), { status: 400, code: 'invalid_request', param: 'metadata' });
    assert.match(answer.body.error.message, /10001/);
  });
});

describe('the body of a report', () => {
  const json = { 'content-type': 'application/json' };
  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    shop.api.post('/v1/orders', body, { ...freshKey(), ...json, ...headers });

  it('is refused if it is no JSON, cut off, a form, or not UTF-8', async () => {
    const broken: [string | Buffer, Record<string, string>][] = [
      ['{"channel_order_id":"SO-broken"', {}],
      ['channel_order_id=SO-broken', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['{"channel_order_id":"SO-broken"}', { 'content-type': 'text/plain' }],
      [Buffer.from('{"channel_order_id":"SO-broken\xff"}', 'latin1'), {}],
    ];
    for (const [body, headers] of broken) {
      assert.deepEqual(faultOf(await send(body, headers)), { status: 400, code: 'invalid_json' });
    }
  });

  it('that is missing or of another type lacks the id, or is no object', async () => {
    const nothing = await shop.api.post('/v1/orders', undefined, freshKey());
    assert.deepEqual(faultOf(nothing), { status: 400, code: 'invalid_request', param: 'channel_order_id' });
    for (const body of ['[]', '"SO-1"', '7', 'true', 'null']) {
      assert.deepEqual(faultOf(await send(body)), { status: 400, code: 'invalid_request' });
    }
  });

  it('may have 1 MB and not a byte more', async () => {
    const padded = (size: number) => {
      const head = `{"channel_order_id":"${orderId()}","note":"`;
      return `${head}${'x'.repeat(size - head.length - 2)}"}`;
    };
    assert.equal((await send(padded(BODY_LIMIT_BYTES))).status, 201);
    assert.deepEqual(faultOf(await send(padded(BODY_LIMIT_BYTES + 1))), { status: 413, code: 'request_too_large' });
  });
});

describe('the order of checks on a write', () => {
  it('answers the first that fails: admission, key, size, JSON, schema, replay, the operation', async () => {
    const own = await openShop(world);
    const used = freshKey();
    await own.api.post('/v1/orders', { channel_order_id: 'SO-1' }, used);
    const tooLarge = `{${' '.repeat(BODY_LIMIT_BYTES)}`;
    const json = { 'content-type': 'application/json' };
    const send = async (body: string, headers: Record<string, string>) =>
      faultOf(await own.api.post('/v1/orders', body, { ...json, ...headers })).code;

    await setEnabled(world.db, TESTER, own.integrationId, false);
    assert.equal(await send(tooLarge, {}), 'integration_disabled');
    await setEnabled(world.db, TESTER, own.integrationId, true);
    assert.equal(await send(tooLarge, {}), 'missing_idempotency_key');
    assert.equal(await send(tooLarge, { 'idempotency-key': 'ü' }), 'invalid_request');
    assert.equal(await send(tooLarge, used), 'request_too_large');
    assert.equal(await send('{', used), 'invalid_json');
    assert.equal(await send('{}', used), 'invalid_request');
    assert.equal(await send('{"channel_order_id":"SO-1" }', used), 'key_reused_with_different_body');
    assert.equal(await send('{"channel_order_id":"SO-1" }', freshKey()), 'duplicate_channel_order_id');
  });
});

describe('a channel_order_id', () => {
  it('is taken once for each integration', async () => {
    const own = await openShop(world);
    const sibling = await addShop(world, own);
    const stranger = await openShop(world);
    assert.equal((await own.post('/v1/orders', { channel_order_id: 'SO-1' })).status, 201);
    assert.deepEqual(faultOf(await own.post('/v1/orders', { channel_order_id: 'SO-1' })), {
      status: 409,
      code: 'duplicate_channel_order_id',
      param: 'channel_order_id',
    });
    // The case counts, and so do blanks: it is the client's own id.
    assert.equal((await own.post('/v1/orders', { channel_order_id: 'so-1' })).status, 201);
    assert.equal((await own.post('/v1/orders', { channel_order_id: 'SO-1 ' })).status, 201);
    assert.equal((await sibling.post('/v1/orders', { channel_order_id: 'SO-1' })).status, 201);
    assert.equal((await stranger.post('/v1/orders', { channel_order_id: 'SO-1' })).status, 201);
  });

  it('goes to one of two that are reported at once', async () => {
    const own = await openShop(world);
    const before = await countOrders();
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => own.post('/v1/orders', { channel_order_id: `SO-${round}` })),
      );
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, 409, 409, 409]);
    }
    assert.equal(await countOrders(), before + 5);
  });

  it('that is refused leaves no trace, not even in the clock', async () => {
    const own = await openShop(world);
    await own.post('/v1/orders', { channel_order_id: 'SO-1' });
    const clock = sql`select stamp from channel_clocks where integration_id = ${own.integrationId}`;
    const before = await world.db.query(clock);
    await own.post('/v1/orders', { channel_order_id: 'SO-1', customer: { email: 'refused@example.ch' } });
    assert.deepEqual(await world.db.query(clock), before);
    assert.deepEqual(await world.db.query(sql`select id from customers where email = 'refused@example.ch'`), []);
  });
});
