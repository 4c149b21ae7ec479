import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { part, publishNew, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { runJobs } from '../../../../channel/jobs/run-jobs.ts';
import { rawSql } from '../../../../db/sql.ts';
import { changePresentation } from '../../../../dealers/integrations/integration-settings.ts';
import { setRate } from '../../../../dealers/rates/exchange-rates.ts';
import { newId } from '../../../../ids/new-id.ts';
import { createItem, editItem, setHidden } from '../../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../../inventory/publications.ts';
import { reserveUnits } from '../../../../inventory/units/movements.ts';
import { deleteItem } from '../../../../sales/delete-item.ts';
import { sellUnits } from '../../../../sales/sell.ts';

describe('reading listings and parts', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('serves a published listing with every field, alike by id and in the list', async () => {
    const dealer = await world.dealer();
    const id = await publishNew(world, dealer, watch());
    const { status, body, headers } = await dealer.api.get(`/v1/listings/${id}`);
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(body.id, id);
    assert.equal(body.object, 'listing');
    assert.equal(body.status, 'active');
    assert.deepEqual(body.price, { amount: 1299000, amount_formatted: '$12,990.00', currency: 'USD' });
    assert.deepEqual(body.description_paragraphs, ['One.', 'Two.']);
    assert.equal(body.description, 'One.\n\nTwo.');
    assert.equal(body.watch.tax_treatment, 'vat_included');
    const list = await dealer.api.get('/v1/listings');
    assert.deepEqual(list.body, { object: 'list', data: [body], has_more: false, next_cursor: null });
  });

  it('serves a published part with its compatibility', async () => {
    const dealer = await world.dealer();
    const id = await publishNew(world, dealer, part());
    const { status, body } = await dealer.api.get(`/v1/parts/${id}`);
    assert.equal(status, 200);
    assert.equal(body.quantity, 5);
    assert.deepEqual(body.compatibility, part().attributes.compatibility);
    const list = await dealer.api.get('/v1/parts');
    assert.deepEqual(list.body.data, [body]);
  });

  it('keeps listings and parts apart', async () => {
    const dealer = await world.dealer();
    const listing = await publishNew(world, dealer, watch());
    const shown = await publishNew(world, dealer, part());
    const idsOf = async (path: string) =>
      (await dealer.api.get(path)).body.data.map((document: { id: string }) => document.id);
    assert.deepEqual(await idsOf('/v1/listings?status=any'), [listing]);
    assert.deepEqual(await idsOf('/v1/parts?status=any'), [shown]);
  });

  it('serves an empty list to a dealer who has published nothing', async () => {
    const dealer = await world.dealer();
    for (const path of ['/v1/listings', '/v1/parts', '/v1/events', '/v1/listings?updated_after=2020-01-01']) {
      const { body } = await dealer.api.get(path);
      assert.deepEqual(body, { object: 'list', data: [], has_more: false, next_cursor: null }, path);
    }
  });

  it('keeps a listing readable by id, with its status, when it is reserved, sold, hidden or taken off', async () => {
    const dealer = await world.dealer();
    const { organizationId, integrationId, api } = dealer;
    const id = await publishNew(world, dealer, watch());
    const statusNow = async () => (await api.get(`/v1/listings/${id}`)).body.status;
    await reserveUnits(world.channel, TESTER, organizationId, id, 1);
    assert.equal(await statusNow(), 'reserved');
    await editItem(world.channel, TESTER, organizationId, id, { units: 1 });
    assert.equal(await statusNow(), 'active');
    await sellUnits(world.channel, TESTER, organizationId, id, 1);
    assert.equal(await statusNow(), 'reserved');
    await setHidden(world.channel, TESTER, organizationId, [id], true);
    assert.equal(await statusNow(), 'unpublished');
    await setHidden(world.channel, TESTER, organizationId, [id], false);
    await setPublished(world.channel, TESTER, organizationId, integrationId, [id], false);
    assert.equal(await statusNow(), 'unpublished');
  });

  it('keeps a part readable while it is on the channel, sold out or hidden', async () => {
    const dealer = await world.dealer();
    const { organizationId, integrationId, api } = dealer;
    const id = await publishNew(world, dealer, part({ units: 1 }));
    await sellUnits(world.channel, TESTER, organizationId, id, 1);
    assert.equal((await api.get(`/v1/parts/${id}`)).body.status, 'sold_out');
    await setHidden(world.channel, TESTER, organizationId, [id], true);
    assert.equal((await api.get(`/v1/parts/${id}`)).body.status, 'unpublished');
    await setPublished(world.channel, TESTER, organizationId, integrationId, [id], false);
    const { status, body } = await api.get(`/v1/parts/${id}`);
    assert.deepEqual([status, body.error.code], [404, 'part_not_found']);
  });

  it('answers 404 alike for what is unknown, malformed, another dealer’s, never published, deleted or of the other kind', async () => {
    const [dealer, other] = [await world.dealer(), await world.dealer()];
    const deleted = await publishNew(world, dealer, watch());
    await deleteItem(world.channel, TESTER, dealer.organizationId, deleted);
    const ids = {
      unknown: newId('listing'),
      malformed: 'lst_nonsense',
      'another dealer’s': await publishNew(world, other, watch()),
      'never published': await createItem(world.channel, TESTER, dealer.organizationId, watch()),
      deleted,
      'a part’s': await publishNew(world, dealer, part()),
      percent: '%25',
      'with a NUL': '%00',
      'upper case': (await publishNew(world, dealer, watch())).toUpperCase(),
    };
    const messages = new Set<string>();
    for (const [what, id] of Object.entries(ids)) {
      const { status, body } = await dealer.api.get(`/v1/listings/${id}`);
      assert.deepEqual([status, body.error.code, body.error.type], [404, 'listing_not_found', 'not_found'], what);
      messages.add(body.error.message);
    }
    assert.equal(messages.size, 1);
    const listing = await publishNew(world, dealer, watch());
    for (const id of [listing, newId('part'), 'x']) {
      const { status, body } = await dealer.api.get(`/v1/parts/${id}`);
      assert.deepEqual([status, body.error.code], [404, 'part_not_found']);
    }
  });

  it('never serves another price where an exchange rate is missing: by id and on any page that it is on', async () => {
    const dealer = await world.dealer();
    const { organizationId, integrationId, api } = dealer;
    const onRequest = await publishNew(world, dealer, watch({ priceAmount: null }));
    const priced = await publishNew(world, dealer, watch());
    await changePresentation(
      world.channel,
      TESTER,
      organizationId,
      integrationId,
      { currency: 'ZAR' },
      { isForced: true },
    );
    await runJobs(world.channel, undefined, 0);
    for (const path of [`/v1/listings/${priced}`, '/v1/listings', '/v1/listings?limit=1', '/v1/listings?status=any']) {
      const { status, body, headers } = await api.get(path);
      assert.deepEqual([status, body.error.code, body.error.type], [500, 'query_failed', 'api_error'], path);
      assert.equal(headers.etag, undefined);
    }
    assert.equal((await api.get(`/v1/listings/${onRequest}`)).body.price, null);
    await setRate(world.channel, TESTER, 'ZAR', 'USD', '0.05');
    await runJobs(world.channel, undefined, 0);
    const { body } = await api.get('/v1/listings');
    assert.deepEqual(
      body.data.map(({ id, price }: { id: string; price: { amount: number } | null }) => [id, price?.amount]),
      [
        [priced, 25_980_000],
        [onRequest, undefined],
      ],
    );
  });

  it('fails with query_failed when the database does', async () => {
    const dealer = await world.dealer();
    const id = await publishNew(world, dealer, watch());
    await world.db.query(rawSql('alter table channel_documents rename to documents_on_fire'));
    try {
      for (const path of [`/v1/listings/${id}`, '/v1/listings']) {
        const { status, body, text } = await dealer.api.get(path);
        assert.deepEqual([status, body.error.code], [500, 'query_failed']);
        assert.doesNotMatch(text, /fire|channel_documents/);
      }
    } finally {
      await world.db.query(rawSql('alter table documents_on_fire rename to channel_documents'));
    }
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).status, 200);
  });
});
