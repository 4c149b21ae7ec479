import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { faultOf, freshKey, openShop, reportOrder, type Shop } from '../../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { cancelSale, confirmOrder, fulfilOrder } from '../../../../sales/orders/order-operations.ts';

let world: World;
let shop: Shop;
before(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
after(() => world.stop());

const order = async (lines: object[] = []): Promise<string> => (await reportOrder(shop, lines)).id;

describe('cancelling an order', () => {
  it('answers with the order, its reason, and as it reads from then on', async () => {
    const id = await order([{ title: 'Submariner', unit_amount: 5 }]);
    const before = (await shop.api.get(`/v1/orders/${id}`)).body;
    const { status, body } = await shop.post(`/v1/orders/${id}/cancel`, { reason: 'Changed her mind.' });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...before,
      status: 'cancelled',
      cancelled_at: body.cancelled_at,
      cancellation: { by: 'api', reason: 'Changed her mind.' },
      updated_at: body.updated_at,
    });
    assert.ok(body.cancelled_at >= before.created_at && body.cancelled_at <= body.updated_at);
    assert.ok(body.updated_at > before.updated_at);
    assert.deepEqual((await shop.api.get(`/v1/orders/${id}`)).body, body);
  });

  it('takes no body, an empty one, and a reason that is null', async () => {
    const json = { 'content-type': 'application/json' };
    for (const [body, headers] of [
      [undefined, {}],
      ['', json],
      ['{}', json],
      ['{"reason":null,"unknown":1}', json],
    ] as const) {
      const answer = await shop.api.post(`/v1/orders/${await order()}/cancel`, body, { ...freshKey(), ...headers });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body.cancellation, { by: 'api', reason: null });
    }
  });

  it('changes nothing the second time, whatever is sent then', async () => {
    const id = await order();
    const first = await shop.post(`/v1/orders/${id}/cancel`, { reason: 'First.' });
    const second = await shop.post(`/v1/orders/${id}/cancel`, { reason: 'Second.' });
    assert.equal(second.status, 200);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['idempotent-replay'], undefined);
  });

  it('is refused while a completed sale exists, and possible again when the dealer has cancelled that', async () => {
    const listingId = await publishNew(world, shop, watch());
    const id = await order([{ listing_id: listingId }]);
    await confirmOrder(world.channel, TESTER, shop.organizationId, id);
    const refused = { status: 409, code: 'order_matched' };
    assert.deepEqual(faultOf(await shop.post(`/v1/orders/${id}/cancel`)), refused);
    await fulfilOrder(world.channel, TESTER, shop.organizationId, id);
    assert.deepEqual(faultOf(await shop.post(`/v1/orders/${id}/cancel`)), refused);
    assert.equal((await shop.api.get(`/v1/orders/${id}`)).body.status, 'fulfilled');
    await cancelSale(world.channel, TESTER, shop.organizationId, id);
    const { status, body } = await shop.post(`/v1/orders/${id}/cancel`);
    assert.equal(status, 200);
    assert.equal(body.status, 'cancelled');
    assert.equal(body.fulfilled_at, null);
  });

  it('wins or loses against the dealer’s confirmation, and never does both', async () => {
    for (let round = 0; round < 6; round++) {
      const listingId = await publishNew(world, shop, watch());
      const id = await order([{ listing_id: listingId }]);
      const [cancelled, confirmed] = await Promise.all([
        shop.post(`/v1/orders/${id}/cancel`),
        confirmOrder(world.channel, TESTER, shop.organizationId, id).catch((error: unknown) => error),
      ]);
      const { status } = (await shop.api.get(`/v1/orders/${id}`)).body;
      const listing = (await shop.api.get(`/v1/listings/${listingId}`)).body.status;
      if (cancelled.status === 200) {
        assert.ok(confirmed instanceof Error);
        assert.deepEqual([status, listing], ['cancelled', 'active']);
      } else {
        assert.equal(cancelled.body.error.code, 'order_matched');
        assert.deepEqual([status, listing], ['matched', 'sold']);
      }
    }
  });

  it('takes an empty reason for none', async () => {
    const { status, body } = await shop.post(`/v1/orders/${await order()}/cancel`, { reason: '' });
    assert.equal(status, 200);
    assert.deepEqual(body.cancellation, { by: 'api', reason: null });
  });

  it('refuses a reason that is no text or over 500 characters', async () => {
    const id = await order();
    for (const reason of [7, 'x'.repeat(501), {}]) {
      const answer = await shop.post(`/v1/orders/${id}/cancel`, { reason });
      assert.deepEqual(faultOf(answer), { status: 400, code: 'invalid_request', param: 'reason' });
    }
    assert.equal((await shop.post(`/v1/orders/${id}/cancel`, { reason: '🕰'.repeat(500) })).status, 200);
  });

  it('needs a key, JSON and at most 1 MB', async () => {
    const path = `/v1/orders/${await order()}/cancel`;
    assert.deepEqual(faultOf(await shop.api.post(path)), {
      status: 400,
      code: 'missing_idempotency_key',
      param: 'Idempotency-Key',
    });
    const json = { ...freshKey(), 'content-type': 'application/json' };
    assert.deepEqual(faultOf(await shop.api.post(path, '{', json)), { status: 400, code: 'invalid_json' });
    assert.deepEqual(faultOf(await shop.api.post(path, 'null', json)), { status: 400, code: 'invalid_request' });
    const large = `{}${' '.repeat(1_048_575)}`;
    assert.deepEqual(faultOf(await shop.api.post(path, large, json)), { status: 413, code: 'request_too_large' });
    assert.equal((await shop.api.post(path, large.slice(1), json)).body.error.code, 'invalid_json');
  });
});
