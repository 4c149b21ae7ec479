import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openShop, type Shop } from '../../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';

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
