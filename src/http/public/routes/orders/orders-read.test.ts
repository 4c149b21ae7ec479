import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import type { ApiResponse } from '../../../../../test/harness/http/api-client.ts';
import { addShop, faultOf, openShop, type Shop } from '../../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { newId } from '../../../../ids/new-id.ts';
import { dismissOrder } from '../../../../sales/orders/order-operations.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

/** Orders that were reported one after the other, the newest first as lists show them. */
async function report(shop: Shop, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number++) {
    ids.unshift((await shop.post('/v1/orders', { channel_order_id: `SO-${number}` })).body.id);
  }
  return ids;
}

function idsOf(answer: ApiResponse): string[] {
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data.map((order: { id: string }) => order.id);
}

describe('reading an order', () => {
  it('answers the same 404 for every id that is not the integration’s own', async () => {
    const shop = await openShop(world);
    const [own = ''] = await report(shop, 1);
    const [ofSibling = ''] = await report(await addShop(world, shop), 1);
    const [ofStranger = ''] = await report(await openShop(world), 1);
    assert.equal((await shop.api.get(`/v1/orders/${own}`)).status, 200);
    const others = [ofSibling, ofStranger, newId('order'), 'nonsense', own.toUpperCase(), own.replace('ord_', 'lst_')];
    for (const id of others) {
      for (const answer of [await shop.api.get(`/v1/orders/${id}`), await shop.post(`/v1/orders/${id}/cancel`)]) {
        assert.deepEqual(faultOf(answer), { status: 404, code: 'order_not_found' });
      }
    }
  });

  it('answers 304 to the tag of what has not changed, and anew once it has', async () => {
    const shop = await openShop(world);
    const [id = ''] = await report(shop, 1);
    const order = await shop.api.get(`/v1/orders/${id}`);
    const list = await shop.api.get('/v1/orders');
    const asked = (path: string, answer: ApiResponse) =>
      shop.api.get(path, { 'if-none-match': String(answer.headers.etag) });
    assert.equal((await asked(`/v1/orders/${id}`, order)).status, 304);
    assert.equal((await asked('/v1/orders', list)).status, 304);
    await shop.post('/v1/orders', { channel_order_id: 'another' });
    assert.equal((await asked(`/v1/orders/${id}`, order)).status, 304);
    assert.equal((await asked('/v1/orders', list)).status, 200);
    await dismissOrder(world.channel, TESTER, shop.organizationId, id, null);
    const changed = await asked(`/v1/orders/${id}`, order);
    assert.equal(changed.status, 200);
    assert.equal(changed.body.status, 'cancelled');
  });
});

describe('listing orders', () => {
  let shop: Shop;
  let ids: string[];
  before(async () => {
    shop = await openShop(world);
    await report(await addShop(world, shop), 2);
    ids = await report(shop, 7);
  });

  it('shows those of the integration, newest change first, as they read by id', async () => {
    const list = await shop.api.get('/v1/orders');
    assert.deepEqual(idsOf(list), ids);
    assert.equal(list.body.has_more, false);
    assert.equal(list.body.next_cursor, null);
    for (const order of list.body.data) {
      assert.deepEqual((await shop.api.get(`/v1/orders/${order.id}`)).body, order);
    }
  });

  it('pages without a gap or a repetition, also while others come in', async () => {
    const seen: string[] = [];
    let path = '/v1/orders?limit=2';
    for (let page = 0; page < 4; page++) {
      const answer = await shop.api.get(path);
      seen.push(...idsOf(answer));
      assert.equal(answer.body.has_more, page < 3);
      path = `/v1/orders?limit=2&after=${answer.body.next_cursor}`;
      const late = await shop.post('/v1/orders', { channel_order_id: `late ${page}` });
      ids = [late.body.id, ...ids];
    }
    assert.deepEqual(seen, ids.slice(4));
  });

  it('keeps what changed after updated_after, of every status, and carries it in the cursor', async () => {
    const own = await openShop(world);
    const [newest = '', middle = '', oldest = ''] = await report(own, 3);
    const since = (await own.api.get(`/v1/orders/${middle}`)).body.updated_at;
    assert.deepEqual(idsOf(await own.api.get(`/v1/orders?updated_after=${since}`)), [newest]);
    await dismissOrder(world.channel, TESTER, own.organizationId, oldest, null);
    const first = await own.api.get(`/v1/orders?limit=1&updated_after=${since}`);
    assert.deepEqual(idsOf(first), [oldest]);
    const second = await own.api.get(`/v1/orders?limit=1&after=${first.body.next_cursor}`);
    assert.deepEqual(idsOf(second), [newest]);
    assert.equal(second.body.has_more, false);
    const shifted = since.replace('Z', '+00:00').replace('+', '%2B');
    const again = `/v1/orders?limit=1&after=${first.body.next_cursor}&updated_after=`;
    assert.deepEqual(idsOf(await own.api.get(`${again}${shifted}`)), [newest]);
    assert.deepEqual(faultOf(await own.api.get(`${again}2026-01-01`)), {
      status: 400,
      code: 'invalid_request',
      param: 'updated_after',
    });
  });

  it('can be filtered by several statuses, also across pages', async () => {
    const own = await openShop(world);
    const [third = '', second = '', first = ''] = await report(own, 3);
    await own.post(`/v1/orders/${second}/cancel`);
    assert.deepEqual(idsOf(await own.api.get('/v1/orders')), [second, third, first]);
    assert.deepEqual(idsOf(await own.api.get('/v1/orders?status=any')), [second, third, first]);
    assert.deepEqual(idsOf(await own.api.get('/v1/orders?status=cancelled')), [second]);
    assert.deepEqual(idsOf(await own.api.get('/v1/orders?status=received,%20matched,fulfilled')), [third, first]);
    const page = await own.api.get('/v1/orders?status=received&limit=1');
    assert.deepEqual(idsOf(page), [third]);
    assert.deepEqual(idsOf(await own.api.get(`/v1/orders?limit=1&after=${page.body.next_cursor}`)), [first]);
    const other = `/v1/orders?after=${page.body.next_cursor}&status=cancelled`;
    assert.deepEqual(faultOf(await own.api.get(other)), { status: 400, code: 'invalid_request', param: 'status' });
  });

  const faults: [string, string, string][] = [
    ['limit=0', 'invalid_request', 'limit'],
    ['limit=251', 'invalid_request', 'limit'],
    ['limit=ten', 'invalid_request', 'limit'],
    ['status=active', 'invalid_request', 'status'],
    ['status=', 'invalid_request', 'status'],
    ['updated_after=soon', 'invalid_request', 'updated_after'],
    ['updated_after=9999-12-31T23:59:59-12:00', 'invalid_request', 'updated_after'],
    ['after=nonsense', 'invalid_cursor', 'after'],
  ];
  for (const [query, code, param] of faults) {
    it(`refuses ${query}`, async () => {
      assert.deepEqual(faultOf(await shop.api.get(`/v1/orders?${query}`)), { status: 400, code, param });
    });
  }

  it('takes no cursor of another list or another integration', async () => {
    const sibling = await addShop(world, shop);
    await report(sibling, 2);
    const { next_cursor: cursor } = (await sibling.api.get('/v1/orders?limit=1')).body;
    for (const path of [`/v1/orders?after=${cursor}`, `/v1/listings?after=${cursor}`]) {
      assert.deepEqual(faultOf(await shop.api.get(path)), { status: 400, code: 'invalid_cursor', param: 'after' });
    }
    assert.equal(faultOf(await sibling.api.get(`/v1/events?after=${cursor}`)).code, 'invalid_cursor');
  });

  it('understands the far ends of the calendar', async () => {
    assert.equal(idsOf(await shop.api.get('/v1/orders?updated_after=0000-01-01')).length, ids.length);
    assert.deepEqual(idsOf(await shop.api.get('/v1/orders?updated_after=9999-12-31')), []);
  });
});
