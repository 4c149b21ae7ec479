import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { addShop, openShop, type Shop } from '../../../test/harness/shop.ts';
import { claimRequest, encryption, guard, queueEvents } from '../../../test/harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import type { Database } from '../../db/database.ts';
import { Sql, sql } from '../../db/sql.ts';
import { setUrl } from '../endpoints/endpoint-settings.ts';
import { type Claimed, type ClaimRequest, claimDue } from './claim.ts';
import { holdAndRelease, requestHolds, requestMissedReleases } from './hold-and-release.ts';
import { recordOutcomes } from './outcomes/record-outcomes.ts';
import { pruneWebhooks } from './prune.ts';
import { releaseClaims } from './release-claims.ts';
import { makeRetriesDue } from './retries/make-retries-due.ts';

const BACKLOG = 10_000;

describe('a claim', () => {
  let world: World;

  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** A new dealer's endpoint, or one more of a dealer. */
  async function connect(dealer?: Shop): Promise<Shop> {
    const shop = dealer === undefined ? await openShop(world) : await addShop(world, dealer);
    await setUrl(world.db, TESTER, { guard, encryption }, shop.integrationId, 'http://127.0.0.1:9/nobody');
    return shop;
  }

  async function empty(): Promise<void> {
    await world.db.query(sql`delete from deliveries`);
  }

  beforeEach(empty);

  async function recordAll(claimed: Claimed[]): Promise<void> {
    const result = { isSuccess: true, responseCode: 200, responseBody: null, error: null };
    await recordOutcomes(
      world.db,
      claimed.map((delivery) => ({ delivery, result, startedAt: new Date(), endedAt: new Date(), durationMs: 1 })),
    );
  }

  /** How many rows of deliveries the claim touches: to hop, to find, to lock, to write. */
  async function rowsRead(changes: Partial<ClaimRequest> = {}): Promise<number> {
    const plans: Plan[] = [];
    const explaining: Database = {
      ...world.db,
      transaction: (work, options) =>
        world.db.transaction(
          (tx) =>
            work({
              ...tx,
              async queryLast(statement) {
                const rows = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
                  new Sql(`explain (analyze, format json) ${statement.text}`, statement.values, undefined),
                );
                plans.push(...rows.map((row) => row['QUERY PLAN'][0].Plan));
                return [{ nowMs: 0, endpointCount: 0, id: null }] as never;
              },
            }),
          options,
        ),
    };
    await claimDue(explaining, claimRequest(changes));
    const [plan] = plans;
    assert.ok(plan !== undefined);
    return rowsOfDeliveries(plan);
  }

  it('a claim reads nothing of an endpoint that has all its slots in flight, however long its backlog is', async () => {
    const blocked = await connect();
    const other = await connect();
    await queueEvents(world, blocked, BACKLOG);
    await queueEvents(world, other, 3);
    const inFlight = new Map([[blocked.integrationId, 64]]);
    const read = await rowsRead({ inFlight });
    assert.ok(read <= 2 + 3 * 3, `${read} rows were read to claim 3 of 10,003`);
  });

  it('a claim reads of a backlog what it takes, and before that what is in flight', async () => {
    const shop = await connect();
    await queueEvents(world, shop, BACKLOG);
    assert.equal((await claimDue(world.db, claimRequest())).claimed.length, 64);
    const inFlight = new Map([[shop.integrationId, 64]]);
    const read = await rowsRead({ inFlight, slotsPerEndpoint: 69, allSlotsPerEndpoint: 69 });
    assert.ok(read <= 1 + 64 + 3 * 5, `${read} rows were read to claim 5`);
  });

  it('a claim reads nothing that waits for its time, is held or is finished', async () => {
    const waiting = await connect();
    const finished = await connect();
    const other = await connect();
    await queueEvents(world, waiting, 2_000);
    await queueEvents(world, finished, 2_000);
    await world.db.query(sql`
      update deliveries set status = 'failed', is_waiting = true, attempts = 1, due_at = now() + interval '5 minutes'
      where integration_id = ${waiting.integrationId}`);
    await world.db.query(sql`
      update deliveries set status = case when random() < 0.5 then 'held' else 'succeeded' end
      where integration_id = ${finished.integrationId}`);
    await queueEvents(world, other, 3);
    const read = await rowsRead();
    assert.ok(read <= 1 + 3 * 3, `${read} rows were read to claim 3`);
  });

  it('a claim has the same plan for a full table as for the empty one that it was prepared on', async () => {
    for (let time = 0; time < 10; time++) assert.deepEqual((await claimDue(world.db, claimRequest())).claimed, []);
    const shops = [await connect(), await connect(), await connect()];
    for (const shop of shops) await queueEvents(world, shop, 2_000);
    const before = await scans(world);
    for (let time = 0; time < 20; time++) {
      await recordAll((await claimDue(world.db, claimRequest())).claimed);
    }
    assert.equal((await scans(world)) - before, 0, 'the whole table was read');
  });

  it('a claim and all maintenance read a full table no more than the empty one that they were prepared on', async () => {
    const maintenance = async () => {
      await makeRetriesDue(world.db, null);
      await holdAndRelease(world.db, null);
      await requestHolds(world.db, ['int_none']);
      await requestMissedReleases(world.db, '');
      await releaseClaims(world.db, [{ id: 'dlv_none', ctid: '(0,1)', leaseToken: 1 }]);
      await pruneWebhooks(world.db, null);
      await recordAll((await claimDue(world.db, claimRequest({ maxDeliveries: 1 }))).claimed);
    };
    for (let time = 0; time < 12; time++) await maintenance();
    const shop = await connect();
    for (let batch = 0; batch < 5; batch++) await queueEvents(world, shop, 2_000);
    await world.db.query(sql`update deliveries set status = 'succeeded', finished_at = now()`);
    await queueEvents(world, shop, 12);
    const before = await fetches(world);
    for (let time = 0; time < 12; time++) await maintenance();
    const fetched = (await fetches(world)) - before;
    assert.ok(fetched < 1_000, `${fetched} rows were read to send 12 among 10,000 finished ones`);
  });

  it('a claim serves endpoints in turn: a small one goes on where the last one stopped', async () => {
    const shops = [];
    for (let index = 0; index < 5; index++) shops.push(await connect());
    for (const shop of shops) await queueEvents(world, shop, 20);
    const served = new Map<string, number>();
    let afterEndpoint = '';
    for (let time = 0; time < 10; time++) {
      const { claimed, nextAfter } = await claimDue(
        world.db,
        claimRequest({ maxDeliveries: 6, slotsPerEndpoint: 4, afterEndpoint }),
      );
      for (const { integrationId } of claimed) served.set(integrationId, (served.get(integrationId) ?? 0) + 1);
      afterEndpoint = nextAfter ?? '';
    }
    const counts = shops.map(({ integrationId }) => served.get(integrationId) ?? 0);
    assert.ok(Math.min(...counts) >= 6, `served ${counts.join(', ')}`);
  });

  it('a claim takes each delivery once, however many are made at the same time', async () => {
    const shops = [await connect(), await connect()];
    for (const shop of shops) await queueEvents(world, shop, 200);
    const claims = await Promise.all(
      Array.from({ length: 8 }, () =>
        claimDue(world.db, claimRequest({ maxDeliveries: 40, slotsPerEndpoint: 20, allSlotsPerEndpoint: 200 })),
      ),
    );
    const ids = claims.flatMap(({ claimed }) => claimed.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, 320);
  });

  it('claims leave an endpoint its limit, however many are made at the same time and one after the other', async () => {
    const shop = await connect();
    await queueEvents(world, shop, 200);
    const claims = [];
    for (let time = 0; time < 3; time++) {
      claims.push(
        ...(await Promise.all(
          Array.from({ length: 8 }, () =>
            claimDue(world.db, claimRequest({ slotsPerEndpoint: 8, allSlotsPerEndpoint: 8 })),
          ),
        )),
      );
    }
    const claimed = claims.flatMap((claim) => claim.claimed);
    assert.equal(claimed.length, 8);
    // One that has ended is no longer in flight, although that is not recorded yet.
    const more = await claimDue(
      world.db,
      claimRequest({ slotsPerEndpoint: 8, allSlotsPerEndpoint: 8, endedHere: new Map([[shop.integrationId, 3]]) }),
    );
    assert.equal(more.claimed.length, 3);
    await recordAll([...claimed, ...more.claimed]);
    assert.equal(
      (await claimDue(world.db, claimRequest({ slotsPerEndpoint: 8, allSlotsPerEndpoint: 8 }))).claimed.length,
      8,
    );
  });

  it('a claim takes no more bytes than it may, but one delivery at least', async () => {
    const shop = await connect();
    await queueEvents(world, shop, 10);
    const [row] = await world.db.query<{ bytes: number }>(sql`
      select octet_length(body) as bytes from events where integration_id = ${shop.integrationId} limit 1`);
    const bytes = row?.bytes ?? 0;
    for (const [allowed, count] of [
      [bytes * 3, 3],
      [1, 1],
      [bytes * 2 - 1, 2],
    ] as const) {
      const { claimed, isLimited } = await claimDue(world.db, claimRequest({ maxBytes: allowed }));
      assert.deepEqual([claimed.length, isLimited], [count, true]);
    }
    assert.equal((await claimDue(world.db, claimRequest())).claimed.length, 4);
  });

  it('a claim gives a dealer the slots and bytes of one dealer, shared by its endpoints, and other dealers theirs', async () => {
    const first = await connect();
    const endpoints = [first, await connect(first), await connect(first)];
    const other = await connect();
    for (const shop of [...endpoints, other]) await queueEvents(world, shop, 5);
    const countsOf = (claimed: Claimed[]) =>
      [...endpoints, other].map(
        ({ integrationId }) => claimed.filter((one) => one.integrationId === integrationId).length,
      );
    const shares = { slotsPerDealer: 7, inFlightByDealer: new Map([[first.organizationId, 1]]) };
    const bySlots = await claimDue(world.db, claimRequest(shares));
    assert.deepEqual(countsOf(bySlots.claimed), [2, 2, 2, 5]);
    assert.equal(bySlots.isLimited, true);
    const ofDealer = bySlots.claimed.filter((one) => one.organizationId === first.organizationId);
    assert.equal(ofDealer.length, 6);
    const full = { slotsPerDealer: 7, inFlightByDealer: new Map([[first.organizationId, 7]]) };
    assert.deepEqual((await claimDue(world.db, claimRequest(full))).claimed, []);

    const bytes = ofDealer[0]?.body.length ?? 0;
    const inFlight = { bytesPerDealer: 10 * bytes, bytesByDealer: new Map([[first.organizationId, 8 * bytes]]) };
    assert.equal((await claimDue(world.db, claimRequest(inFlight))).claimed.length, 2);
    const paused = claimRequest({ pausedDealers: [first.organizationId] });
    assert.deepEqual((await claimDue(world.db, paused)).claimed, []);
    assert.equal((await claimDue(world.db, claimRequest())).claimed.length, 7);
  });

  it('a claim reports the endpoints that are off and have something due', async () => {
    const shop = await connect();
    await queueEvents(world, shop, 3);
    await world.db.query(sql`update integrations set is_enabled = false where id = ${shop.integrationId}`);
    const { claimed, endpointsOff, nextAfter } = await claimDue(world.db, claimRequest());
    assert.deepEqual([claimed, endpointsOff, nextAfter], [[], [shop.integrationId], null]);
  });
});

type Plan = {
  'Relation Name'?: string;
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
};

function rowsOfDeliveries(plan: Plan): number {
  const isScan = plan['Relation Name'] === 'deliveries' && plan['Node Type'].includes('Scan');
  const each =
    plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const below = (plan.Plans ?? []).reduce((sum, child) => sum + rowsOfDeliveries(child), 0);
  return (isScan ? each * plan['Actual Loops'] : 0) + below;
}

/** What each connection has counted is made known when it is asked for; else it may come in the middle of a measurement. */
async function publishCounts(world: World): Promise<void> {
  const all = Array.from({ length: world.db.pool.options.max }, () =>
    world.db.query(sql`select pg_stat_force_next_flush(), pg_sleep(0.05)`),
  );
  await Promise.all(all);
}

/** Rows of deliveries and events that were read so far, by the server's own count. */
async function fetches(world: World): Promise<number> {
  await publishCounts(world);
  const [row] = await world.db.query<{ rows: number }>(sql`
    select sum(idx_tup_fetch + seq_tup_read) as rows from pg_stat_user_tables where relname in ('deliveries', 'events')`);
  return Number(row?.rows ?? 0);
}

/** Sequential scans of deliveries so far, by the server's own count. */
async function scans(world: World): Promise<number> {
  await publishCounts(world);
  const [row] = await world.db.query<{ scans: number }>(sql`
    select seq_scan as scans from pg_stat_user_tables where relname = 'deliveries'`);
  return row?.scans ?? 0;
}
