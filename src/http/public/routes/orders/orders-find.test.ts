import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { addShop, faultOf, freshKey, openShop } from '../../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { CHANNEL_ORDER_ID_LENGTH_LIMIT } from '../../../../contract/limits.ts';
import { dismissOrder } from '../../../../sales/orders/order-operations.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

const EMPTY = { object: 'list', data: [], has_more: false, next_cursor: null };
const path = (channelOrderId: string) => `/v1/orders?channel_order_id=${encodeURIComponent(channelOrderId)}`;

describe('finding an order by its channel_order_id', () => {
  it('answers a list of that order, or an empty one', async () => {
    const shop = await openShop(world);
    const ids = ['SO-1', 'SO-10', 'a b&c=é+😀', 'x'.repeat(CHANNEL_ORDER_ID_LENGTH_LIMIT), ' SO-1'];
    for (const channelOrderId of ids) await shop.post('/v1/orders', { channel_order_id: channelOrderId });
    for (const channelOrderId of ids) {
      const { status, body } = await shop.api.get(path(channelOrderId));
      assert.equal(status, 200);
      const [order, ...others] = body.data;
      assert.deepEqual(body, { ...EMPTY, data: [order] });
      assert.equal(order.channel_order_id, channelOrderId);
      assert.deepEqual([order, others], [(await shop.api.get(`/v1/orders/${order.id}`)).body, []]);
    }
    for (const unknown of ['SO-2', 'so-1', 'SO-1 ', '%', '\0', 'SO-1\0']) {
      assert.deepEqual((await shop.api.get(path(unknown))).body, EMPTY, unknown);
    }
  });

  it('has an ETag, and is right as soon as the order is there or has changed', async () => {
    const shop = await openShop(world);
    const before = await shop.api.get(path('SO-1'));
    assert.deepEqual(before.body, EMPTY);
    const { body: order } = await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    const found = await shop.api.get(path('SO-1'), { 'if-none-match': before.headers.etag ?? '' });
    assert.deepEqual(found.body.data, [order]);
    const again = await shop.api.get(path('SO-1'), { 'if-none-match': found.headers.etag ?? '' });
    assert.deepEqual([again.status, again.text], [304, '']);
    await dismissOrder(world.channel, TESTER, shop.organizationId, order.id, null);
    assert.equal((await shop.api.get(path('SO-1'))).body.data[0].status, 'cancelled');
  });

  it('goes with the other filters, and not with a cursor', async () => {
    const shop = await openShop(world);
    for (const id of ['SO-1', 'SO-2']) await shop.post('/v1/orders', { channel_order_id: id });
    const found = async (query: string) => (await shop.api.get(`${path('SO-1')}&${query}`)).body.data.length;
    assert.equal(await found('status=received'), 1);
    assert.equal(await found('status=cancelled,fulfilled'), 0);
    assert.equal(await found('limit=1'), 1);
    assert.equal(await found('updated_after=2020-01-01'), 1);
    assert.equal(await found('updated_after=2100-01-01'), 0);
    const { next_cursor: cursor } = (await shop.api.get('/v1/orders?limit=1')).body;
    const refused = { status: 400, code: 'invalid_request', param: 'channel_order_id' };
    assert.deepEqual(faultOf(await shop.api.get(`${path('SO-1')}&after=${cursor}`)), refused);
    for (const wrong of ['', 'x'.repeat(CHANNEL_ORDER_ID_LENGTH_LIMIT + 1), 'a&channel_order_id=b']) {
      assert.deepEqual(faultOf(await shop.api.get(`/v1/orders?channel_order_id=${wrong}`)), refused, wrong);
    }
  });

  it('needs a key, and finds nothing of another dealer or another integration', async () => {
    const shop = await openShop(world);
    for (const other of [await openShop(world), await addShop(world, shop)]) {
      await other.post('/v1/orders', { channel_order_id: 'SO-1' });
      assert.deepEqual((await shop.api.get(path('SO-1'))).body, EMPTY);
    }
    assert.equal(faultOf(await world.client(null).get(path('SO-1'))).code, 'missing_authorization');
  });
});

describe('a channel_order_id that is taken', () => {
  it('is refused with the id of the order that has it', async () => {
    const shop = await openShop(world);
    const { body: order } = await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    const refused = await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    const fault = { status: 409, code: 'duplicate_channel_order_id', param: 'channel_order_id' };
    assert.deepEqual(faultOf(refused), fault);
    assert.equal(refused.body.error.existing_id, order.id);
    // Another integration may use the same id, and learns nothing of this one.
    const sibling = await addShop(world, shop);
    assert.equal((await sibling.post('/v1/orders', { channel_order_id: 'SO-1' })).status, 201);
  });

  it('is refused with that id also when it was taken in the same moment', async () => {
    const shop = await openShop(world);
    const report = () => shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, freshKey());
    const answers = await Promise.all(Array.from({ length: 12 }, report));
    const made = answers.filter((answer) => answer.status === 201);
    assert.equal(made.length, 1);
    for (const answer of answers) {
      if (answer.status !== 201) assert.equal(answer.body.error.existing_id, made[0]?.body.id, answer.text);
    }
  });
});
