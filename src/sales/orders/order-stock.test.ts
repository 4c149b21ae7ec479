import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { holdLock, untilBlocked } from '../../../test/harness/database/locks.ts';
import { addShop, openShop, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../ids/new-id.ts';
import { createItem, setHidden } from '../../inventory/items/item-operations.ts';
import { setPublished } from '../../inventory/publications.ts';
import { reserveUnits } from '../../inventory/units/movements.ts';
import { deleteItem } from '../delete-item.ts';
import { dismissOrder } from './order-operations.ts';

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

describe('the stock of a live order', () => {
  it('is held at once: the last unit of a listing makes it reserved, an earlier one only counts down', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch({ units: 2 }));
    const first = await order(shop, [{ listing_id: id }]);
    assert.deepEqual(first.lines[0].match, { object: 'listing', id, remaining_quantity: 1 });
    let listing = (await shop.api.get(`/v1/listings/${id}`)).body;
    assert.deepEqual([listing.status, listing.quantity], ['active', 1]);
    const second = await order(shop, [{ listing_id: id }]);
    assert.equal(second.lines[0].match.remaining_quantity, 0);
    listing = (await shop.api.get(`/v1/listings/${id}`)).body;
    assert.deepEqual([listing.status, listing.quantity], ['reserved', 0]);
    assert.deepEqual(await stockOf(world, id), { units: 2, held: 2 });
  });

  it('takes units of a part, to sold_out at zero', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 5 }));
    const made = await order(shop, [{ part_id: id, quantity: 3 }]);
    assert.deepEqual(made.lines[0].match, { object: 'part', id, remaining_quantity: 2 });
    assert.equal((await shop.api.get(`/v1/parts/${id}`)).body.quantity, 2);
    const tooMany = await order(shop, [{ part_id: id, quantity: 3 }]);
    assert.equal(tooMany.lines[0].match, null);
    await order(shop, [{ part_id: id, quantity: 2 }]);
    const gone = (await shop.api.get(`/v1/parts/${id}`)).body;
    assert.deepEqual([gone.status, gone.quantity], ['sold_out', 0]);
  });

  it('is shared by the lines of one order, in their order', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 4 }));
    const made = await order(shop, [
      { part_id: id, quantity: 3 },
      { part_id: id, quantity: 2 },
      { part_id: id, quantity: 1 },
    ]);
    assert.deepEqual(
      made.lines.map(
        (line: { match: { remaining_quantity: number } | null }) => line.match?.remaining_quantity ?? null,
      ),
      [1, null, 0],
    );
    assert.deepEqual(await stockOf(world, id), { units: 4, held: 4 });
  });

  it('comes back with a cancellation and with a dismissal, and the match stays to be seen', async () => {
    const shop = await openShop(world);
    const listingId = await publishNew(world, shop, watch());
    const partId = await publishNew(world, shop, part({ units: 5 }));
    for (const end of [
      (id: string) => shop.post(`/v1/orders/${id}/cancel`),
      (id: string) => dismissOrder(world.channel, TESTER, shop.organizationId, id, null),
    ]) {
      const { id } = await order(shop, [{ listing_id: listingId }, { part_id: partId, quantity: 2 }]);
      assert.deepEqual(
        [await stockOf(world, listingId), await stockOf(world, partId)],
        [
          { units: 1, held: 1 },
          { units: 5, held: 2 },
        ],
      );
      await end(id);
      assert.deepEqual(
        [await stockOf(world, listingId), await stockOf(world, partId)],
        [
          { units: 1, held: 0 },
          { units: 5, held: 0 },
        ],
      );
      assert.equal((await shop.api.get(`/v1/listings/${listingId}`)).body.status, 'active');
      assert.equal((await shop.api.get(`/v1/parts/${partId}`)).body.quantity, 5);
      assert.equal((await shop.api.get(`/v1/orders/${id}`)).body.lines[0].match.id, listingId);
    }
  });

  it('is not refused for what can’t be matched: the line is stored without a match', async () => {
    const shop = await openShop(world);
    const stranger = await openShop(world);
    const sibling = await addShop(world, shop);
    const foreign = await publishNew(world, stranger, watch());
    const onSiblingOnly = await publishNew(world, { ...shop, integrationId: sibling.integrationId }, watch());
    const offChannel = await createItem(world.channel, TESTER, shop.organizationId, watch());
    const held = await publishNew(world, shop, watch());
    await reserveUnits(world.channel, TESTER, shop.organizationId, held, 1);
    const deleted = await publishNew(world, shop, watch());
    await deleteItem(world.channel, TESTER, shop.organizationId, deleted);
    const partId = await publishNew(world, shop, part());
    const listingId = await publishNew(world, shop, watch());
    const made = await order(shop, [
      { listing_id: newId('listing') },
      { listing_id: 'nonsense' },
      { listing_id: foreign },
      { listing_id: onSiblingOnly },
      { listing_id: offChannel },
      { listing_id: held },
      { listing_id: deleted },
      { listing_id: partId },
      { part_id: listingId },
      { title: 'Something else' },
    ]);
    assert.deepEqual(
      made.lines.map((line: { match: unknown }) => line.match),
      made.lines.map(() => null),
    );
    assert.deepEqual(await stockOf(world, foreign), { units: 1, held: 0 });
    assert.deepEqual(await stockOf(world, onSiblingOnly), { units: 1, held: 0 });
  });

  it('is there for what was on the channel before: that sale may have happened meanwhile', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, [id], false);
    const made = await order(shop, [{ listing_id: id }]);
    assert.equal(made.lines[0].match.id, id);
    assert.equal((await shop.api.get(`/v1/listings/${id}`)).body.status, 'unpublished');
  });

  it('is not there for a part that was taken off the channel: its client can’t read it any more', async () => {
    for (const isTestMode of [false, true]) {
      const shop = await openShop(world, { isTestMode });
      const id = await publishNew(world, shop, part({ units: 3 }));
      const hidden = await publishNew(world, shop, part({ units: 3 }));
      await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, [id], false);
      await setHidden(world.channel, TESTER, shop.organizationId, [hidden], true);
      assert.equal((await shop.api.get(`/v1/parts/${id}`)).status, 404);
      const made = await order(shop, [{ part_id: id }, { part_id: hidden }]);
      assert.equal(made.lines[0].match, null);
      assert.equal(made.lines[1].match.id, hidden);
      assert.deepEqual(await stockOf(world, id), { units: 3, held: 0 });
    }
  });

  it('goes by what is on the channel when the stock is its own, not when it began to wait for it', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part());
    const toggle = await holdLock(
      world.db,
      'update publications set is_on = false where item_id = (select id from items where id = $1 for update)',
      [id],
    );
    const ordered = order(shop, [{ part_id: id }]);
    await untilBlocked(world.db);
    await toggle.release();
    assert.equal((await ordered).lines[0].match, null);
  });

  it('survives the deletion of the item: the order can still be cancelled', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const made = await order(shop, [{ listing_id: id }]);
    await deleteItem(world.channel, TESTER, shop.organizationId, id);
    assert.equal((await shop.post(`/v1/orders/${made.id}/cancel`)).status, 200);
  });

  it('and of an item that is deleted at the same moment', async () => {
    const shop = await openShop(world);
    for (let round = 0; round < 8; round++) {
      const id = await publishNew(world, shop, watch());
      const made = await order(shop, [{ listing_id: id }]);
      const [cancelled] = await Promise.all([
        shop.post(`/v1/orders/${made.id}/cancel`),
        deleteItem(world.channel, TESTER, shop.organizationId, id),
      ]);
      assert.equal(cancelled.status, 200, cancelled.text);
      assert.equal((await shop.api.get(`/v1/listings/${id}`)).status, 404);
    }
  });
});

describe('a race for the last unit', () => {
  it('has one winner, within one integration and between two', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    for (let round = 0; round < 6; round++) {
      const id = await publishNew(world, shop, watch());
      await setPublished(world.channel, TESTER, shop.organizationId, sibling.integrationId, [id], true);
      const orders = await Promise.all([shop, sibling, shop, sibling].map((one) => order(one, [{ listing_id: id }])));
      const matches = orders.map((made) => made.lines[0].match).filter((match) => match !== null);
      assert.deepEqual(matches, [{ object: 'listing', id, remaining_quantity: 0 }]);
      assert.deepEqual(await stockOf(world, id), { units: 1, held: 1 });
    }
  });

  it('goes well between orders that name the same items in opposite orders', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const ids: string[] = [];
    for (let item = 0; item < 4; item++) {
      const id = await publishNew(world, shop, part({ units: 1_000 }));
      await setPublished(world.channel, TESTER, shop.organizationId, sibling.integrationId, [id], true);
      ids.push(id);
    }
    const lines = ids.map((id) => ({ part_id: id }));
    const rounds = Array.from({ length: 10 }, (_, round) => [
      order(shop, round % 2 === 0 ? lines : lines.toReversed()),
      order(sibling, round % 2 === 0 ? lines.toReversed() : lines),
    ]);
    await Promise.all(rounds.flat());
    for (const id of ids) assert.deepEqual(await stockOf(world, id), { units: 1_000, held: 20 });
  });

  it('also between parts: no more units are held than there are', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 10 }));
    const orders = await Promise.all(Array.from({ length: 30 }, () => order(shop, [{ part_id: id, quantity: 3 }])));
    const matched = orders.filter((made) => made.lines[0].match !== null);
    assert.equal(matched.length, 3);
    assert.deepEqual(matched.map((made) => made.lines[0].match.remaining_quantity).sort(), [1, 4, 7]);
    assert.deepEqual(await stockOf(world, id), { units: 10, held: 9 });
  });
});

describe('a test order', () => {
  it('fills its matches and touches nothing else', async () => {
    const live = await openShop(world);
    const test = await addShop(world, live, { isTestMode: true });
    const listingId = await publishNew(world, live, watch());
    const partId = await publishNew(world, live, part({ units: 5 }));
    await setPublished(world.channel, TESTER, live.organizationId, test.integrationId, [listingId, partId], true);
    const before = (await test.api.get(`/v1/listings/${listingId}`)).body;
    const lines = [{ listing_id: listingId }, { part_id: partId, quantity: 2 }, { part_id: partId, quantity: 4 }];
    const [made, again] = await Promise.all([order(test, lines), order(test, lines)]);
    assert.equal(made.is_test, true);
    // It reads as a live order would, each as if it were the only one.
    for (const { lines: matched } of [made, again]) {
      assert.deepEqual(matched[0].match, { object: 'listing', id: listingId, remaining_quantity: 0 });
      assert.deepEqual(matched[1].match, { object: 'part', id: partId, remaining_quantity: 3 });
      assert.equal(matched[2].match, null);
    }
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
    assert.deepEqual(await stockOf(world, partId), { units: 5, held: 0 });
    assert.deepEqual((await test.api.get(`/v1/listings/${listingId}`)).body, before);
    assert.deepEqual((await live.api.get('/v1/events?type=listing.updated,part.*')).body.data.length, 1);
    await test.post(`/v1/orders/${made.id}/cancel`);
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
  });
});
