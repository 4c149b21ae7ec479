import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import { observeAll } from '../../../../test/harness/observe.ts';
import { assertRefused } from '../../../../test/harness/refusal.ts';
import { addShop, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { sql } from '../../../db/sql.ts';
import { newId } from '../../../ids/new-id.ts';
import { createItem } from '../../../inventory/items/item-operations.ts';
import { startPromotion } from '../../../inventory/promotions.ts';
import { setPublished } from '../../../inventory/publications.ts';
import { sellUnits } from '../../sell.ts';
import { confirmOrder, dismissOrder, fulfilOrder, matchLine, unmatchLine } from '../order-operations.ts';
import { countDealerOrders, findOrderIds, listDealerOrders, type OrderPage } from './list-orders.ts';
import { readDealerOrder } from './order-details.ts';
import { suggestItems } from './suggestions.ts';

const HOUR_MS = 3_600_000;

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

let reported = 0;
async function report(shop: Shop, fields: object = {}): Promise<string> {
  reported += 1;
  const answer = await shop.post('/v1/orders', { channel_order_id: `SO-${1000 + reported}`, ...fields });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.id;
}

const ALL = ['received', 'matched', 'fulfilled', 'cancelled'] as const;

function page({ organizationId }: Shop, changes: Partial<OrderPage> = {}): OrderPage {
  return {
    organizationId,
    integrationId: null,
    statuses: ALL,
    isTest: [false],
    from: null,
    to: null,
    search: '',
    hasConflict: false,
    customerId: null,
    isDescending: true,
    start: null,
    limit: 50,
    ...changes,
  };
}

async function idsOf(shop: Shop, changes: Partial<OrderPage> = {}): Promise<string[]> {
  return (await listDealerOrders(world.db, page(shop, changes))).map(({ id }) => id);
}

describe('the list of a dealer’s orders', () => {
  it('has those of all integrations, newest first, and pages both ways', async () => {
    const shop = await openShop(world);
    const other = await addShop(world, shop);
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) ids.unshift(await report(index % 2 === 0 ? shop : other));
    await report(await openShop(world));
    assert.deepEqual(await idsOf(shop), ids);
    assert.deepEqual(await idsOf(shop, { isDescending: false }), ids.toReversed());
    assert.equal((await idsOf(shop, { integrationId: other.integrationId })).length, 3);
    const rows = await listDealerOrders(world.db, page(shop));
    const at = (index: number) => ({ value: rows[index]?.position ?? '', id: rows[index]?.id ?? '' });
    const after = { start: { position: at(1), isBackwards: false }, limit: 2 };
    assert.deepEqual(await idsOf(shop, after), ids.slice(2, 4));
    const before = { start: { position: at(4), isBackwards: true }, limit: 2 };
    assert.deepEqual(await idsOf(shop, before), ids.slice(2, 4));
  });

  it('narrows by status, test mode and time, and counts what it shows', async () => {
    const shop = await openShop(world);
    const test = await addShop(world, shop, { isTestMode: true });
    const itemId = await publishNew(world, shop, watch());
    const [waiting, sold, dismissed] = [
      await report(shop),
      await report(shop, { lines: [{ listing_id: itemId }] }),
      await report(shop),
    ];
    const tried = await report(test);
    const dealer = [world.channel, TESTER, shop.organizationId] as const;
    await confirmOrder(...dealer, sold);
    await dismissOrder(...dealer, dismissed, null);
    assert.deepEqual(await idsOf(shop, { statuses: ['received'] }), [waiting]);
    assert.deepEqual(await idsOf(shop, { statuses: ['matched'] }), [sold]);
    assert.deepEqual(await idsOf(shop, { statuses: ['received', 'cancelled'] }), [dismissed, waiting]);
    assert.deepEqual(await idsOf(shop, { isTest: [true] }), [tried]);
    assert.equal((await idsOf(shop, { isTest: [false, true] })).length, 4);
    assert.deepEqual(await idsOf(shop, { from: new Date(Date.now() + 60_000) }), []);
    assert.equal((await idsOf(shop, { to: new Date(Date.now() + 60_000) })).length, 3);
    assert.deepEqual(await countDealerOrders(world.db, page(shop)), { value: 3, isCapped: false });
    const [row] = await listDealerOrders(world.db, page(shop, { statuses: ['matched'] }));
    assert.deepEqual([row?.lineCount, row?.matchedCount, row?.lines], [1, 1, [{ title: null, quantity: 1, itemId }]]);
  });

  it('is searched by the client’s number, the id, the buyer and the stock number of a matched line', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch({ stockNumber: 'W-7781' }));
    const buyer = { first_name: 'Zoë', last_name: 'Müller', email: 'zoe@watch.example', phone: '+41 22 730 11 22' };
    const wanted = await report(shop, {
      channel_order_id: 'EU-2024/77',
      customer: buyer,
      lines: [{ listing_id: itemId }],
    });
    await report(shop, { customer: { first_name: 'Max', email: 'max@watch.example' } });
    for (const search of [
      'EU-2024/77',
      'eu-2024',
      '2024',
      wanted,
      'zoe muller',
      'Müll',
      'zoe@watch.example',
      '+41 22 730 11 22',
      'W-7781',
      'w7781',
    ]) {
      assert.deepEqual(await idsOf(shop, { search }), [wanted], search);
    }
    assert.equal((await idsOf(shop, { search: 'watch.example' })).length, 2);
    assert.deepEqual(await idsOf(shop, { search: 'zoe max' }), []);
    assert.deepEqual(await idsOf(shop, { search: '---' }), []);
    assert.deepEqual(await idsOf(await openShop(world), { search: 'zoe' }), []);
  });

  it('shows only those whose buyer is several people, if that is asked', async () => {
    const shop = await openShop(world);
    await shop.post('/v1/customers', { email: 'ana@example.ch' });
    await shop.post('/v1/customers', { phone: '+41227300000' });
    const conflict = await report(shop, { customer: { email: 'ana@example.ch', phone: '+41227300000' } });
    await report(shop, { customer: { email: 'ana@example.ch' } });
    assert.deepEqual(await idsOf(shop, { hasConflict: true }), [conflict]);
    assert.deepEqual(await idsOf(shop, { hasConflict: true, search: 'nobody' }), []);
  });

  it('combines a search that finds most orders with one for a customer, or with conflicts', async () => {
    const shop = await openShop(world);
    const customerId = (await shop.post('/v1/customers', { email: 'ana@example.ch' })).body.id;
    await shop.post('/v1/customers', { phone: '+41227300000' });
    const both = { email: 'ana@example.ch', phone: '+41227300000' };
    const orders = Array.from({ length: 200 }, (_, index) =>
      report(shop, { channel_order_id: `EU-${index}`, customer: { email: 'max@example.ch' } }),
    );
    await Promise.all(orders);
    const own = await report(shop, { channel_order_id: 'EU-own', customer: { email: 'ana@example.ch' } });
    const elsewhere = await report(shop, { channel_order_id: 'US-own', customer: { email: 'ana@example.ch' } });
    const conflict = await report(shop, { channel_order_id: 'EU-both', customer: both });
    await report(shop, { channel_order_id: 'US-both', customer: both });
    const found = await findOrderIds(world.db, page(shop, { search: 'EU' }));
    assert.ok(found !== null && 'words' in found);
    assert.deepEqual(await idsOf(shop, { search: 'EU', customerId }), [own]);
    assert.deepEqual(await idsOf(shop, { search: 'EU', hasConflict: true }), [conflict]);
    assert.deepEqual(await idsOf(shop, { search: 'US', customerId }), [elsewhere]);
  });

  it('takes an order whose words are too long for an index', async () => {
    const shop = await openShop(world);
    // One letter that becomes eighteen when it is taken apart.
    const id = await report(shop, { customer: { first_name: '\ufdfa'.repeat(500), email: 'long@example.ch' } });
    assert.deepEqual(await idsOf(shop, { search: 'long@example.ch' }), [id]);
  });
});

describe('the reason why a line has no item', () => {
  async function reasonsOf(shop: Shop, orderId: string) {
    const { order, unmatched } = await readDealerOrder(world.db, shop.organizationId, orderId);
    return order.lines.map(({ id }) => unmatched.get(id)?.reason ?? null);
  }

  it('is unknown, not named, not on the channel, taken, sold or too few', async () => {
    const shop = await openShop(world);
    const other = await addShop(world, shop);
    const taken = await publishNew(world, shop, watch());
    const sold = await publishNew(world, shop, watch());
    const few = await publishNew(world, shop, part({ units: 3 }));
    const elsewhere = await publishNew(world, other, watch());
    const partOff = await publishNew(world, shop, part());
    await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, [partOff], false);
    await sellUnits(world.channel, TESTER, shop.organizationId, sold, 1);
    const holder = await report(shop, { lines: [{ listing_id: taken }] });
    const id = await report(shop, {
      lines: [
        { title: 'A watch' },
        { listing_id: newId('listing') },
        { part_id: taken },
        { listing_id: elsewhere },
        { part_id: partOff },
        { listing_id: taken },
        { listing_id: sold },
        { part_id: few, quantity: 4 },
        { part_id: few, quantity: 3 },
      ],
    });
    assert.deepEqual(await reasonsOf(shop, id), [
      'unnamed',
      'unknown',
      'unknown',
      'off_channel',
      'off_channel',
      'taken',
      'sold',
      // The line below holds all three by now.
      'taken',
      null,
    ]);
    const { order, unmatched } = await readDealerOrder(world.db, shop.organizationId, id);
    const held = unmatched.get(order.lines[5]?.id ?? '')?.heldBy;
    assert.deepEqual(
      held?.map(({ orderId }) => orderId),
      [holder],
    );
    const short = await report(shop, {
      lines: [{ part_id: await publishNew(world, shop, part({ units: 3 })), quantity: 4 }],
    });
    assert.deepEqual(await reasonsOf(shop, short), ['too_few']);
  });

  it('changes with the stock: what was taken is free again when its order is dismissed', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch());
    const first = await report(shop, { lines: [{ listing_id: itemId }] });
    const second = await report(shop, { lines: [{ listing_id: itemId }] });
    assert.deepEqual(await reasonsOf(shop, second), ['taken']);
    await dismissOrder(world.channel, TESTER, shop.organizationId, first, null);
    assert.deepEqual(await reasonsOf(shop, second), ['free']);
  });

  it('names the reservation that holds the item for a checkout, and counts one whose time is over as free', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch());
    const { body: reservation } = await shop.post('/v1/reservations', { listing_id: itemId, reference: 'cart-9' });
    const id = await report(shop, { lines: [{ listing_id: itemId }] });
    const read = async () => [...(await readDealerOrder(world.db, shop.organizationId, id)).unmatched.values()];
    const expiresAt = new Date(reservation.expires_at);
    const reservedBy = [{ reservationId: reservation.id, reference: 'cart-9', expiresAt }];
    assert.deepEqual(await read(), [{ reason: 'taken', available: 0, heldBy: [], reservedBy }]);
    await world.db.query(sql`update reservations set expires_at = now() where id = ${reservation.id}`);
    assert.deepEqual(await read(), [{ reason: 'free', available: 1, heldBy: [], reservedBy: [] }]);
  });

  it('is not told to another dealer', async () => {
    const shop = await openShop(world);
    const id = await report(shop);
    const stranger = await openShop(world);
    await assertRefused(readDealerOrder(world.db, stranger.organizationId, id), 'not_found');
  });
});

describe('taking the item off a line', () => {
  it('frees its units on every channel, and the client reads no match', async () => {
    const shop = await openShop(world);
    const other = await addShop(world, shop);
    const itemId = await publishNew(world, shop, watch());
    await setPublished(world.channel, TESTER, shop.organizationId, other.integrationId, [itemId], true);
    const id = await report(shop, { lines: [{ listing_id: itemId }] });
    const lineId = (await shop.api.get(`/v1/orders/${id}`)).body.lines[0].id;
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 1 });
    const dealer = [world.channel, TESTER, shop.organizationId] as const;
    const [own, others] = await observeAll([shop.api, other.api], () => unmatchLine(...dealer, id, lineId));
    assert.deepEqual([own.types, others.types], [['listing.updated'], ['listing.updated']]);
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    const read = (await shop.api.get(`/v1/orders/${id}`)).body;
    assert.deepEqual([read.status, read.lines[0].match, read.lines[0].listing_id], ['received', null, itemId]);
    await assertRefused(unmatchLine(...dealer, id, lineId), 'nothing_matched', 'lineId');
    await assertRefused(confirmOrder(...dealer, id), 'nothing_matched');
    await assertRefused(unmatchLine(...dealer, id, newId('orderLine')), 'not_found', 'lineId');
    await matchLine(...dealer, id, { lineId, itemId });
    await confirmOrder(...dealer, id);
    await assertRefused(unmatchLine(...dealer, id, lineId), 'wrong_status');
    await fulfilOrder(...dealer, id);
  });

  it('touches no stock in a test order', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const itemId = await publishNew(world, shop, watch());
    const id = await report(shop, { lines: [{ listing_id: itemId }] });
    const lineId = (await shop.api.get(`/v1/orders/${id}`)).body.lines[0].id;
    await unmatchLine(world.channel, TESTER, shop.organizationId, id, lineId);
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    assert.equal((await shop.api.get(`/v1/orders/${id}`)).body.lines[0].match, null);
  });
});

describe('suggestions from the stock', () => {
  it('find items by id, stock number, reference and the price on the channel', async () => {
    const shop = await openShop(world);
    const taken = await publishNew(world, shop, watch({ priceAmount: 40_000_000 }));
    const byPrice = await publishNew(world, shop, watch({ priceAmount: 40_500_000, attributes: plainWatch('A1') }));
    const byReference = await publishNew(
      world,
      shop,
      watch({ priceAmount: null, attributes: plainWatch('5711/1A-010') }),
    );
    const byNumber = await publishNew(
      world,
      shop,
      watch({ stockNumber: 'W-5500', priceAmount: 100, attributes: plainWatch('A2') }),
    );
    await publishNew(world, await openShop(world), watch({ stockNumber: 'W-5500', priceAmount: 40_000_000 }));
    await sellUnits(world.channel, TESTER, shop.organizationId, taken, 1);
    const id = await report(shop, {
      lines: [{ listing_id: taken, title: 'Nautilus 5711 1A 010, stock no. W5500', unit_amount: 40_000_000 }],
    });
    const { order, integrationId } = await readDealerOrder(world.db, shop.organizationId, id);
    const suggested = await suggestItems(world.db, shop.organizationId, integrationId, order);
    const [suggestions = []] = [...suggested.values()];
    assert.deepEqual(
      suggestions.map(({ item, reasons }) => [item.id, reasons]),
      [
        [byNumber, ['stock_number']],
        [byReference, ['reference']],
        [byPrice, ['price']],
      ],
    );
  });

  it('compare with the price that the channel had for the buyer, and say if the item is not on the channel', async () => {
    const shop = await openShop(world);
    const { organizationId } = shop;
    const promote = async (itemId: string, priceAmount: number) => {
      const startsAt = new Date(Date.now() - HOUR_MS);
      await startPromotion(world.channel, TESTER, organizationId, itemId, { priceAmount, startsAt, endsAt: null });
    };
    const promoted = await publishNew(world, shop, watch({ stockNumber: 'W-A', priceAmount: 1_000_000 }));
    await promote(promoted, 800_000);
    const offChannel = await createItem(
      world.channel,
      TESTER,
      organizationId,
      watch({ stockNumber: 'W-B', priceAmount: 816_000 }),
    );
    const cheaper = await publishNew(world, shop, watch({ stockNumber: 'W-C', priceAmount: 800_000 }));
    await promote(cheaper, 600_000);
    const id = await report(shop, { lines: [{ title: 'A watch', unit_amount: 800_000 }] });
    const { order, integrationId } = await readDealerOrder(world.db, organizationId, id);
    const [suggestions = []] = (await suggestItems(world.db, organizationId, integrationId, order)).values();
    assert.deepEqual(
      suggestions.map(({ item, reasons, priceDifference, isOnChannel }) => [
        item.id,
        reasons,
        priceDifference,
        isOnChannel,
      ]),
      [
        [promoted, ['price'], 0, true],
        [offChannel, ['price'], 0.02, false],
      ],
    );
  });

  it('are none where nothing was said', async () => {
    const shop = await openShop(world);
    await publishNew(world, shop, watch());
    const id = await report(shop, { lines: [{}] });
    const { order, integrationId } = await readDealerOrder(world.db, shop.organizationId, id);
    const suggested = await suggestItems(world.db, shop.organizationId, integrationId, order);
    assert.deepEqual([...suggested.values()], [[]]);
  });
});

function plainWatch(reference: string) {
  return { ...watch().attributes, reference_number: reference };
}
