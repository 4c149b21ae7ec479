import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { changing } from '../../test/harness/database/locks.ts';
import { observe } from '../../test/harness/observe.ts';
import { assertRefused } from '../../test/harness/refusal.ts';
import { addShop, openShop, type Shop } from '../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';
import { setPublished } from '../inventory/publications.ts';
import { deleteItem } from './delete-item.ts';
import { confirmOrder, dismissOrder, fulfilOrder } from './orders/order-operations.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

let ordersMade = 0;
async function order(shop: Shop, lines: object[]) {
  ordersMade += 1;
  const { status, body } = await shop.post('/v1/orders', { channel_order_id: `SO-${ordersMade}`, lines });
  assert.equal(status, 201);
  return body;
}

const read = async (shop: Shop, id: string) => (await shop.api.get(`/v1/orders/${id}`)).body;

describe('deleting an item', () => {
  for (const isTestMode of [false, true]) {
    it(`leaves ${isTestMode ? 'test orders' : 'orders'} that wait for it matched to nothing, with a new stamp`, async () => {
      const shop = await openShop(world, { isTestMode });
      const gone = await publishNew(world, shop, watch());
      const stays = await publishNew(world, shop, part());
      const made = await order(shop, [{ listing_id: gone }, { part_id: stays }]);
      const other = await order(shop, [{ part_id: stays }]);
      await read(shop, made.id);
      const seen = await observe(shop.api, () => deleteItem(world.channel, TESTER, shop.organizationId, gone));
      assert.deepEqual(seen.types, ['listing.unpublished']);

      const after = await read(shop, made.id);
      const [first, second] = made.lines;
      assert.deepEqual(after, { ...made, lines: [{ ...first, match: null }, second], updated_at: after.updated_at });
      const changed = await shop.api.get(`/v1/orders?updated_after=${other.updated_at}`);
      assert.deepEqual(changed.body.data, [after]);

      const confirmed = await confirmOrder(world.channel, TESTER, shop.organizationId, made.id);
      assert.deepEqual(
        confirmed.lines.map((line) => line.match?.id ?? null),
        [null, stays],
      );
      const sales = await world.db.query(sql`select item_id from sales where organization_id = ${shop.organizationId}`);
      assert.deepEqual(sales, [{ item_id: stays }]);
    });
  }

  it('leaves what was sold or cancelled as it was: that is history', async () => {
    const shop = await openShop(world);
    const gone = await publishNew(world, shop, part({ units: 9 }));
    const [matched, fulfilled, cancelled] = [
      await order(shop, [{ part_id: gone }]),
      await order(shop, [{ part_id: gone }]),
      await order(shop, [{ part_id: gone }]),
    ];
    await confirmOrder(world.channel, TESTER, shop.organizationId, matched.id);
    await confirmOrder(world.channel, TESTER, shop.organizationId, fulfilled.id);
    await fulfilOrder(world.channel, TESTER, shop.organizationId, fulfilled.id);
    await dismissOrder(world.channel, TESTER, shop.organizationId, cancelled.id, null);
    const before = (await shop.api.get('/v1/orders')).body.data;
    await deleteItem(world.channel, TESTER, shop.organizationId, gone);
    assert.deepEqual((await shop.api.get('/v1/orders')).body.data, before);
  });

  it('reaches the orders of all the dealer’s integrations, also of one that never showed it', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const gone = await publishNew(world, shop, part());
    await setPublished(world.channel, TESTER, shop.organizationId, sibling.integrationId, [gone], true);
    const orders = [
      { from: shop, made: await order(shop, [{ part_id: gone }]) },
      { from: sibling, made: await order(sibling, [{ part_id: gone }]) },
    ];
    await world.db.query(sql`delete from publications where integration_id = ${sibling.integrationId}`);
    await deleteItem(world.channel, TESTER, shop.organizationId, gone);
    for (const { from, made } of orders) {
      const after = await read(from, made.id);
      assert.equal(after.lines[0].match, null);
      assert.ok(after.updated_at > made.updated_at);
    }
  });

  it('lets go of everything for an order that took it meanwhile and is under change already', async () => {
    const shop = await openShop(world);
    const gone = await publishNew(world, shop, part());
    const first = await order(shop, [{ part_id: gone }]);
    const early = await changing(world.db, first.id);
    const deleted = deleteItem(world.channel, TESTER, shop.organizationId, gone);
    await early.untilAwaited();
    const second = await order(shop, [{ part_id: gone }]);
    const late = await changing(world.db, second.id);
    await early.end();
    await late.untilAwaited();
    await late.takeStock(gone);
    await late.takeClock(shop.integrationId);
    await late.end();
    await deleted;
    for (const { id } of [first, second]) assert.equal((await read(shop, id)).lines[0].match, null);
  });

  it('goes well while orders take it and the dealer works on them', async () => {
    const shop = await openShop(world);
    for (let round = 0; round < 5; round++) {
      const gone = await publishNew(world, shop, part({ units: 100 }));
      const early = await Promise.all([1, 2, 3].map(() => order(shop, [{ part_id: gone }])));
      const [, ...late] = await Promise.all([
        deleteItem(world.channel, TESTER, shop.organizationId, gone),
        ...[1, 2, 3].map(() => order(shop, [{ part_id: gone }])),
        ...early.map(({ id }) => dismissOrder(world.channel, TESTER, shop.organizationId, id, null)),
      ]);
      for (const { id } of late.slice(0, 3)) assert.equal((await read(shop, id)).lines[0].match, null);
    }
  });

  it('refuses an unknown one and another dealer’s', async () => {
    const shop = await openShop(world);
    const stranger = await openShop(world);
    const foreign = await publishNew(world, stranger, watch());
    const made = await order(stranger, [{ listing_id: foreign }]);
    await assertRefused(deleteItem(world.channel, TESTER, shop.organizationId, newId('listing')), 'not_found');
    await assertRefused(deleteItem(world.channel, TESTER, shop.organizationId, foreign), 'not_found');
    assert.deepEqual(await read(stranger, made.id), made);
  });
});

describe('the database', () => {
  it('refuses to delete an item under an order that holds it', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    await order(shop, [{ listing_id: id }]);
    await assert.rejects(world.db.query(sql`delete from items where id = ${id}`), /order_lines_hold_an_item/);
  });
});
