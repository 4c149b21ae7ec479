import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiResponse } from '../../../../test/harness/http/api-client.ts';
import { freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { OrderInput } from '../../../contract/resources/order.ts';
import { parseJsonBody } from '../../json/json-body.ts';
import type { Shape } from '../../json/shape.ts';
import { UnknownNames } from '../../json/unknown-names.ts';
import { ignoredFieldsOf } from './ignored-fields.ts';

let world: World;
let shop: Shop;
before(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
after(() => world.stop());

const ignored = ({ headers }: ApiResponse) => headers['x-ignored-fields'];
const JSON_TYPE = { 'content-type': 'application/json' };

describe('X-Ignored-Fields', () => {
  it('is absent where nothing was ignored', async () => {
    const id = await publishNew(world, shop, watch());
    for (const path of [
      '/v1/me',
      '/v1/listings?limit=5&status=any',
      `/v1/listings/${id}`,
      '/v1/events',
      '/v1/orders',
    ]) {
      assert.equal(ignored(await shop.api.get(path)), undefined, path);
    }
    assert.equal(ignored(await shop.post('/v1/orders', { channel_order_id: 'plain', lines: [{}] })), undefined);
    assert.equal(ignored(await shop.post('/v1/test/webhook_ping')), undefined);
  });

  it('names unknown query parameters, of reads and of writes', async () => {
    assert.equal(ignored(await shop.api.get('/v1/listings?limit=1&updated_afer=x')), 'updated_afer');
    assert.equal(ignored(await shop.api.get('/v1/me?a=1&b=2&a=3')), 'a, b');
    assert.equal(ignored(await shop.api.get('/v1/orders?LIMIT=1&__proto__=x&limit[]=2')), 'LIMIT, __proto__, limit[]');
    const order = { channel_order_id: 'with a query', line_items: [] };
    assert.equal(ignored(await shop.post('/v1/orders?dry_run=true', order)), 'line_items, dry_run');
  });

  it('is worked out for each request, also where the answer was kept', async () => {
    const path = `/v1/listings?status=sold`;
    const plain = await shop.api.get(path);
    const odd = await shop.api.get(`${path}&x=1`);
    assert.deepEqual([odd.text, ignored(odd)], [plain.text, 'x']);
    assert.equal(ignored(await shop.api.get(`${path}&y=1`)), 'y');
    assert.equal(ignored(await shop.api.get(path)), undefined);
    const kept = await shop.api.get(`${path}&z=1`, { 'if-none-match': plain.headers.etag ?? '' });
    assert.deepEqual([kept.status, ignored(kept)], [304, 'z']);
    const head = await shop.api.send(`${path}&h=1`, { method: 'HEAD' });
    assert.deepEqual([head.status, ignored(head)], [200, 'h']);
  });

  it('names unknown fields of a body, with 2xx, on a replay and with every error after parsing', async () => {
    const key = freshKey();
    const body = { channel_order_id: 'SO-1', line_items: 1, lines: [{ listingId: 'x' }] };
    const names = 'line_items, lines[0].listingId';
    const made = await shop.api.post('/v1/orders', body, key);
    assert.deepEqual([made.status, ignored(made)], [201, names]);
    const replay = await shop.api.post('/v1/orders', body, key);
    assert.deepEqual([replay.headers['idempotent-replay'], ignored(replay)], ['true', names]);
    const duplicate = await shop.post('/v1/orders', body);
    assert.deepEqual([duplicate.status, ignored(duplicate)], [409, names]);
    const reused = await shop.api.post('/v1/orders', { ...body, x: 1 }, key);
    assert.deepEqual([reused.status, ignored(reused)], [409, `${names}, x`]);
    const wrong = await shop.post('/v1/orders', { ...body, channel_order_id: 5 });
    assert.deepEqual([wrong.status, ignored(wrong)], [400, names]);
    const unstorable = await shop.api.post('/v1/orders', '{"channel_order_id":"\\u0000","x":1}', {
      ...freshKey(),
      ...JSON_TYPE,
    });
    assert.deepEqual([unstorable.status, ignored(unstorable)], [400, 'x']);
    const unknown = await shop.post('/v1/orders/ord_nonsense/cancel', { why: 'x' });
    assert.deepEqual([unknown.status, ignored(unknown)], [404, 'why']);
    const refused = await shop.api.get('/v1/listings?limit=0&x=1');
    assert.deepEqual([refused.status, ignored(refused)], [400, 'x']);
    assert.equal(ignored(await shop.api.get('/v1/listings/lst_nonsense?x=1')), 'x');
  });

  it('names the recipient of a customer’s address, which only the addresses of an order have', async () => {
    const address = { name: 'Ana', line1: 'Rue 1' };
    const customer = { external_id: 'c1', address, metadata: { a: 1 } };
    assert.equal(ignored(await shop.post('/v1/customers', customer)), 'address.name');
    assert.equal(
      ignored(await shop.post('/v1/customers/bulk', { customers: [customer] })),
      'customers[0].address.name',
    );
    const order = { channel_order_id: 'to-ana', shipping_address: address };
    assert.equal(ignored(await shop.post('/v1/orders', order)), undefined);
  });

  it('names them in a large body, too', async () => {
    const customers = Array.from({ length: 1_000 }, (_, index) => ({
      external_id: `c${index}`,
      company: 'x'.repeat(200),
      ...(index === 999 ? { emial: 'a@b.ch', address: { street: 'Rue 1' } } : {}),
    }));
    const answer = await shop.post('/v1/customers/bulk', { customers, dryRun: true });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(ignored(answer), 'customers[999].emial, customers[999].address.street, dryRun');
    const wrong = await shop.post('/v1/customers/bulk', { customers: [...customers, {}], dryRun: true });
    assert.deepEqual([wrong.status, ignored(wrong)?.endsWith('dryRun')], [400, true]);
  });

  it('is sent to nobody without a key, and not for a body that is no JSON', async () => {
    const stranger = world.client(null);
    for (const path of ['/v1/listings?x=1', '/v1/health?x=1', '/v1/ready?x=1', '/v1/openapi.json?x=1']) {
      assert.equal(ignored(await stranger.get(path)), undefined, path);
    }
    const broken = await shop.api.post('/v1/orders', '{"x":1,', { ...freshKey(), ...JSON_TYPE });
    assert.deepEqual([broken.status, ignored(broken)], [400, undefined]);
  });

  it('never carries a value, and stays within its limits', async () => {
    const query = Array.from({ length: 400 }, (_, index) => `key${index}=hunter2`).join('&');
    const answer = await shop.api.get(`/v1/me?${query}`);
    const header = ignored(answer) ?? '';
    assert.equal(header.split(', ').length, 21);
    assert.match(header, /^key0, .*, key19, %E2%80%A6$/);
    assert.equal(ignored(await shop.api.get(`/v1/me?${'k'.repeat(2_000)}=1`)), '%E2%80%A6');
    assert.equal(ignored(await shop.api.get('/v1/me?%C3%A9%0D%0AX-Evil=1')), '%C3%A9%0D%0AX-Evil');
  });

  it('can be told to a log with the names that were meant', () => {
    const unknownNames = new UnknownNames();
    const body = { channel_order_id: 'SO-1', line_items: [], lines: [{ listingId: 'y' }], é: 1 };
    parseJsonBody(Buffer.from(JSON.stringify(body)), 'application/json', OrderInput as Shape, unknownNames);
    assert.deepEqual(ignoredFieldsOf({ unknownNames }), [
      { path: 'line_items', meant: 'lines' },
      { path: 'lines[0].listingId', meant: 'lines[0].listing_id' },
      { path: '%C3%A9', meant: null },
    ]);
    assert.deepEqual(ignoredFieldsOf({ unknownNames: null }), []);
  });
});
