import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { observe } from '../../../test/harness/observe.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { openShop, readOrder, reportOrder, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { newId } from '../../ids/new-id.ts';
import { deleteItem } from '../delete-item.ts';
import { voidSale } from '../sell.ts';
import { cancelSale, confirmOrder, dismissOrder, fulfilOrder, matchLine } from './order-operations.ts';

let world: World;
let shop: Shop;
before(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
after(() => world.stop());

const order = (lines: object[] = [], from = shop) => reportOrder(from, lines);
const read = (orderId: string, from = shop) => readOrder(from, orderId);

type Sale = { id: string; item_id: string | null; units: number; status: string; is_test: boolean };

async function salesOf(organizationId: string): Promise<Sale[]> {
  return await world.db.query<Sale>(sql`
    select id, item_id, units, status, is_test from sales where organization_id = ${organizationId} order by created_at, id`);
}

/** Each operation on an order, as the dealer calls it. */
const operations = {
  match: (id: string, organizationId = shop.organizationId) =>
    matchLine(world.channel, TESTER, organizationId, id, { lineId: null, itemId: newId('listing'), units: 1 }),
  confirm: (id: string, organizationId = shop.organizationId) =>
    confirmOrder(world.channel, TESTER, organizationId, id),
  fulfil: (id: string, organizationId = shop.organizationId) => fulfilOrder(world.channel, TESTER, organizationId, id),
  dismiss: (id: string, organizationId = shop.organizationId) =>
    dismissOrder(world.channel, TESTER, organizationId, id, null),
  cancelSale: (id: string, organizationId = shop.organizationId) =>
    cancelSale(world.channel, TESTER, organizationId, id),
};
type Operation = keyof typeof operations;
const NAMES = Object.keys(operations) as Operation[];

describe('confirming an order', () => {
  it('makes a completed sale of what it holds: the listing is sold, the part is gone from stock', async () => {
    const own = await openShop(world);
    const listingId = await publishNew(world, own, watch());
    const partId = await publishNew(world, own, part({ units: 5 }));
    const { id } = await order([{ listing_id: listingId }, { part_id: partId, quantity: 2 }, { title: 'Gift' }], own);
    const confirmed = await confirmOrder(world.channel, TESTER, own.organizationId, id);
    assert.equal(confirmed.status, 'matched');
    assert.deepEqual(confirmed, await read(id, own));
    assert.deepEqual(
      [await stockOf(world, listingId), await stockOf(world, partId)],
      [
        { units: 0, held: 0 },
        { units: 3, held: 0 },
      ],
    );
    assert.equal((await own.api.get(`/v1/listings/${listingId}`)).body.status, 'sold');
    assert.equal((await own.api.get(`/v1/parts/${partId}`)).body.quantity, 3);
    const sales = await salesOf(own.organizationId);
    assert.deepEqual(
      sales
        .map(({ item_id, units, status, is_test }) => ({ item_id, units, status, is_test }))
        .sort((a, b) => a.units - b.units),
      [
        { item_id: listingId, units: 1, status: 'completed', is_test: false },
        { item_id: partId, units: 2, status: 'completed', is_test: false },
      ],
    );
  });

  it('needs at least one line that is matched', async () => {
    const { id } = await order([{ title: 'Something' }]);
    await assertRefused(operations.confirm(id), 'nothing_matched');
    const listingId = await publishNew(world, shop, watch());
    const other = await order([{ listing_id: listingId }]);
    await deleteItem(world.channel, TESTER, shop.organizationId, listingId);
    await assertRefused(operations.confirm(other.id), 'nothing_matched');
  });

  it('of a test order sells nothing', async () => {
    const own = await openShop(world, { isTestMode: true });
    const listingId = await publishNew(world, own, watch());
    const { id } = await order([{ listing_id: listingId }], own);
    const seen = await observe(own.api, () => confirmOrder(world.channel, TESTER, own.organizationId, id));
    assert.deepEqual([seen.types, seen.changed], [[], []]);
    assert.equal((await read(id, own)).status, 'matched');
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
    const [sale] = await salesOf(own.organizationId);
    assert.equal(sale?.is_test, true);
    await cancelSale(world.channel, TESTER, own.organizationId, id);
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
    const [voided] = await salesOf(own.organizationId);
    assert.equal(voided?.status, 'voided');
  });
});

describe('fulfilling an order', () => {
  it('sends its client the whole order, as it reads, and with the status before', async () => {
    const listingId = await publishNew(world, shop, watch());
    const { id } = await order([{ listing_id: listingId, unit_amount: 5 }]);
    await operations.confirm(id);
    const seen = await observe(shop.api, () => operations.fulfil(id));
    const fulfilled = await read(id);
    assert.equal(fulfilled.status, 'fulfilled');
    assert.ok(fulfilled.fulfilled_at >= fulfilled.created_at && fulfilled.fulfilled_at <= fulfilled.updated_at);
    assert.equal(seen.events.length, 1);
    const [event] = seen.events;
    assert.deepEqual(event, {
      id: event?.id,
      object: 'event',
      type: 'order.fulfilled',
      api_version: '2026-05-07',
      created_at: fulfilled.updated_at,
      livemode: true,
      data: { object: fulfilled, previous_attributes: { status: 'matched' } },
    });
  });

  it('of a test order is announced as a test, also after the integration went live', async () => {
    const own = await openShop(world, { isTestMode: true });
    const listingId = await publishNew(world, own, watch());
    const first = await order([{ listing_id: listingId }], own);
    const second = await order([{ listing_id: listingId }], own);
    await confirmOrder(world.channel, TESTER, own.organizationId, first.id);
    await world.db.query(sql`update integrations set is_test_mode = false where id = ${own.integrationId}`);
    const seen = await observe(own.api, async () => {
      await fulfilOrder(world.channel, TESTER, own.organizationId, first.id);
      await dismissOrder(world.channel, TESTER, own.organizationId, second.id, null);
    });
    assert.deepEqual(
      seen.events.map((event) => [event.type, event.livemode, event.data.object.is_test]),
      [
        ['order.fulfilled', false, true],
        ['order.cancelled', false, true],
      ],
    );
  });
});

describe('dismissing an order', () => {
  it('cancels it, gives its stock back and informs its client', async () => {
    const listingId = await publishNew(world, shop, watch());
    const { id } = await order([{ listing_id: listingId }]);
    const seen = await observe(shop.api, () =>
      dismissOrder(world.channel, TESTER, shop.organizationId, id, 'The watch is in repair.'),
    );
    const dismissed = await read(id);
    assert.equal(dismissed.status, 'cancelled');
    assert.deepEqual(dismissed.cancellation, { by: 'dealer', reason: 'The watch is in repair.' });
    assert.deepEqual(seen.types, ['listing.updated', 'order.cancelled']);
    assert.deepEqual(seen.events[1]?.data, { object: dismissed, previous_attributes: {} });
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
  });

  it('wins or loses against the client’s cancellation, and is announced only if it wins', async () => {
    for (let round = 0; round < 6; round++) {
      const listingId = await publishNew(world, shop, watch());
      const { id } = await order([{ listing_id: listingId }]);
      const [answer, dismissed] = await Promise.all([
        shop.post(`/v1/orders/${id}/cancel`),
        operations.dismiss(id).catch((error: unknown) => error),
      ]);
      assert.equal(answer.status, 200);
      const hasWon = !(dismissed instanceof Error);
      assert.equal((await read(id)).cancellation.by, hasWon ? 'dealer' : 'api');
      const events = (await shop.api.get('/v1/events?type=order.cancelled')).body.data;
      assert.equal(
        events.some((event: { data: { object: { id: string } } }) => event.data.object.id === id),
        hasWon,
      );
      assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
    }
  });
});

describe('cancelling the sale of an order', () => {
  it('returns it to the queue, matched to nothing, and the stock to the channel', async () => {
    for (const isFulfilled of [false, true]) {
      const own = await openShop(world);
      const listingId = await publishNew(world, own, watch());
      const partId = await publishNew(world, own, part({ units: 5 }));
      const { id } = await order([{ listing_id: listingId }, { part_id: partId, quantity: 5 }, {}], own);
      await confirmOrder(world.channel, TESTER, own.organizationId, id);
      if (isFulfilled) await fulfilOrder(world.channel, TESTER, own.organizationId, id);
      const seen = await observe(own.api, () => cancelSale(world.channel, TESTER, own.organizationId, id));
      assert.deepEqual(seen.types, ['listing.in_stock', 'part.in_stock']);
      assert.deepEqual(seen.events[1]?.data, {
        object: { id: partId, object: 'part', quantity: 5 },
        previous_attributes: { quantity: 0 },
      });
      const returned = await read(id, own);
      assert.equal(returned.status, 'received');
      assert.equal(returned.fulfilled_at, null);
      for (const line of returned.lines) assert.equal(line.match, null);
      assert.deepEqual(
        [await stockOf(world, listingId), await stockOf(world, partId)],
        [
          { units: 1, held: 0 },
          { units: 5, held: 0 },
        ],
      );
      for (const sale of await salesOf(own.organizationId)) assert.equal(sale.status, 'voided');
    }
  });

  it('goes through its sale too, and only once', async () => {
    const own = await openShop(world);
    const listingId = await publishNew(world, own, watch());
    const { id } = await order([{ listing_id: listingId }], own);
    await confirmOrder(world.channel, TESTER, own.organizationId, id);
    const [sale] = await salesOf(own.organizationId);
    const saleId = sale?.id ?? '';
    const voids = await Promise.allSettled(
      [1, 2, 3].map(() => voidSale(world.channel, TESTER, own.organizationId, saleId)),
    );
    assert.deepEqual(voids.map((result) => result.status).sort(), ['fulfilled', 'rejected', 'rejected']);
    assert.equal((await read(id, own)).status, 'received');
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
    await assertRefused(voidSale(world.channel, TESTER, own.organizationId, saleId), 'already_voided');

    // Sold again, the order has a new sale; the old one's void must not touch it.
    await matchLine(world.channel, TESTER, own.organizationId, id, {
      lineId: (await read(id, own)).lines[0].id,
      itemId: listingId,
    });
    await confirmOrder(world.channel, TESTER, own.organizationId, id);
    await assertRefused(cancelSale(world.channel, TESTER, own.organizationId, id, saleId), 'already_voided');
    await assertRefused(voidSale(world.channel, TESTER, own.organizationId, saleId), 'already_voided');
    assert.equal((await read(id, own)).status, 'matched');
    assert.deepEqual(await stockOf(world, listingId), { units: 0, held: 0 });
  });

  it('works without an item that was deleted since', async () => {
    const listingId = await publishNew(world, shop, watch());
    const { id } = await order([{ listing_id: listingId }]);
    await operations.confirm(id);
    await deleteItem(world.channel, TESTER, shop.organizationId, listingId);
    const returned = await operations.cancelSale(id);
    assert.equal(returned.status, 'received');
    assert.equal(returned.lines[0]?.match, null);
  });

  it('of a test order gives nothing back, even when its integration is gone', async () => {
    const own = await openShop(world, { isTestMode: true });
    const listingId = await publishNew(world, own, watch());
    const { id } = await order([{ listing_id: listingId }], own);
    await confirmOrder(world.channel, TESTER, own.organizationId, id);
    await world.db.query(sql`delete from integrations where id = ${own.integrationId}`);
    const [sale] = await salesOf(own.organizationId);
    await voidSale(world.channel, TESTER, own.organizationId, sale?.id ?? '');
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
  });
});

describe('an operation on an order', () => {
  const possible: Record<string, Operation[]> = {
    received: ['match', 'confirm', 'dismiss'],
    matched: ['fulfil', 'cancelSale'],
    fulfilled: ['cancelSale'],
    cancelled: [],
  };
  const reach: Record<string, Operation[]> = {
    received: [],
    matched: ['confirm'],
    fulfilled: ['confirm', 'fulfil'],
    cancelled: ['dismiss'],
  };
  for (const [status, allowed] of Object.entries(possible)) {
    it(`is refused in the status ${status}, except ${allowed.join(', ') || 'none'}`, async () => {
      const listingId = await publishNew(world, shop, watch());
      const { id } = await order([{ listing_id: listingId }]);
      for (const step of reach[status] ?? []) await operations[step](id);
      const before = await read(id);
      assert.equal(before.status, status);
      for (const name of NAMES.filter((name) => !allowed.includes(name))) {
        await assertRefused(operations[name](id), 'wrong_status');
      }
      assert.deepEqual(await read(id), before);
    });
  }

  it('does not know another dealer’s order', async () => {
    const stranger = await openShop(world);
    const listingId = await publishNew(world, shop, watch());
    const { id } = await order([{ listing_id: listingId }]);
    const before = await read(id);
    for (const name of NAMES) {
      await assertRefused(operations[name](id, stranger.organizationId), 'not_found');
      await assertRefused(operations[name](newId('order')), 'not_found');
      await assertRefused(operations[name]('nonsense'), 'not_found');
    }
    assert.deepEqual(await read(id), before);
  });

  it('happens once, however many ask for it at once', async () => {
    const listingId = await publishNew(world, shop, watch({ units: 3 }));
    const { id } = await order([{ listing_id: listingId }]);
    for (const name of ['confirm', 'fulfil', 'cancelSale', 'dismiss'] as const) {
      const results = await Promise.allSettled([1, 2, 3].map(() => operations[name](id)));
      const outcomes = results.map((result) => result.status).sort();
      assert.deepEqual(outcomes, ['fulfilled', 'rejected', 'rejected'], name);
    }
    assert.deepEqual(await stockOf(world, listingId), { units: 3, held: 0 });
  });

  it('moves the clock of a detached integration: its client reads the truth when it is back', async () => {
    const own = await openShop(world);
    const { id } = await order([], own);
    await read(id, own);
    await setOrganization(world.db, TESTER, own.integrationId, null);
    await dismissOrder(world.channel, TESTER, own.organizationId, id, null);
    await setOrganization(world.db, TESTER, own.integrationId, own.organizationId);
    assert.equal((await read(id, own)).status, 'cancelled');
  });
});
