import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../test/harness/actor.ts';
import { explainRead } from '../../../test/harness/database/explain.ts';
import { addShop, openShop, type Shop } from '../../../test/harness/shop.ts';
import {
  claimRequest,
  deliveriesOf,
  encryption,
  guard,
  ping,
  queueEvents,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../test/harness/webhooks/webhook-world.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { sql } from '../../db/sql.ts';
import { setUrl } from '../endpoints/endpoint-settings.ts';
import { WORKER_LIMITS } from '../worker/worker-limits.ts';
import { claimDue } from './claim.ts';
import { listDeliveries } from './delivery-log.ts';
import {
  cancelReplay,
  countReplay,
  listReplays,
  type ReplayFilter,
  replayDelivery,
  runReplays,
  startReplay,
} from './replay.ts';

type PlanNode = {
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
};

/** How many rows of a table a plan has read. */
function rowsRead(node: PlanNode, table: string): number {
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan, table), 0);
  if (node['Relation Name'] !== table) return below;
  return below + (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
}

const ALL: ReplayFilter = { since: null, until: null, types: null, statuses: ['failed', 'dead_letter', 'succeeded'] };

describe('replay', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await startWebhookWorld();
  });
  beforeEach(() => world.worker.ensureStarted());
  after(() => world.stop());

  async function jobOf(shop: Shop) {
    const [job] = await listReplays(world.db, shop.integrationId, 1);
    assert.ok(job !== undefined);
    return job;
  }

  async function untilDone(shop: Shop): Promise<void> {
    for (let round = 0; (await jobOf(shop)).status === 'running'; round++) {
      assert.ok(round < 1_000, 'the replay does not end');
      await sleep(10);
    }
    await world.worker.settled();
  }

  it('a replay refuses what waits, is in flight, is held, or belongs to somebody else', async () => {
    const shop = await openShop(world);
    const stranger = await openShop(world);
    const receiver = await world.connect(shop);
    let finish = () => {};
    receiver.answer = (response) => {
      finish = () => response.writeHead(200).end();
    };
    const id = await ping(shop);
    await receiver.until(1);
    const replay = (integrationId: string, deliveryId: string) =>
      replayDelivery(world.db, TESTER, integrationId, deliveryId, null);
    assert.equal(await replay(shop.integrationId, id), false, 'it is being sent');
    finish();
    await world.worker.settled();
    await world.worker.stop();
    const waiting = await ping(shop);
    assert.equal(await replay(shop.integrationId, waiting), false, 'it waits');
    await world.db.query(sql`update deliveries set status = 'held' where id = ${waiting}`);
    assert.equal(await replay(shop.integrationId, waiting), false, 'it is held');
    await world.worker.restart();
    await receiver.until(2);
    finish();
    await world.worker.settled();
    assert.equal(await replay(stranger.integrationId, id), false);
    assert.equal(await replay(shop.integrationId, 'dlv_none'), false);
    assert.equal(await replay(shop.integrationId, id), true);
  });

  it('a replay matches by time, type and status, and says how many before anything is sent', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour));
    for (const hour of [1, 2, 3]) {
      await queueEvents(world, shop, 10, { type: 'listing.updated', createdAt: at(hour) });
      await queueEvents(world, shop, 5, { type: 'part.updated', createdAt: at(hour) });
    }
    await receiver.until(45);
    await world.worker.settled();
    receiver.answerWith(500);
    await queueEvents(world, shop, 2, { type: 'listing.updated', createdAt: at(4) });
    await receiver.until(47);
    await world.worker.settled();
    const table: [filter: Partial<ReplayFilter>, count: number][] = [
      [{}, 47],
      [{ statuses: ['succeeded'] }, 45],
      [{ statuses: ['failed', 'dead_letter'] }, 2],
      [{ statuses: ['dead_letter'] }, 0],
      [{ types: ['part.updated'] }, 15],
      [{ types: ['part.updated', 'listing.updated'] }, 47],
      [{ types: ['listing.sold'] }, 0],
      [{ since: at(2) }, 32],
      [{ until: at(2) }, 15],
      [{ since: at(2), until: at(3) }, 15],
      [{ since: at(2), until: at(3), types: ['part.updated'] }, 5],
      [{ since: new Date(at(3).getTime() + 1) }, 2],
      [{ since: at(5) }, 0],
      [{ since: new Date(0), until: new Date(Date.UTC(2100, 0)) }, 47],
    ];
    for (const [filter, count] of table) {
      assert.equal(
        await countReplay(world.db, shop.integrationId, { ...ALL, ...filter }),
        count,
        JSON.stringify(filter),
      );
    }
    const stranger = await openShop(world);
    assert.equal(await countReplay(world.db, stranger.integrationId, ALL), 0);

    receiver.answerWith(200);
    receiver.received.length = 0;
    const filter: ReplayFilter = { since: at(2), until: at(3), types: ['part.updated'], statuses: ['succeeded'] };
    const job = await startReplay(world.db, TESTER, shop.integrationId, filter);
    assert.deepEqual([job.status, job.done, job.total], ['running', 0, 5]);
    await untilDone(shop);
    assert.deepEqual(
      receiver.received.map(({ type }) => type),
      Array(5).fill('part.updated'),
    );
    const { done, total } = await jobOf(shop);
    assert.deepEqual([done, total], [5, 5]);
  });

  it('a replay of many goes on after a restart of the worker, sends each once, and leaves out what came later', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const ids = await queueEvents(world, shop, 230);
    await receiver.until(230);
    await world.worker.settled();
    receiver.received.length = 0;
    const job = await startReplay(world.db, TESTER, shop.integrationId, ALL);
    await queueEvents(world, shop, 5);
    await receiver.until(60);
    await world.worker.stop();
    const stopped = await jobOf(shop);
    assert.ok(stopped.done > 0 && stopped.done % 16 === 0, `${stopped.done} done`);
    await world.worker.restart();
    await untilDone(shop);
    const finished = await jobOf(shop);
    assert.deepEqual([finished.id, finished.status, finished.done, finished.total], [job.id, 'done', 230, 230]);
    const events = receiver.received.map(({ eventId }) => eventId);
    assert.equal(events.length, 235);
    assert.equal(new Set(events).size, 235);
    const rows = await deliveriesOf(world, shop);
    assert.deepEqual(
      rows.filter(({ id }) => ids.includes(id)).map(({ status, attempts }) => `${status} ${attempts}`),
      Array(230).fill('succeeded 1'),
    );
    assert.ok(receiver.received.every(({ attempt, deliveryId }) => attempt === 1 && !ids.includes(deliveryId)));
  });

  it('a replay of many can be cancelled: no more is requeued', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await queueEvents(world, shop, 120);
    await receiver.until(120);
    await world.worker.settled();
    await world.worker.stop();
    const job = await startReplay(world.db, TESTER, shop.integrationId, ALL);
    assert.equal(await runReplays(world.db, null), 16);
    const stranger = await openShop(world);
    assert.equal(await cancelReplay(world.db, TESTER, stranger.integrationId, job.id), false);
    assert.equal(await cancelReplay(world.db, TESTER, shop.integrationId, job.id), true);
    assert.equal(await cancelReplay(world.db, TESTER, shop.integrationId, job.id), false, 'it is cancelled already');
    assert.equal(await runReplays(world.db, null), 0);
    const { status, done, total } = await jobOf(shop);
    assert.deepEqual([status, done, total], ['cancelled', 16, 120]);
    await world.worker.restart();
    await receiver.until(136);
    await world.worker.settled();
    assert.equal(receiver.received.length, 136);
  });

  it('a replay of many leaves half of the slots to live traffic: it waits while sixteen deliveries of the endpoint are due', async () => {
    await world.worker.stop();
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    await queueEvents(world, shop, 300);
    await world.worker.restart();
    await receiver.until(300);
    await world.worker.settled();
    await world.worker.stop();
    await startReplay(world.db, TESTER, shop.integrationId, ALL);
    const steps = [];
    for (let step = 0; step < 4; step++) steps.push(await runReplays(world.db, null));
    assert.deepEqual(steps, [16, 0, 0, 0]);
    const [live] = await queueEvents(world, shop, 1);
    const { claimed } = await claimDue(
      world.db,
      claimRequest({
        slotsPerEndpoint: WORKER_LIMITS.inFlightPerEndpoint / 2,
        allSlotsPerEndpoint: WORKER_LIMITS.inFlightPerEndpoint,
        leaseMs: 1,
      }),
    );
    assert.ok(
      claimed.some(({ id }) => id === live),
      'a live event waits for a replay',
    );
    await world.worker.restart();
    await untilDone(shop);
    assert.equal((await jobOf(shop)).done, 300);
  });

  it('a replay of many is one at a time for each integration', async () => {
    await world.worker.stop();
    const shop = await openShop(world);
    await world.connect(shop);
    await queueEvents(world, shop, 3);
    await startReplay(world.db, TESTER, shop.integrationId, ALL);
    await assert.rejects(startReplay(world.db, TESTER, shop.integrationId, ALL), DomainError);
    await world.worker.restart();
    await untilDone(shop);
    assert.equal((await startReplay(world.db, TESTER, shop.integrationId, ALL)).total, 3);
    await untilDone(shop);
  });

  it('a replay of many does not wait for the replays of others that are stalled', async () => {
    await world.worker.stop();
    const stalled: Shop[] = [];
    for (let index = 0; index < 101; index++) {
      const shop = await openShop(world);
      await setUrl(world.db, TESTER, { guard, encryption }, shop.integrationId, 'http://127.0.0.1:9/nobody');
      await queueEvents(world, shop, 40);
      await world.db.query(sql`
        update deliveries set status = 'dead_letter' where integration_id = ${shop.integrationId}
          and id in (select id from deliveries where integration_id = ${shop.integrationId} limit 20)`);
      await startReplay(world.db, TESTER, shop.integrationId, { ...ALL, statuses: ['dead_letter'] });
      stalled.push(shop);
    }
    const shop = await openShop(world);
    await world.connect(shop);
    await queueEvents(world, shop, 5);
    await world.db.query(sql`
      update deliveries set status = 'succeeded', finished_at = now() where integration_id = ${shop.integrationId}`);
    await startReplay(world.db, TESTER, shop.integrationId, ALL);
    assert.equal(await runReplays(world.db, null), 5);
    for (const { integrationId } of stalled) {
      await world.db.query(sql`delete from deliveries where integration_id = ${integrationId}`);
    }
    await world.worker.restart();
    await world.worker.settled();
  });

  it('dealers take turns with their replays: a dealer with many endpoints has a few steps, then others have theirs', async () => {
    await world.worker.stop();
    const large = await openShop(world);
    const websites = [large];
    while (websites.length < 12) websites.push(await addShop(world, large));
    const small = await openShop(world);
    // The small dealer starts last, and its receiver has taken everything before the next round.
    for (const shop of [...websites, small]) {
      await world.connect(shop);
      await queueEvents(world, shop, 40);
      await finishAll(shop);
      await startReplay(world.db, TESTER, shop.integrationId, ALL);
    }
    const done = async (shops: Shop[]) => (await Promise.all(shops.map(jobOf))).reduce((sum, job) => sum + job.done, 0);
    for (const [round, expected] of [16, 32, 40].entries()) {
      await runReplays(world.db, null);
      assert.equal(await done([small]), expected, 'the small dealer has a step in each round');
      assert.equal(await done(websites), (round + 1) * 4 * 16);
      await finishAll(small);
    }
    assert.equal((await jobOf(small)).status, 'done');
    // Each endpoint of the large dealer has its first step before any has its second.
    assert.deepEqual(
      (await Promise.all(websites.map(jobOf))).map((job) => job.done),
      Array(12).fill(16),
    );
    await world.worker.restart();
    for (const shop of websites) await untilDone(shop);
  });

  async function finishAll({ integrationId }: Shop): Promise<void> {
    await world.db.query(sql`
      update deliveries set status = 'succeeded', finished_at = now() where integration_id = ${integrationId}`);
  }

  it('a replay of many waits for what is being sent, and says in the end what it did not have to send', async () => {
    await world.worker.stop();
    const shop = await openShop(world);
    await world.connect(shop);
    const ids = await queueEvents(world, shop, 5);
    await world.db.query(sql`
      update deliveries set status = 'failed', is_waiting = true, due_at = now() + interval '1 hour'
      where integration_id = ${shop.integrationId}`);
    await world.db.query(sql`update deliveries set lease_token = 7 where id = ${ids[2]}`);
    await startReplay(world.db, TESTER, shop.integrationId, ALL);
    assert.deepEqual([await runReplays(world.db, null), await runReplays(world.db, null)], [2, 0]);
    await world.db.query(sql`
      update deliveries set status = 'held', lease_token = null, is_waiting = false where id = ${ids[2]}`);
    assert.equal(await runReplays(world.db, null), 2);
    const { status, done, skipped, total } = await jobOf(shop);
    assert.deepEqual([status, done, skipped, total], ['done', 4, 1, 5]);
    await world.worker.restart();
    await world.worker.settled();
  });

  it('a replay of few among many goes through them in steps', async () => {
    await world.worker.stop();
    const shop = await openShop(world);
    await world.connect(shop);
    const parts: ReplayFilter = { ...ALL, types: ['part.updated'] };
    // A plan that the server keeps from when the table was small must do for the large one.
    for (let run = 0; run < 6; run++) assert.equal(await countReplay(world.db, shop.integrationId, parts), 0);
    for (let batch = 0; batch < 6; batch++) await queueEvents(world, shop, 2_000);
    await world.db.query(sql`
      update deliveries set status = 'succeeded', finished_at = now() where integration_id = ${shop.integrationId}`);
    const [last] = (await queueEvents(world, shop, 1, { type: 'part.updated' })).slice(-1);
    await world.db.query(sql`update deliveries set status = 'dead_letter' where id = ${last}`);
    const counting = await explainRead(world.db, async (db) => {
      assert.equal(await countReplay(db, shop.integrationId, parts), 1);
    });
    assert.deepEqual(
      counting.map(({ plan }) => rowsRead(plan, 'deliveries')),
      [5_000, 5_000, 2_001],
    );
    await startReplay(world.db, TESTER, shop.integrationId, parts);
    const steps = [];
    for (let step = 0; step < 3; step++) steps.push(await runReplays(world.db, null));
    assert.deepEqual(steps, [0, 0, 1]);
    assert.equal((await jobOf(shop)).status, 'done');
    await world.worker.restart();
    await world.worker.settled();
  });

  it('the list of deliveries shows the newest first, with status, attempts and last answer', async () => {
    const shop = await openShop(world);
    const receiver = await world.connect(shop);
    const first = await ping(shop);
    await receiver.until(1);
    await world.worker.settled();
    receiver.answer = (response) => response.writeHead(503).end('closed for lunch');
    const second = await ping(shop);
    await receiver.until(2);
    await world.worker.settled();
    const [newest, oldest, ...others] = await listDeliveries(world.db, shop.integrationId, { limit: 50 });
    assert.deepEqual(others, []);
    assert.deepEqual(
      [newest?.id, newest?.status, newest?.attempts, newest?.lastResponseCode, newest?.type],
      [second, 'failed', 1, 503, 'integration.test_event'],
    );
    assert.ok(newest?.dueAt instanceof Date);
    assert.deepEqual(
      [oldest?.id, oldest?.status, oldest?.attempts, oldest?.lastResponseCode, oldest?.dueAt],
      [first, 'succeeded', 1, 200, null],
    );
    assert.equal((await listDeliveries(world.db, shop.integrationId, { limit: 1 })).length, 1);
  });
});
