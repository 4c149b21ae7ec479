import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { holdLock, until, untilBlocked } from '../../../test/harness/database/locks.ts';
import { apiClient } from '../../../test/harness/http/api-client.ts';
import { addShop, freshKey, openShop, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { openDatabase } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { setPublished } from '../../inventory/publications.ts';
import { expireDueReservations } from './expire-reservations.ts';
import { startReservationExpiry } from './expiry-worker.ts';

const CLIENTS = 100;

/** Two nodes: two servers and two pools of connections on one database. */
describe('reservations of several clients at once, on two nodes', () => {
  let world: World;
  let secondNode: World;
  before(async () => {
    world = await startWorld();
    const { address } = world.database;
    const db = openDatabase({ address, poolSize: 12, onIdleError: () => {} });
    secondNode = await startWorld({ database: { db, address, drop: () => db.close() } });
  });
  after(async () => {
    await secondNode.stop();
    await world.stop();
  });

  /** The same website, as it reaches one node or the other. */
  const onNode = (shop: Shop, index: number) =>
    apiClient(index % 2 === 0 ? world.origin : secondNode.origin, shop.apiKey);

  async function twoShops(): Promise<[Shop, Shop]> {
    const first = await openShop(world);
    return [first, await addShop(world, first)];
  }

  it('sell a watch once: of 100 clients for the last unit one wins, and 99 get 409', async () => {
    const shops = await twoShops();
    const id = await publishNew(world, shops[0], watch());
    await setPublished(world.channel, TESTER, shops[0].organizationId, shops[1].integrationId, [id], true);
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, (_, index) =>
        onNode(shops[index % 4 < 2 ? 0 : 1], index).post('/v1/reservations', { listing_id: id }, freshKey()),
      ),
    );
    const won = answers.filter(({ status }) => status === 201);
    const lost = answers.filter(({ status, body }) => status === 409 && body.error.code === 'not_available');
    assert.deepEqual([won.length, lost.length], [1, CLIENTS - 1]);
    assert.ok(lost.every(({ body }) => body.error.remaining_quantity === 0));
    assert.deepEqual(await stockOf(world, id), { units: 1, held: 1 });
  });

  it('and orders for the last units share them exactly', async () => {
    const [first, second] = await twoShops();
    const id = await publishNew(world, first, part({ units: 10 }));
    await setPublished(world.channel, TESTER, first.organizationId, second.integrationId, [id], true);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const client = onNode(index % 3 === 0 ? first : second, index);
        return index % 4 < 2
          ? client.post('/v1/reservations', { part_id: id }, freshKey())
          : client.post('/v1/orders', { channel_order_id: `SO-${index}`, lines: [{ part_id: id }] }, freshKey());
      }),
    );
    assert.ok(answers.every(({ status }) => [201, 409].includes(status)));
    const taken = answers.filter(
      ({ status, body }) => status === 201 && (body.lines?.[0].match ?? body.part_id) != null,
    );
    assert.equal(taken.length, 10);
    assert.deepEqual(await stockOf(world, id), { units: 10, held: 10 });
  });

  it('never are more than 100 active ones of one integration', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 1_000 }));
    const answers = await Promise.all(
      Array.from({ length: 130 }, (_, index) =>
        onNode(shop, index).post('/v1/reservations', { part_id: id }, freshKey()),
      ),
    );
    const codes = answers.map(({ status, body }) => (status === 201 ? 'made' : body.error.code));
    assert.equal(codes.filter((code) => code === 'made').length, 100);
    assert.equal(codes.filter((code) => code === 'too_many_reservations').length, 30);
  });

  it('are taken by one of many orders that name the same one', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const { body: reservation } = await shop.post('/v1/reservations', { listing_id: id });
    const lines = [{ listing_id: id, reservation_id: reservation.id }];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        onNode(shop, index).post('/v1/orders', { channel_order_id: `SO-${index}`, lines }, freshKey()),
      ),
    );
    assert.ok(answers.every(({ status }) => status === 201));
    const matched = answers.filter(({ body }) => body.lines[0].match !== null);
    assert.equal(matched.length, 1);
    const read = (await shop.api.get(`/v1/reservations/${reservation.id}`)).body;
    assert.deepEqual([read.status, read.order_id], ['used', matched[0]?.body.id]);
  });

  it('are ended or extended, released or used, never two of it', async () => {
    const shop = await openShop(world);
    for (let round = 0; round < 10; round++) {
      const id = await publishNew(world, shop, watch());
      const { body: reservation } = await shop.post('/v1/reservations', { listing_id: id });
      await world.db.query(sql`update reservations set expires_at = now() where id = ${reservation.id}`);
      const path = `/v1/reservations/${reservation.id}`;
      const lines = [{ listing_id: id, reservation_id: reservation.id }];
      const answers = await Promise.all([
        onNode(shop, 0).post(`${path}/release`, {}, freshKey()),
        onNode(shop, 1).post(`${path}/extend`, { ttl_seconds: 60 }, freshKey()),
        onNode(shop, 0).post('/v1/orders', { channel_order_id: `R-${round}`, lines }, freshKey()),
        onNode(shop, 1).get(`/v1/listings/${id}`),
        onNode(shop, 0).get(path),
        expireDueReservations(world.channel).then(() => ({ status: 200 })),
        expireDueReservations(secondNode.channel).then(() => ({ status: 200 })),
      ]);
      assert.ok(
        answers.every(({ status }) => [200, 201, 409].includes(status)),
        answers.map(({ status }) => status).join(),
      );
      // Whatever came first, the order found the unit free.
      assert.deepEqual(await stockOf(world, id), { units: 1, held: 1 });
      assert.equal((await shop.api.get(path)).body.status, 'used');
    }
  });

  it('are each ended once, by workers of both nodes that look at the same time', async () => {
    const [shop, sibling] = await twoShops();
    const ids: string[] = [];
    for (let index = 0; index < 30; index++) ids.push(await publishNew(world, shop, watch()));
    await setPublished(world.channel, TESTER, shop.organizationId, sibling.integrationId, ids, true);
    await Promise.all(ids.map((id) => shop.post('/v1/reservations', { listing_id: id })));
    const known = await updatesOf(sibling);
    await world.db.query(sql`update reservations set expires_at = now() where item_id = any(${ids}::text[])`);
    const ended = await Promise.all(
      Array.from({ length: 6 }, (_, index) => expireDueReservations((index % 2 === 0 ? world : secondNode).channel)),
    );
    await expireDueReservations(world.channel);
    assert.ok(ended.reduce((sum, count) => sum + count, 0) <= ids.length);
    assert.equal((await updatesOf(sibling)) - known, ids.length);
    const [left] = await world.db.query<{ held: number }>(sql`
      select sum(reserved_units)::integer as held from items where id = any(${ids}::text[])`);
    assert.equal(left?.held, 0);
  });

  async function updatesOf({ integrationId }: Shop): Promise<number> {
    const [row] = await world.db.query<{ count: number }>(sql`
      select count(*) from events where integration_id = ${integrationId} and type = 'listing.updated'`);
    return row?.count ?? 0;
  }

  it('end by a worker that runs on its own, past an item that somebody else has locked', async (t) => {
    const shop = await openShop(world);
    const locked = await publishNew(world, shop, watch());
    const free = await publishNew(world, shop, watch());
    for (const id of [locked, free]) await shop.post('/v1/reservations', { listing_id: id });
    const lock = await holdLock(world.db, 'select 1 from items where id = $1 for update', [locked]);
    await world.db.query(
      sql`update reservations set expires_at = now() where item_id = any(${[locked, free]}::text[])`,
    );
    const faults: unknown[] = [];
    const workers = [world, secondNode].map(({ channel }) =>
      startReservationExpiry(channel, (error) => faults.push(error)),
    );
    t.after(() => Promise.all(workers.map((worker) => worker.stop())));
    await until(async () => (await stockOf(world, free)).held === 0, 'the free one never ended');
    assert.deepEqual(await stockOf(world, locked), { units: 1, held: 1 });
    await lock.release();
    await until(async () => (await stockOf(world, locked)).held === 0, 'the locked one never ended');
    assert.deepEqual(faults, []);
  });

  it('wait for whoever has locked the item, and then see what it left', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const lock = await holdLock(world.db, 'update items set reserved_units = 1 where id = $1', [id]);
    const waiting = shop.post('/v1/reservations', { listing_id: id });
    await untilBlocked(world.db);
    await lock.release();
    assert.equal((await waiting).status, 409);
  });
});
