import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import { addShop, faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts';
import { sql } from '../../../db/sql.ts';
import { newId } from '../../../ids/new-id.ts';
import { setPublished } from '../../../inventory/publications.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

async function setEndpoint(shop: Shop, url: string | null, isEnabled = true, events = ['*']): Promise<void> {
  await world.db.query(sql`
    update webhook_endpoints set url = ${url}, is_enabled = ${isEnabled}, subscribed_events = ${events}::text[]
    where integration_id = ${shop.integrationId}`);
}

async function deliveriesOf(shop: Shop): Promise<{ id: string; event_id: string; status: string }[]> {
  return await world.db.query(sql`
    select id, event_id, status from deliveries where integration_id = ${shop.integrationId}`);
}

describe('the test ping', () => {
  it('records the test event and a delivery of it, whatever the subscriptions', async () => {
    const shop = await openShop(world, { isTestMode: true });
    await setEndpoint(shop, 'https://receiver.example/hook', true, ['listing.sold']);
    const { status, body } = await shop.post('/v1/test/webhook_ping');
    assert.equal(status, 200);
    assert.match(body.delivery_id, /^dlv_/);
    assert.match(body.event_id, /^evt_/);
    assert.deepEqual(body, {
      object: 'webhook_ping',
      delivery_id: body.delivery_id,
      event_id: body.event_id,
      enqueued: true,
    });
    const [delivery, ...others] = await deliveriesOf(shop);
    assert.deepEqual([delivery, others], [{ id: body.delivery_id, event_id: body.event_id, status: 'pending' }, []]);
    const { data } = (await shop.api.get('/v1/events')).body;
    assert.deepEqual(data, [
      {
        id: body.event_id,
        object: 'event',
        type: 'integration.test_event',
        api_version: '2026-05-07',
        created_at: data[0].created_at,
        livemode: false,
        data: {
          object: { id: shop.integrationId, object: 'integration', message: data[0].data.object.message },
        },
      },
    ]);
  });

  it('is recorded but not enqueued without a URL, and with webhooks off', async () => {
    const shop = await openShop(world);
    for (const [url, isEnabled] of [
      [null, true],
      ['https://receiver.example/hook', false],
    ] as const) {
      await setEndpoint(shop, url, isEnabled);
      const { status, body } = await shop.post('/v1/test/webhook_ping', {});
      assert.equal(status, 200);
      assert.deepEqual([body.enqueued, body.delivery_id], [false, null]);
    }
    assert.deepEqual(await deliveriesOf(shop), []);
    assert.equal((await shop.api.get('/v1/events')).body.data.length, 2);
  });

  it('fires once for its key, and costs one token', async () => {
    const shop = await openShop(world);
    await setEndpoint(shop, 'https://receiver.example/hook');
    const key = freshKey();
    const first = await shop.api.post('/v1/test/webhook_ping', undefined, key);
    const replay = await shop.api.post('/v1/test/webhook_ping', undefined, key);
    assert.equal(replay.text, first.text);
    assert.equal(replay.headers['idempotent-replay'], 'true');
    assert.equal((await deliveriesOf(shop)).length, 1);
    const tokens = [first, replay].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    assert.equal((tokens[0] ?? 0) - (tokens[1] ?? 0), 1);
  });

  it('needs a key, and JSON if it has a body', async () => {
    const shop = await openShop(world);
    const missing = { status: 400, code: 'missing_idempotency_key', param: 'Idempotency-Key' };
    assert.deepEqual(faultOf(await shop.api.post('/v1/test/webhook_ping')), missing);
    const json = { ...freshKey(), 'content-type': 'application/json' };
    const broken = await shop.api.post('/v1/test/webhook_ping', '{', json);
    assert.deepEqual(faultOf(broken), { status: 400, code: 'invalid_json' });
    const list = await shop.api.post('/v1/test/webhook_ping', '[]', json);
    assert.deepEqual(faultOf(list), { status: 400, code: 'invalid_request' });
    for (const body of ['{"unknown":1}', '{"unknown":"\\u0000"}']) {
      assert.equal((await shop.api.post('/v1/test/webhook_ping', body, { ...json, ...freshKey() })).status, 200, body);
    }
  });

  it('takes an empty body whatever its content type says, and a body as JSON alone', async () => {
    const shop = await openShop(world);
    for (const type of ['foo', ';;', '', 'text/html; charset=latin1', 'application/json;;', 'application/json']) {
      const headers = { 'content-type': type };
      const send = (body: string) => shop.api.post('/v1/test/webhook_ping', body, { ...headers, ...freshKey() });
      assert.equal((await send('')).status, 200, type);
      const isJson = type.startsWith('application/json');
      assert.equal(faultOf(await send('{}')).code, isJson ? undefined : 'invalid_json', type);
    }
  });
});

describe('a triggered event', () => {
  const trigger = (shop: Shop, body: object) => shop.post('/v1/test/webhook_ping', body);
  const newest = async (shop: Shop) => (await shop.api.get('/v1/events?limit=1')).body.data[0];

  it('is what the real one would be, of every type, with livemode false', async () => {
    const shop = await openShop(world, { isTestMode: true });
    for (const type of Object.keys(EVENT_TYPES) as EventType[]) {
      const { status, body } = await trigger(shop, { type });
      assert.equal(status, 200, JSON.stringify(body));
      const event = await newest(shop);
      assert.deepEqual([event.id, event.type, event.livemode], [body.event_id, type, false]);
      // The client of this test holds every event against its type's schema in OpenAPI.
      assert.equal(event.data.previous_attributes !== undefined, EVENT_TYPES[type].previous !== null, type);
      assert.equal(event.data.object.object, type.split('.')[0]);
      if (type === 'integration.test_event') continue;
      const path = `/v1/${event.data.object.object}s/${event.data.object.id}`;
      assert.equal((await shop.api.get(path)).status, 404, `${path} is made up`);
    }
  });

  it('is about the object that it names', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const listing = await publishNew(world, shop, watch());
    const spare = await publishNew(world, shop, part({ units: 7 }));
    const { body: order } = await shop.post('/v1/orders', {
      channel_order_id: 'SO-1',
      lines: [{ listing_id: listing }],
    });
    const dataOf = async (type: string, id: string) => {
      assert.equal((await trigger(shop, { type, object_id: id })).status, 200);
      return (await newest(shop)).data;
    };
    assert.deepEqual(await dataOf('listing.sold', listing), { object: { id: listing, object: 'listing' } });
    assert.deepEqual(await dataOf('listing.updated', listing), {
      object: { id: listing, object: 'listing' },
      previous_attributes: {},
    });
    assert.deepEqual(await dataOf('part.sold_out', spare), { object: { id: spare, object: 'part' } });
    assert.deepEqual(await dataOf('part.in_stock', spare), {
      object: { id: spare, object: 'part', quantity: 7 },
      previous_attributes: { quantity: 8 },
    });
    const fulfilled = await dataOf('order.fulfilled', order.id);
    const at = (await newest(shop)).created_at;
    assert.deepEqual(fulfilled, {
      object: { ...order, status: 'fulfilled', fulfilled_at: at, updated_at: at },
      previous_attributes: { status: 'matched' },
    });
    const cancelled = await dataOf('order.cancelled', order.id);
    assert.deepEqual(
      [cancelled.object.status, cancelled.object.cancellation, cancelled.previous_attributes],
      ['cancelled', { by: 'dealer', reason: null }, {}],
    );
    // Nothing has really happened.
    assert.deepEqual((await shop.api.get(`/v1/orders/${order.id}`)).body, order);
    assert.equal((await shop.api.get(`/v1/listings/${listing}`)).body.status, 'active');
    assert.equal((await shop.api.get(`/v1/parts/${spare}`)).body.quantity, 7);
  });

  it('is told to nobody else, not even to another integration that has the same listing', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const other = await addShop(world, shop);
    const listing = await publishNew(world, shop, watch());
    await setPublished(world.channel, TESTER, other.organizationId, other.integrationId, [listing], true);
    const before = (await other.api.get('/v1/events')).text;
    assert.equal((await trigger(shop, { type: 'listing.sold', object_id: listing })).status, 200);
    assert.equal((await other.api.get('/v1/events')).text, before);
  });

  it('is delivered whatever the subscriptions, and not enqueued without a URL', async () => {
    const shop = await openShop(world, { isTestMode: true });
    await setEndpoint(shop, 'https://receiver.example/hook', true, ['order.*']);
    const sent = await trigger(shop, { type: 'listing.sold' });
    assert.equal(sent.body.enqueued, true);
    assert.deepEqual(await deliveriesOf(shop), [
      { id: sent.body.delivery_id, event_id: sent.body.event_id, status: 'pending' },
    ]);
    await setEndpoint(shop, null);
    assert.deepEqual((await trigger(shop, { type: 'listing.sold' })).body.enqueued, false);
  });

  it('is refused outside test mode, and where its type is none', async () => {
    const refused = { status: 400, code: 'invalid_request', param: 'type' };
    const live = await openShop(world);
    for (const type of ['listing.sold', 'integration.test_event', 'nonsense']) {
      assert.deepEqual(faultOf(await trigger(live, { type })), refused, type);
    }
    assert.deepEqual((await live.api.get('/v1/events')).body.data, []);
    assert.equal((await trigger(live, { type: null, object_id: null })).status, 200);
    const shop = await openShop(world, { isTestMode: true });
    for (const body of [
      { type: 'listing.gone' },
      { type: 'listing.*' },
      { type: '*' },
      { type: 'order.received' },
      { type: 'toString' },
      { type: 5 },
      { object_id: 'lst_x' },
    ]) {
      assert.deepEqual(faultOf(await trigger(shop, body)), refused, JSON.stringify(body));
    }
    assert.deepEqual((await shop.api.get('/v1/events')).body.data, []);
  });

  it('is refused for an object that the integration can not read', async () => {
    const [shop, other] = [await openShop(world, { isTestMode: true }), await openShop(world)];
    const foreign = await publishNew(world, other, watch());
    const order = (await other.post('/v1/orders', { channel_order_id: 'SO-1' })).body.id;
    const spare = await publishNew(world, shop, part());
    for (const [type, object_id, code] of [
      ['listing.sold', foreign, 'listing_not_found'],
      ['listing.sold', newId('listing'), 'listing_not_found'],
      ['listing.updated', spare, 'listing_not_found'],
      ['listing.updated', 'nonsense', 'listing_not_found'],
      ['part.updated', foreign, 'part_not_found'],
      ['order.fulfilled', order, 'order_not_found'],
    ]) {
      assert.deepEqual(
        faultOf(await trigger(shop, { type, object_id })),
        { status: 404, code, param: 'object_id' },
        type,
      );
    }
    assert.deepEqual((await shop.api.get('/v1/events')).body.data, [await newest(shop)]);
  });

  it('fires once for its key, costs one token, and many go together', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const key = freshKey();
    const body = { type: 'listing.sold' };
    const first = await shop.api.post('/v1/test/webhook_ping', body, key);
    const replay = await shop.api.post('/v1/test/webhook_ping', body, key);
    assert.deepEqual([replay.text, replay.headers['idempotent-replay']], [first.text, 'true']);
    const reused = await shop.api.post('/v1/test/webhook_ping', { type: 'listing.updated' }, key);
    assert.equal(faultOf(reused).code, 'key_reused_with_different_body');
    const bodies = [{ type: 'part.updated' }, { type: 'listing.sold', object_id: newId('listing') }, {}];
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => trigger(shop, bodies[index % 3] ?? {})));
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 30 }, (_, index) => (index % 3 === 1 ? 404 : 200)),
    );
    const { data } = (await shop.api.get('/v1/events?limit=250')).body;
    assert.equal(new Set(data.map((event: { id: string }) => event.id)).size, 21);
    const tokens = [first, replay].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    assert.equal((tokens[0] ?? 0) - (tokens[1] ?? 0), 1);
  });
});
