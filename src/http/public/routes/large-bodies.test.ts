import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freshKey, openShop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { METADATA_LIMIT_BYTES } from '../../../contract/limits.ts';
import { LARGE_BODY_BYTES } from '../../json/json-body.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

/** Makes the body large; nobody knows the field. */
const ballast = 'x'.repeat(LARGE_BODY_BYTES);

describe('a write with a large body', () => {
  it('stores the metadata of an order as they were sent', async () => {
    const shop = await openShop(world);
    const metadata = { b: [1, { c: null }], a: 'é\n', '1': true };
    const order = { channel_order_id: 'large', metadata, ballast };
    const { status, body } = await shop.post('/v1/orders', order);
    assert.equal(status, 201);
    assert.equal(JSON.stringify(body.metadata), JSON.stringify(metadata));
  });

  it('is refused when the metadata are too large, and names them', async () => {
    const shop = await openShop(world);
    const metadata = { a: 'x'.repeat(METADATA_LIMIT_BYTES) };
    const single = await shop.post('/v1/orders', { channel_order_id: 'large', metadata, ballast });
    assert.equal(single.status, 400);
    assert.equal(single.body.error.code, 'invalid_request');
    assert.equal(single.body.error.param, 'metadata');
    const customers = [
      { email: 'a@b.ch', metadata: {} },
      { email: 'b@b.ch', metadata },
    ];
    const bulk = await shop.post('/v1/customers/bulk', { customers, ballast });
    assert.equal(bulk.status, 400);
    assert.equal(bulk.body.error.param, 'customers[1].metadata');
  });

  it('is refused for too many records and for wrong types as a small one is', async () => {
    const shop = await openShop(world);
    for (const customers of [Array.from({ length: 1_002 }, () => ({})), {}, [{ email: ['x'] }], [{ address: [] }]]) {
      const small = await shop.post('/v1/customers/bulk', { customers });
      const large = await shop.post('/v1/customers/bulk', { customers, ballast });
      assert.equal(large.status, 400);
      assert.equal(large.body.error.message, small.body.error.message);
      assert.equal(large.body.error.param, small.body.error.param);
    }
  });

  it('names the same record and field as a small one, wherever the fault is', async () => {
    const shop = await openShop(world);
    const fine = { email: 'a@b.ch' };
    for (const fault of [
      { email: 1 },
      { email: 'x' },
      { address: { city: ['x'] } },
      null,
      { phone: '1'.repeat(501) },
    ]) {
      const customers = [...Array.from({ length: 40 }, () => fine), fault, { email: 2 }];
      const small = await shop.post('/v1/customers/bulk', { customers });
      const large = await shop.post('/v1/customers/bulk', { customers, ballast });
      assert.equal(large.status, 400);
      assert.match(large.body.error.param, /^customers\[40\]/);
      assert.equal(large.body.error.message, small.body.error.message);
      assert.equal(large.body.error.param, small.body.error.param);
    }
    assert.equal((await shop.post('/v1/customers/bulk', { customers: [fine], ballast })).status, 200);
  });

  it('is replayed, and refused under a key of another body, as a small one is', async () => {
    const shop = await openShop(world);
    const key = freshKey();
    const body = { customers: [{ email: 'a@b.ch' }], ballast };
    const first = await shop.api.post('/v1/customers/bulk', body, key);
    const again = await shop.api.post('/v1/customers/bulk', body, key);
    assert.equal(again.text, first.text);
    assert.equal(again.headers['idempotent-replay'], 'true');
    const other = await shop.api.post('/v1/customers/bulk', { ...body, ballast: `${ballast.slice(1)}y` }, key);
    assert.equal(other.body.error.code, 'key_reused_with_different_body');
  });
});
