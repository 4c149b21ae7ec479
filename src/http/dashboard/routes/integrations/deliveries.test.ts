import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addShop, type Shop } from '../../../../../test/harness/shop.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import {
  ping,
  queueEvents,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../../../test/harness/webhooks/webhook-world.ts';
import { COMMAND_LINE } from '../../../../audit/actor.ts';
import { sql } from '../../../../db/sql.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../../inventory/publications.ts';

describe('deliveries and events in the dashboard', () => {
  let world: WebhookWorld;
  let staff: Awaited<ReturnType<typeof signedIn>>;
  before(async () => {
    world = await startWebhookWorld();
    staff = await signedIn(world, { role: 'staff' });
  });
  after(() => world.stop());

  const shopOf = async (): Promise<Shop> => await addShop(world, staff);
  const get = async (path: string) => {
    const answer = await staff.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    for (let round = 0; round < 1_000; round++) {
      if (await isSo()) return;
      await sleep(10);
    }
    assert.fail('it never came to be');
  }

  it('a failed delivery shows its attempt, and after a replay that it arrived', async () => {
    const shop = await shopOf();
    const receiver = await world.connect(shop);
    receiver.answer = (response) => response.writeHead(500).end('out of order');
    const id = await ping(shop);
    await receiver.until(1);
    const ofShop = `/deliveries?integration_id=${shop.integrationId}`;
    await until(async () => (await get(ofShop)).data[0]?.status === 'failed');
    const { data, count } = await get(`${ofShop}&status=failed&code=5xx`);
    assert.deepEqual(
      [data.length, count.value, data[0].id, data[0].response_code, data[0].attempts],
      [1, 1, id, 500, 1],
    );
    assert.match(data[0].next_attempt_at, /^20/);
    assert.deepEqual((await get(`${ofShop}&code=404`)).data, []);
    const page = await get(`/deliveries/${id}`);
    assert.equal(page.can_replay, true);
    const [attempt] = page.attempts_log;
    assert.deepEqual([attempt.response_body, attempt.url, attempt.delivery_id], ['out of order', receiver.url, id]);
    assert.equal(attempt.headers['X-SVC-Signature'], receiver.received[0]?.signature);
    assert.equal(attempt.signature.verified_with, 1);
    assert.equal(page.body, receiver.received[0]?.body);
    assert.equal(JSON.stringify(page).includes(receiver.secret), false);

    receiver.answerWith(204);
    assert.equal((await staff.call('POST', `/deliveries/${id}/replay`)).status, 204);
    await until(async () => (await get(`/deliveries/${id}`)).status === 'succeeded');
    const [audit] = await world.db.query<{ action: string; actor_id: string }>(sql`
      select action, actor_id from audit_log where object_id = ${shop.integrationId} order by id desc limit 1`);
    assert.deepEqual(audit, { action: 'webhooks.deliveries_replayed', actor_id: staff.userId });
    for (const text of [id, receiver.received[1]?.deliveryId, page.event_id]) {
      assert.equal((await get(`/deliveries?q=${text}`)).data[0]?.id, id, text);
    }
  });

  it('selected ones and all that match are replayed; what is held is skipped and counted', async () => {
    const shop = await shopOf();
    const receiver = await world.connect(shop);
    const ids = await queueEvents(world, shop, 5);
    await receiver.until(5);
    await world.worker.settled();
    const replay = async (body: object) => (await staff.call('POST', '/replays', body)).body;
    assert.deepEqual(await replay({ delivery_ids: ids.slice(0, 2) }), { queued: 2, skipped: 0, in_jobs: 0 });
    await receiver.until(7);
    await world.worker.settled();
    // The receiver knows of an attempt before its outcome is recorded; one that is under way is not replayed.
    const isAllRecorded = async () =>
      (
        await world.db.query(sql`
          select 1 from deliveries where integration_id = ${shop.integrationId} and status <> 'succeeded'`)
      ).length === 0;
    await until(isAllRecorded);
    await world.db.query(sql`update deliveries set status = 'held' where id = ${ids[4]}`);
    await staff.call('PUT', `/integrations/${shop.integrationId}/webhook/enabled`, { is_enabled: false });
    const match = { integration_id: shop.integrationId, type: 'listing.updated' };
    const all = await replay({ match });
    assert.deepEqual([all.queued + all.skipped, all.in_jobs], [5, 0]);
    const { integrations, statuses } = await get(`/deliveries/choices?integration_id=${shop.integrationId}`);
    const own = integrations.find((one: { integration_id: string }) => one.integration_id === shop.integrationId);
    assert.deepEqual(own.stop_reasons, ['webhooks_off']);
    assert.equal(statuses.succeeded.value, 0);
    const refused = await staff.call('POST', '/replays', {});
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_input']);
    const strangers = await signedIn(world);
    assert.deepEqual((await strangers.call('POST', '/replays', { delivery_ids: ids })).body.queued, 0);
    assert.deepEqual((await strangers.call('GET', `/deliveries?q=${ids[0]}`)).body.data, []);
    assert.deepEqual((await strangers.call('GET', `/deliveries?integration_id=${shop.integrationId}`)).body.data, []);
  });

  it('more than are queued at once are a job of the integration, which can be cancelled', async () => {
    const shop = await shopOf();
    await world.db.query(sql`
      with made as (select lpad(n::text, 9, '0') as n from generate_series(1, 1100) as n), recorded as (
        insert into events (integration_id, id, type, created_at, body, has_delivery)
        select ${shop.integrationId}, 'evt_01h455vb4pex5vskn' || n, 'listing.updated', now(), '{}', true from made)
      insert into deliveries (integration_id, id, event_id, status, created_at)
      select ${shop.integrationId}, 'dlv_01h455vb4pex5vskn' || n, 'evt_01h455vb4pex5vskn' || n, 'dead_letter', now() from made`);
    const match = { integration_id: shop.integrationId, status: 'dead_letter' };
    assert.equal((await get('/badges')).counts.deliveries, 100);
    assert.equal((await get(`/deliveries?integration_id=${shop.integrationId}`)).count.is_capped, true);
    const refused = await staff.call('POST', '/replays', { match: { ...match, code: '5xx' } });
    assert.deepEqual(refused.body, { queued: 0, skipped: 0, in_jobs: 0 });
    const started = await staff.call('POST', '/replays', { match });
    assert.deepEqual(started.body, { queued: 0, skipped: 0, in_jobs: 1_100 });
    const { replays } = await get('/deliveries/choices');
    assert.equal(replays[0].total, 1_100);
    assert.equal((await staff.call('POST', '/replays', { match })).status, 409);
    assert.equal((await staff.call('POST', `/replays/${replays[0].id}/cancel`)).status, 204);
    assert.deepEqual((await get('/deliveries/choices')).replays, []);
  });

  it('an event shows its object, its delivery, why it was not sent, and what was done at that time', async () => {
    const shop = await shopOf();
    const itemId = await createItem(world.channel, COMMAND_LINE, staff.organizationId, watch());
    await setPublished(world.channel, COMMAND_LINE, staff.organizationId, shop.integrationId, [itemId], true);
    const [unsent] = (await get(`/events?object_id=${itemId}`)).data;
    assert.deepEqual([unsent.type, unsent.unsent_reason, unsent.delivery], ['listing.published', 'no_url', null]);
    assert.equal(unsent.object.id, itemId);
    assert.equal((await get(`/events?outcome=no_url&integration_id=${shop.integrationId}`)).data[0].id, unsent.id);
    const page = await get(`/events/${unsent.id}`);
    assert.equal(JSON.parse(page.body).id, unsent.id);
    assert.ok(page.cause.changes.some((one: { action: string }) => one.action === 'item.publication_changed'));
    const receiver = await world.connect(shop);
    await setPublished(world.channel, COMMAND_LINE, staff.organizationId, shop.integrationId, [itemId], false);
    await receiver.until(1);
    await until(async () => (await get(`/events?object_id=${itemId}`)).data[0].delivery?.status === 'succeeded');
    const [sent] = (await get(`/events?q=${unsent.object.detail}`)).data;
    assert.deepEqual([sent.type, sent.unsent_reason], ['listing.unpublished', null]);
    assert.equal((await staff.call('GET', '/events?after=bm9uc2Vuc2U')).status, 400);
  });

  it('an event that the website caused itself leads to its request, and is counted beside the deliveries', async () => {
    const shop = await shopOf();
    await world.connect(shop);
    const itemId = await createItem(world.channel, COMMAND_LINE, staff.organizationId, watch());
    await setPublished(world.channel, COMMAND_LINE, staff.organizationId, shop.integrationId, [itemId], true);
    const order = await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ listing_id: itemId }] });
    assert.equal(order.status, 201, order.text);
    const [echo] = (await get(`/events?object_id=${itemId}&outcome=echo`)).data;
    assert.deepEqual([echo.type, echo.unsent_reason], ['listing.updated', 'echo']);
    // The log of requests is written after the answers are sent.
    const requestIds = async () => (await get(`/events/${echo.id}`)).cause.request_ids;
    await until(async () => (await requestIds()).length > 0);
    assert.deepEqual(await requestIds(), [order.headers['x-request-id']]);
    const { unsent } = await get(`/deliveries/choices?object_id=${itemId}&code=5xx`);
    assert.deepEqual([unsent.echo.value, unsent.no_url.value, unsent.not_subscribed.value], [1, 0, 0]);
    const onShop = await channelOf(itemId, shop);
    assert.deepEqual([onShop.last_event.id, onShop.last_event.unsent_reason], [echo.id, 'echo']);
  });

  const channelOf = async (itemId: string, shop: Shop) =>
    (await get(`/items/${itemId}`)).channels.find(
      (one: { integration_id: string }) => one.integration_id === shop.integrationId,
    );

  it('an item and an event say what became of the webhook, and who switched webhooks off', async () => {
    const shop = await shopOf();
    const receiver = await world.connect(shop);
    const itemId = await createItem(world.channel, COMMAND_LINE, staff.organizationId, watch());
    await setPublished(world.channel, COMMAND_LINE, staff.organizationId, shop.integrationId, [itemId], true);
    await receiver.until(1);
    await until(async () => (await channelOf(itemId, shop)).last_event?.delivery?.status === 'succeeded');
    assert.deepEqual((await channelOf(itemId, shop)).stop_reasons, []);

    const switchTo = (isEnabled: boolean) =>
      staff.call('PUT', `/integrations/${shop.integrationId}/webhook/enabled`, { is_enabled: isEnabled });
    assert.equal((await switchTo(false)).status, 204);
    await setPublished(world.channel, COMMAND_LINE, staff.organizationId, shop.integrationId, [itemId], false);
    const held = await channelOf(itemId, shop);
    assert.deepEqual(
      [held.last_event.type, held.last_event.delivery.status, held.stop_reasons],
      ['listing.unpublished', 'held', ['webhooks_off']],
    );
    const event = await get(`/events/${held.last_event.id}`);
    assert.deepEqual([event.delivery.status, event.delivery.attempts, event.delivery.error], ['held', 0, null]);
    const [entry] = (await get(`/audit?object_id=${shop.integrationId}&action=webhooks.enabled_changed`)).data;
    const switchedOff = { at: entry.at, by: entry.actor.name };
    const { webhook } = await get(`/integrations/${shop.integrationId}`);
    const { integrations } = await get('/deliveries/choices');
    for (const shown of [
      event,
      await get(`/deliveries/${event.delivery.id}`),
      webhook,
      integrations.find((one: { integration_id: string }) => one.integration_id === shop.integrationId),
    ]) {
      assert.deepEqual([shown.stop_reasons, shown.switched_off], [['webhooks_off'], switchedOff]);
    }
    await switchTo(true);
    assert.equal((await get(`/events/${event.id}`)).switched_off, null);
  });
});
