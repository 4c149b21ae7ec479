import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { observeAll, type SecondChannel, secondChannel } from '../../../test/harness/observe.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { listJobs } from '../../channel/jobs/channel-job-queue.ts';
import { runJobs } from '../../channel/jobs/run-jobs.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { editItem } from '../../inventory/items/item-operations.ts';
import { createBusinessUnit, createLocation, renameBusinessUnit, renameLocation } from '../../inventory/locations.ts';
import { setPublished } from '../../inventory/publications.ts';
import { deleteItem } from '../../sales/delete-item.ts';
import { sellUnits } from '../../sales/sell.ts';
import { changeOrganization, type OrganizationSettings } from '../organization-settings.ts';
import { listRates, removeRate, setRate } from '../rates/exchange-rates.ts';
import { setOrganization } from './attach-integration.ts';
import { changePresentation, type PresentationSettings } from './integration-settings.ts';

/** One dealer's stock on two channels, made so that each setting touches some of it and not the rest. */
type Shop = {
  dealer: Dealer;
  second: SecondChannel;
  unitId: string;
  locationId: string;
  /** Has a price, a photo, the default tax treatment, and lies at the location. */
  plain: string;
  /** Price on request, no photo, a tax treatment of its own, nowhere. */
  onRequest: string;
  sold: string;
  part: string;
};

const ALL: (keyof Shop)[] = ['plain', 'onRequest', 'sold', 'part'];
const NOWHERE = { line1: null, line2: null, city: null, state: null, postal_code: null, country: null };

describe('settings of a channel', () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    shop = await openShop();
  });

  async function openShop(): Promise<Shop> {
    const dealer = await world.dealer();
    const second = await secondChannel(world, dealer);
    const unitId = await createBusinessUnit(world.db, TESTER, dealer.organizationId, 'Geneva');
    const locationId = await createLocation(world.db, TESTER, dealer.organizationId, unitId, 'Showroom');
    const plain = await publishNew(world, dealer, watch({ locationId }));
    await world.db.query(sql`
      insert into photos (id, item_id, organization_id, position, width, height, format)
      values (${newId('photo')}, ${plain}, ${dealer.organizationId}, 1, 2000, 1500, 'png')`);
    const onRequest = await publishNew(world, dealer, watch({ priceAmount: null, taxTreatment: 'tax_free' }));
    const sold = await publishNew(world, dealer, watch({ taxTreatment: 'tax_free' }));
    await sellUnits(world.channel, TESTER, dealer.organizationId, sold, 1);
    const shown = await publishNew(world, dealer, part({ taxTreatment: null }));
    await setPublished(world.channel, TESTER, dealer.organizationId, second.integrationId, [plain, onRequest], true);
    // The photo was put there behind the projection's back.
    await editItem(world.channel, TESTER, dealer.organizationId, plain, { title: 'With a photo' });
    return { dealer, second, unitId, locationId, plain, onRequest, sold, part: shown };
  }

  const present = (changes: Partial<PresentationSettings>) =>
    changePresentation(world.channel, TESTER, shop.dealer.organizationId, shop.dealer.integrationId, changes);
  const organize = (changes: Partial<OrganizationSettings>) =>
    changeOrganization(world.channel, TESTER, shop.dealer.organizationId, changes);
  /** Does something and all jobs that follow from it, and says what both clients saw. */
  const observeJobs = (act: () => Promise<unknown>) =>
    observeAll([shop.dealer.api, shop.second.api], async () => {
      await act();
      await runJobs(world.channel, undefined, 0);
    });

  type Row = [string, () => Promise<unknown>, first: (keyof Shop)[], second: (keyof Shop)[], object];
  const rows: Row[] = [
    [
      'markup',
      () => present({ markupBasisPoints: 1_000 }),
      ['plain', 'sold', 'part'],
      [],
      { price: { amount: 1_428_900 } },
    ],
    [
      'rounding',
      () => present({ rounding: 'up_to_99' }),
      ['plain', 'sold', 'part'],
      [],
      { price: { amount: 1_299_900 } },
    ],
    ['image format', () => present({ imageFormat: 'original' }), ['plain'], [], {}],
    [
      'currency of the channel',
      async () => {
        await setRate(world.channel, TESTER, 'USD', 'JPY', '150');
        await present({ currency: 'JPY' });
      },
      ['plain', 'sold', 'part'],
      [],
      { price: { amount: 1_948_500, amount_formatted: '¥1,948,500', currency: 'JPY' } },
    ],
    [
      'currency of the organization',
      async () => {
        await setRate(world.channel, TESTER, 'CHF', 'USD', '1.25');
        await organize({ currency: 'CHF' });
      },
      ['plain', 'sold', 'part'],
      ['plain'],
      { price: { amount: 1_623_750, currency: 'USD' } },
    ],
    ['name', () => organize({ name: ' New name ' }), ALL, ['plain', 'onRequest'], { dealer: { name: 'New name' } }],
    [
      'business address',
      () => organize({ address: { ...NOWHERE, city: 'Zürich', country: 'CH' } }),
      ALL,
      ['plain', 'onRequest'],
      { dealer: { address: { ...NOWHERE, city: 'Zürich', country: 'CH' } } },
    ],
    [
      'default tax treatment',
      () => organize({ defaultTaxTreatment: 'margin_scheme' }),
      ['plain', 'part'],
      ['plain'],
      { watch: { tax_treatment: 'margin_scheme' }, labels: { tax_treatment: 'Margin scheme' } },
    ],
    [
      'location name',
      () => renameLocation(world.channel, TESTER, shop.dealer.organizationId, shop.locationId, 'Safe'),
      ['plain'],
      ['plain'],
      { location: { business_unit: 'Geneva', name: 'Safe' } },
    ],
    [
      'business unit name',
      () => renameBusinessUnit(world.channel, TESTER, shop.dealer.organizationId, shop.unitId, 'Genève'),
      ['plain'],
      ['plain'],
      { location: { business_unit: 'Genève', name: 'Showroom' } },
    ],
  ];
  for (const [name, act, onFirst, onSecond, expected] of rows) {
    it(`a change of the ${name} is one event for each document that it really changes`, async () => {
      const [first, second] = await observeJobs(act);
      const idsOf = (names: (keyof Shop)[]) => names.map((item) => shop[item] as string).sort();
      assert.deepEqual(first.changed.sort(), idsOf(onFirst));
      assert.deepEqual(second.changed.sort(), idsOf(onSecond));
      for (const [seen, names] of [
        [first, onFirst],
        [second, onSecond],
      ] as const) {
        // What is sold gets a new stamp and no event.
        const announced = idsOf(names.filter((item) => item !== 'sold'));
        assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), announced);
        for (const event of seen.events) assert.match(event.type, /^(listing|part)\.updated$/);
      }
      assert.partialDeepStrictEqual(first.documents.get(shop.plain), expected);
      const again = await observeJobs(act);
      for (const { types, changed } of again) assert.deepEqual([types, changed], [[], []]);
    });
  }

  it('a rate that changes is announced; one that is missing makes reads fail until it is there', async () => {
    const { api } = shop.dealer;
    await setRate(world.channel, TESTER, 'USD', 'GBP', '0.8');
    await observeJobs(() => present({ currency: 'GBP' }));
    const [first, second] = await observeJobs(() => setRate(world.channel, TESTER, 'GBP', 'USD', '2'));
    assert.equal(first.documents.get(shop.plain).price.amount, 649_500);
    assert.deepEqual(first.types.sort(), ['listing.updated', 'part.updated']);
    assert.deepEqual(second.types, []);
    assert.deepEqual(
      (await listRates(world.db)).filter((rate) => [rate.base, rate.quote].includes('GBP')),
      [{ base: 'GBP', quote: 'USD', rate: '2' }],
    );

    await assertRefused(removeRate(world.channel, TESTER, 'GBP', 'USD'), 'rate_in_use');
    assert.equal(await removeRate(world.channel, TESTER, 'GBP', 'USD', { isForced: true }), true);
    assert.equal(await removeRate(world.channel, TESTER, 'GBP', 'USD'), false);
    await runJobs(world.channel, undefined, 0);
    for (const path of [`/v1/listings/${shop.plain}`, '/v1/listings', '/v1/parts', `/v1/parts/${shop.part}`]) {
      const { status, body } = await api.get(path);
      assert.deepEqual([status, body.error.code], [500, 'query_failed'], path);
    }
    assert.equal((await api.get(`/v1/listings/${shop.onRequest}`)).status, 200);
    assert.equal((await shop.second.api.get('/v1/listings')).status, 200);

    await setRate(world.channel, TESTER, 'USD', 'GBP', '0.5');
    await runJobs(world.channel, undefined, 0);
    const { status, body } = await api.get(`/v1/listings/${shop.plain}`);
    assert.deepEqual([status, body.price.amount], [200, 649_500]);
  });

  it('a currency is taken in small letters as well, wherever the dealer or the operator types it', async () => {
    await setRate(world.channel, TESTER, 'usd', ' nok ', '10');
    const [first] = await observeJobs(() => present({ currency: 'nok' }));
    assert.deepEqual(first.documents.get(shop.plain).price.currency, 'NOK');
    const [second] = await observeJobs(() => organize({ currency: 'nok' }));
    assert.equal(second.documents.get(shop.plain).price.amount, 1_299_000);
    assert.equal(await removeRate(world.channel, TESTER, 'usd', 'nok', { isForced: true }), true);
  });

  it('an item that can’t be priced and becomes one on request is readable again, with a new stamp and an event', async () => {
    const { dealer, plain, part } = shop;
    await assertRefused(present({ currency: 'SEK' }), 'rate_missing', 'currency');
    await assertRefused(organize({ currency: 'SEK' }), 'rate_missing', 'currency');
    await changePresentation(
      world.channel,
      TESTER,
      dealer.organizationId,
      dealer.integrationId,
      { currency: 'SEK' },
      { isForced: true },
    );
    await runJobs(world.channel, undefined, 0);
    assert.equal((await dealer.api.get(`/v1/listings/${plain}`)).status, 500);
    const eventsBefore = (await dealer.api.get('/v1/events')).body.data;
    for (const id of [plain, part]) {
      await editItem(world.channel, TESTER, dealer.organizationId, id, { priceAmount: null });
    }
    const events = (await dealer.api.get('/v1/events')).body.data.slice(0, -eventsBefore.length);
    assert.deepEqual(
      events.map((event: { type: string; data: unknown }) => [event.type, event.data]),
      [
        ['part.updated', { object: { id: part, object: 'part' }, previous_attributes: { price: null } }],
        ['listing.updated', { object: { id: plain, object: 'listing' }, previous_attributes: {} }],
      ],
    );
    const { status, body } = await dealer.api.get(`/v1/listings/${plain}`);
    assert.deepEqual([status, body.price, body.updated_at], [200, null, events[1].created_at]);
  });

  it('opposite rates that come at once leave one of them', async () => {
    await Promise.all([
      setRate(world.channel, TESTER, 'SEK', 'NOK', '1.1'),
      setRate(world.channel, TESTER, 'NOK', 'SEK', '0.9'),
      setRate(world.channel, TESTER, 'SEK', 'NOK', '1.2'),
    ]);
    assert.equal((await listRates(world.db)).filter((rate) => rate.base === 'SEK' || rate.quote === 'SEK').length, 1);
  });

  it('bad input is refused and starts no job', async () => {
    const { organizationId } = shop.dealer;
    const count = async () => (await listJobs(world.db, organizationId, 100)).length;
    const jobsBefore = await count();
    for (const markupBasisPoints of [-9_901, 100_001, 0.5, Number.NaN]) {
      await assertRefused(present({ markupBasisPoints }), 'invalid_input', 'markupBasisPoints');
    }
    await assertRefused(present({ rounding: 'down' as never }), 'invalid_input', 'rounding');
    await assertRefused(present({ imageFormat: 'gif' as never }), 'invalid_input', 'imageFormat');
    for (const currency of ['', 'XYZ', 'DOLLARS']) {
      await assertRefused(present({ currency }), 'invalid_input', 'currency');
      await assertRefused(organize({ currency }), 'invalid_input', 'currency');
    }
    await assertRefused(organize({ name: ' ' }), 'invalid_input', 'name');
    await assertRefused(organize({ name: 'a\0b' }), 'invalid_input', 'name');
    await assertRefused(organize({ defaultTaxTreatment: 'none' }), 'invalid_input', 'defaultTaxTreatment');
    for (const country of ['ch', 'CHE', '']) {
      await assertRefused(organize({ address: { ...NOWHERE, country } }), 'invalid_input', 'address.country');
    }
    await assertRefused(organize({ address: { ...NOWHERE, city: 'a\0b' } }), 'invalid_input', 'address.city');
    await assertRefused(
      organize({ address: { ...NOWHERE, line1: 'x'.repeat(501) } }),
      'invalid_input',
      'address.line1',
    );
    await assertRefused(
      renameLocation(world.channel, TESTER, organizationId, shop.locationId, ' '),
      'invalid_input',
      'name',
    );
    await assertRefused(
      renameBusinessUnit(world.channel, TESTER, organizationId, shop.unitId, ''),
      'invalid_input',
      'name',
    );
    for (const rate of ['0', '-1', '1e5', '', '1.12345678901', 'abc', '0.0']) {
      await assertRefused(setRate(world.channel, TESTER, 'USD', 'EUR', rate), 'invalid_input', 'rate');
    }
    await assertRefused(setRate(world.channel, TESTER, 'USD', 'USD', '1'), 'invalid_input', 'quote');
    await assertRefused(setRate(world.channel, TESTER, 'usd', 'USD', '1'), 'invalid_input', 'quote');
    await assertRefused(setRate(world.channel, TESTER, 'XYZ', 'EUR', '1'), 'invalid_input', 'base');
    await assertRefused(setRate(world.channel, TESTER, 'EUR', 'XYZ', '1'), 'invalid_input', 'quote');
    await present({});
    await organize({});
    assert.equal(await count(), jobsBefore);
  });

  it('another dealer’s integration, organization and locations are not found', async () => {
    const { organizationId } = await world.dealer();
    const { integrationId } = shop.dealer;
    const markup = { markupBasisPoints: 100 };
    await assertRefused(changePresentation(world.channel, TESTER, organizationId, integrationId, markup), 'not_found');
    await assertRefused(changeOrganization(world.channel, TESTER, newId('organization'), { name: 'x' }), 'not_found');
    await assertRefused(renameLocation(world.channel, TESTER, organizationId, shop.locationId, 'x'), 'not_found');
    await assertRefused(renameBusinessUnit(world.channel, TESTER, organizationId, shop.unitId, 'x'), 'not_found');
    await assertRefused(
      createLocation(world.db, TESTER, organizationId, shop.unitId, 'x'),
      'not_found',
      'businessUnitId',
    );
    await assertRefused(createBusinessUnit(world.db, TESTER, newId('organization'), 'x'), 'not_found');
  });

  it('a channel that was detached makes up for what it missed when it is attached again', async () => {
    const { dealer, plain, onRequest } = shop;
    const [seen] = await observeAll([dealer.api], async () => {
      await setOrganization(world.db, TESTER, dealer.integrationId, null);
      await editItem(world.channel, TESTER, dealer.organizationId, plain, { title: 'Changed meanwhile' });
      await deleteItem(world.channel, TESTER, dealer.organizationId, onRequest);
      await setOrganization(world.db, TESTER, dealer.integrationId, dealer.organizationId);
      await runJobs(world.channel, undefined, 0);
    });
    assert.deepEqual(seen.changed, [plain]);
    assert.deepEqual(seen.gone, [onRequest]);
    assert.deepEqual(seen.events.map((event) => [event.type, event.data.object.id, event.data.object.deleted]).sort(), [
      ['listing.unpublished', onRequest, true],
      ['listing.updated', plain, undefined],
    ]);
  });

  it('a channel that has shown one dealer’s stock can’t be attached to another dealer', async () => {
    const other = await world.dealer();
    const { integrationId, organizationId } = shop.dealer;
    await setOrganization(world.db, TESTER, integrationId, null);
    await assertRefused(
      setOrganization(world.db, TESTER, integrationId, other.organizationId),
      'wrong_status',
      'organization',
    );
    assert.equal(await setOrganization(world.db, TESTER, integrationId, organizationId), true);
  });
});
