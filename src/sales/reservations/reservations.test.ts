import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { addShop, openShop, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { deleteIntegration } from '../../dealers/deletions.ts';
import { editItems } from '../../inventory/items/edit-items.ts';
import { editItem, setHidden } from '../../inventory/items/item-operations.ts';
import { setPublished } from '../../inventory/publications.ts';
import { moveUnits, releaseUnits, reserveUnits } from '../../inventory/units/movements.ts';
import { deleteItem } from '../delete-item.ts';
import { runDeletions } from '../deletion/run-deletions.ts';
import { confirmOrder, matchLine } from '../orders/order-operations.ts';
import { sellUnits } from '../sell.ts';
import { changeTestMode } from '../test-mode/test-mode.ts';
import { releaseReservation, reservationsOf } from './dealer-reservations.ts';
import { expireDueReservations } from './expire-reservations.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());
afterEach(() => world.setTime(null));

async function reserve(shop: Shop, body: object) {
  const { status, body: made, text } = await shop.post('/v1/reservations', body);
  assert.equal(status, 201, text);
  return made;
}
let ordersMade = 0;
async function order(shop: Shop, ...lines: object[]) {
  ordersMade += 1;
  const { status, body, text } = await shop.post('/v1/orders', { channel_order_id: `SO-${ordersMade}`, lines });
  assert.equal(status, 201, text);
  return body;
}
const statusOf = async (shop: Shop, id: string) => (await shop.api.get(`/v1/reservations/${id}`)).body.status;
const dealer = (shop: Shop) => [world.channel, TESTER, shop.organizationId] as const;
/** Moves the time to a moment relative to the end of a reservation. */
function setTimeToEnd({ expires_at }: { expires_at: string }, offsetMs: number): void {
  world.setTime(new Date(Date.parse(expires_at) + offsetMs));
}

describe('an order that names a reservation', () => {
  it('takes exactly its units, also when nothing else is left', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 3 }));
    const reservation = await reserve(shop, { part_id: id, quantity: 2 });
    await reserve(shop, { part_id: id, quantity: 1 });
    const made = await order(shop, { part_id: id, quantity: 2, reservation_id: reservation.id });
    assert.deepEqual(made.lines[0].match, { object: 'part', id, remaining_quantity: 0 });
    assert.equal(made.lines[0].reservation_id, reservation.id);
    const used = (await shop.api.get(`/v1/reservations/${reservation.id}`)).body;
    assert.deepEqual([used.status, used.order_id], ['used', made.id]);
    assert.deepEqual(await stockOf(world, id), { units: 3, held: 3 });
    await shop.post(`/v1/orders/${made.id}/cancel`);
    assert.deepEqual(await stockOf(world, id), { units: 3, held: 1 });
    assert.equal(await statusOf(shop, reservation.id), 'used');
  });

  it('takes them a moment before expiry, and a moment after it if they are still there', async () => {
    for (const offsetMs of [-1, 0, 1]) {
      const shop = await openShop(world);
      const id = await publishNew(world, shop, watch());
      const reservation = await reserve(shop, { listing_id: id });
      setTimeToEnd(reservation, offsetMs);
      const made = await order(shop, { listing_id: id, reservation_id: reservation.id });
      assert.equal(made.lines[0].match?.remaining_quantity, 0, `${offsetMs} ms`);
      assert.equal(await statusOf(shop, reservation.id), 'used');
      assert.deepEqual(await stockOf(world, id), { units: 1, held: 1 });
      world.setTime(null);
    }
  });

  it('takes them after the worker has ended it, but not what somebody else has taken since', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch({ units: 2 }));
    const first = await reserve(shop, { listing_id: id });
    const second = await reserve(shop, { listing_id: id });
    setTimeToEnd(second, 1);
    await expireDueReservations(world.channel);
    assert.deepEqual(await stockOf(world, id), { units: 2, held: 0 });
    await order(shop, { listing_id: id });
    assert.ok((await order(shop, { listing_id: id, reservation_id: first.id })).lines[0].match);
    const late = await order(shop, { listing_id: id, reservation_id: second.id });
    assert.equal(late.lines[0].match, null);
    assert.deepEqual([await statusOf(shop, first.id), await statusOf(shop, second.id)], ['used', 'expired']);
  });

  it('of another quantity releases it and takes what it asks for, as far as that is there', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 5 }));
    const first = await reserve(shop, { part_id: id, quantity: 2 });
    const more = await order(shop, { part_id: id, quantity: 4, reservation_id: first.id });
    assert.equal(more.lines[0].match.remaining_quantity, 1);
    assert.equal(await statusOf(shop, first.id), 'released');
    const second = await reserve(shop, { part_id: id, quantity: 1 });
    const tooMany = await order(shop, { part_id: id, quantity: 3, reservation_id: second.id });
    assert.equal(tooMany.lines[0].match, null);
    assert.equal(await statusOf(shop, second.id), 'released');
    assert.deepEqual(await stockOf(world, id), { units: 5, held: 4 });
  });

  it('is matched as if it did not, when the reservation is foreign, of another item, ended or no id', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const id = await publishNew(world, shop, part({ units: 9 }));
    const other = await publishNew(world, shop, part({ units: 9 }));
    await setPublished(...dealer(shop), sibling.integrationId, [id], true);
    const foreign = await reserve(sibling, { part_id: id });
    const ofOther = await reserve(shop, { part_id: other });
    const released = await reserve(shop, { part_id: id });
    await shop.post(`/v1/reservations/${released.id}/release`);
    for (const reservationId of [foreign.id, ofOther.id, released.id, 'nonsense', '']) {
      const made = await order(shop, { part_id: id, reservation_id: reservationId });
      assert.equal(made.lines[0].match.id, id, reservationId);
    }
    assert.equal(await statusOf(sibling, foreign.id), 'active');
    assert.equal(await statusOf(shop, ofOther.id), 'active');
    assert.deepEqual(await stockOf(world, id), { units: 9, held: 6 });
  });

  it('uses it for one line only', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 2 }));
    const { id: reservation_id } = await reserve(shop, { part_id: id });
    const line = { part_id: id, reservation_id };
    const made = await order(shop, line, line, line);
    assert.deepEqual(
      made.lines.map((one: { match: object | null }) => one.match !== null),
      [true, true, false],
    );
    assert.deepEqual(await stockOf(world, id), { units: 2, held: 2 });
  });

  it('is matched also after the dealer has hidden the item or taken it off the channel', async () => {
    const shop = await openShop(world);
    const spare = await publishNew(world, shop, part({ units: 1 }));
    const hidden = await publishNew(world, shop, watch());
    const ofSpare = await reserve(shop, { part_id: spare });
    const ofHidden = await reserve(shop, { listing_id: hidden });
    await setPublished(...dealer(shop), shop.integrationId, [spare], false);
    await setHidden(...dealer(shop), [hidden], true);
    assert.equal((await shop.api.get(`/v1/parts/${spare}`)).status, 404);
    assert.deepEqual([await statusOf(shop, ofSpare.id), await statusOf(shop, ofHidden.id)], ['active', 'active']);
    const made = await order(
      shop,
      { part_id: spare, reservation_id: ofSpare.id },
      { listing_id: hidden, reservation_id: ofHidden.id },
      { part_id: spare },
    );
    assert.deepEqual(
      made.lines.map((line: { match: { id: string } | null }) => line.match?.id ?? null),
      [spare, hidden, null],
    );
  });
});

describe('a reservation whose time is over', () => {
  it('is ended by the worker, with the item free on every channel', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const id = await publishNew(world, shop, watch());
    await setPublished(...dealer(shop), sibling.integrationId, [id], true);
    const reservation = await reserve(shop, { listing_id: id });
    assert.equal((await sibling.api.get(`/v1/listings/${id}`)).body.status, 'reserved');
    setTimeToEnd(reservation, -1);
    await expireDueReservations(world.channel);
    assert.deepEqual(await stockOf(world, id), { units: 1, held: 1 });
    setTimeToEnd(reservation, 0);
    // A plain list waits for the worker.
    assert.deepEqual((await sibling.api.get('/v1/listings')).body.data, []);
    assert.equal(await expireDueReservations(world.channel), 1);
    assert.equal((await sibling.api.get('/v1/listings')).body.data[0].id, id);
    assert.equal(await statusOf(shop, reservation.id), 'expired');
    assert.equal(await expireDueReservations(world.channel), 0);
  });

  it('is ended by whoever reads the item by its id on any channel, also past a cached answer', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const listing = await publishNew(world, shop, watch());
    const spare = await publishNew(world, shop, part({ units: 4 }));
    await setPublished(...dealer(shop), sibling.integrationId, [listing, spare], true);
    const reservation = await reserve(shop, { listing_id: listing });
    await reserve(shop, { part_id: spare, quantity: 3 });
    const read = async () => {
      const { body: watchRead } = await sibling.api.get(`/v1/listings/${listing}`);
      const { body: partRead } = await sibling.api.get(`/v1/parts/${spare}`);
      return [watchRead.status, watchRead.quantity, partRead.quantity];
    };
    const readMany = async () => (await sibling.api.get(`/v1/parts?ids=${spare}`)).body.data[0].quantity;
    setTimeToEnd(reservation, -60_000);
    assert.equal(await readMany(), 1);
    assert.deepEqual(await read(), ['reserved', 0, 1]);
    assert.deepEqual(await read(), ['reserved', 0, 1]);
    setTimeToEnd(reservation, 60_000);
    assert.equal(await readMany(), 4);
    assert.deepEqual(await read(), ['active', 1, 4]);
    assert.deepEqual(await stockOf(world, spare), { units: 4, held: 0 });
  });

  it('is ended by whoever reads it by its id', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const reservation = await reserve(shop, { listing_id: id });
    assert.equal(await statusOf(shop, reservation.id), 'active');
    setTimeToEnd(reservation, 0);
    assert.equal(await statusOf(shop, reservation.id), 'expired');
    assert.deepEqual(await stockOf(world, id), { units: 1, held: 0 });
  });

  it('is ended by whoever locks the item: a sale, an edit, a match by hand, another channel’s reservation', async () => {
    const acts: ((shop: Shop, sibling: Shop, id: string) => Promise<unknown>)[] = [
      (shop, _, id) => sellUnits(...dealer(shop), id, 1),
      (shop, _, id) => moveUnits(...dealer(shop), id, 'remove', 1),
      (shop, _, id) => reserveUnits(...dealer(shop), id, 1),
      (shop, _, id) => editItem(...dealer(shop), id, { title: 'Another title' }),
      (shop, _, id) =>
        world.db.transaction((tx) =>
          editItems(tx, world.channel, shop.organizationId, [id], () => ({ title: 'Another title', units: 3 })),
        ),
      (shop, sibling, id) => setPublished(...dealer(shop), sibling.integrationId, [id], false),
      (_, sibling, id) => reserve(sibling, { listing_id: id }),
      (_, sibling, id) => order(sibling, { listing_id: id }),
      async (shop, _, id) => {
        const empty = await order(shop);
        await matchLine(...dealer(shop), empty.id, { lineId: null, itemId: id, units: 1 });
      },
    ];
    for (const act of acts) {
      const shop = await openShop(world);
      const sibling = await addShop(world, shop);
      const id = await publishNew(world, shop, watch());
      await setPublished(...dealer(shop), sibling.integrationId, [id], true);
      const reservation = await reserve(shop, { listing_id: id });
      setTimeToEnd(reservation, 1);
      await act(shop, sibling, id);
      const [row] = await world.db.query<{ status: string }>(sql`
        select status from reservations where id = ${reservation.id}`);
      assert.equal(row?.status, 'expired', String(act));
      const unlike = await world.db.query(sql`
        select d.integration_id from items i join channel_documents d on d.item_id = i.id
        where i.id = ${id} and d.quantity <> i.units - i.reserved_units`);
      assert.deepEqual(unlike, [], String(act));
      world.setTime(null);
    }
  });
});

describe('units that a client has reserved', () => {
  it('can’t be sold, removed, held or released by hand by the dealer; a restock adds to what is free', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 3 }));
    await reserve(shop, { part_id: id, quantity: 2 });
    await assertRefused(sellUnits(...dealer(shop), id, 2), 'not_enough_units');
    await assertRefused(moveUnits(...dealer(shop), id, 'remove', 2), 'not_enough_units');
    await assertRefused(moveUnits(...dealer(shop), id, 'fit', 2), 'not_enough_units');
    await assertRefused(reserveUnits(...dealer(shop), id, 2), 'not_enough_units');
    await assertRefused(releaseUnits(...dealer(shop), id, 1), 'not_enough_units');
    await reserveUnits(...dealer(shop), id, 1);
    await assertRefused(releaseUnits(...dealer(shop), id, 2), 'not_enough_units');
    await releaseUnits(...dealer(shop), id, 1);
    await moveUnits(...dealer(shop), id, 'restock', 4);
    assert.equal((await shop.api.get(`/v1/parts/${id}`)).body.quantity, 5);
    await editItem(...dealer(shop), id, { units: 1 });
    assert.deepEqual(await stockOf(world, id), { units: 3, held: 2 });
  });

  it('are the dealer’s again when the reservation is released by hand, with a row in the audit log', async () => {
    const shop = await openShop(world);
    const stranger = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 3 }));
    const reservation = await reserve(shop, { part_id: id, quantity: 2, reference: 'cart-9' });
    const [shown] = await reservationsOf(world.db, shop.organizationId, id, null);
    assert.deepEqual(
      [shown?.id, shown?.integrationId, shown?.reference, shown?.units, shown?.expiresAt.toISOString()],
      [reservation.id, shop.integrationId, 'cart-9', 2, reservation.expires_at],
    );
    assert.deepEqual(await reservationsOf(world.db, stranger.organizationId, id, null), []);
    await assertRefused(releaseReservation(...dealer(stranger), id, reservation.id), 'not_found');
    await releaseReservation(...dealer(shop), id, reservation.id);
    assert.equal(await statusOf(shop, reservation.id), 'released');
    assert.deepEqual(await stockOf(world, id), { units: 3, held: 0 });
    await assertRefused(releaseReservation(...dealer(shop), id, reservation.id), 'not_found');
    const audit = await world.db.query<{ new: { reservationId?: string } }>(sql`
      select new_values as new from audit_log where action = 'reservation.released' and object_id = ${id}`);
    assert.deepEqual(
      audit.map((row) => row.new.reservationId),
      [reservation.id],
    );
  });

  it('are sold over the counter if the dealer wants so: as many reservations go as the sale needs', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 5 }));
    const soon = await reserve(shop, { part_id: id, quantity: 2, ttl_seconds: 60 });
    const later = await reserve(shop, { part_id: id, quantity: 2, ttl_seconds: 900 });
    await sellUnits(...dealer(shop), id, 1, { releasesReservations: true });
    assert.deepEqual([await statusOf(shop, soon.id), await statusOf(shop, later.id)], ['active', 'active']);
    await sellUnits(...dealer(shop), id, 1, { releasesReservations: true });
    assert.deepEqual([await statusOf(shop, soon.id), await statusOf(shop, later.id)], ['released', 'active']);
    await assertRefused(sellUnits(...dealer(shop), id, 4, { releasesReservations: true }), 'not_enough_units');
    assert.equal(await statusOf(shop, later.id), 'active');
    await sellUnits(...dealer(shop), id, 3, { releasesReservations: true });
    assert.deepEqual(await stockOf(world, id), { units: 0, held: 0 });
  });

  it('go with the item when it is deleted: the reservation is released and still names it', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const reservation = await reserve(shop, { listing_id: id });
    await deleteItem(...dealer(shop), id);
    const read = (await shop.api.get(`/v1/reservations/${reservation.id}`)).body;
    assert.deepEqual([read.status, read.listing_id], ['released', id]);
    assert.ok(read.updated_at > reservation.updated_at);
    const made = await order(shop, { listing_id: id, reservation_id: reservation.id });
    assert.equal(made.lines[0].match, null);
    setTimeToEnd(reservation, 1);
    await expireDueReservations(world.channel);
    assert.equal(await statusOf(shop, reservation.id), 'released');
  });

  it('are free on the dealer’s other channels when the integration is deleted', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const id = await publishNew(world, shop, watch());
    await setPublished(...dealer(shop), sibling.integrationId, [id], true);
    await reserve(shop, { listing_id: id });
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    await runDeletions(world.channel, undefined, 0);
    assert.equal((await sibling.api.get(`/v1/listings/${id}`)).body.status, 'active');
    assert.deepEqual(await world.db.query(sql`select id from reservations where item_id = ${id}`), []);
  });

  it('become a sale with the order that took them', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const reservation = await reserve(shop, { listing_id: id });
    const made = await order(shop, { listing_id: id, reservation_id: reservation.id });
    await confirmOrder(...dealer(shop), made.id);
    assert.deepEqual(await stockOf(world, id), { units: 0, held: 0 });
    assert.equal((await shop.api.get(`/v1/listings/${id}`)).body.status, 'sold');
  });
});

describe('a reservation in test mode', () => {
  it('answers the same and holds nothing, through its whole life', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const id = await publishNew(world, shop, watch());
    const [first, second, third] = [
      await reserve(shop, { listing_id: id }),
      await reserve(shop, { listing_id: id }),
      await reserve(shop, { listing_id: id }),
    ];
    assert.equal(first.is_test, true);
    assert.deepEqual(await stockOf(world, id), { units: 1, held: 0 });
    const tooMany = await shop.post('/v1/reservations', { listing_id: id, quantity: 2 });
    assert.deepEqual([tooMany.status, tooMany.body.error.remaining_quantity], [409, 1]);
    const made = await order(shop, { listing_id: id, reservation_id: first.id });
    assert.equal(made.lines[0].match.remaining_quantity, 0);
    assert.equal(await statusOf(shop, first.id), 'used');
    assert.equal((await shop.post(`/v1/reservations/${second.id}/release`)).body.status, 'released');
    setTimeToEnd(third, 0);
    assert.equal((await shop.post(`/v1/reservations/${third.id}/extend`, { ttl_seconds: 60 })).status, 409);
    assert.equal(await statusOf(shop, third.id), 'expired');
    assert.deepEqual(await stockOf(world, id), { units: 1, held: 0 });
  });

  it('is no reservation for a live order, nor a live one for a test order', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const id = await publishNew(world, shop, watch());
    const ofTest = await reserve(shop, { listing_id: id });
    await changeTestMode(...dealer(shop), shop.integrationId, { isTestMode: false, isTestDataDeleted: false });
    const live = await reserve(shop, { listing_id: id });
    assert.equal((await order(shop, { listing_id: id, reservation_id: ofTest.id })).lines[0].match, null);
    await changeTestMode(...dealer(shop), shop.integrationId, { isTestMode: true, isTestDataDeleted: false });
    assert.equal((await order(shop, { listing_id: id, reservation_id: live.id })).lines[0].match, null);
    assert.deepEqual([await statusOf(shop, ofTest.id), await statusOf(shop, live.id)], ['active', 'active']);
  });

  it('expires by the worker, and goes with the other test data', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const id = await publishNew(world, shop, watch());
    const first = await reserve(shop, { listing_id: id, ttl_seconds: 60 });
    const second = await reserve(shop, { listing_id: id, ttl_seconds: 900 });
    setTimeToEnd(first, 0);
    await expireDueReservations(world.channel);
    assert.deepEqual([await statusOf(shop, first.id), await statusOf(shop, second.id)], ['expired', 'active']);
    await changeTestMode(...dealer(shop), shop.integrationId, { isTestMode: false, isTestDataDeleted: true });
    assert.equal((await shop.api.get(`/v1/reservations/${second.id}`)).status, 404);
  });
});
