import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import {
  deliveriesOf,
  encryption,
  queueEvents,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../test/harness/webhooks/webhook-world.ts';
import { sql } from '../../db/sql.ts';
import { setWebhooksEnabled } from '../endpoints/endpoint-settings.ts';
import { rotateSigningSecret } from '../endpoints/rotate-signing-secret.ts';
import { pruneLeftovers, pruneWebhooks } from './prune.ts';
import { cancelReplay, listReplays, type ReplayableStatus, replayDelivery, startReplay } from './replay.ts';

const START = new Date('2031-03-01T12:00:00.000Z');
const DAY = 24 * 3_600_000;

describe('pruning', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await startWebhookWorld({ time: START });
  });
  beforeEach(() => world.worker.ensureStarted());
  after(() => world.stop());

  async function eventsOf(shop: Shop): Promise<number> {
    const rows = await world.db.query(sql`select id from events where integration_id = ${shop.integrationId}`);
    return rows.length;
  }

  async function pruneAt(time: Date): Promise<number> {
    let pruned = 0;
    for (let some = await pruneWebhooks(world.db, time); some > 0; some = await pruneWebhooks(world.db, time))
      pruned += some;
    return pruned;
  }

  it('pruning takes what succeeded 30 days ago with its event, and events that had no delivery; everything else stays', async () => {
    const delivered = await openShop(world);
    const receiver = await world.connect(delivered);
    await queueEvents(world, delivered, 1_100);
    await receiver.until(1_100);

    const silent = await openShop(world);
    await queueEvents(world, silent, 7);

    const unhappy = await openShop(world);
    (await world.connect(unhappy)).answerWith(500);
    await queueEvents(world, unhappy, 3);

    const paused = await openShop(world);
    await world.connect(paused);
    await setWebhooksEnabled(world.db, TESTER, paused.integrationId, false);
    await queueEvents(world, paused, 4);

    await world.worker.settled();
    await world.worker.stop();
    await world.db.query(sql`
      update deliveries set status = 'dead_letter', due_at = null
      where integration_id = ${unhappy.integrationId} and id = (select max(id) from deliveries where integration_id = ${unhappy.integrationId})`);

    const atTheEdge = new Date(START.getTime() + 30 * DAY);
    assert.equal(await pruneAt(atTheEdge), 0, 'nothing is older than 30 days yet');
    assert.equal(await pruneAt(new Date(atTheEdge.getTime() + 1)), 1_100 + 7);
    assert.deepEqual([await eventsOf(delivered), (await deliveriesOf(world, delivered)).length], [0, 0]);
    assert.equal(await eventsOf(silent), 0);
    for (const [shop, count, statuses] of [
      [unhappy, 3, ['dead_letter', 'failed']],
      [paused, 4, ['held']],
    ] as const) {
      assert.equal(await pruneAt(new Date(START.getTime() + 10_000 * DAY)), 0);
      const left = await deliveriesOf(world, shop);
      assert.deepEqual([await eventsOf(shop), left.length], [count, count]);
      assert.deepEqual([...new Set(left.map(({ status }) => status))].sort(), [...statuses]);
    }
    await world.worker.restart();
  });

  it('pruning counts from the end of the delivery: a late success stays readable for 30 days', async (t) => {
    t.after(() => world.setTime(START));
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    receiver.answerWith(500);
    await queueEvents(world, shop, 1);
    await receiver.until(1);
    await world.worker.settled();
    receiver.answerWith(200);
    const later = new Date(START.getTime() + DAY);
    world.setTime(later);
    await receiver.until(2);
    await world.worker.settled();
    assert.equal(await pruneAt(new Date(START.getTime() + 30.5 * DAY)), 0);
    assert.equal(await pruneAt(new Date(later.getTime() + 30 * DAY + 1)), 1);
  });

  it('pruning takes secrets that sign no longer, and replays that ended 30 days ago', async () => {
    const shop = await openShop(world);
    await world.connect(shop);
    await rotateSigningSecret(world.db, TESTER, encryption, shop.integrationId, 24, START);
    const statuses: ReplayableStatus[] = ['failed'];
    const filter = { since: null, until: null, types: null, statuses };
    const job = await startReplay(world.db, TESTER, shop.integrationId, filter);
    await cancelReplay(world.db, TESTER, shop.integrationId, job.id);
    await world.db.query(sql`update replay_jobs set finished_at = ${START} where id = ${job.id}`);
    const left = async () => [
      (await world.db.query(sql`select id from webhook_secrets where integration_id = ${shop.integrationId}`)).length,
      (await listReplays(world.db, shop.integrationId, 10)).length,
    ];
    await pruneLeftovers(world.db, new Date(START.getTime() + DAY - 1));
    assert.deepEqual(await left(), [2, 1]);
    await pruneLeftovers(world.db, new Date(START.getTime() + DAY));
    assert.deepEqual(await left(), [1, 1]);
    await pruneLeftovers(world.db, new Date(START.getTime() + 30 * DAY));
    assert.deepEqual(await left(), [1, 1]);
    await pruneLeftovers(world.db, new Date(START.getTime() + 30 * DAY + 1));
    assert.deepEqual(await left(), [1, 0]);
  });

  it('pruning does no work twice when two workers prune at once', async () => {
    const shop = await openShop(world);
    await queueEvents(world, shop, 3_000);
    const time = new Date(START.getTime() + 31 * DAY);
    const counts = await Promise.all(Array.from({ length: 4 }, () => pruneAt(time)));
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      3_000,
    );
  });

  it('pruning does not take what is being replayed', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const [id = ''] = await queueEvents(world, shop, 1);
    await receiver.until(1);
    await world.worker.settled();
    await world.worker.stop();
    assert.equal(await replayDelivery(world.db, TESTER, shop.integrationId, id, START), true);
    await pruneAt(new Date(START.getTime() + 31 * DAY));
    assert.equal((await deliveriesOf(world, shop)).length, 1);
    await world.worker.restart();
    await receiver.until(2);
    await world.worker.settled();
  });
});
