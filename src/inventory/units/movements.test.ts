import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import type { ApiClient } from '../../../test/harness/http/api-client.ts';
import { observe, observeAll, type SecondChannel, secondChannel } from '../../../test/harness/observe.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { openShop } from '../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import type { Attempt } from '../../db/attempts.ts';
import { newId } from '../../ids/new-id.ts';
import type { NewItem } from '../items/item-input.ts';
import { createItem } from '../items/item-operations.ts';
import { setPublished } from '../publications.ts';
import { type Movement, moveUnits, releaseUnits, reserveUnits } from './movements.ts';

describe('movements of stock', () => {
  let world: World;
  let dealer: Dealer;
  let second: SecondChannel;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    second = await secondChannel(world, dealer);
  });
  after(() => world.stop());

  const move = (id: string, movement: Movement, units: number) =>
    moveUnits(world.channel, TESTER, dealer.organizationId, id, movement, units);
  const reserve = (id: string, units: number) => reserveUnits(world.channel, TESTER, dealer.organizationId, id, units);
  const release = (id: string, units: number) => releaseUnits(world.channel, TESTER, dealer.organizationId, id, units);
  async function publishBoth(item: NewItem): Promise<string> {
    const id = await publishNew(world, dealer, item);
    await setPublished(world.channel, TESTER, dealer.organizationId, second.integrationId, [id], true);
    return id;
  }
  const both = (): [ApiClient, ApiClient] => [dealer.api, second.api];

  type PartRow = [string, (id: string) => Promise<void>, number, string];
  const partRows: PartRow[] = [
    ['restock', (id) => move(id, 'restock', 3), 8, 'part.in_stock'],
    ['return', (id) => move(id, 'return', 1), 6, 'part.in_stock'],
    ['fit', (id) => move(id, 'fit', 2), 3, 'part.in_stock'],
    ['remove', (id) => move(id, 'remove', 4), 1, 'part.in_stock'],
    ['reserve', (id) => reserve(id, 1), 4, 'part.in_stock'],
    ['fit of the last units', (id) => move(id, 'fit', 5), 0, 'part.sold_out'],
    ['reserve of the last units', (id) => reserve(id, 5), 0, 'part.sold_out'],
  ];
  for (const [name, act, quantity, type] of partRows) {
    it(`${name} of a part is ${type} alone, on each channel`, async () => {
      const id = await publishBoth(part({ units: 5 }));
      for (const seen of await observeAll(both(), () => act(id))) {
        assert.deepEqual(seen.types, [type]);
        assert.equal(seen.documents.get(id).quantity, quantity);
        const { data } = seen.events[0] ?? {};
        if (type === 'part.sold_out') assert.deepEqual(data, { object: { id, object: 'part' } });
        else assert.deepEqual(data, { object: { id, object: 'part', quantity }, previous_attributes: { quantity: 5 } });
      }
    });
  }

  it('a part that is sold out comes back in stock', async () => {
    const id = await publishBoth(part({ units: 0 }));
    for (const seen of await observeAll(both(), () => move(id, 'restock', 2))) {
      assert.deepEqual(seen.types, ['part.in_stock']);
      assert.equal(seen.documents.get(id).status, 'active');
      assert.deepEqual(seen.events[0]?.data.previous_attributes, { quantity: 0 });
    }
  });

  it('a listing is reserved when its last unit is held, and active when one is let go', async () => {
    const id = await publishBoth(watch({ units: 2 }));
    const statusOf = async (act: () => Promise<void>) => {
      const [seen, other] = await observeAll(both(), act);
      assert.deepEqual(seen.types, ['listing.updated']);
      assert.deepEqual(other.types, ['listing.updated']);
      const { status, quantity } = seen.documents.get(id);
      return [status, quantity];
    };
    assert.deepEqual(await statusOf(() => reserve(id, 1)), ['active', 1]);
    assert.deepEqual(await statusOf(() => reserve(id, 1)), ['reserved', 0]);
    assert.deepEqual(await statusOf(() => move(id, 'restock', 1)), ['active', 1]);
    assert.deepEqual(await statusOf(() => release(id, 2)), ['active', 3]);
  });

  it('a listing whose last unit leaves is sold, and one that comes is in stock', async () => {
    const id = await publishBoth(watch());
    for (const seen of await observeAll(both(), () => move(id, 'remove', 1))) {
      assert.deepEqual(seen.types, ['listing.sold']);
      assert.equal(seen.documents.get(id).status, 'sold');
    }
    for (const seen of await observeAll(both(), () => move(id, 'return', 1))) {
      assert.deepEqual(seen.types, ['listing.in_stock']);
      assert.equal(seen.documents.get(id).status, 'active');
    }
  });

  it('on no channel is announced to nobody', async () => {
    const id = await createItem(world.channel, TESTER, dealer.organizationId, part({ units: 5 }));
    const seen = await observe(dealer.api, async () => {
      await move(id, 'fit', 1);
      await reserve(id, 4);
    });
    assert.deepEqual([seen.types, seen.changed], [[], []]);
    await assertRefused(reserve(id, 1), 'not_enough_units', 'units');
  });

  it('refuses numbers that are none', async () => {
    const id = await publishNew(world, dealer, part());
    const seen = await observe(dealer.api, async () => {
      for (const units of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1_000_000, 1e12]) {
        await assertRefused(move(id, 'restock', units), 'invalid_input', 'units');
      }
      for (const units of [0, -1, 1.5]) {
        await assertRefused(reserve(id, units), 'invalid_input', 'units');
        await assertRefused(release(id, units), 'invalid_input', 'units');
      }
    });
    assert.deepEqual([seen.types, seen.changed], [[], []]);
  });

  it('refuses more than there is', async () => {
    const id = await publishNew(world, dealer, part({ units: 3 }));
    await reserve(id, 1);
    const seen = await observe(dealer.api, async () => {
      await assertRefused(move(id, 'fit', 3), 'not_enough_units', 'units');
      await assertRefused(move(id, 'remove', 3), 'not_enough_units', 'units');
      await assertRefused(reserve(id, 3), 'not_enough_units', 'units');
      await assertRefused(release(id, 2), 'not_enough_units');
    });
    assert.deepEqual([seen.types, seen.changed], [[], []]);
  });

  it('lets go of what the dealer holds, and not of what an order does', async () => {
    const shop = await openShop(world);
    const id = await createItem(world.channel, TESTER, shop.organizationId, part({ units: 3 }));
    await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, [id], true);
    const quantity = async () => (await shop.api.get(`/v1/parts/${id}`)).body.quantity;
    const { body: order } = await shop.post('/v1/orders', {
      channel_order_id: 'SO-1',
      lines: [{ part_id: id, quantity: 1 }],
    });
    await reserveUnits(world.channel, TESTER, shop.organizationId, id, 1);
    assert.equal(await quantity(), 1);
    await assertRefused(releaseUnits(world.channel, TESTER, shop.organizationId, id, 2), 'not_enough_units', 'units');
    await releaseUnits(world.channel, TESTER, shop.organizationId, id, 1);
    await assertRefused(releaseUnits(world.channel, TESTER, shop.organizationId, id, 1), 'not_enough_units', 'units');
    assert.equal(await quantity(), 2);
    assert.equal((await shop.post(`/v1/orders/${order.id}/cancel`)).status, 200);
    assert.equal(await quantity(), 3);
  });

  it('moves units once for each attempt that has a name, also if it comes twice at once', async () => {
    const item = [
      world.channel,
      TESTER,
      dealer.organizationId,
      await publishNew(world, dealer, part({ units: 5 })),
    ] as const;
    const [, , , id] = item;
    const twice = async (act: (attempt: Attempt) => Promise<void>) => {
      const attempt = { name: randomUUID(), fingerprint: Buffer.from('same') };
      await Promise.all([act(attempt), act(attempt)]);
      await act(attempt);
    };
    await twice((attempt) => moveUnits(...item, 'restock', 2, attempt));
    assert.deepEqual(await stockOf(world, id), { units: 7, held: 0 });
    await twice((attempt) => reserveUnits(...item, 3, attempt));
    assert.deepEqual(await stockOf(world, id), { units: 7, held: 3 });
    await twice((attempt) => releaseUnits(...item, 1, attempt));
    assert.deepEqual(await stockOf(world, id), { units: 7, held: 2 });
    await twice((attempt) => moveUnits(...item, 'fit', 5, attempt));
    assert.deepEqual(await stockOf(world, id), { units: 2, held: 2 });
  });

  it('refuses to fit a watch', async () => {
    await assertRefused(move(await publishNew(world, dealer, watch()), 'fit', 1), 'wrong_kind');
  });

  it('refuses another dealer’s item, an unknown and a malformed id alike', async () => {
    const other = await world.dealer();
    const theirs = await publishNew(world, other, part());
    for (const id of [theirs, newId('part'), 'nonsense']) {
      await assertRefused(move(id, 'restock', 1), 'not_found');
      await assertRefused(reserve(id, 1), 'not_found');
      await assertRefused(release(id, 1), 'not_found');
    }
  });

  it('racing for the last units never gives more than there are', async () => {
    const id = await publishBoth(part({ units: 5 }));
    const [seen] = await observeAll(both(), async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 9 }, (_, index) => (index % 2 === 0 ? move(id, 'fit', 1) : reserve(id, 1))),
      );
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 5);
    });
    assert.equal(seen.documents.get(id).quantity, 0);
    assert.deepEqual(seen.types, [...Array(4).fill('part.in_stock'), 'part.sold_out']);
    assert.deepEqual(
      seen.events.map((event) => event.data.object.quantity),
      [4, 3, 2, 1, undefined],
    );
  });
});
