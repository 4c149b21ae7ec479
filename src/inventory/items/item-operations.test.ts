import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import type { ApiClient } from '../../../test/harness/http/api-client.ts';
import {
  observe,
  observeAll,
  readDocuments,
  type SecondChannel,
  secondChannel,
} from '../../../test/harness/observe.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../ids/new-id.ts';
import { deleteItem } from '../../sales/delete-item.ts';
import { createBusinessUnit, createLocation } from '../locations.ts';
import { setPublished } from '../publications.ts';
import { reserveUnits } from '../units/movements.ts';
import type { ItemChanges, NewItem } from './item-input.ts';
import { createItem, editItem, setHidden } from './item-operations.ts';

describe('the dealer’s items', () => {
  let world: World;
  let dealer: Dealer;
  let second: SecondChannel;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    second = await secondChannel(world, dealer);
  });
  after(() => world.stop());

  const create = (item: NewItem) => createItem(world.channel, TESTER, dealer.organizationId, item);
  const edit = (id: string, changes: ItemChanges) =>
    editItem(world.channel, TESTER, dealer.organizationId, id, changes);
  /** Publishes on both channels. */
  async function publishBoth(item: NewItem): Promise<string> {
    const id = await publishNew(world, dealer, item);
    await setPublished(world.channel, TESTER, dealer.organizationId, second.integrationId, [id], true);
    return id;
  }
  const both = (): [ApiClient, ApiClient] => [dealer.api, second.api];

  describe('taking into stock', () => {
    it('shows nothing to any client', async () => {
      const seen = await observeAll(both(), () => create(watch()));
      for (const { types, changed } of seen) assert.deepEqual([types, changed], [[], []]);
    });
    it('refuses a stock number that the dealer has already, and lets another dealer have it', async () => {
      const other = await world.dealer();
      await create(watch({ stockNumber: 'TWICE' }));
      await assertRefused(create(part({ stockNumber: 'TWICE' })), 'stock_number_taken', 'stockNumber');
      await createItem(world.channel, TESTER, other.organizationId, watch({ stockNumber: 'TWICE' }));
    });
    it('lets one of two that come at once have the stock number', async () => {
      const outcomes = await Promise.allSettled([
        create(watch({ stockNumber: 'RACE' })),
        create(watch({ stockNumber: 'RACE' })),
      ]);
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    });
    it('refuses a location of another dealer, and an unknown one', async () => {
      const other = await world.dealer();
      const unit = await createBusinessUnit(world.db, TESTER, other.organizationId, 'Theirs');
      const theirs = await createLocation(world.db, TESTER, other.organizationId, unit, 'Safe');
      for (const locationId of [theirs, newId('location'), 'nowhere']) {
        await assertRefused(create(watch({ locationId })), 'not_found', 'locationId');
      }
    });
    it('refuses an organization that is not there', async () => {
      await assertRefused(createItem(world.channel, TESTER, newId('organization'), watch()), 'not_found');
    });

    const { attributes } = watch();
    const badListings: [string, object][] = [
      ['stockNumber', { stockNumber: '' }],
      ['stockNumber', { stockNumber: 'x'.repeat(101) }],
      ['title', { title: '' }],
      ['title', { title: 'x'.repeat(501) }],
      ['title', { title: 'a\0b' }],
      ['description', { description: 'x'.repeat(20_001) }],
      ['description', { description: 'half a pair \ud800' }],
      ['priceAmount', { priceAmount: -1 }],
      ['priceAmount', { priceAmount: 1.5 }],
      ['priceAmount', { priceAmount: 1_000_000_000_001 }],
      ['priceAmount', { priceAmount: '1' }],
      ['units', { units: -1 }],
      ['units', { units: 1_000_001 }],
      ['units', { units: 0.5 }],
      ['taxTreatment', { taxTreatment: 'none' }],
      ['attributes.brand', { attributes: { ...attributes, brand: '' } }],
      ['attributes.model', { attributes: { ...attributes, model: 'a\0b' } }],
      ['attributes.caliber', { attributes: { ...attributes, caliber: '\udc00' } }],
      ['attributes.condition', { attributes: { ...attributes, condition: 'used' } }],
      ['attributes.gender', { attributes: { ...attributes, gender: 'other' } }],
      ['attributes.year', { attributes: { ...attributes, year: 1499 } }],
      ['attributes.complications.0', { attributes: { ...attributes, complications: ['laser'] } }],
      ['attributes.case_diameter_mm', { attributes: { ...attributes, case_diameter_mm: 0 } }],
      ['attributes.has_box', { attributes: { ...attributes, has_box: 'yes' } }],
    ];
    for (const [field, changes] of badListings) {
      it(`refuses ${JSON.stringify(changes).slice(0, 60)} and names ${field}`, async () => {
        await assertRefused(create({ ...watch(), ...changes } as NewItem), 'invalid_input', field);
      });
    }
    it('refuses what is neither a watch nor a part, and a part with a watch’s attributes', async () => {
      await assertRefused(create({ ...watch(), kind: 'boat' } as unknown as NewItem), 'invalid_input');
      await assertRefused(create({ ...part(), attributes } as unknown as NewItem), 'invalid_input');
    });
  });

  describe('editing', () => {
    const edits: [string, ItemChanges, object][] = [
      ['title', { title: 'GMT-Master' }, { title: 'GMT-Master' }],
      ['stock number', { stockNumber: 'W-EDIT' }, { stock_number: 'W-EDIT' }],
      ['description', { description: 'New.||Text.' }, { description: 'New.\n\nText.' }],
      ['price', { priceAmount: 100 }, { price: { amount: 100 } }],
      ['price to price on request', { priceAmount: null }, { price: null }],
      ['tax treatment', { taxTreatment: 'tax_free' }, { watch: { tax_treatment: 'tax_free' } }],
      ['units', { units: 3 }, { quantity: 3 }],
      [
        'an attribute',
        { attributes: { dial_color: 'blue' } },
        { watch: { dial_color: 'blue', model: 'Submariner Date' } },
      ],
    ];
    for (const [what, changes, expected] of edits) {
      it(`of ${what} is one listing.updated on each channel and changes nothing else`, async () => {
        const id = await publishBoth(watch());
        for (const seen of await observeAll(both(), () => edit(id, changes))) {
          assert.deepEqual(seen.types, ['listing.updated']);
          assert.deepEqual(seen.events[0]?.data, { object: { id, object: 'listing' }, previous_attributes: {} });
          assert.deepEqual(seen.changed, [id]);
          assert.partialDeepStrictEqual(seen.documents.get(id), expected);
          assert.equal(seen.events[0]?.created_at, seen.documents.get(id).updated_at);
        }
      });
    }

    it('of what no client can see is no event and no new stamp', async () => {
      const id = await publishBoth(watch());
      const seen = await observeAll(both(), async () => {
        await edit(id, {});
        await edit(id, { title: (await readDocuments(dealer.api)).get(id).title, units: 1 });
        await edit(id, { attributes: { dial_color: 'black' } });
      });
      for (const { types, changed } of seen) assert.deepEqual([types, changed], [[], []]);
    });

    it('of an item that is on one channel is announced to that one alone', async () => {
      const id = await publishNew(world, dealer, watch());
      const [first, other] = await observeAll(both(), () => edit(id, { title: 'Only here' }));
      assert.deepEqual(first.types, ['listing.updated']);
      assert.deepEqual(other.types, []);
      assert.ok(!other.documents.has(id));
    });

    it('of a sold or unpublished listing gives a new stamp without an event', async () => {
      const sold = await publishNew(world, dealer, watch({ units: 0 }));
      const off = await publishNew(world, dealer, watch());
      await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [off], false);
      const seen = await observe(dealer.api, async () => {
        await edit(sold, { title: 'Sold long ago' });
        await edit(off, { title: 'Off the channel' });
      });
      assert.deepEqual(seen.types, []);
      assert.deepEqual(seen.changed.sort(), [sold, off].sort());
    });

    it('of a part’s quantity is part.updated and part.in_stock, or part.sold_out', async () => {
      const id = await publishBoth(part({ units: 5 }));
      for (const seen of await observeAll(both(), () => edit(id, { units: 3 }))) {
        assert.deepEqual(seen.types, ['part.in_stock', 'part.updated']);
        const [inStock, updated] = seen.events;
        assert.deepEqual(inStock?.data, {
          object: { id, object: 'part', quantity: 3 },
          previous_attributes: { quantity: 5 },
        });
        assert.deepEqual(updated?.data, { object: { id, object: 'part' }, previous_attributes: { quantity: 5 } });
      }
      for (const seen of await observeAll(both(), () => edit(id, { units: 0 }))) {
        assert.deepEqual(seen.types, ['part.sold_out', 'part.updated']);
        assert.equal(seen.documents.get(id).status, 'sold_out');
      }
    });

    it('of a part’s compatibility is part.updated with the old value', async () => {
      const id = await publishNew(world, dealer, part());
      const compatibility = [{ brand: 'Tudor', model: null, reference_number: null, caliber: null }];
      const seen = await observe(dealer.api, () => edit(id, { attributes: { compatibility } }));
      assert.deepEqual(seen.types, ['part.updated']);
      assert.deepEqual(seen.events[0]?.data.previous_attributes, {
        compatibility: part().attributes.compatibility,
      });
      assert.deepEqual(seen.documents.get(id).compatibility, compatibility);
    });

    it('counts the units that are free to sell: what is held back stays so', async () => {
      const id = await publishNew(world, dealer, part({ units: 5 }));
      await reserveUnits(world.channel, TESTER, dealer.organizationId, id, 2);
      const seen = await observe(dealer.api, () => edit(id, { units: 10 }));
      assert.equal(seen.documents.get(id).quantity, 10);
      await assertRefused(edit(id, { units: 999_999 }), 'invalid_input', 'units');
    });

    it('refuses bad input and changes nothing', async () => {
      const id = await publishNew(world, dealer, watch());
      const taken = watch();
      await create(taken);
      const seen = await observe(dealer.api, async () => {
        await assertRefused(edit(id, { title: '' }), 'invalid_input', 'title');
        await assertRefused(edit(id, { title: 'x\0' }), 'invalid_input', 'title');
        await assertRefused(edit(id, { priceAmount: -1 }), 'invalid_input', 'priceAmount');
        await assertRefused(edit(id, { attributes: { condition: null as never } }), 'invalid_input');
        await assertRefused(edit(id, { stockNumber: taken.stockNumber }), 'stock_number_taken', 'stockNumber');
        await assertRefused(edit(id, { locationId: newId('location') }), 'not_found', 'locationId');
      });
      assert.deepEqual([seen.types, seen.changed], [[], []]);
    });

    it('of another dealer’s item, an unknown or malformed id is refused alike', async () => {
      const other = await world.dealer();
      const theirs = await publishNew(world, other, watch());
      for (const id of [theirs, newId('listing'), 'nonsense'])
        await assertRefused(edit(id, { title: 'x' }), 'not_found');
    });

    it('twice at once keeps both', async () => {
      const id = await publishBoth(watch());
      const seen = await observe(dealer.api, () =>
        Promise.all([edit(id, { title: 'Both' }), edit(id, { priceAmount: 500 }), edit(id, { description: 'stay' })]),
      );
      const document = seen.documents.get(id);
      assert.deepEqual([document.title, document.price.amount, document.description], ['Both', 500, 'stay']);
      assert.deepEqual(seen.types, ['listing.updated', 'listing.updated', 'listing.updated']);
      assert.equal(new Set(seen.events.map((event) => event.created_at)).size, 3);
      assert.equal(document.updated_at, seen.events.at(-1)?.created_at);
    });
  });

  describe('hiding', () => {
    const hide = (ids: string[], isHidden: boolean) =>
      setHidden(world.channel, TESTER, dealer.organizationId, ids, isHidden);

    it('takes a listing off every channel, and showing brings it back', async () => {
      const id = await publishBoth(watch());
      for (const seen of await observeAll(both(), () => hide([id], true))) {
        assert.deepEqual(seen.types, ['listing.unpublished']);
        assert.deepEqual(seen.events[0]?.data, { object: { id, object: 'listing' } });
        assert.equal(seen.documents.get(id).status, 'unpublished');
      }
      for (const seen of await observeAll(both(), () => hide([id], false))) {
        assert.deepEqual(seen.types, ['listing.published']);
        assert.equal(seen.documents.get(id).status, 'active');
      }
    });
    it('of a part is part.updated, and it stays readable', async () => {
      const id = await publishNew(world, dealer, part());
      const hidden = await observe(dealer.api, () => hide([id], true));
      assert.deepEqual(hidden.types, ['part.updated']);
      assert.equal(hidden.documents.get(id).status, 'unpublished');
      assert.deepEqual((await observe(dealer.api, () => hide([id], false))).types, ['part.updated']);
    });
    it('of many goes in batches, so that orders do not wait for all of it', async () => {
      const ids = await Promise.all(Array.from({ length: 230 }, () => create(watch())));
      await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, ids, true);
      const gone = newId('listing');
      const seen = await observe(dealer.api, () => assertRefused(hide([...ids, gone, ...ids], true), 'not_found'));
      assert.equal(seen.types.length, 230);
      assert.deepEqual(new Set(seen.types), new Set(['listing.unpublished']));
      assert.equal(new Set(seen.events.map((event) => event.created_at)).size, 3);
    });
    it('twice, or of an item on no channel, is nothing', async () => {
      const id = await publishNew(world, dealer, watch());
      await hide([id], true);
      const unpublished = await create(watch());
      const seen = await observe(dealer.api, () => hide([id, unpublished, id], true));
      assert.deepEqual([seen.types, seen.changed], [[], []]);
    });
    it('several, one of them named twice, announces each once', async () => {
      const ids = [await publishNew(world, dealer, watch()), await publishNew(world, dealer, watch())];
      const seen = await observe(dealer.api, () => hide([...ids, ...ids], true));
      assert.deepEqual(seen.types, ['listing.unpublished', 'listing.unpublished']);
    });
    it('refuses another dealer’s item, and hides the dealer’s own', async () => {
      const other = await world.dealer();
      const theirs = await publishNew(world, other, watch());
      const id = await publishNew(world, dealer, watch());
      const [ours, alsoTheirs] = await observeAll([dealer.api, other.api], () =>
        assertRefused(hide([id, theirs], true), 'not_found'),
      );
      assert.deepEqual([ours.types, alsoTheirs.types], [['listing.unpublished'], []]);
    });
  });

  describe('deleting for ever', () => {
    const remove = (id: string) => deleteItem(world.channel, TESTER, dealer.organizationId, id);

    for (const [kind, item] of [
      ['listing', watch],
      ['part', part],
    ] as const) {
      it(`is announced to every channel that has the ${kind}; it reads 404 and is in no list`, async () => {
        const id = await publishBoth(item());
        for (const [index, seen] of (await observeAll(both(), () => remove(id))).entries()) {
          assert.deepEqual(seen.types, [`${kind}.unpublished`]);
          assert.deepEqual(seen.events[0]?.data, { object: { id, object: kind, deleted: true } });
          assert.deepEqual(seen.gone, [id]);
          const { status, body } = await (both()[index] ?? dealer.api).get(`/v1/${kind}s/${id}`);
          assert.deepEqual([status, body.error.code], [404, `${kind}_not_found`]);
        }
      });
    }
    it('is announced to channels that had it once', async () => {
      const id = await publishNew(world, dealer, watch());
      await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [id], false);
      const seen = await observe(dealer.api, () => remove(id));
      assert.deepEqual(seen.types, ['listing.unpublished']);
      assert.equal(seen.events[0]?.data.object.deleted, true);
    });
    it('is not announced for what was never published, or for a part that is off already', async () => {
      const never = await create(watch());
      const off = await publishNew(world, dealer, part());
      await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [off], false);
      const seen = await observe(dealer.api, () => Promise.all([remove(never), remove(off)]));
      assert.deepEqual([seen.types, seen.changed, seen.gone], [[], [], []]);
    });
    it('frees the stock number', async () => {
      const id = await create(watch({ stockNumber: 'FREED' }));
      await remove(id);
      await create(watch({ stockNumber: 'FREED' }));
    });
    it('twice at once deletes once', async () => {
      const id = await publishNew(world, dealer, watch());
      const seen = await observe(dealer.api, async () => {
        const outcomes = await Promise.allSettled([remove(id), remove(id), remove(id)]);
        assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      });
      assert.deepEqual(seen.types, ['listing.unpublished']);
      await assertRefused(remove(id), 'not_found');
    });
    it('of another dealer’s item is refused', async () => {
      const other = await world.dealer();
      const theirs = await publishNew(world, other, watch());
      await assertRefused(remove(theirs), 'not_found');
      assert.equal((await other.api.get(`/v1/listings/${theirs}`)).status, 200);
    });
    it('racing with edits, toggles and hiding leaves nothing behind', async () => {
      for (let run = 0; run < 5; run++) {
        const id = await publishBoth(run % 2 === 0 ? watch() : part());
        const toggle = (isOn: boolean) =>
          setPublished(world.channel, TESTER, dealer.organizationId, second.integrationId, [id], isOn);
        const seen = await observe(second.api, () =>
          Promise.allSettled([
            edit(id, { title: 'Racing' }),
            toggle(false),
            remove(id),
            setHidden(world.channel, TESTER, dealer.organizationId, [id], true),
            toggle(true),
            edit(id, { units: 7 }),
          ]),
        );
        assert.ok(!seen.documents.has(id));
        const last = seen.events.findLast((event) => event.data.object.id === id);
        assert.match(last?.type ?? '', /\.unpublished$/);
        await assertRefused(toggle(true), 'not_found');
      }
    });
  });
});
