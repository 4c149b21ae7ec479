import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { faultOf, freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { sql } from '../../../db/sql.ts';

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
