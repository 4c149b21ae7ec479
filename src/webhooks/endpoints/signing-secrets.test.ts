import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../test/harness/actor.ts';
import type { Received, Receiver } from '../../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { isAccepted, signersAmong } from '../../../test/harness/webhooks/verify-signature.ts';
import {
  encryption,
  guard,
  ping,
  SECRET_KEY,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../test/harness/webhooks/webhook-world.ts';
import { rawSql, sql } from '../../db/sql.ts';
import { startDeliveryWorker } from '../worker/delivery-worker.ts';
import { setUrl } from './endpoint-settings.ts';
import { GRACE_DEFAULT_HOURS, rotateSigningSecret } from './rotate-signing-secret.ts';
import { createSecretEncryption, type SecretEncryption } from './secret-encryption.ts';

const START = new Date('2031-03-01T12:00:00.000Z');
const HOUR = 3_600_000;

describe('signing secrets', () => {
  let world: WebhookWorld;
  let time = START;

  before(async () => {
    world = await startWebhookWorld({ time: START });
  });
  beforeEach(() => world.worker.ensureStarted());
  after(() => world.stop());

  function moveTo(next: Date): void {
    time = next;
    world.setTime(next);
  }

  async function rotate(shop: Shop, graceHours: number): Promise<string> {
    const secret = await rotateSigningSecret(world.db, TESTER, encryption, shop.integrationId, graceHours, time);
    assert.match(secret ?? '', /^whsec_[A-Za-z0-9]{32}$/);
    return secret ?? '';
  }

  async function nextWebhook(shop: Shop, receiver: Receiver): Promise<Received> {
    const count = receiver.received.length + 1;
    await ping(shop);
    const webhook = (await receiver.until(count)).at(-1);
    assert.ok(webhook !== undefined);
    return webhook;
  }

  /** Each of them has signed, once, in this order, and nobody else. */
  async function assertSigners(webhook: Received, secrets: string[]): Promise<void> {
    assert.deepEqual(await signersAmong(webhook, secrets), { signers: secrets, strangers: 0 });
    for (const secret of secrets) assert.equal(await isAccepted(webhook, secret, time.getTime() / 1000), true);
  }

  /** It complains once about a receiver that it cannot sign for. */
  async function untilFault(message: RegExp): Promise<void> {
    for (let round = 0; world.worker.faults.length === 0; round++) {
      assert.ok(round < 1_000, 'no fault was reported');
      await sleep(10);
    }
    await sleep(100);
    assert.equal(world.worker.faults.length, 1);
    assert.match((world.worker.faults.splice(0)[0] as Error).message, message);
  }

  async function assertUntouched(shop: Shop, id: string): Promise<void> {
    const rows = await world.db.query(sql`
      select id, status, attempts, dispatches, lease_token from deliveries where integration_id = ${shop.integrationId}`);
    assert.deepEqual(rows, [{ id, status: 'pending', attempts: 0, dispatches: 0, lease_token: null }]);
  }

  /** A worker with other keys, which ends with its test at the latest. */
  function startWith(t: TestContext, other: SecretEncryption) {
    const worker = startDeliveryWorker({
      db: world.db,
      encryption: other,
      guard,
      now: world.channel.now,
      onFault: assert.ifError,
    });
    t.after(() => worker.stop());
    return worker;
  }

  it('signing secrets sign together during a rotation, the newest first, and the old one no longer than its grace', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const first = receiver.secret;
    await assertSigners(await nextWebhook(shop, receiver), [first]);
    const second = await rotate(shop, GRACE_DEFAULT_HOURS);
    const both = await nextWebhook(shop, receiver);
    assert.match(both.signature, /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    await assertSigners(both, [second, first]);

    moveTo(new Date(START.getTime() + 24 * HOUR - 1));
    await assertSigners(await nextWebhook(shop, receiver), [second, first]);
    moveTo(new Date(START.getTime() + 24 * HOUR));
    await assertSigners(await nextWebhook(shop, receiver), [second]);
  });

  it('signing secrets give way at once without a grace, also those of rotations before', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const second = await rotate(shop, 24);
    const third = await rotate(shop, 48);
    await assertSigners(await nextWebhook(shop, receiver), [third, second, receiver.secret]);
    const fourth = await rotate(shop, 0);
    await assertSigners(await nextWebhook(shop, receiver), [fourth]);
  });

  it('signing secrets end at the shorter of two graces', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const second = await rotate(shop, 1);
    const third = await rotate(shop, 7 * 24);
    moveTo(new Date(time.getTime() + HOUR));
    await assertSigners(await nextWebhook(shop, receiver), [third, second]);
    moveTo(new Date(time.getTime() + 7 * 24 * HOUR));
    await assertSigners(await nextWebhook(shop, receiver), [third]);
  });

  it('signing secrets are read at each attempt: a retry is not signed with one that expired in between', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    receiver.answerWith(500);
    const second = await rotate(shop, 1 / 3600);
    await assertSigners(await nextWebhook(shop, receiver), [second, receiver.secret]);
    await world.worker.settled();
    receiver.answerWith(200);
    moveTo(new Date(time.getTime() + 5_000));
    const [, retry] = await receiver.until(2);
    assert.ok(retry !== undefined);
    await assertSigners(retry, [second]);
  });

  it('signing secrets have bounds: the grace is 0 to 7 days, and five sign at most', async () => {
    const { integrationId } = await openShop(world);
    for (const grace of [-1, 7 * 24 + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await assert.rejects(
        rotateSigningSecret(world.db, TESTER, encryption, integrationId, grace, time),
        /grace period must be from 0 to 168/,
      );
    }
    for (let made = 0; made < 5; made++)
      await rotateSigningSecret(world.db, TESTER, encryption, integrationId, 24, time);
    await assert.rejects(
      rotateSigningSecret(world.db, TESTER, encryption, integrationId, 24, time),
      /5 secrets sign already/,
    );
    assert.notEqual(await rotateSigningSecret(world.db, TESTER, encryption, integrationId, 0, time), null);
    assert.equal(await rotateSigningSecret(world.db, TESTER, encryption, 'int_none', 0, time), null);
  });

  it('rotations that race leave one signing secret', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const made = await Promise.all([rotate(shop, 0), rotate(shop, 0), rotate(shop, 0)]);
    const webhook = await nextWebhook(shop, receiver);
    const { signers, strangers } = await signersAmong(webhook, made);
    assert.deepEqual([signers.length, strangers], [1, 0]);
  });

  it('signing secrets come with the first URL, and are shown only then', async () => {
    const shop = await openShop(world);
    const none = await setUrl(world.db, TESTER, { guard, encryption }, shop.integrationId, null);
    assert.deepEqual(none, { url: null, secret: null });
    const receiver = await world.connect(shop);
    assert.match(receiver.secret, /^whsec_/);
    const again = await setUrl(world.db, TESTER, { guard, encryption }, shop.integrationId, receiver.url);
    assert.deepEqual(again, { url: receiver.url, secret: null });
    assert.equal(await setUrl(world.db, TESTER, { guard, encryption }, 'int_none', receiver.url), null);
    await assertSigners(await nextWebhook(shop, receiver), [receiver.secret]);
  });

  it('a webhook without a usable signing secret is not sent, and costs no attempt', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await world.db.query(sql`delete from webhook_secrets where integration_id = ${shop.integrationId}`);
    const id = await ping(shop);
    await untilFault(/there is no secret/);
    await assertUntouched(shop, id);
    // Put right, it is sent as if nothing had been.
    await rotate(shop, 0);
    await world.worker.restart();
    const [webhook] = await receiver.until(1);
    assert.deepEqual([webhook?.attempt, webhook?.deliveryId], [1, id]);
  });

  it('a signing secret that no key decrypts neither stops the newer ones nor counts as a failure of the receiver', async () => {
    const lost = createSecretEncryption(['a key that nobody has any more, and long enough']);
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await world.db.query(sql`
      update webhook_secrets set ciphertext = ${lost.encrypt('whsec_lost')} where integration_id = ${shop.integrationId}`);
    const id = await ping(shop);
    await untilFault(/there is no secret/);
    await assertUntouched(shop, id);
    const [health] = await world.db.query<{ consecutive_failures: number }>(sql`
      select consecutive_failures from webhook_endpoints where integration_id = ${shop.integrationId}`);
    assert.equal(health?.consecutive_failures, 0);

    const second = await rotate(shop, 24);
    await world.worker.restart();
    const [webhook] = await receiver.until(1);
    assert.ok(webhook !== undefined);
    await assertSigners(webhook, [second]);
  });

  it('signing secrets are encrypted with the newest key when a worker starts, so that the older ones can be taken away', async (t) => {
    const newKey = 'the newest secret key of all, that shall remain alone';
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const second = await rotate(shop, 24);
    await world.worker.stop();
    const both = startWith(t, createSecretEncryption([newKey, SECRET_KEY]));
    await assertSigners(await nextWebhook(shop, receiver), [second, receiver.secret]);
    await both.stop();
    const alone = startWith(t, createSecretEncryption([newKey]));
    await assertSigners(await nextWebhook(shop, receiver), [second, receiver.secret]);
    await alone.stop();
    const back = startWith(t, createSecretEncryption([SECRET_KEY, newKey]));
    await assertSigners(await nextWebhook(shop, receiver), [second, receiver.secret]);
    await back.stop();
    await world.worker.restart();
  });

  it('signing secrets are encrypted in the database: their clear text is in no row of any table', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const secrets = [receiver.secret, await rotate(shop, 24)];
    await nextWebhook(shop, receiver);
    await world.worker.settled();
    const tables = await world.db.query<{ name: string }>(sql`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`);
    assert.ok(tables.length > 10);
    for (const secret of secrets) {
      const [, random = ''] = secret.split('_');
      for (const form of [
        random,
        Buffer.from(random).toString('base64').slice(0, 40),
        Buffer.from(random).toString('hex'),
      ]) {
        for (const { name } of tables) {
          const rows = await world.db.query(
            rawSql(`select 1 from ${name} t where strpos(t::text, '${form}') > 0 limit 1`),
          );
          assert.equal(rows.length, 0, `${name} holds a secret`);
        }
      }
    }
  });

  it('signing secrets can be decrypted with any of SECRET_KEYS, and new ones are encrypted with the first', async (t) => {
    const newKey = 'another secret key that took over from the first one';
    const rotated = createSecretEncryption([newKey, SECRET_KEY]);
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await world.worker.stop();
    const next = startWith(t, rotated);
    await assertSigners(await nextWebhook(shop, receiver), [receiver.secret]);
    await rotateSigningSecret(world.db, TESTER, rotated, shop.integrationId, 0, time);
    await next.stop();
    const [row] = await world.db.query<{ ciphertext: string }>(sql`
      select ciphertext from webhook_secrets where integration_id = ${shop.integrationId} order by id desc limit 1`);
    assert.match(createSecretEncryption([newKey]).decrypt(row?.ciphertext ?? ''), /^whsec_/);
    assert.throws(() => encryption.decrypt(row?.ciphertext ?? ''), /cannot be decrypted with any of SECRET_KEYS/);
    await world.worker.restart();
  });
});

describe('the encryption of secrets', () => {
  it('secret encryption encrypts the same text differently each time, and decrypts it', () => {
    const [one, other] = [encryption.encrypt('tick'), encryption.encrypt('tick')];
    assert.notEqual(one, other);
    assert.deepEqual([encryption.decrypt(one), encryption.decrypt(other)], ['tick', 'tick']);
  });

  it('secret encryption does not decrypt what was altered, cut or made up', () => {
    const ciphertext = encryption.encrypt('tock');
    // Not the last character: its spare bits mean nothing, so another one may stand for the same bytes.
    const middle = ciphertext.length >> 1;
    const other = ciphertext.at(middle) === 'A' ? 'B' : 'A';
    for (const wrong of [
      `${ciphertext.slice(0, middle)}${other}${ciphertext.slice(middle + 1)}`,
      ciphertext.slice(0, -4),
      ciphertext.slice(0, 10),
      'v1.',
      '',
      'whsec_x',
    ]) {
      assert.throws(() => encryption.decrypt(wrong), /cannot be decrypted/, wrong);
    }
  });

  it('secret encryption is not made without a key', () => {
    assert.throws(() => createSecretEncryption([]), /no secret key/);
  });
});
