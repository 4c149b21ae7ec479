import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import type { Receiver } from '../../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import {
  deliveriesOf,
  ping,
  queueEvents,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../test/harness/webhooks/webhook-world.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { AttemptOutcome } from '../delivery-queue/outcomes/attempt-outcome.ts';
import { recordOutcomes } from '../delivery-queue/outcomes/record-outcomes.ts';
import { setWebhooksEnabled } from './endpoint-settings.ts';

const START = new Date('2031-03-01T12:00:00.000Z');

describe('410 answers', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await startWebhookWorld({ time: START, limits: { pollMs: 20 } });
  });
  after(() => world.stop());

  async function isOn(shop: Shop): Promise<boolean> {
    return (await shop.api.get('/v1/me')).body.webhook.is_enabled;
  }

  /** One webhook after the other, each answered with the next status. */
  async function answerInTurn(shop: Shop, receiver: Receiver, statuses: number[]): Promise<void> {
    for (const status of statuses) {
      const count = receiver.received.length + 1;
      receiver.answerWith(status);
      await ping(shop);
      await receiver.until(count);
      await world.worker.settled();
    }
  }

  it('410 answers turn webhooks off when five come in a row, and what follows is held', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await answerInTurn(shop, receiver, [410, 410, 410, 410]);
    assert.equal(await isOn(shop), true);
    await answerInTurn(shop, receiver, [410]);
    assert.equal(await isOn(shop), false);
    await world.worker.settled();
    const statuses = (await deliveriesOf(world, shop)).map(({ status, attempts }) => `${status} ${attempts}`);
    assert.deepEqual(statuses, Array(5).fill('held 1'));
    const answer = await shop.post('/v1/test/webhook_ping');
    assert.equal(answer.body.enqueued, false);
    const [{ reason } = {}] = await world.db.query<{ reason: string }>(sql`
      select disabled_reason as reason from webhook_endpoints where integration_id = ${shop.integrationId}`);
    assert.equal(reason, 'gone');
    assert.deepEqual(world.worker.notices, [{ kind: 'disabled', integrationIds: [shop.integrationId] }]);
    const audit = await world.db.query(sql`
      select action, actor_kind, actor_id, new_values from audit_log
      where organization_id = ${shop.organizationId} and object_id = ${shop.integrationId} and actor_kind = 'job'`);
    const row = { action: 'webhooks.enabled_changed', actor_kind: 'job', actor_id: 'deliveries' };
    assert.deepEqual(audit, [{ ...row, new_values: { isEnabled: false, reason: 'gone' } }]);
  });

  it('410 answers are counted from zero after any other answer', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    for (const other of [200, 500, 404]) {
      await answerInTurn(shop, receiver, [410, 410, 410, 410, other]);
      assert.equal(await isOn(shop), true, `after ${other}`);
    }
    receiver.answer = (response) => response.destroy();
    await ping(shop);
    await receiver.until(16);
    await world.worker.settled();
    await answerInTurn(shop, receiver, [410, 410, 410, 410]);
    assert.equal(await isOn(shop), true);
    await answerInTurn(shop, receiver, [410]);
    assert.equal(await isOn(shop), false);
  });

  it('410 answers are forgotten when the dealer turns webhooks on again, and held deliveries go to the URL of then', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await answerInTurn(shop, receiver, [410, 410, 410, 410, 410]);
    await queueEvents(world, shop, 3);
    const moved = await world.connect(shop);
    assert.equal(await isOn(shop), false, 'a new URL alone turns nothing on');
    await setWebhooksEnabled(world.db, TESTER, shop.integrationId, true);
    await moved.until(8);
    await world.worker.settled();
    assert.equal(receiver.received.length, 5);
    assert.deepEqual(moved.received.map(({ attempt }) => attempt).sort(), [1, 1, 1, 2, 2, 2, 2, 2]);
    assert.equal(await isOn(shop), true);
    await answerInTurn(shop, moved, [410, 410, 410, 410]);
    assert.equal(await isOn(shop), true);
  });

  it('410 answers count in the order in which they came, also when they are recorded together', async () => {
    const table: [recorded: number[][], isOn: boolean][] = [
      [
        [
          [410, 410, 410],
          [410, 410, 200],
        ],
        false,
      ],
      [
        [
          [410, 410, 410],
          [410, 200, 410, 410, 410, 410],
        ],
        true,
      ],
      [[[410, 410, 410], [410, 200, 410, 410, 410, 410], [410]], false],
      [[[200, 410, 410, 410, 410, 410, 200]], false],
      [[[410, 410, 410, 410], [200], [410]], true],
      [[[410], [410], [410], [410], [410]], false],
      [[[410, 410, 410, 410, 500]], true],
    ];
    for (const [batches, expected] of table) {
      const shop = await openShop(world);
      const { url } = await world.connect(shop);
      for (const codes of batches) await recordOutcomes(world.db, await outcomesOf(shop, url, codes));
      assert.equal(await isOn(shop), expected, JSON.stringify(batches));
    }
  });

  it('410 answers of an earlier URL say nothing about the new one', async () => {
    const shop = await openShop(world);
    const old = await world.connect(shop);
    await world.connect(shop);
    await recordOutcomes(world.db, await outcomesOf(shop, old.url, Array(10).fill(410)));
    assert.equal(await isOn(shop), true);
    assert.equal((await shop.api.get('/v1/me')).body.webhook.consecutive_failures, 0);
  });

  it('410 answers of two workers are counted together', async () => {
    const shop = await openShop(world);
    const { url } = await world.connect(shop);
    const [last, ...others] = await outcomesOf(shop, url, Array(5).fill(410));
    assert.ok(last !== undefined);
    await Promise.all(others.map((outcome) => recordOutcomes(world.db, [outcome])));
    assert.equal(await isOn(shop), true);
    await recordOutcomes(world.db, [last]);
    assert.equal(await isOn(shop), false);
    assert.equal((await shop.api.get('/v1/me')).body.webhook.consecutive_failures, 5);
  });

  /** Outcomes of new deliveries that no other worker takes, one for each response code. */
  async function outcomesOf(shop: Shop, url: string, codes: number[]): Promise<AttemptOutcome[]> {
    const { integrationId } = shop;
    const leased = await world.db.transaction(async (tx) => {
      const db = { ...world.db, transaction: <Result>(work: (joined: Transaction) => Promise<Result>) => work(tx) };
      await queueEvents({ db, channel: { now: world.channel.now, onEvents: () => {} } }, shop, codes.length);
      return await tx.query<{ id: string; ctid: string }>(sql`
        update deliveries set lease_token = 1, leased_until = ${START}::timestamptz + interval '1 hour'
        where integration_id = ${integrationId} and attempts = 0 and lease_token is null returning id, ctid`);
    });
    return leased.map(({ id, ctid }, index) => {
      const code = codes[index] ?? 0;
      return {
        delivery: { integrationId, id, ctid, url, attempts: 0, dispatches: 0, leaseToken: 1 },
        result: { isSuccess: code === 200, responseCode: code, responseBody: null, error: null },
        startedAt: START,
        endedAt: START,
        durationMs: 1,
      };
    });
  }
});
