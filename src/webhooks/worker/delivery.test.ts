import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { countRefused, type Received } from '../../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { isAccepted, signedAt } from '../../../test/harness/webhooks/verify-signature.ts';
import {
  deliveriesOf,
  deliveryOf,
  encryption,
  guard,
  ping,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../test/harness/webhooks/webhook-world.ts';
import { isId } from '../../contract/ids.ts';
import { sql } from '../../db/sql.ts';
import { moveUnits } from '../../inventory/units/movements.ts';
import { confirmOrder, dismissOrder, fulfilOrder } from '../../sales/orders/order-operations.ts';
import { setUrl, subscribe } from '../endpoints/endpoint-settings.ts';

describe('a webhook', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await startWebhookWorld();
  });
  after(() => world.stop());

  async function storedBodies(shop: Shop): Promise<string[]> {
    const rows = await world.db.query<{ body: string }>(sql`
      select body from events where integration_id = ${shop.integrationId} order by id`);
    return rows.map((row) => row.body);
  }

  const inOrder = (received: Received[]) => received.map(({ body }) => body).sort();

  it('a webhook is a POST with the six headers, the stored bytes and nothing that could be inflated', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const deliveryId = await ping(shop);
    const [webhook] = await receiver.until(1);
    assert.ok(webhook !== undefined);
    const { headers } = webhook;
    assert.equal(headers['content-type'], 'application/json');
    assert.match(webhook.signature, /^t=\d+,v1=[0-9a-f]{64}$/);
    assert.equal(webhook.deliveryId, deliveryId);
    assert.equal(headers['x-svc-delivery-attempt'], '1');
    assert.equal(webhook.type, 'integration.test_event');
    assert.equal(headers['content-length'], String(webhook.rawBody.length));
    assert.equal(headers['accept-encoding'], undefined);
    const event = JSON.parse(webhook.body);
    assert.equal(webhook.eventId, event.id);
    assert.ok(isId('event', event.id));
    assert.deepEqual(
      [event.object, event.type, event.api_version, event.livemode, event.data.object.id],
      ['event', 'integration.test_event', '2026-05-07', true, shop.integrationId],
    );
    assert.match(event.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(await storedBodies(shop), [webhook.body]);
  });

  it('a webhook carries the very bytes that are stored and that GET /v1/events serves, also of whole orders', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const listing = await publishNew(world, shop, watch());
    const item = await publishNew(world, shop, part());
    await moveUnits(world.channel, TESTER, shop.organizationId, item, 'fit', 2);
    const order = await shop.post('/v1/orders', {
      channel_order_id: 'Bestellung „Nº 7“ ⌚',
      lines: [{ listing_id: listing, unit_amount: 1_199_000, title: 'Ünïcödé \\ "quoted"' }],
      metadata: { note: 'line\nbreak \u2028 and 日本' },
    });
    await confirmOrder(world.channel, TESTER, shop.organizationId, order.body.id);
    await fulfilOrder(world.channel, TESTER, shop.organizationId, order.body.id);
    const dismissed = await shop.post('/v1/orders', { channel_order_id: 'SO-2' });
    await dismissOrder(world.channel, TESTER, shop.organizationId, dismissed.body.id, null);

    const stored = await storedBodies(shop);
    const sent = stored.filter((body) => !/"listing\.(sold|updated)"/.test(body));
    await receiver.until(sent.length);
    await world.worker.settled();
    assert.deepEqual(inOrder(receiver.received), [...sent].sort());
    assert.deepEqual(receiver.received.map(({ type }) => type).sort(), [
      'listing.published',
      'order.cancelled',
      'order.fulfilled',
      'part.in_stock',
      'part.published',
    ]);
    const { text } = await shop.api.get('/v1/events?limit=250');
    for (const { body } of receiver.received) assert.ok(text.includes(body), body);
    const fulfilled = receiver.received.find(({ type }) => type === 'order.fulfilled');
    const read = await shop.api.get(`/v1/orders/${order.body.id}`);
    assert.deepEqual(JSON.parse(fulfilled?.body ?? '').data.object, read.body);
    assert.equal(await countRefused(receiver.received, receiver.secret), 0);
  });

  it('a webhook verifies with the secret alone, within 300 seconds of its time, and only untouched', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await ping(shop);
    const [webhook] = await receiver.until(1);
    assert.ok(webhook !== undefined);
    const at = signedAt(webhook.signature);
    const { secret } = receiver;
    assert.match(secret, /^whsec_[A-Za-z0-9]{32}$/);
    assert.equal(await isAccepted(webhook, secret, at + 300), true);
    assert.equal(await isAccepted(webhook, secret, at - 300), true);
    assert.equal(await isAccepted(webhook, secret, at + 301), false);
    assert.equal(await isAccepted(webhook, `${secret}x`, at), false);
    assert.equal(await isAccepted(webhook, secret.slice('whsec_'.length), at), false);
    const touched = Buffer.from(JSON.stringify(JSON.parse(webhook.body), null, 1));
    assert.equal(await isAccepted({ ...webhook, rawBody: touched }, secret, at), false);
  });

  it('a webhook says livemode false while the integration is in test mode', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const receiver = await world.connect(shop);
    await ping(shop);
    const [webhook] = await receiver.until(1);
    assert.equal(JSON.parse(webhook?.body ?? '').livemode, false);
    await world.db.query(sql`update integrations set is_test_mode = false where id = ${shop.integrationId}`);
    await ping(shop);
    const [, live] = await receiver.until(2);
    assert.equal(JSON.parse(live?.body ?? '').livemode, true);
  });

  it('a webhook counts any 2xx as success and everything else as a failure that is retried, redirects too', async () => {
    const target = await openShop(world);
    const elsewhere = await world.connect(target);
    for (const [status, expected] of [
      [200, 'succeeded'],
      [201, 'succeeded'],
      [204, 'succeeded'],
      [299, 'succeeded'],
      [300, 'failed'],
      [301, 'failed'],
      [302, 'failed'],
      [307, 'failed'],
      [308, 'failed'],
      [304, 'failed'],
      [400, 'failed'],
      [401, 'failed'],
      [404, 'failed'],
      [410, 'failed'],
      [429, 'failed'],
      [500, 'failed'],
      [503, 'failed'],
    ] as const) {
      const shop = await openShop(world);
      const receiver = await world.connect(shop);
      receiver.answer = (response) => response.writeHead(status, { Location: elsewhere.url }).end();
      await ping(shop);
      await receiver.until(1);
      await world.worker.settled();
      const delivery = await deliveryOf(world, shop);
      assert.deepEqual([delivery.status, delivery.last_response_code], [expected, status]);
    }
    assert.equal(elsewhere.received.length, 0, 'a redirect was followed');
  });

  it('a webhook is recorded as an event without a delivery where there is no URL, and is never sent later', async () => {
    const shop = await openShop(world);
    await publishNew(world, shop, watch());
    const answer = await shop.post('/v1/test/webhook_ping');
    assert.deepEqual([answer.body.enqueued, answer.body.delivery_id], [false, null]);
    assert.equal((await storedBodies(shop)).length, 2);
    assert.deepEqual(await deliveriesOf(world, shop), []);
    const receiver = await world.connect(shop);
    await ping(shop);
    await receiver.until(1);
    await world.worker.settled();
    assert.equal(receiver.received.length, 1);
    assert.equal((await shop.api.get('/v1/events')).body.data.length, 3);
  });

  it('a webhook is sent for what was subscribed: names and namespaces, where listing.* gets no part.*', async () => {
    const table: [names: string[], types: string[]][] = [
      [['*'], ['listing.published', 'part.in_stock', 'part.published']],
      [['listing.*'], ['listing.published']],
      [['part.*'], ['part.in_stock', 'part.published']],
      [['part.in_stock', 'order.*'], ['part.in_stock']],
      [['order.received', 'customer.matched'], []],
      [[], []],
    ];
    for (const [names, types] of table) {
      const shop = await openShop(world);
      const receiver = await world.connect(shop);
      await subscribe(world.db, TESTER, shop.integrationId, names);
      await publishNew(world, shop, watch());
      const item = await publishNew(world, shop, part());
      await moveUnits(world.channel, TESTER, shop.organizationId, item, 'fit', 1);
      await ping(shop);
      await receiver.until(types.length + 1);
      await world.worker.settled();
      assert.deepEqual(receiver.received.map(({ type }) => type).sort(), ['integration.test_event', ...types].sort());
      assert.equal((await storedBodies(shop)).length, 4, 'every event is recorded');
      assert.deepEqual((await shop.api.get('/v1/me')).body.subscribed_events, names);
    }
  });

  it('a subscription cannot name an event that is not in the catalogue', async () => {
    const { integrationId } = await openShop(world);
    for (const name of [
      'listing',
      'listings.*',
      'watch.sold',
      '',
      '**',
      'Listing.sold',
      'toString',
      '__proto__',
      'order.',
    ]) {
      await assert.rejects(subscribe(world.db, TESTER, integrationId, ['*', name]), /There is no event named/, name);
    }
    await assert.rejects(subscribe(world.db, TESTER, integrationId, Array(101).fill('*')), /At most 100 names/);
    assert.equal(
      await subscribe(world.db, TESTER, integrationId, ['customer.matched', 'order.received', 'customer.*']),
      true,
    );
    assert.equal(await subscribe(world.db, TESTER, 'int_none', ['*']), false);
  });

  it('a webhook goes to the URL as it was saved, with path and query', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const url = `${receiver.url}/a%20b/?token=x%2By&z=%C3%A9`;
    const changed = await setUrl(world.db, TESTER, { guard, encryption }, shop.integrationId, ` ${url}`);
    assert.deepEqual(changed, { url, secret: null }, 'the secret stays when the URL changes');
    await ping(shop);
    const [webhook] = await receiver.until(1);
    assert.equal(webhook?.path, new URL(url).pathname + new URL(url).search);
    assert.equal(await countRefused(receiver.received, receiver.secret), 0);
  });
});
