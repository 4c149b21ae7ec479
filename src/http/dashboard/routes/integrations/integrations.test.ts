import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { startReceiver } from '../../../../../test/harness/servers/receiver.ts';
import { freshKey } from '../../../../../test/harness/shop.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { isAccepted } from '../../../../../test/harness/webhooks/verify-signature.ts';
import { startWebhookWorld, type WebhookWorld } from '../../../../../test/harness/webhooks/webhook-world.ts';
import { COMMAND_LINE } from '../../../../audit/actor.ts';
import { runJobs } from '../../../../channel/jobs/run-jobs.ts';
import { sql } from '../../../../db/sql.ts';
import { setRate } from '../../../../dealers/rates/exchange-rates.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../../inventory/publications.ts';
import { dismissOrder } from '../../../../sales/orders/order-operations.ts';

describe('the integrations in the dashboard', () => {
  let world: WebhookWorld;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let staff: Awaited<ReturnType<typeof signedIn>>;
  before(async () => {
    world = await startWebhookWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
  });
  after(() => world.stop());

  async function create(name: string, currency = 'USD') {
    const answer = await owner.call('POST', '/integrations', { name, currency });
    assert.equal(answer.status, 200, answer.text);
    const { id, api_key: apiKey } = answer.body as { id: string; api_key: string };
    const at = (path: string) => `/integrations/${id}${path}`;
    return { id, apiKey, at, api: world.client(apiKey), read: async () => (await owner.call('GET', at(''))).body };
  }

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    for (let round = 0; round < 1_000; round++) {
      if (await isSo()) return;
      await sleep(10);
    }
    assert.fail('it never came to be');
  }

  const auditOf = async (id: string) =>
    (
      await world.db.query<{ action: string }>(sql`
        select action from audit_log where organization_id = ${owner.organizationId} and object_id = ${id} order by id`)
    ).map(({ action }) => action);

  it('an integration is made in test mode with a key that works and is answered once', async () => {
    const { id, apiKey, api, read } = await create('  Website two ');
    assert.match(apiKey, /^svc_/);
    const me = await api.get('/v1/me');
    assert.equal(me.body.is_test_mode, true);
    assert.equal(me.body.name, 'Website two');
    const detail = await read();
    assert.equal(JSON.stringify(detail).includes(apiKey), false);
    assert.equal(detail.key_hint, `${apiKey.slice(0, 8)}…`);
    assert.deepEqual(detail.rate, { limit: 600, used: 1 });
    assert.deepEqual((await read()).rate, { limit: 600, used: 1 }, 'a look spends nothing');
    assert.deepEqual(detail.webhook.stop_reasons, ['no_url']);
    const { data, currencies } = (await staff.call('GET', '/integrations')).body;
    assert.ok(data.some((one: { id: string }) => one.id === id));
    assert.ok(currencies.includes('USD'));
    assert.deepEqual(await auditOf(id), ['integration.created']);
  });

  it('an integration with a name or currency that cannot be is refused with its field', async () => {
    for (const [body, field, status] of [
      [{ name: ' ', currency: 'USD' }, 'name', 400],
      [{ name: 'x'.repeat(501), currency: 'USD' }, 'name', 400],
      [{ name: 'Shop', currency: 'ZZZ' }, 'currency', 400],
      [{ name: 'Shop', currency: 'ISK' }, 'currency', 409],
    ] as const) {
      const answer = await owner.call('POST', '/integrations', body);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.error.field, field);
    }
  });

  it('an integration can be renamed and switched off by staff, and its key answers 403 on the next request', async () => {
    const { id, at, api } = await create('Named');
    assert.equal((await staff.call('PATCH', at(''), { name: 'Renamed', is_enabled: false })).status, 204);
    assert.equal((await api.get('/v1/me')).body.error.code, 'integration_disabled');
    await staff.call('PATCH', at(''), { is_enabled: true });
    assert.equal((await api.get('/v1/me')).body.name, 'Renamed');
    assert.deepEqual(await auditOf(id), [
      'integration.created',
      'integration.renamed',
      'integration.enabled_changed',
      'integration.enabled_changed',
    ]);
  });

  it('a regenerated key works from the next request on, and the old one is unknown', async () => {
    const { at, api } = await create('Keyed');
    const { api_key: newKey } = (await owner.call('POST', at('/key'))).body;
    assert.equal((await api.get('/v1/me')).status, 401);
    assert.equal((await world.client(newKey).get('/v1/me')).status, 200);
    assert.equal((await staff.call('POST', at('/key'))).status, 403);
  });

  it('two owners who regenerate a key at once leave one key that works', async () => {
    const { at } = await create('Raced');
    const answers = await Promise.all([owner.call('POST', at('/key')), owner.call('POST', at('/key'))]);
    const statuses = await Promise.all(
      answers.map(async ({ body }) => (await world.client(body.api_key).get('/v1/me')).status),
    );
    assert.deepEqual(statuses.sort(), [200, 401]);
  });

  it('the last use of a key is recorded without the request waiting for it, and not twice in a minute', async () => {
    const { id, api, read } = await create('Used');
    assert.equal((await read()).last_used_at, null);
    await api.get('/v1/me');
    await until(async () => (await read()).last_used_at !== null);
    const first = (await read()).last_used_at;
    await api.get('/v1/me');
    await sleep(1_200);
    assert.equal((await read()).last_used_at, first, id);
  });

  it('the first webhook URL comes with a secret, and a check posts a signed request to it at once', async (t) => {
    const { at, read } = await create('Hooked');
    const receiver = await startReceiver();
    t.after(() => receiver.stop());
    const set = await owner.call('PUT', at('/webhook/url'), { url: receiver.url });
    assert.match(set.body.secret, /^whsec_/);
    const check = (await staff.call('POST', at('/webhook/check'))).body;
    assert.equal(check.is_success, true);
    assert.equal(check.response_code, 200);
    assert.equal(check.response_body, 'ok');
    const [request] = receiver.received;
    assert.ok(request !== undefined && (await isAccepted(request, set.body.secret, Date.now() / 1_000)));
    assert.equal(request.type, 'integration.test_event');
    receiver.answer = (response) => response.writeHead(500).end('<h1>no</h1>');
    const failed = (await staff.call('POST', at('/webhook/check'))).body;
    assert.deepEqual([failed.is_success, failed.response_code, failed.response_body], [false, 500, '<h1>no</h1>']);
    const detail = await read();
    assert.equal(detail.webhook.consecutive_failures, 0, 'a check says nothing about deliveries');
    assert.equal(detail.secrets.length, 1);
    assert.equal(JSON.stringify(detail).includes(set.body.secret), false);
    const again = await owner.call('PUT', at('/webhook/url'), { url: `${receiver.url}2` });
    assert.equal(again.body.secret, null);
    const cleared = await owner.call('PUT', at('/webhook/url'), { url: null });
    assert.equal(cleared.body.url, null);
    assert.equal((await staff.call('POST', at('/webhook/check'))).status, 409);
  });

  it('a webhook URL that cannot be is refused with its field', async () => {
    const { at } = await create('Wrong URL');
    for (const url of ['shop.example', 'ftp://shop.example/', 'https://a:b@shop.example/', 'https://shop.example/#x']) {
      const answer = await owner.call('PUT', at('/webhook/url'), { url });
      assert.equal(answer.status, 400, url);
      assert.equal(answer.body.error.field, 'url');
    }
  });

  it('a test event arrives, and its delivery says so', async (t) => {
    const { at } = await create('Tested');
    const none = (await staff.call('POST', at('/test-event'))).body;
    assert.equal(none.delivery_id, null, 'there is no URL yet');
    const receiver = await startReceiver();
    t.after(() => receiver.stop());
    await owner.call('PUT', at('/webhook/url'), { url: receiver.url });
    const { delivery_id: deliveryId, event_id: eventId } = (await staff.call('POST', at('/test-event'))).body;
    const read = async () => (await staff.call('GET', at(`/test-deliveries/${deliveryId}`))).body;
    await until(async () => (await read()).status === 'succeeded');
    assert.deepEqual(
      receiver.received.map((webhook) => webhook.eventId),
      [eventId],
    );
    assert.equal((await read()).response_code, 200);
  });

  it('webhooks that five 410 answers switched off say why, count as a badge, and can be switched on again', async (t) => {
    const { at, read } = await create('Gone');
    const receiver = await startReceiver();
    t.after(() => receiver.stop());
    await owner.call('PUT', at('/webhook/url'), { url: receiver.url });
    const badge = async () => (await staff.call('GET', '/badges')).body.counts.integrations;
    const before = await badge();
    receiver.answerWith(410);
    for (let count = 1; count <= 5; count++) {
      await staff.call('POST', at('/test-event'));
      await receiver.until(count);
      await world.worker.settled();
    }
    await until(async () => !(await read()).webhook.is_enabled);
    assert.deepEqual((await read()).webhook.stop_reasons, ['gone']);
    assert.equal((await read()).webhook.switched_off.by, null, 'the service did it');
    assert.equal(await badge(), before + 1);
    receiver.answerWith(200);
    await staff.call('PUT', at('/webhook/enabled'), { is_enabled: true });
    assert.deepEqual((await read()).webhook.stop_reasons, []);
    assert.equal(await badge(), before);
    await receiver.until(10);
  });

  it('a signing secret is rotated by owners, and the older one expires after the grace period', async () => {
    const { at, read } = await create('Rotated');
    await owner.call('PUT', at('/webhook/url'), { url: 'https://shop.example/hook' });
    const { secret } = (await owner.call('POST', at('/webhook/secret'), { grace_hours: 24 })).body;
    assert.match(secret, /^whsec_/);
    const { secrets } = await read();
    assert.equal(secrets[0].expires_at, null);
    const left = new Date(secrets[1].expires_at).getTime() - Date.now();
    assert.ok(left > 23 * 3_600_000 && left <= 24 * 3_600_000);
    assert.equal((await owner.call('POST', at('/webhook/secret'), { grace_hours: 169 })).status, 400);
    assert.equal((await staff.call('POST', at('/webhook/secret'), { grace_hours: 0 })).status, 403);
  });

  it('subscriptions take names of events and wildcards, and nothing else', async () => {
    const { at, read } = await create('Subscribed');
    const names = ['listing.*', 'order.fulfilled'];
    assert.equal((await staff.call('PUT', at('/webhook/events'), { subscribed_events: names })).status, 204);
    assert.deepEqual((await read()).webhook.subscribed_events, names);
    assert.equal((await staff.call('PUT', at('/webhook/events'), { subscribed_events: ['tea.*'] })).status, 400);
  });

  it('a change of prices is previewed on real items with the count it touches, and carried out by a job', async () => {
    const { id, at, api, read } = await create('Priced');
    const { organizationId } = owner;
    const itemIds: string[] = [];
    for (let index = 0; index < 7; index++) {
      const amount = index === 0 ? null : 1_000_000 + index;
      itemIds.push(await createItem(world.channel, COMMAND_LINE, organizationId, watch({ priceAmount: amount })));
    }
    await setPublished(world.channel, COMMAND_LINE, organizationId, id, itemIds, true);
    const wanted = { currency: 'USD', markup_basis_points: 1_000, rounding: 'to_100', image_format: 'original' };
    const preview = (await staff.call('POST', at('/presentation/preview'), wanted)).body;
    assert.equal(preview.items.length, 5);
    assert.equal(preview.touched, 6, 'a price on request stays one');
    assert.equal(preview.on_channel, 7);
    for (const item of preview.items) assert.equal(item.after.price.amount, 1_100_000);
    assert.equal((await staff.call('PUT', at('/presentation'), wanted)).status, 204);
    assert.equal((await read()).jobs[0].status, 'pending');
    await runJobs(world.channel);
    const [job] = (await read()).jobs;
    assert.deepEqual([job.status, job.done, job.total], ['done', 7, 7]);
    assert.equal((await api.get(`/v1/listings/${itemIds[3]}`)).body.price.amount, 1_100_000);
    const same = (await staff.call('POST', at('/presentation/preview'), wanted)).body;
    assert.equal(same.touched, 0);
  });

  it('a currency is previewed with its rate, and refused without one', async () => {
    await setRate(world.channel, COMMAND_LINE, 'USD', 'CHF', '0.8');
    const { id, at } = await create('Converted');
    const itemId = await createItem(world.channel, COMMAND_LINE, owner.organizationId, watch({ priceAmount: 100_000 }));
    await setPublished(world.channel, COMMAND_LINE, owner.organizationId, id, [itemId], true);
    const settings = { markup_basis_points: 0, rounding: 'none', image_format: 'jpeg' };
    const preview = (await staff.call('POST', at('/presentation/preview'), { ...settings, currency: 'CHF' })).body;
    assert.deepEqual(preview.items[0].after.price, { amount: 80_000, currency: 'CHF' });
    assert.equal(preview.is_rate_missing, false);
    const missing = (await staff.call('POST', at('/presentation/preview'), { ...settings, currency: 'ISK' })).body;
    assert.equal(missing.is_rate_missing, true);
    const refused = await staff.call('PUT', at('/presentation'), { ...settings, currency: 'ISK' });
    assert.equal(refused.body.error.code, 'rate_missing');
    assert.equal((await staff.call('PUT', at('/presentation'), { ...settings, rounding: 'up' })).status, 400);
  });

  it('going live deletes the test data if that is wanted, cancels its deliveries, and sends the rest as recorded', async (t) => {
    const { id, at, api, read } = await create('Going live');
    const receiver = await startReceiver();
    t.after(() => receiver.stop());
    await owner.call('PUT', at('/webhook/url'), { url: receiver.url });
    await owner.call('PUT', at('/webhook/enabled'), { is_enabled: false });
    const order = { channel_order_id: 'T-1', customer: { email: 'test@buyer.example' } };
    const { body } = await api.post('/v1/orders', order, freshKey());
    assert.equal(body.is_test, true);
    await dismissOrder(world.channel, COMMAND_LINE, owner.organizationId, body.id, null);
    const itemId = await createItem(world.channel, COMMAND_LINE, owner.organizationId, watch());
    await setPublished(world.channel, COMMAND_LINE, owner.organizationId, id, [itemId], true);
    assert.deepEqual((await read()).test_data, { orders: 1, customers: 1 });
    assert.equal((await staff.call('PUT', at('/test-mode'), { is_test_mode: false })).status, 403);
    const live = await owner.call('PUT', at('/test-mode'), { is_test_mode: false, delete_test_data: true });
    assert.deepEqual(live.body.deleted, { orders: 1, customers: 1 });
    assert.deepEqual((await read()).test_data, { orders: 0, customers: 0 });
    await owner.call('PUT', at('/webhook/enabled'), { is_enabled: true });
    await receiver.until(1);
    await world.worker.settled();
    const sent = receiver.received.map((webhook) => {
      const event = JSON.parse(webhook.body);
      return [event.type, event.livemode];
    });
    assert.deepEqual(sent, [['listing.published', false]]);
    const again = await api.post('/v1/orders', order, freshKey());
    assert.equal(again.status, 201, 'the channel_order_id is free again');
    assert.equal(again.body.is_test, false);
    const back = await owner.call('PUT', at('/test-mode'), { is_test_mode: true });
    assert.equal(back.body.deleted, null);
    assert.equal((await api.get('/v1/me')).body.is_test_mode, true);
  });

  it('an integration is deleted when its name is typed, and its key is unknown at once', async () => {
    const { at, api } = await create('Doomed');
    const wrong = await owner.call('DELETE', at(''), { name: 'doomed' });
    assert.equal(wrong.body.error.field, 'name');
    assert.equal((await api.get('/v1/me')).status, 200);
    assert.equal((await owner.call('DELETE', at(''), { name: 'Doomed' })).status, 204);
    assert.equal((await api.get('/v1/me')).status, 401);
    assert.equal((await owner.call('GET', at(''))).status, 404);
    assert.equal((await owner.call('DELETE', at(''), { name: 'Doomed' })).status, 404);
  });
});
