import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { enqueueJob } from '../../src/channel/jobs/channel-job-queue.ts';
import { runJobs } from '../../src/channel/jobs/run-jobs.ts';
import { startChannelWorker } from '../../src/channel/jobs/worker.ts';
import { refreshDue } from '../../src/channel/projection/due-promotions.ts';
import { VERSIONS } from '../../src/contract/versions.ts';
import { sql } from '../../src/db/sql.ts';
import { createItem, editItem } from '../../src/inventory/items/item-operations.ts';
import { setPublished } from '../../src/inventory/publications.ts';
import { TESTER } from '../harness/actor.ts';
import { dice } from '../harness/dice.ts';
import { readDocuments } from '../harness/observe.ts';
import { addShop, openShop, type Shop } from '../harness/shop.ts';
import { watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';
import { openRandomDealer } from './random-dealer.ts';
import { createSyncClient, type SyncClient } from './sync-client.ts';

/** Runs begin until one of these is reached. */
const RUNS = 20;
const BUDGET_MS = 30_000;
const WRITERS = 6;
const ACTIONS_OF_A_WRITER = 20;
const STOCK = 24;
/** Invented: it adds a field. */
const NEXT = '2027-01-01';

describe('the sync promise', () => {
  let world: World;
  before(async () => {
    world = await startWorld({
      versions: [...VERSIONS, { date: NEXT, present: (document) => ({ ...document, shape: NEXT }) }],
    });
  });
  after(() => world.stop());

  it('holds: however many write, one more sync after the last of them makes every client’s copy the server’s', async (t) => {
    const giveUpAt = Date.now() + BUDGET_MS;
    const firstSeed = Number(process.env.SYNC_SEED ?? Math.floor(Math.random() * 2 ** 31));
    let runs = 0;
    while (runs < RUNS && (runs === 0 || Date.now() < giveUpAt)) {
      t.diagnostic(`seed ${firstSeed + runs}`);
      await run(firstSeed + runs);
      runs += 1;
    }
    t.diagnostic(`${runs} runs`);
    const [{ deadlocks } = { deadlocks: -1 }] = await world.db.query<{ deadlocks: number }>(sql`
      select deadlocks from pg_stat_database where datname = current_database()`);
    assert.equal(deadlocks, 0, 'locks are always taken in one order');
  });

  async function run(seed: number): Promise<void> {
    const place = `seed ${seed}`;
    const first = await openShop(world);
    const shops = [first, await addShop(world, first)];
    const dealer = await openRandomDealer(world, shops, STOCK);
    const clients = shops.flatMap((shop, index) =>
      (index === 0 ? [1, 5] : [3, 50]).map((limit) => ({ shop, client: createSyncClient(shop.api, limit) })),
    );
    const faults: unknown[] = [];
    // Two, as on two nodes: jobs of one channel then run beside each other.
    const workers = [1, 2].map(() => startChannelWorker(world.channel, (error) => faults.push(error)));
    const crew = openCrew();
    const writers = Array.from({ length: WRITERS }, async (_, index) => {
      const random = dice(seed * 100 + index);
      for (let step = 0; step < ACTIONS_OF_A_WRITER && !crew.isOver(); step++) await dealer.act(random);
    });
    try {
      await crew.workUntil(
        Promise.all(writers).then(() => settle(shops, crew.isOver)),
        [...clients.map(({ client }) => client.sync), ...shops.map(stampWatch), ...shops.map(gapWatch)],
      );
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
    assert.deepEqual(faults, []);
    for (const { shop, client } of clients) {
      assert.equal(await client.sync(), true, place);
      await assertEqualsServer(client, shop, place);
    }
    await assertNothingMissed(shops, place);
  }

  /** Until no mass change and no promotion is still to come. */
  async function settle(shops: Shop[], isOver: () => boolean): Promise<void> {
    const ids = shops.map((shop) => shop.integrationId);
    while (!isOver()) {
      await refreshDue(world.channel);
      await runJobs(world.channel, undefined, 0);
      const [row] = await world.db.query<{ is_settled: boolean }>(sql`
        select not exists (select from channel_jobs
            where integration_id = any(${ids}::text[]) and status in ('pending', 'running'))
          and not exists (select from channel_documents
            where integration_id = any(${ids}::text[]) and valid_until < now() + interval '1 minute') as is_settled`);
      if (row?.is_settled) return;
      await sleep(50);
    }
  }

  async function assertEqualsServer(client: SyncClient, shop: Shop, place: string): Promise<void> {
    const server = await readDocuments(shop.api);
    const { api_version: version } = (await shop.api.get('/v1/me')).body;
    assert.deepEqual([...client.copy.keys()].sort(), [...server.keys()].sort(), place);
    for (const [id, document] of server) {
      // A roll moves no stamp: a client that rolls knows, and reads anew what it keeps in another shape.
      assert.equal(document.shape, version === NEXT ? NEXT : undefined, `${place}, ${id}`);
      assert.deepEqual({ ...client.copy.get(id), shape: null }, { ...document, shape: null }, `${place}, ${id}`);
      const { body } = await shop.api.get(`/v1/${document.object}s/${id}`);
      assert.deepEqual(body, document, `${place}, ${id}`);
    }
  }

  /** If projecting everything anew changed anything, some change had been lost on its way. */
  async function assertNothingMissed(shops: Shop[], place: string): Promise<void> {
    const before = await Promise.all(shops.map((shop) => readDocuments(shop.api)));
    await enqueueJob(
      world.db,
      'refresh',
      shops.map((shop) => shop.integrationId),
      'to see whether anything was missed',
    );
    await runJobs(world.channel, undefined, 0);
    const after = await Promise.all(shops.map((shop) => readDocuments(shop.api)));
    assert.deepEqual(after, before, place);
  }

  /**
   * Looks again and again at all stamps of an integration at once, in the version that is read: after a roll, documents of
   * the old version stay for a while with the stamps that they had. What is new or changed since the look before must be
   * stamped later than everything that was there then, or a client that kept the newest stamp would miss it.
   */
  function stampWatch(shop: Shop): () => Promise<void> {
    let known = new Map<string, number>();
    let newest = 0;
    return async () => {
      const rows = await world.db.query<{ id: string; stamp: Date }>(sql`
        select d.item_id as id, d.updated_at as stamp from channel_documents d
        join integrations n on n.id = d.integration_id and n.api_version = d.api_version
        where d.integration_id = ${shop.integrationId}
        union all
        select id, created_at from events where integration_id = ${shop.integrationId}`);
      const seen = new Map(rows.map((row) => [row.id, row.stamp.getTime()]));
      for (const [id, stamp] of seen) {
        if (known.get(id) !== stamp) assert.ok(stamp > newest, `${id} came with ${stamp} after ${newest} was seen`);
      }
      known = seen;
      newest = Math.max(newest, ...seen.values());
    };
  }

  /** Looks again and again whether everything that is published has its document, in the version that is read. */
  function gapWatch(shop: Shop): () => Promise<void> {
    return async () => {
      const gaps = await world.db.query(sql`
        select p.item_id from publications p
        join integrations n on n.id = p.integration_id
        join items i on i.id = p.item_id
        where p.integration_id = ${shop.integrationId} and (p.is_on or i.kind = 'listing') and not exists (
          select from channel_documents d
          where d.integration_id = n.id and d.api_version = n.api_version and d.item_id = p.item_id)`);
      assert.deepEqual(gaps, []);
    };
  }

  it('holds while a list is paged: what does not change is on exactly one page, whatever comes and goes', async () => {
    const shop = await openShop(world);
    const publish = (ids: string[], isOn = true) =>
      setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, ids, isOn);
    const create = async (count: number) => {
      const ids: string[] = [];
      for (let index = 0; index < count; index++)
        ids.push(await createItem(world.channel, TESTER, shop.organizationId, watch()));
      return ids;
    };
    const still = await create(60);
    const lively = await create(30);
    // The still ones lie between the lively, some of them tied.
    for (let index = 0; index < 30; index++) {
      await publish([...still.slice(index * 2, index * 2 + 2), ...lively.slice(index, index + 1)]);
    }
    const random = dice(60);
    const crew = openCrew();
    await crew.workUntil(pageByAll([1, 2, 5, 7, 13, 50]), [
      async () => publish(await create(1 + random.roll(3))),
      () =>
        editItem(world.channel, TESTER, shop.organizationId, random.pick(lively), { title: `Title ${Math.random()}` }),
      () => publish([random.pick(lively)], random.roll(2) === 0),
    ]);

    async function pageByAll(limits: number[]): Promise<void> {
      for (const limit of limits) {
        const found: string[] = [];
        for (let after = ''; ; ) {
          const { body } = await shop.api.get(`/v1/listings?limit=${limit}${after}`);
          found.push(...body.data.map((row: { id: string }) => row.id));
          assert.ok(body.data.length <= limit);
          if (!body.has_more) break;
          after = `&after=${body.next_cursor}`;
        }
        const seen = found.filter((id) => still.includes(id));
        assert.deepEqual(seen.toSorted(), still.toSorted(), `limit ${limit}: each exactly once`);
        assert.equal(new Set(found).size, found.length, `limit ${limit}: nothing twice`);
      }
    }
  });
});

/** Workers that repeat what they do until something else is done, or until one of them all fails. */
function openCrew() {
  let isOver = false;
  const repeat = async (work: () => Promise<unknown>) => {
    while (!isOver) {
      await work();
      await sleep(1);
    }
  };
  return {
    isOver: () => isOver,
    async workUntil(done: Promise<unknown>, works: (() => Promise<unknown>)[]): Promise<void> {
      const endAll = () => {
        isOver = true;
      };
      const all = [done.finally(endAll), ...works.map((work) => repeat(work).finally(endAll))];
      const failed = (await Promise.allSettled(all)).find((outcome) => outcome.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}
