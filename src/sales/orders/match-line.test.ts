import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { observe } from '../../../test/harness/observe.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { openShop, readOrder, reportOrder, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { listAudit } from '../../audit/read-audit.ts';
import { ORDER_LINES_LIMIT } from '../../contract/limits.ts';
import { newId } from '../../ids/new-id.ts';
import { createItem } from '../../inventory/items/item-operations.ts';
import { confirmOrder, type LineChoice, matchLine } from './order-operations.ts';

let world: World;
let shop: Shop;
before(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
after(() => world.stop());

const order = (lines: object[] = [], from = shop) => reportOrder(from, lines);
const read = (orderId: string, from = shop) => readOrder(from, orderId);

describe('matching a line by hand', () => {
  it('holds the units and shows the match', async () => {
    const partId = await publishNew(world, shop, part({ units: 5 }));
    const { id, lines } = await order([{ part_id: 'unknown', quantity: 3, unit_amount: 7 }]);
    const seen = await observe(shop.api, () =>
      matchLine(world.channel, TESTER, shop.organizationId, id, { lineId: lines[0].id, itemId: partId }),
    );
    const matched = await read(id);
    assert.deepEqual(matched.lines, [{ ...lines[0], match: { object: 'part', id: partId, remaining_quantity: 2 } }]);
    assert.equal(matched.total_amount, 21);
    assert.deepEqual(seen.types, ['part.in_stock']);
    assert.deepEqual(await stockOf(world, partId), { units: 5, held: 3 });
  });

  it('lets go of what the line held before, also of the same item', async () => {
    const [first, second] = [await publishNew(world, shop, watch()), await publishNew(world, shop, watch())];
    const { id, lines } = await order([{ listing_id: first }]);
    const choose = (itemId: string) =>
      matchLine(world.channel, TESTER, shop.organizationId, id, { lineId: lines[0].id, itemId });
    await choose(first);
    assert.deepEqual(await stockOf(world, first), { units: 1, held: 1 });
    await choose(second);
    assert.deepEqual(
      [await stockOf(world, first), await stockOf(world, second)],
      [
        { units: 1, held: 0 },
        { units: 1, held: 1 },
      ],
    );
    assert.equal((await read(id)).lines[0].listing_id, first, 'what was reported stays');
  });

  it('adds a line to an order that named nothing; nobody knows its price, so the sums are unknown', async () => {
    const listingId = await createItem(world.channel, TESTER, shop.organizationId, watch({ title: 'From the safe' }));
    const { id } = await order();
    await matchLine(world.channel, TESTER, shop.organizationId, id, { lineId: null, itemId: listingId, units: 1 });
    const matched = await read(id);
    assert.deepEqual(matched.lines, [
      {
        id: matched.lines[0]?.id,
        listing_id: listingId,
        part_id: null,
        quantity: 1,
        unit_amount: null,
        discount_amount: null,
        title: 'From the safe',
        match: { object: 'listing', id: listingId, remaining_quantity: 0 },
      },
    ]);
    assert.deepEqual([matched.subtotal_amount, matched.total_amount], [null, null]);
    await confirmOrder(world.channel, TESTER, shop.organizationId, id);
    assert.deepEqual(await stockOf(world, listingId), { units: 0, held: 0 });
  });

  it('adds no line to an order that has as many as there may be; those it has are still matched', async () => {
    const partId = await publishNew(world, shop, part({ units: 5 }));
    const { id, lines } = await order(Array.from({ length: ORDER_LINES_LIMIT - 1 }, () => ({ title: 'Strap' })));
    const match = (choice: LineChoice) => matchLine(world.channel, TESTER, shop.organizationId, id, choice);
    const added = { lineId: null, itemId: partId, units: 1 };
    await match(added);
    await assertRefused(match(added), 'limit_reached');
    assert.equal((await read(id)).lines.length, ORDER_LINES_LIMIT);
    assert.deepEqual(await stockOf(world, partId), { units: 5, held: 1 });
    await match({ lineId: lines[0].id, itemId: partId });
    assert.deepEqual(await stockOf(world, partId), { units: 5, held: 2 });
  });

  it('adds one line for an attempt that comes twice, also at once and when the item has no more units', async () => {
    const partId = await publishNew(world, shop, part({ units: 3 }));
    const { id } = await order();
    const add = (orderId: string, name?: string) => {
      const attempt = name === undefined ? undefined : { name, fingerprint: Buffer.from(orderId) };
      const choice = { lineId: null, itemId: partId, units: 1, attempt };
      return matchLine(world.channel, TESTER, shop.organizationId, orderId, choice);
    };
    const countLines = async () => (await read(id)).lines.length;
    await Promise.all([add(id, 'first'), add(id, 'first'), add(id, 'first')]);
    assert.equal(await countLines(), 1);
    await add(id, 'second');
    await add(id);
    assert.deepEqual(await stockOf(world, partId), { units: 3, held: 3 });
    await add(id, 'second');
    assert.equal(await countLines(), 3);
    const other = await order();
    await assertRefused(add(other.id, 'second'), 'invalid_input', 'attempt');
    await assertRefused(add(other.id, 'third'), 'not_enough_units', 'units');
  });

  it('leaves the line that it changed in the audit log, not those beside it', async () => {
    const itemId = await publishNew(world, shop, watch());
    const { id, lines } = await order([{ title: 'This' }, { title: 'That' }]);
    await matchLine(world.channel, TESTER, shop.organizationId, id, { lineId: lines[0].id, itemId });
    const { rows } = await listAudit(world.db, {
      organizationId: shop.organizationId,
      objectId: id,
      start: null,
      limit: 10,
    });
    assert.deepEqual(
      rows.map(({ oldValues, newValues }) => [oldValues, newValues]),
      [[{ matches: { [lines[0].id]: null } }, { matches: { [lines[0].id]: itemId } }]],
    );
  });

  it('of a test order holds nothing', async () => {
    const own = await openShop(world, { isTestMode: true });
    const listingId = await publishNew(world, own, watch());
    const { id } = await order([], own);
    await matchLine(world.channel, TESTER, own.organizationId, id, { lineId: null, itemId: listingId, units: 1 });
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
    assert.equal((await read(id, own)).lines[0].match.remaining_quantity, 0, 'as it would be in live mode');
  });

  it('refuses too few units, a wrong number of them, and unknown or foreign items and lines', async () => {
    const stranger = await openShop(world);
    const foreign = await publishNew(world, stranger, watch());
    const listingId = await publishNew(world, shop, watch());
    const { id, lines } = await order([{ quantity: 2 }]);
    const other = await order([{}]);
    const match = (choice: LineChoice) => matchLine(world.channel, TESTER, shop.organizationId, id, choice);
    await assertRefused(match({ lineId: lines[0].id, itemId: listingId }), 'not_enough_units', 'units');
    for (const units of [0, -1, 1.5, Number.NaN]) {
      await assertRefused(match({ lineId: null, itemId: listingId, units }), 'invalid_input', 'units');
    }
    await assertRefused(match({ lineId: null, itemId: newId('listing'), units: 1 }), 'not_found', 'itemId');
    await assertRefused(match({ lineId: null, itemId: foreign, units: 1 }), 'not_found', 'itemId');
    await assertRefused(match({ lineId: newId('orderLine'), itemId: listingId }), 'not_found', 'lineId');
    await assertRefused(match({ lineId: other.lines[0].id, itemId: listingId }), 'not_found', 'lineId');
    assert.deepEqual(await stockOf(world, listingId), { units: 1, held: 0 });
    assert.deepEqual(await stockOf(world, foreign), { units: 1, held: 0 });
    assert.deepEqual((await read(id)).lines, lines);
  });
});
