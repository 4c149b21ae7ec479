import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import { countRefused, type Receiver, startReceiver } from '../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../test/harness/shop.ts';
import {
  deliveriesOf,
  ping,
  queueEvents,
  SECRET_KEY,
  startWebhookWorld,
  type WebhookWorld,
} from '../../test/harness/webhooks/webhook-world.ts';
import type { Config } from '../config.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';

describe('commands for webhooks', () => {
  let world: WebhookWorld;
  let settings: Config;
  let receiver: Receiver;
  let shop: Shop;
  const { run, json, refusal } = commandLine(() => settings);

  before(async () => {
    world = await startWebhookWorld();
    settings = { ...settingsFor(world, { WEBHOOK_PRIVATE_TARGETS: 'on' }), secretKeys: [SECRET_KEY] };
    receiver = await startReceiver();
    shop = await openShop(world);
  });
  beforeEach(() => world.worker.ensureStarted());
  after(async () => {
    await receiver.stop();
    await world.stop();
  });

  it('"set-url" shows the secret that it makes, this once, and webhooks come signed with it', async () => {
    const { integrationId: id } = shop;
    const made = await json('webhooks', 'set-url', id, receiver.url);
    assert.deepEqual(made, {
      object: 'webhook',
      integration_id: id,
      url: receiver.url,
      secret: made.secret,
      is_sending: true,
      not_sending_because: [],
    });
    assert.match(made.secret, /^whsec_[A-Za-z0-9]{32}$/);
    const again = await run('webhooks', 'set-url', id, receiver.url);
    assert.equal(again.out, `Webhooks go to ${receiver.url} now.\n`);
    await ping(shop);
    await receiver.until(1);
    assert.equal(await countRefused(receiver.received, made.secret), 0);

    const none = await json('webhooks', 'set-url', id, 'none');
    assert.deepEqual([none.url, none.is_sending, none.not_sending_because], [null, false, ['no_url']]);
    assert.equal((await shop.api.get('/v1/me')).body.webhook.url, null);
    assert.equal((await json('webhooks', 'set-url', id, receiver.url)).secret, null);
  });

  it('"rotate-secret" lets the old one sign too, or not', async () => {
    const { integrationId: id } = shop;
    const kept = await run('webhooks', 'rotate-secret', id);
    assert.match(
      kept.out,
      /^Signing secret, shown only this once: whsec_\w{32}\nThe old one also signs for 24 hours\.\n$/,
    );
    assert.match(
      (await run('webhooks', 'rotate-secret', id)).out,
      /\nThe 2 older ones also sign for 24 hours at most\.\n$/,
    );
    const { secret } = await json('webhooks', 'rotate-secret', id, '--grace-hours', '0');
    receiver.received.length = 0;
    await ping(shop);
    await receiver.until(1);
    assert.equal(await countRefused(receiver.received, secret), 0);
    assert.match(
      (await run('webhooks', 'rotate-secret', id, '--grace-hours', '0')).out,
      /\nThe old one no longer signs\.\n$/,
    );
    const { integrationId: fresh } = await openShop(world);
    assert.match(
      (await run('webhooks', 'rotate-secret', fresh)).out,
      /\nThere was no earlier secret\.\nWebhooks are not sent/,
    );
  });

  it('creates no secret with keys that are not those of the service, unless it is forced', async () => {
    const { integrationId: id } = shop;
    const { integrationId: fresh } = await openShop(world);
    const secretsOf = async (integrationId: string) =>
      await world.db.query(sql`select id, expires_at from webhook_secrets where integration_id = ${integrationId}`);
    const before = await secretsOf(id);
    const service = settings;
    settings = { ...service, secretKeys: ['a key of somebody else, long enough to be one'] };
    try {
      assert.match(
        await refusal('webhooks', 'rotate-secret', id),
        /^The secret keys at hand do not decrypt the signing secret of int_\w+, .* add --force\.$/,
      );
      for (const words of [
        ['rotate-secret', fresh],
        ['set-url', fresh, receiver.url],
      ])
        assert.match(await refusal('webhooks', ...words), /^The secret keys at hand do not decrypt any stored signing/);
      assert.deepEqual(await secretsOf(id), before);
      assert.deepEqual(await secretsOf(fresh), []);
      // Nothing is created by these.
      await json('webhooks', 'set-url', id, receiver.url);
      await json('webhooks', 'set-url', fresh, 'none');

      assert.match((await json('webhooks', 'set-url', fresh, receiver.url, '--force')).secret, /^whsec_/);
      const forced = await json('webhooks', 'rotate-secret', fresh, '--grace-hours', '0', '--force');
      assert.match(forced.secret, /^whsec_/);
      // Some are decrypted: a key was lost, and these are the keys of the service.
      const { integrationId: another } = await openShop(world);
      assert.match((await json('webhooks', 'set-url', another, receiver.url)).secret, /^whsec_/);
    } finally {
      settings = service;
    }
  });

  it('"subscribe", "disable" and "enable" hold from the next event on', async () => {
    const { integrationId: id } = shop;
    const webhook = async () => (await shop.api.get('/v1/me')).body;
    const { subscribed_events } = await json('webhooks', 'subscribe', id, 'part.*', 'order.received', 'part.*');
    assert.deepEqual(subscribed_events, ['part.*', 'order.received']);
    assert.deepEqual((await webhook()).subscribed_events, ['part.*', 'order.received']);
    await json('webhooks', 'subscribe', id, '*');
    assert.equal((await json('webhooks', 'disable', id)).is_enabled, false);
    assert.equal((await webhook()).webhook.is_enabled, false);
    assert.match((await run('webhooks', 'enable', id)).out, /are on now\.\n$/);
    assert.equal((await webhook()).webhook.is_enabled, true);
  });

  it('"delivery" says of an answer of 3xx that redirects are not followed', async () => {
    receiver.answer = (response) => response.writeHead(301, { location: '/elsewhere' }).end();
    receiver.received.length = 0;
    const deliveryId = await ping(shop);
    await receiver.until(1);
    await world.worker.settled();
    const { out } = await run('webhooks', 'delivery', shop.integrationId, deliveryId);
    assert.match(out, /answer +301\n *error +redirects are not followed\n/);
    receiver.answerWith(200);
    await json('webhooks', 'replay', shop.integrationId, deliveryId);
    await receiver.until(2);
    await world.worker.settled();
  });

  it('"deliveries" shows the newest first, and "replay" sends one again', async () => {
    const { integrationId: id } = shop;
    receiver.answer = (response) => response.writeHead(503).end();
    receiver.received.length = 0;
    const deliveryId = await ping(shop);
    await receiver.until(1);
    await world.worker.settled();
    const { data } = await json('webhooks', 'deliveries', id, '--limit', '1');
    const [delivery] = data;
    assert.deepEqual(delivery, {
      object: 'delivery',
      id: deliveryId,
      event_id: receiver.received[0]?.eventId,
      type: 'integration.test_event',
      status: 'failed',
      is_in_flight: false,
      attempts: 1,
      last_response_code: 503,
      last_error: null,
      next_attempt_at: delivery.next_attempt_at,
      created_at: delivery.created_at,
    });
    assert.match(
      (await run('webhooks', 'deliveries', id)).out,
      /^DELIVERY +CREATED +EVENT +STATUS[^\n]+\ndlv_\w+ +2\S+Z +integration/,
    );
    receiver.answerWith(200);
    await json('webhooks', 'replay', id, deliveryId);
    await receiver.until(2);
    await world.worker.settled();
    assert.equal((await json('webhooks', 'deliveries', id)).data[0].status, 'succeeded');
    assert.equal((await run('webhooks', 'deliveries', id, '--status', 'failed,held')).out, 'None is failed or held.\n');
    const stranger = await openShop(world);
    assert.match(
      await refusal('webhooks', 'replay', stranger.integrationId, deliveryId),
      /^There is no delivery "dlv_/,
    );
    assert.match(
      (await run('webhooks', 'deliveries', stranger.integrationId)).out,
      /^No deliveries yet\.\nWebhooks are no/,
    );
  });

  it('"replays" counts first, sends with --yes, shows how far it is, and cancels', async () => {
    const target = await openShop(world);
    const { integrationId: id } = target;
    await json('webhooks', 'set-url', id, receiver.url);
    receiver.received.length = 0;
    await queueEvents(world, target, 60, { createdAt: new Date('2026-01-05') });
    await queueEvents(world, target, 5, { createdAt: new Date('2026-02-05'), type: 'part.updated' });
    await receiver.until(65);
    await world.worker.settled();
    const count = async (...args: string[]) => (await json('replays', 'start', id, ...args)).count;
    assert.equal(await count(), 0, 'only what failed, by default');
    assert.equal(await count('--status', 'succeeded'), 65);
    assert.equal(await count('--status', 'failed,succeeded', '--since', '2026-01-06'), 5);
    assert.equal(await count('--status', 'succeeded', '--until', '2026-02-01T00:00:00+01:00'), 60);
    assert.equal(await count('--status', 'succeeded', '--type', 'part.updated,listing.sold'), 5);
    assert.equal(await count('--status', 'succeeded', '--type', 'part.*, listing.sold'), 5);
    assert.equal(await count('--status', 'succeeded', '--type', '*'), 65);
    assert.equal(receiver.received.length, 65);

    const job = await json('replays', 'start', id, '--status', 'succeeded', '--yes');
    assert.deepEqual([job.object, job.status, job.total], ['replay', 'running', 65]);
    await receiver.until(130);
    await world.worker.settled();
    const [done] = (await json('replays', 'list', id)).data;
    assert.deepEqual([done.id, done.status, done.done, done.skipped], [job.id, 'done', 65, 0]);
    assert.match((await run('replays', 'list', id)).out, /^REPLAY +STATUS[^\n]+\njob_\w+ +done +65 of 65/);
    assert.match(await refusal('replays', 'cancel', id, job.id), /^There is no running replay "job_/);

    await world.worker.stop();
    const second = await json('replays', 'start', id, '--status', 'succeeded', '--yes');
    assert.match(await refusal('replays', 'start', id, '--yes'), /^A replay is running already; /);
    assert.equal((await json('replays', 'cancel', id, second.id)).status, 'cancelled');
    assert.ok((await deliveriesOf(world, target)).every(({ status }) => status === 'succeeded'));

    // Pruned before the job reaches it, it is not sent again, and the job says so.
    const last = await json('replays', 'start', id, '--status', 'succeeded', '--yes');
    const [gone] = await deliveriesOf(world, target);
    await world.db.query(sql`delete from deliveries where integration_id = ${id} and id = ${gone?.id}`);
    await world.worker.restart();
    await receiver.until(194);
    await world.worker.settled();
    const [left] = (await json('replays', 'list', id)).data;
    assert.deepEqual([left.id, left.status, left.done, left.skipped], [last.id, 'done', 64, 1]);
    assert.match((await run('replays', 'list', id)).out, /\njob_\w+ +done +64 of 65, 1 skipped +2/);
  });

  it('webhook commands refuse invalid input in one clear line', async () => {
    const { integrationId: id } = shop;
    const none = newId('integration');
    const wrongs: [args: string[], line: RegExp][] = [
      [['webhooks', 'set-url', id, 'nonsense'], /^The URL must be an absolute URL such as /],
      [['webhooks', 'set-url', id, 'ftp://shop.example/'], /^The URL must begin with https:\/\/ or http:\/\/\.$/],
      [['webhooks', 'set-url', id, 'https://me@shop.example/'], /^The URL must not carry a user name or password\.$/],
      [['webhooks', 'subscribe', id, 'listing.eaten'], /^There is no event named "listing\.eaten"\.$/],
      [['webhooks', 'rotate-secret', id, '--grace-hours', '169'], /It must be a whole number from 0 to 168\.$/],
      [['webhooks', 'deliveries', id, '--limit', '0'], /It must be a whole number from 1 to 1000\.$/],
      [['replays', 'start', id, '--since', 'yesterday'], /option '--since <time>' argument 'yesterday' is invalid/],
      [['replays', 'start', id, '--status', 'held'], /It must name some of failed, dead_letter, succeeded\.$/],
      [
        ['replays', 'start', id, '--type', 'listing.eaten'],
        /It must name some of listing\.published, .*listing\.\*\.$/,
      ],
      [['replays', 'start', id, '--type', 'order.received'], /It must name some of listing\.published, /],
      [
        ['replays', 'start', id, '--since', '2026-02-01', '--until', '2026-01-01', '--yes'],
        /^Nothing can match: --since/,
      ],
      [
        ['webhooks', 'deliveries', id, '--status', 'lost'],
        /It must name some of pending, failed, held, dead_letter, succ/,
      ],
      ...[
        ['webhooks', 'set-url', none, 'https://shop.example/'],
        ['webhooks', 'rotate-secret', none],
        ['webhooks', 'subscribe', none, '*'],
        ['webhooks', 'enable', none],
        ['webhooks', 'disable', none],
        ['webhooks', 'deliveries', none],
        ['replays', 'start', none],
        ['replays', 'start', none, '--yes'],
        ['replays', 'list', none],
        ['replays', 'cancel', none, 'job_x'],
        ['webhooks', 'show', none],
        ['webhooks', 'delivery', none, 'dlv_x'],
        ['webhooks', 'replay', none, 'dlv_x'],
      ].map((args): [string[], RegExp] => [args, /^There is no integration "int_\w+"\.$/]),
      ...['replay', 'delivery'].map((verb): [string[], RegExp] => [
        ['webhooks', verb, id, newId('delivery')],
        /^There is no delivery "dlv_\w+" of this integration\.$/,
      ]),
      [['replays', 'cancel', id, 'job_x'], /^There is no running replay "job_x" of this integration\.$/],
    ];
    for (const [args, line] of wrongs) assert.match(await refusal(...args), line, args.join(' '));
    const lenient = settings;
    settings = { ...settings, isPrivateWebhookAllowed: false };
    for (const [url, reason] of [
      [receiver.url, 'must begin with https://'],
      ['https://169.254.169.254/', 'must not point to a private or reserved address'],
      ['https://shop.internal/', 'must not point to a local name'],
    ] as const) {
      assert.equal(
        await refusal('webhooks', 'set-url', id, url),
        `The URL ${reason}. For development, WEBHOOK_PRIVATE_TARGETS=on allows it.`,
      );
    }
    assert.match(
      await refusal('webhooks', 'set-url', id, 'ftp://shop.example/'),
      /^The URL must begin with https:..\.$/,
    );
    settings = lenient;
  });
});
