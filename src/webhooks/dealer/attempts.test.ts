import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { openShop } from '../../../test/harness/shop.ts';
import { isAccepted } from '../../../test/harness/webhooks/verify-signature.ts';
import {
  deliveryOf,
  encryption,
  ping,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../test/harness/webhooks/webhook-world.ts';
import { sql } from '../../db/sql.ts';
import { replayDelivery } from '../delivery-queue/replay.ts';
import { setUrl, setWebhooksEnabled, subscribe } from '../endpoints/endpoint-settings.ts';
import { rotateSigningSecret } from '../endpoints/rotate-signing-secret.ts';
import { readDealerDelivery } from './delivery-details.ts';
import { EVERY_EVENT, listDealerEvents } from './list-events.ts';

const START = new Date('2031-05-01T10:00:00.250Z');

describe('the attempts of a delivery', () => {
  let world: WebhookWorld;
  before(async () => {
    world = await startWebhookWorld({ time: START });
  });
  after(() => world.stop());

  const rowsOf = async (integrationId: string) =>
    await world.db.query(sql`
      select attempt, dispatch, url, response_code, response_body, error from delivery_attempts
      where integration_id = ${integrationId} order by dispatch`);
  const pageOf = async (integrationId: string, id: string) => {
    const page = await readDealerDelivery(world.db, encryption, [integrationId], id);
    assert.ok(page !== null);
    return page;
  };

  it('a delivery that succeeds at once has no attempt row, and its page shows the attempt with its verified signature', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    // A secret is never younger than what it signs.
    await world.db.query(sql`
      update webhook_secrets set created_at = ${START} where integration_id = ${shop.integrationId}`);
    const id = await ping(shop);
    await world.worker.settled();
    const [webhook] = await receiver.until(1);
    assert.deepEqual(await rowsOf(shop.integrationId), []);
    const { attempts, event } = await pageOf(shop.integrationId, id);
    const [attempt] = attempts;
    assert.ok(attempt !== undefined && webhook !== undefined && attempts.length === 1);
    assert.equal(event.body, webhook.body);
    assert.deepEqual(
      [attempt.isSuccess, attempt.url, attempt.responseCode, attempt.responseBody, attempt.attempt, attempt.dispatchId],
      [true, receiver.url, 200, 'ok', 1, id],
    );
    assert.equal(attempt.startedAt?.getTime(), START.getTime());
    assert.ok(attempt.durationMs !== null);
    assert.equal(attempt.signature.verifiedWith, 1);
    assert.equal(attempt.headers['X-SVC-Signature'], webhook.signature);
    for (const [name, value] of Object.entries(attempt.headers)) {
      assert.equal(webhook.headers[name.toLowerCase()], value, name);
    }
    const request = { signature: attempt.headers['X-SVC-Signature'] ?? '', rawBody: Buffer.from(event.body) };
    assert.equal(await isAccepted(request, receiver.secret, START.getTime() / 1000), true);
  });

  it('every failed attempt is a row, also those before a replay, and they go with their delivery', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    receiver.answer = (response) => response.writeHead(503).end('x'.repeat(3_000));
    const id = await ping(shop);
    await world.worker.settled();
    world.setTime(new Date(START.getTime() + 5_000));
    await world.worker.settled();
    receiver.answerWith(200);
    assert.equal(await replayDelivery(world.db, TESTER, shop.integrationId, id, world.channel.now()), true);
    await world.worker.settled();
    const failed = { url: receiver.url, response_code: 503, response_body: 'x'.repeat(1024), error: null };
    assert.deepEqual(await rowsOf(shop.integrationId), [
      { attempt: 1, dispatch: 0, ...failed },
      { attempt: 2, dispatch: 1, ...failed },
    ]);
    const { attempts } = await pageOf(shop.integrationId, id);
    assert.deepEqual(
      attempts.map(({ attempt, isSuccess, responseCode }) => [attempt, isSuccess, responseCode]),
      [
        [1, true, 200],
        [2, false, 503],
        [1, false, 503],
      ],
    );
    const sent = (await receiver.until(3)).map(({ deliveryId }) => deliveryId);
    assert.deepEqual(
      attempts.map(({ dispatchId }) => dispatchId),
      sent.toReversed(),
    );
    // Any of the ids that the receiver has seen leads here.
    assert.equal((await pageOf(shop.integrationId, sent[1] ?? '')).delivery.id, id);
    const [audit] = await world.db.query(sql`
      select action, new_values from audit_log where object_id = ${shop.integrationId} order by id desc limit 1`);
    assert.deepEqual(audit, {
      action: 'webhooks.deliveries_replayed',
      new_values: { total: 1, deliveryIds: [id] },
    });
    await world.db.query(sql`delete from events where integration_id = ${shop.integrationId}`);
    assert.deepEqual(await rowsOf(shop.integrationId), []);
    world.setTime(START);
  });

  it('an attempt without an answer has its error, and one whose secret has expired says why it has no signature', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    receiver.answer = (response) => void response.destroy();
    const id = await ping(shop);
    await world.worker.settled();
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, false);
    await rotateSigningSecret(world.db, TESTER, encryption, shop.integrationId, 0, null);
    await world.db.query(sql`
      update webhook_secrets set created_at = ${new Date(START.getTime() + 60_000)}
      where integration_id = ${shop.integrationId}`);
    const [attempt] = (await pageOf(shop.integrationId, id)).attempts;
    assert.equal(attempt?.responseCode, null);
    assert.match(attempt?.error ?? '', /\w/);
    assert.equal(attempt?.signature.verifiedWith, 0);
    assert.match(attempt?.signature.problem ?? '', /rotated away/);
    assert.equal('X-SVC-Signature' in (attempt?.headers ?? {}), false);
    assert.equal((await deliveryOf(world, shop)).last_error, attempt?.error);
  });

  it('an event that is not sent has its reason: no URL, or not subscribed', async () => {
    const shop = await openShop(world);
    await ping(shop);
    const receiver = await world.connect(shop);
    await subscribe(world.db, TESTER, shop.integrationId, ['listing.*']);
    await ping(shop);
    await world.worker.settled();
    await setUrl(world.db, TESTER, { guard: { problemOf: () => null } as never, encryption }, shop.integrationId, null);
    const filter = { ...EVERY_EVENT, integrationIds: [shop.integrationId] };
    const events = await listDealerEvents(world.db, filter, { from: null, limit: 10 });
    assert.deepEqual(
      events.map(({ unsentReason, delivery }) => [unsentReason, delivery?.status ?? null]),
      [
        [null, 'succeeded'],
        ['no_url', null],
      ],
    );
    assert.equal(receiver.received.length, 1);
  });
});
