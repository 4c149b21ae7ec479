import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import type { Receiver } from '../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../test/harness/shop.ts';
import {
  deliveryOf,
  ping,
  queueEvents,
  SECRET_KEY,
  startWebhookWorld,
  type WebhookWorld,
} from '../../test/harness/webhooks/webhook-world.ts';
import type { Config } from '../config.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';

describe('what an operator sees when webhooks do not arrive', () => {
  let world: WebhookWorld;
  let settings: Config;
  let shop: Shop;
  let receiver: Receiver;
  let id: string;
  const { run, json, refusal } = commandLine(() => settings);

  before(async () => {
    world = await startWebhookWorld();
    settings = { ...settingsFor(world, { WEBHOOK_PRIVATE_TARGETS: 'on' }), secretKeys: [SECRET_KEY] };
  });
  beforeEach(async () => {
    shop = await openShop(world);
    id = shop.integrationId;
    receiver = await world.connect(shop);
  });
  beforeEach(() => world.worker.ensureStarted());
  after(() => world.stop());

  const because = async () => (await json('webhooks', 'show', id)).not_sending_because;

  it('"show" prints the URL, what is subscribed, the secrets with their ends, and how many of each status there are', async () => {
    await ping(shop);
    await receiver.until(1);
    receiver.answer = (response) => response.writeHead(503).end();
    await ping(shop);
    await receiver.until(2);
    await world.worker.settled();
    await json('webhooks', 'rotate-secret', id, '--grace-hours', '48');
    const shown = await json('webhooks', 'show', id);
    const [newest, old] = shown.secrets;
    assert.deepEqual(shown, {
      object: 'webhook',
      integration_id: id,
      url: receiver.url,
      is_enabled: true,
      is_sending: true,
      not_sending_because: [],
      subscribed_events: ['*'],
      last_success_at: shown.last_success_at,
      last_failure_at: shown.last_failure_at,
      consecutive_failures: 1,
      secrets: [
        { created_at: newest.created_at, expires_at: null, is_openable: true },
        { created_at: old.created_at, expires_at: old.expires_at, is_openable: true },
      ],
      deliveries: { pending: 0, failed: 1, held: 0, dead_letter: 0, succeeded: 1, is_limited: false, due_since: null },
    });
    assert.ok(old.expires_at > newest.created_at);
    assert.ok(shown.last_success_at !== null && shown.last_failure_at !== null);
    const { out } = await run('webhooks', 'show', id);
    assert.match(out, /^ {2}integration +int_\w+\n {2}url +http:/);
    assert.match(out, /\n {2}sending +yes\n[\s\S]+\n {2}deliveries +0 pending, 1 failed, 0 held, .*1 succeeded\n$/);
    assert.doesNotMatch(out, /whsec_/);
  });

  it('"show" names everything that stands in the way, and the command that helps', async () => {
    const { organizationId } = shop;
    await json('webhooks', 'disable', id);
    await json('webhooks', 'set-url', id, 'none');
    await json('integration', 'disable', id);
    await json('organization', 'plan', organizationId, 'off');
    await json('organization', 'provision', organizationId, 'off');
    assert.deepEqual(await because(), ['no_url', 'webhooks_off', 'integration_disabled', 'not_provisioned', 'no_plan']);
    const { out } = await run('webhooks', 'show', id);
    assert.match(
      out,
      /\nWebhooks are not sent now: there is no URL \("webhooks set-url int_\w+ https:\/\/…"\); they are/,
    );
    assert.match(out, /Events are recorded without a delivery\.\n$/);
    await json('integration', 'detach', id);
    assert.deepEqual(await because(), ['no_url', 'webhooks_off', 'integration_disabled', 'no_organization']);
    await json('organization', 'plan', organizationId, 'on');
    await json('organization', 'provision', organizationId, 'on');
    await json('integration', 'attach', id, organizationId);
    await json('integration', 'enable', id);
    assert.match(
      (await run('webhooks', 'enable', id)).out,
      /are switched on now\.\nWebhooks are not sent now: there is/,
    );
    assert.match((await run('webhooks', 'set-url', id, receiver.url)).out, /^Webhooks go to \S+ now\.\n$/);
    assert.deepEqual(await because(), []);
  });

  it('after five 410s every answer says that webhooks are off and why, until they are switched on', async () => {
    receiver.answerWith(410);
    await queueEvents(world, shop, 5);
    await receiver.until(5);
    await world.worker.settled();
    const { id: deliveryId, status } = await deliveryOf(world, shop);
    assert.equal(status, 'held');
    assert.deepEqual(await because(), ['gone']);
    const off =
      /Webhooks are not sent now: the receiver answered 410 Gone 5 times in a row, which turned them off \("webhooks enable int_/;
    for (const args of [
      ['webhooks', 'set-url', id, receiver.url],
      ['webhooks', 'subscribe', id, '*'],
      ['webhooks', 'rotate-secret', id],
      ['webhooks', 'deliveries', id],
      ['webhooks', 'delivery', id, deliveryId],
      ['replays', 'start', id],
    ]) {
      const { out } = await run(...args);
      assert.match(out, off, args.join(' '));
      assert.doesNotMatch(out, /Webhooks go to/);
      const document = await json(...args);
      assert.deepEqual([document.is_sending, document.not_sending_because], [false, ['gone']], args.join(' '));
    }
    assert.match(
      await refusal('webhooks', 'replay', id, deliveryId),
      /^dlv_\w+ is held .*; Webhooks are not sent now: /,
    );
    receiver.answerWith(200);
    assert.match((await run('webhooks', 'enable', id)).out, /are on now\.\n$/);
    await world.worker.settled();
    assert.equal((await deliveryOf(world, shop)).status, 'succeeded');
    await json('webhooks', 'disable', id);
    const replay = await run('webhooks', 'replay', id, deliveryId);
    assert.match(replay.out, /^dlv_\w+ is queued again\.\nWebhooks are not sent now: they are switched off/);
  });

  it('"delivery" shows the last attempt, and finds it by the id of any of its dispatches', async () => {
    receiver.answer = (response) => response.writeHead(500).end('no \u001b[31mroom\u0085\nleft');
    const deliveryId = await ping(shop);
    await receiver.until(1);
    await world.worker.settled();
    const shown = await json('webhooks', 'delivery', id, deliveryId);
    assert.deepEqual(
      [shown.status, shown.attempts, shown.dispatches, shown.last_response_code, shown.last_response_body],
      ['failed', 1, 1, 500, 'no \u001b[31mroom\u0085\nleft'],
    );
    assert.ok(shown.last_attempt_at >= shown.created_at && shown.next_attempt_at > shown.last_attempt_at);
    const plain = await run('webhooks', 'delivery', id, deliveryId);
    assert.match(plain.out, /\n {2}sent +once\n[\s\S]*\n {2}response +no \\u001b\[31mroom\?\\nleft\n$/);

    for (const count of [2, 3]) {
      await json('webhooks', 'replay', id, receiver.received.at(-1)?.deliveryId ?? '');
      await receiver.until(count);
      await world.worker.settled();
    }
    for (const { deliveryId: dispatched } of receiver.received) {
      const found = await json('webhooks', 'delivery', id, dispatched);
      assert.deepEqual([found.id, found.dispatches], [deliveryId, 3]);
    }
    const [other] = await queueEvents(world, shop, 1);
    await receiver.until(4);
    assert.equal((await json('webhooks', 'delivery', id, other ?? '')).id, other);
    const stranger = await openShop(world);
    for (const unknown of [newId('delivery'), 'dlv_nonsense', "dlv_'"]) {
      assert.match(await refusal('webhooks', 'delivery', id, unknown), /^There is no delivery "/);
    }
    assert.match(await refusal('webhooks', 'delivery', stranger.integrationId, deliveryId), /^There is no delivery "/);
  });

  it('"deliveries" can be asked for some statuses, and a delivery that was queued again shows no old answer', async () => {
    const ok = await ping(shop);
    await receiver.until(1);
    receiver.answer = (response) => response.writeHead(503).end();
    const failed = await ping(shop);
    await receiver.until(2);
    await world.worker.settled();
    const listed = async (...status: string[]) =>
      (await json('webhooks', 'deliveries', id, ...status)).data.map((row: { id: string }) => row.id);
    assert.deepEqual(await listed(), [failed, ok]);
    assert.deepEqual(await listed('--status', 'failed'), [failed]);
    assert.deepEqual(await listed('--status', 'succeeded,dead_letter'), [ok]);
    assert.deepEqual(await listed('--status', 'held,pending'), []);
    await json('webhooks', 'disable', id);
    await json('webhooks', 'replay', id, ok);
    await world.worker.settled();
    const [, queued] = (await json('webhooks', 'deliveries', id, '--status', 'held')).data;
    assert.deepEqual([queued.id, queued.attempts, queued.last_response_code], [ok, 0, null]);
    const { out } = await run('webhooks', 'delivery', id, ok);
    assert.match(out, /\n {2}attempts +0 since it was queued again\n[\s\S]*\n {2}answer +200\n/);
  });

  it('"replay" says of one that can not be sent again what it is doing instead', async () => {
    let release = () => {};
    receiver.answer = (response) => {
      release = () => response.writeHead(200).end();
    };
    const deliveryId = await ping(shop);
    await receiver.until(1);
    assert.match(await refusal('webhooks', 'replay', id, deliveryId), /^dlv_\w+ is being sent right now\.$/);
    assert.match((await run('webhooks', 'deliveries', id)).out, / pending, in flight /);
    release();
    await world.worker.settled();
    await world.worker.stop();
    await json('webhooks', 'replay', id, deliveryId);
    assert.match(await refusal('webhooks', 'replay', id, deliveryId), /^dlv_\w+ waits to be sent already\.$/);
    await world.db.query(sql`
      update deliveries set due_at = now() - interval '1 hour' where integration_id = ${id} and id = ${deliveryId}`);
    const { out } = await run('webhooks', 'show', id);
    const noWorker = /\nDeliveries are due since \S+Z: is a service with the role worker running\?\n$/;
    assert.match(out, noWorker);
    await world.db.query(sql`
      update deliveries set status = 'failed', is_waiting = true where integration_id = ${id} and id = ${deliveryId}`);
    assert.match((await run('webhooks', 'show', id)).out, noWorker, 'a retry whose time has come is due, too');
    await world.worker.restart();
    receiver.answerWith(200);
    await world.worker.settled();
  });

  it('"ping" sends the test event, and nothing to a receiver that could not get it now', async () => {
    await json('webhooks', 'subscribe', id, 'part.*');
    const { delivery_id, event_id } = await json('webhooks', 'ping', id);
    await receiver.until(1);
    const [webhook] = receiver.received;
    assert.deepEqual([webhook?.deliveryId, webhook?.eventId], [delivery_id, event_id]);
    await world.worker.settled();
    for (const [verb, undo] of [
      ['disable', 'enable'],
      ['detach', 'attach'],
    ] as const) {
      await json('integration', verb, id);
      assert.match(await refusal('webhooks', 'ping', id), /^Webhooks are not sent now: the integration /);
      await json('integration', undo, id, ...(undo === 'attach' ? [shop.organizationId] : []));
    }
    assert.match(await refusal('webhooks', 'ping', newId('integration')), /^There is no integration "int_/);
    assert.equal(receiver.received.length, 1);
  });

  it('"show" says so if none of the secret keys decrypts a secret, and how to mend it', async () => {
    const good = settings;
    settings = { ...good, secretKeys: ['another key that is long enough to be one'] };
    assert.equal((await json('webhooks', 'show', id)).secrets[0].is_openable, false);
    const { out } = await run('webhooks', 'show', id);
    assert.match(
      out,
      /\nNone of SECRET_KEYS decrypts its secret: put the missing key back, or run "webhooks rotate-secret int_\w+ --grace-hours 0 --force"/,
    );
    settings = good;
    assert.equal((await json('webhooks', 'show', id)).secrets[0].is_openable, true);
  });
});
