import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import type { ApiClient } from '../../test/harness/http/api-client.ts';
import { observe, observeAll, type SecondChannel, secondChannel } from '../../test/harness/observe.ts';
import { assertRefused } from '../../test/harness/refusal.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../test/harness/world.ts';
import { refreshDue } from '../channel/projection/due-promotions.ts';
import { newId } from '../ids/new-id.ts';
import { deleteItem } from '../sales/delete-item.ts';
import { editItem } from './items/item-operations.ts';
import { changePromotion, endPromotion, type PromotionInput, startPromotion } from './promotions.ts';
import { setPublished } from './publications.ts';

const HOUR_MS = 3_600_000;

describe('promotions', () => {
  let world: World;
  let dealer: Dealer;
  let second: SecondChannel;
  const start = Date.now();
  const at = (hours: number) => new Date(start + hours * HOUR_MS);
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    second = await secondChannel(world, dealer);
  });
  after(() => world.stop());

  const promote = (id: string, input: PromotionInput) =>
    startPromotion(world.channel, TESTER, dealer.organizationId, id, input);
  const change = (id: string, input: PromotionInput) =>
    changePromotion(world.channel, TESTER, dealer.organizationId, id, input);
  const end = (id: string) => endPromotion(world.channel, TESTER, dealer.organizationId, id);
  const running: PromotionInput = { priceAmount: 1_199_000, startsAt: at(-1), endsAt: null };
  const both = (): [ApiClient, ApiClient] => [dealer.api, second.api];
  async function publishBoth(item: Parameters<typeof publishNew>[2]): Promise<string> {
    const id = await publishNew(world, dealer, item);
    await setPublished(world.channel, TESTER, dealer.organizationId, second.integrationId, [id], true);
    return id;
  }

  it('start, change and end are an event each, on each channel', async () => {
    const id = await publishBoth(watch());
    let promotionId = '';
    for (const seen of await observeAll(both(), async () => {
      promotionId = await promote(id, running);
    })) {
      assert.deepEqual(seen.types, ['listing.updated']);
      assert.equal(seen.documents.get(id).price.amount, 1_199_000);
      assert.deepEqual(seen.documents.get(id).promotion, {
        regular_amount: 1_299_000,
        regular_amount_formatted: '$12,990.00',
        ends_at: null,
      });
    }
    for (const seen of await observeAll(both(), () => change(promotionId, { ...running, endsAt: at(5) }))) {
      assert.deepEqual(seen.types, ['listing.updated']);
      assert.equal(seen.documents.get(id).promotion.ends_at, at(5).toISOString());
    }
    for (const seen of await observeAll(both(), () => end(promotionId))) {
      assert.deepEqual(seen.types, ['listing.updated']);
      assert.equal(seen.documents.get(id).promotion, null);
      assert.equal(seen.documents.get(id).price.amount, 1_299_000);
    }
  });

  it('of a part is part.updated with the old price', async () => {
    const id = await publishNew(world, dealer, part());
    const seen = await observe(dealer.api, () => promote(id, { ...running, priceAmount: 100 }));
    assert.deepEqual(seen.types, ['part.updated']);
    assert.deepEqual(seen.events[0]?.data.previous_attributes, {
      price: { amount: 18_500, amount_formatted: '$185.00', currency: 'USD' },
      promotion: null,
    });
  });

  it('planned for later are seen by nobody until then, planned, changed or cancelled', async () => {
    const id = await publishBoth(watch());
    for (const seen of await observeAll(both(), async () => {
      const planned = await promote(id, { ...running, startsAt: at(1), endsAt: at(2) });
      await change(planned, { ...running, startsAt: at(3), endsAt: at(4) });
      await end(planned);
    })) {
      assert.deepEqual([seen.types, seen.changed], [[], []]);
    }
  });

  it('start and end on time, as an event each', async () => {
    const id = await publishBoth(watch());
    await promote(id, { ...running, startsAt: at(1), endsAt: at(2) });
    const seenAt = async (hours: number) => {
      world.setTime(at(hours));
      return await observeAll(both(), () => refreshDue(world.channel));
    };
    try {
      for (const seen of await seenAt(0.9)) assert.deepEqual([seen.types, seen.changed], [[], []]);
      // Reading is enough to project it, so the first look has done it already; the price is the proof.
      for (const seen of await seenAt(1)) assert.equal(seen.documents.get(id).price.amount, 1_199_000);
      for (const seen of await seenAt(1.9)) assert.deepEqual([seen.types, seen.changed], [[], []]);
      for (const seen of await seenAt(2)) assert.equal(seen.documents.get(id).promotion, null);
      const [seen] = await seenAt(3);
      const { body } = await dealer.api.get('/v1/events?limit=2');
      assert.deepEqual(
        body.data.map((event: { type: string; data: { object: { id: string } } }) => [
          event.type,
          event.data.object.id,
        ]),
        [
          ['listing.updated', id],
          ['listing.updated', id],
        ],
      );
      assert.deepEqual(seen.types, []);
    } finally {
      world.setTime(null);
    }
  });

  it('that follow each other without a gap hand over', async () => {
    const id = await publishNew(world, dealer, watch());
    await promote(id, { priceAmount: 1_100_000, startsAt: at(-1), endsAt: at(1) });
    await promote(id, { priceAmount: 1_000_000, startsAt: at(1), endsAt: at(2) });
    world.setTime(at(1));
    try {
      const { body } = await dealer.api.get(`/v1/listings/${id}`);
      assert.equal(body.price.amount, 1_000_000);
    } finally {
      world.setTime(null);
    }
  });

  it('of an item whose price is on request are not shown', async () => {
    const id = await publishNew(world, dealer, watch());
    await promote(id, running);
    const seen = await observe(dealer.api, () =>
      editItem(world.channel, TESTER, dealer.organizationId, id, { priceAmount: null }),
    );
    const { price, promotion } = seen.documents.get(id);
    assert.deepEqual([price, promotion], [null, null]);
    await assertRefused(
      promote(await publishNew(world, dealer, watch({ priceAmount: null })), running),
      'invalid_input',
    );
  });

  it('that would overlap are refused, also when they come at once', async () => {
    const id = await publishNew(world, dealer, watch());
    await promote(id, { ...running, startsAt: at(10), endsAt: at(20) });
    const overlapping: [number, number | null][] = [
      [9, 11],
      [19, 21],
      [12, 13],
      [9, 21],
      [10, 20],
      [9, null],
    ];
    for (const [from, to] of overlapping) {
      const input = { ...running, startsAt: at(from), endsAt: to === null ? null : at(to) };
      await assertRefused(promote(id, input), 'promotion_overlaps', 'startsAt');
    }
    const adjacent = await promote(id, { ...running, startsAt: at(20), endsAt: at(21) });
    await assertRefused(change(adjacent, { ...running, startsAt: at(19), endsAt: at(21) }), 'promotion_overlaps');
    await change(adjacent, { ...running, startsAt: at(21), endsAt: at(22) });

    const raced = await publishNew(world, dealer, watch());
    const outcomes = await Promise.allSettled([
      promote(raced, running),
      promote(raced, running),
      promote(raced, running),
    ]);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  it('with bad input are refused and change nothing', async () => {
    const id = await publishNew(world, dealer, watch());
    const seen = await observe(dealer.api, async () => {
      for (const priceAmount of [-1, 1.5, 1e13, Number.NaN]) {
        await assertRefused(promote(id, { ...running, priceAmount }), 'invalid_input', 'priceAmount');
      }
      await assertRefused(promote(id, { ...running, startsAt: at(1), endsAt: at(1) }), 'invalid_input', 'endsAt');
      await assertRefused(promote(id, { ...running, startsAt: at(1), endsAt: at(0) }), 'invalid_input', 'endsAt');
      await assertRefused(promote(id, { ...running, startsAt: new Date(Number.NaN) }), 'invalid_input', 'startsAt');
      await assertRefused(promote(id, { ...running, endsAt: new Date(Number.NaN) }), 'invalid_input', 'endsAt');
      await assertRefused(promote(id, { ...running, endsAt: new Date('+010000-01-01') }), 'invalid_input', 'endsAt');
    });
    assert.deepEqual([seen.types, seen.changed], [[], []]);
  });

  it('that end in the past are refused, unless the end of one that is over stays as it is', async () => {
    const id = await publishNew(world, dealer, watch());
    const over = { ...running, startsAt: at(-3), endsAt: at(-2) };
    const seen = await observe(dealer.api, async () => {
      await assertRefused(promote(id, over), 'invalid_input', 'endsAt');
      await assertRefused(promote(id, { ...over, endsAt: at(0) }), 'invalid_input', 'endsAt');
    });
    assert.deepEqual([seen.types, seen.changed], [[], []]);
    const promotionId = await promote(id, { ...running, endsAt: at(1) });
    await assertRefused(change(promotionId, over), 'invalid_input', 'endsAt');
    try {
      world.setTime(at(2));
      await change(promotionId, { ...running, priceAmount: 1_000, endsAt: at(1) });
      await assertRefused(change(promotionId, { ...running, endsAt: at(1.5) }), 'invalid_input', 'endsAt');
    } finally {
      world.setTime(null);
    }
  });

  it('cost less than the regular price, or are refused and change nothing', async () => {
    const id = await publishNew(world, dealer, watch({ priceAmount: 10_000 }));
    const promotionId = await promote(id, { ...running, priceAmount: 9_999 });
    const seen = await observe(dealer.api, async () => {
      for (const priceAmount of [10_000, 10_001, 50_000]) {
        await assertRefused(change(promotionId, { ...running, priceAmount }), 'invalid_input', 'priceAmount');
        const later = { priceAmount, startsAt: at(-3), endsAt: at(-2) };
        await assertRefused(promote(id, later), 'invalid_input', 'priceAmount');
      }
    });
    assert.deepEqual([seen.types, seen.changed], [[], []]);
    assert.deepEqual(seen.documents.get(id).price.amount, 9_999);
  });

  it('keep the price above them: an edit to less is refused until they are changed, ended or over', async () => {
    const id = await publishNew(world, dealer, watch({ priceAmount: 10_000 }));
    const price = (priceAmount: number | null) =>
      editItem(world.channel, TESTER, dealer.organizationId, id, { priceAmount, title: 'Edited' });
    const runningId = await promote(id, { priceAmount: 8_000, startsAt: at(-1), endsAt: at(1) });
    const plannedId = await promote(id, { priceAmount: 6_000, startsAt: at(2), endsAt: at(3) });
    const refused = await observe(dealer.api, async () => {
      for (const amount of [8_000, 7_000, 0]) await assertRefused(price(amount), 'invalid_input', 'priceAmount');
    });
    assert.deepEqual([refused.types, refused.changed], [[], []]);
    await price(8_001);
    await end(runningId);
    await price(6_001);
    await assertRefused(price(6_000), 'invalid_input', 'priceAmount');
    // On request there is no price to compare with; one that comes back is compared again.
    await price(null);
    await change(plannedId, { priceAmount: 7_000, startsAt: at(2), endsAt: at(3) });
    await assertRefused(price(7_000), 'invalid_input', 'priceAmount');
    try {
      world.setTime(at(3));
      await price(5_000);
    } finally {
      world.setTime(null);
    }
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.price.amount, 5_000);
  });

  it('and edits of the price that come at once leave no promotion above the price', async () => {
    for (let run = 0; run < 5; run++) {
      const id = await publishNew(world, dealer, watch({ priceAmount: 10_000 }));
      await Promise.allSettled([
        promote(id, { ...running, priceAmount: 5_000 }),
        editItem(world.channel, TESTER, dealer.organizationId, id, { priceAmount: 4_000 }),
      ]);
      const { price, promotion } = (await dealer.api.get(`/v1/listings/${id}`)).body;
      if (promotion !== null) assert.ok(price.amount < promotion.regular_amount);
    }
  });

  it('of another dealer, unknown or gone are refused', async () => {
    const other = await world.dealer();
    const theirs = await publishNew(world, other, watch());
    const promotionId = await startPromotion(world.channel, TESTER, other.organizationId, theirs, running);
    await assertRefused(promote(theirs, running), 'not_found');
    for (const id of [promotionId, newId('promotion'), 'nonsense']) {
      await assertRefused(change(id, running), 'not_found');
      await assertRefused(end(id), 'not_found');
    }
    const id = await publishNew(world, dealer, watch());
    const gone = await promote(id, running);
    const outcomes = await Promise.allSettled([end(gone), end(gone)]);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    await deleteItem(world.channel, TESTER, dealer.organizationId, id);
    await assertRefused(end(gone), 'not_found');
  });
});
