import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../../test/harness/shop.ts';
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
