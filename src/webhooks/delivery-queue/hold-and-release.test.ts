import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../test/harness/actor.ts';
import { until } from '../../../test/harness/database/locks.ts';
import { countRefused } from '../../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import {
  deliveriesOf,
  encryption,
  guard,
  ping,
  queueEvents,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../test/harness/webhooks/webhook-world.ts';
import { sql } from '../../db/sql.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { setEnabled } from '../../dealers/integrations/integrations.ts';
import { setPlan, setProvisioned } from '../../dealers/organizations.ts';
import { confirmOrder, dismissOrder, fulfilOrder } from '../../sales/orders/order-operations.ts';
import { setUrl, setWebhooksEnabled } from '../endpoints/endpoint-settings.ts';
import { holdAndRelease } from './hold-and-release.ts';

const START = new Date('2031-03-01T12:00:00.000Z');

describe('deliveries while their endpoint is off', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await startWebhookWorld({ time: START, limits: { pollMs: 20 } });
  });
  beforeEach(() => world.worker.ensureStarted());
  after(() => world.stop());

  const setArchived = (shop: Shop, isArchived: boolean) =>
    world.db.query(sql`
      update organizations set archived_at = case when ${isArchived} then now() end where id = ${shop.organizationId}`);

  const switches: [name: string, toggle: (shop: Shop, isOn: boolean, url: string) => Promise<unknown>][] = [
    ['its webhooks are off', (shop, isOn) => setWebhooksEnabled(world.db, TESTER, shop.integrationId, isOn)],
    ['the integration is disabled', (shop, isOn) => setEnabled(world.db, TESTER, shop.integrationId, isOn)],
    ['the plan is missing', (shop, isOn) => setPlan(world.db, TESTER, shop.organizationId, isOn)],
    [
      'the organization is not provisioned',
      (shop, isOn) => setProvisioned(world.db, TESTER, shop.organizationId, isOn),
    ],
    ['the organization is archived', (shop, isOn) => setArchived(shop, !isOn)],
    [
      'the integration is detached',
      (shop, isOn) => setOrganization(world.db, TESTER, shop.integrationId, isOn ? shop.organizationId : null),
    ],
    [
      'the URL is removed',
      (shop, isOn, url) => setUrl(world.db, TESTER, { guard, encryption }, shop.integrationId, isOn ? url : null),
    ],
  ];
  for (const [name, toggle] of switches) {
    it(`deliveries are held while ${name}, and due at once when it is on again, with their counters kept`, async () => {
      const shop = await openShop(world);
      const receiver = await world.connect(shop);
      receiver.answerWith(500);
      await ping(shop);
      await receiver.until(1);
      await world.worker.settled();
      await toggle(shop, false, receiver.url);
      await world.worker.settled();
      const [held] = await deliveriesOf(world, shop);
      assert.deepEqual([held?.status, held?.attempts], ['held', 1]);
      await sleep(60);
      assert.equal(receiver.received.length, 1);

      receiver.answerWith(200);
      await toggle(shop, true, receiver.url);
      await receiver.until(2);
      await world.worker.settled();
      const [sent] = await deliveriesOf(world, shop);
      assert.deepEqual([sent?.status, sent?.attempts], ['succeeded', 2]);
      assert.equal(receiver.received[1]?.attempt, 2);
    });
  }

  // Without a URL there is nowhere to hold them for: events are recorded, and no delivery is made.
  for (const [name, toggle] of switches.filter(([each]) => each !== 'the URL is removed')) {
    it(`deliveries of order events are held while ${name}, and sent when it is on again`, async () => {
      const shop = await openShop(world);
      const receiver = await world.connect(shop);
      const listingId = await publishNew(world, shop, watch());
      const dismissed = await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines: [] });
      const sold = await shop.post('/v1/orders', { channel_order_id: 'SO-2', lines: [{ listing_id: listingId }] });
      await world.worker.settled();
      const before = receiver.received.length;

      await toggle(shop, false, receiver.url);
      await dismissOrder(world.channel, TESTER, shop.organizationId, dismissed.body.id, null);
      await confirmOrder(world.channel, TESTER, shop.organizationId, sold.body.id);
      await fulfilOrder(world.channel, TESTER, shop.organizationId, sold.body.id);
      await world.worker.settled();
      const held = (await deliveriesOf(world, shop)).filter(({ status }) => status === 'held');
      assert.equal(held.length, 2);
      assert.equal(receiver.received.length, before);

      await toggle(shop, true, receiver.url);
      const webhooks = (await receiver.until(before + 2)).slice(before);
      await world.worker.settled();
      assert.deepEqual(webhooks.map(({ type, deliveryId }) => [type, deliveryId]).sort(), [
        ['order.cancelled', held[0]?.id],
        ['order.fulfilled', held[1]?.id],
      ]);
      const log = (await shop.api.get('/v1/events?type=order.cancelled,order.fulfilled')).body.data;
      assert.deepEqual(
        log.map((event: { type: string; data: { object: { id: string } } }) => [event.type, event.data.object.id]),
        [
          ['order.fulfilled', sold.body.id],
          ['order.cancelled', dismissed.body.id],
        ],
      );
    });
  }

  it('deliveries of an endpoint that is off are held from the start, and carry their own ids when they are sent', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    await publishNew(world, shop, watch());
    const [made] = await deliveriesOf(world, shop);
    assert.equal(made?.status, 'held');
    const answer = await shop.post('/v1/test/webhook_ping');
    assert.deepEqual([answer.body.enqueued, answer.body.delivery_id], [false, null]);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, true);
    const [webhook] = await receiver.until(1);
    assert.deepEqual([webhook?.deliveryId, webhook?.attempt], [made?.id, 1]);
  });

  it('held deliveries go to the URL of the moment in which they are sent', async () => {
    const shop = await openShop(world);
    const old = await world.connect(shop);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    await queueEvents(world, shop, 3);
    const moved = await world.connect(shop);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, true);
    await moved.until(3);
    await world.worker.settled();
    assert.deepEqual([old.received.length, moved.received.length], [0, 3]);
    assert.equal(await countRefused(moved.received, old.secret, START), 0);
  });

  it('deliveries are all held and all released, however many they are', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    await queueEvents(world, shop, 2_500);
    await world.db.query(sql`update deliveries set status = 'pending' where integration_id = ${shop.integrationId}`);
    await world.worker.settled();
    const statuses = new Set((await deliveriesOf(world, shop)).map(({ status }) => status));
    assert.deepEqual([...statuses], ['held']);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, true);
    await receiver.until(2_500);
    await world.worker.settled();
    assert.equal(new Set(receiver.received.map(({ eventId }) => eventId)).size, 2_500);
    assert.equal(receiver.received.length, 2_500);
  });

  it('deliveries of several endpoints are released side by side: a long backlog makes no other endpoint wait', async () => {
    await world.worker.stop();
    const shops = [await openShop(world), await openShop(world)] as const;
    for (const shop of shops) {
      await world.connect(shop);
      await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    }
    const [first, second] = shops[0].integrationId < shops[1].integrationId ? shops : [shops[1], shops[0]];
    await queueEvents(world, first, 5_000);
    await queueEvents(world, second, 3);
    for (const shop of [first, second]) await setWebhooksEnabled(world.db, TESTER, shop.integrationId, true);
    const { released, isMore } = await holdAndRelease(world.db, START);
    assert.ok(released > 3 && released < 5_003 && isMore, `${released} at once`);
    assert.deepEqual(
      (await deliveriesOf(world, second)).map(({ status }) => status),
      ['pending', 'pending', 'pending'],
    );
    await world.db.query(sql`delete from deliveries where integration_id = ${first.integrationId}`);
    await world.worker.restart();
    await world.worker.settled();
  });

  it('held deliveries cost nothing while their endpoint stays off', async () => {
    const shop = await openShop(world);
    await world.connect(shop);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    await queueEvents(world, shop, 10);
    await world.worker.settled();
    await until(async () => (await switchesNoted()) === 0, 'the switch is never done with');
    await sleep(100);
    assert.equal(await switchesNoted(), 0);
  });

  it('deliveries whose commit came after the switch are found and released', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await queueEvents(world, shop, 1);
    await receiver.until(1);
    await world.worker.settled();
    await until(async () => (await switchesNoted()) === 0, 'the switch is never done with');
    await world.db.query(sql`update deliveries set status = 'held' where integration_id = ${shop.integrationId}`);
    await receiver.until(2);
    await world.worker.settled();
  });

  async function switchesNoted(): Promise<number> {
    return (await world.db.query(sql`select integration_id from webhook_switches`)).length;
  }

  it('deliveries that fail while their endpoint is switched off are held, too', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    let finish = () => {};
    receiver.answer = (response) => {
      finish = () => response.writeHead(500).end();
    };
    await ping(shop);
    await receiver.until(1);
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    await sleep(60);
    finish();
    await world.worker.settled();
    const [held] = await deliveriesOf(world, shop);
    assert.deepEqual([held?.status, held?.attempts], ['held', 1]);
  });
});
