import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { TESTER } from '../../../../../test/harness/actor.ts';
import type { ApiResponse } from '../../../../../test/harness/http/api-client.ts';
import { faultOf, openShop, type Shop } from '../../../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { runJobs } from '../../../../channel/jobs/run-jobs.ts';
import { DESCRIPTION_LENGTH_LIMIT, READ_IDS_LIMIT } from '../../../../contract/limits.ts';
import { WHOLE_PAGE_BYTES } from '../../../../db/large-pages.ts';
import { rawSql } from '../../../../db/sql.ts';
import { changePresentation } from '../../../../dealers/integrations/integration-settings.ts';
import { newId } from '../../../../ids/new-id.ts';
import { createItem, editItem, setHidden } from '../../../../inventory/items/item-operations.ts';
import { startPromotion } from '../../../../inventory/promotions.ts';
import { setPublished } from '../../../../inventory/publications.ts';
import { reserveUnits } from '../../../../inventory/units/movements.ts';
import { deleteItem } from '../../../../sales/delete-item.ts';
import { sellUnits } from '../../../../sales/sell.ts';

const HOUR_MS = 3_600_000;

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

type Row = { id: string; status: string };
const read = (shop: Shop, ids: string[], list = 'listings') => shop.api.get(`/v1/${list}?ids=${ids.join(',')}`);
const idsOf = ({ body }: ApiResponse) => body.data.map((row: Row) => row.id);

async function publishMany(shop: Shop, count: number, changes = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    ids.push(await createItem(world.channel, TESTER, shop.organizationId, watch(changes)));
  }
  await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, ids, true);
  return ids;
}

describe('a read by ids', () => {
  it('answers the list envelope in the order asked, each id once', async () => {
    const shop = await openShop(world);
    const [one = '', two = '', three = ''] = await publishMany(shop, 3);
    for (const asked of [
      [one, two, three],
      [three, one, two],
      [two, two, one, two],
    ]) {
      const answer = await read(shop, asked);
      assert.equal(answer.status, 200);
      const wanted = [...new Set(asked)];
      assert.deepEqual(idsOf(answer), wanted);
      const { data, ...envelope } = answer.body;
      assert.deepEqual(envelope, { object: 'list', has_more: false, next_cursor: null, missing: [] });
      for (const row of data) assert.deepEqual(row, (await shop.api.get(`/v1/listings/${row.id}`)).body);
    }
  });

  it('reads every status that a read by id can have', async () => {
    const shop = await openShop(world);
    const { organizationId, integrationId } = shop;
    const dealer = [world.channel, TESTER, organizationId] as const;
    const [active = '', reserved = '', sold = '', unpublished = ''] = await publishMany(shop, 4);
    await reserveUnits(...dealer, reserved, 1);
    await sellUnits(...dealer, sold, 1);
    await setPublished(...dealer, integrationId, [unpublished], false);
    const statuses = async (ids: string[], list: string) =>
      (await read(shop, ids, list)).body.data.map((row: Row) => row.status);
    const listings = [sold, active, unpublished, reserved];
    assert.deepEqual(await statuses(listings, 'listings'), ['sold', 'active', 'unpublished', 'reserved']);
    const spare = await publishNew(world, shop, part());
    const soldOut = await publishNew(world, shop, part({ units: 0 }));
    const hidden = await publishNew(world, shop, part());
    await setHidden(...dealer, [hidden], true);
    assert.deepEqual(await statuses([hidden, spare, soldOut], 'parts'), ['unpublished', 'active', 'sold_out']);
  });

  it('names what it cannot read in missing, alike for whatever reason', async () => {
    const [shop, other] = [await openShop(world), await openShop(world)];
    const dealer = [world.channel, TESTER, shop.organizationId] as const;
    const listing = await publishNew(world, shop, watch());
    const spare = await publishNew(world, shop, part());
    const deleted = await publishNew(world, shop, watch());
    await deleteItem(...dealer, deleted);
    const off = await publishNew(world, shop, part());
    await setPublished(...dealer, shop.integrationId, [off], false);
    const missing = [
      newId('listing'),
      'lst_nonsense',
      'x',
      '"',
      await publishNew(world, other, watch()),
      await createItem(...dealer, watch()),
      deleted,
      spare,
      listing.toUpperCase(),
    ];
    const answer = await read(shop, [...missing.slice(0, 4).map(encodeURIComponent), listing, ...missing.slice(4)]);
    assert.equal(answer.status, 200);
    assert.deepEqual([idsOf(answer), answer.body.missing], [[listing], missing]);
    const parts = await read(shop, [off, listing, spare, '%00'], 'parts');
    assert.deepEqual([idsOf(parts), parts.body.missing], [[spare], [off, listing, '\0']]);
    const none = await read(shop, ['x']);
    assert.deepEqual([none.status, none.body.data, none.body.missing], [200, [], ['x']]);
  });

  it('takes 1 to 250 ids, for one token', async () => {
    const shop = await openShop(world);
    const ids = await publishMany(shop, 3);
    const many = Array.from({ length: READ_IDS_LIMIT }, (_, index) => ids[index] ?? newId('listing'));
    const before = await read(shop, ids);
    const whole = await read(shop, many);
    assert.equal(whole.status, 200);
    assert.deepEqual([idsOf(whole), whole.body.missing], [ids, many.slice(3)]);
    const tokens = [before, whole].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    assert.equal((tokens[0] ?? 0) - (tokens[1] ?? 0), 1);
    // Escaped commas and blanks around an id are understood as well, and repetitions do not count.
    assert.deepEqual(idsOf(await shop.api.get(`/v1/listings?ids=${ids.join('%2C%20')},`)), ids);
    assert.deepEqual(idsOf(await read(shop, Array(400).fill(ids[0]))), [ids[0]]);
    const refused = { status: 400, code: 'invalid_request', param: 'ids' };
    for (const wrong of [[...many, newId('listing')], [''], [',', '%20']]) {
      assert.deepEqual(faultOf(await read(shop, wrong)), refused, wrong.join().slice(0, 20));
      assert.deepEqual(faultOf(await read(shop, wrong, 'parts')), refused);
    }
    assert.deepEqual(faultOf(await shop.api.get('/v1/listings?ids=a&ids=b')), refused);
  });

  it('is refused together with limit, after, updated_after or status', async () => {
    const shop = await openShop(world);
    const [first = ''] = await publishMany(shop, 2);
    const { next_cursor: cursor } = (await shop.api.get('/v1/listings?limit=1')).body;
    for (const other of [
      'limit=5',
      `after=${cursor}`,
      'after=x',
      'updated_after=2026-01-01',
      'status=any',
      'status=',
    ]) {
      for (const list of ['listings', 'parts']) {
        const answer = await shop.api.get(`/v1/${list}?ids=${first}&${other}`);
        assert.deepEqual(faultOf(answer), { status: 400, code: 'invalid_request', param: 'ids' }, other);
        assert.match(answer.body.error.message, new RegExp(other.split('=', 1)[0] ?? ''));
      }
    }
    assert.equal((await read(shop, [first])).status, 200);
  });

  it('needs a key', async () => {
    assert.equal(faultOf(await world.client(null).get('/v1/listings?ids=x')).code, 'missing_authorization');
  });

  it('is refused as a whole if one item cannot be priced', async () => {
    const shop = await openShop(world);
    const { organizationId, integrationId } = shop;
    const onRequest = await publishNew(world, shop, watch({ priceAmount: null }));
    const priced = await publishNew(world, shop, watch());
    const change = { currency: 'ZAR' } as const;
    await changePresentation(world.channel, TESTER, organizationId, integrationId, change, { isForced: true });
    await runJobs(world.channel, undefined, 0);
    for (const ids of [[priced], [onRequest, priced], ['x', priced]]) {
      const answer = await read(shop, ids);
      assert.deepEqual(faultOf(answer), { status: 500, code: 'query_failed' });
      assert.equal(answer.headers.etag, undefined);
    }
    assert.equal((await read(shop, [onRequest])).status, 200);
  });

  it('has an ETag that stands until one of them changes, and is right at once', async () => {
    const shop = await openShop(world);
    const [one = '', two = '', other = ''] = await publishMany(shop, 3);
    const path = `/v1/listings?ids=${one},${two},x`;
    const first = await shop.api.get(path);
    const etag = first.headers.etag ?? '';
    assert.match(etag, /^W\//);
    const edit = (id: string, title: string) => editItem(world.channel, TESTER, shop.organizationId, id, { title });
    await edit(other, 'Another');
    const kept = await shop.api.get(path, { 'if-none-match': etag });
    assert.deepEqual([kept.status, kept.text], [304, '']);
    assert.notEqual((await read(shop, [two, one, 'x'])).headers.etag, etag);
    for (let round = 0; round < 10; round++) {
      await edit(two, `Round ${round}`);
      const answer = await shop.api.get(path, { 'if-none-match': etag });
      assert.deepEqual([answer.status, answer.body.data[1].title], [200, `Round ${round}`]);
    }
    await deleteItem(world.channel, TESTER, shop.organizationId, two);
    assert.deepEqual((await shop.api.get(path)).body.missing, [two, 'x']);
    const head = await shop.api.send(path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  it('is compressed as the client wishes', async () => {
    const shop = await openShop(world);
    const ids = await publishMany(shop, 3);
    const plain = await read(shop, ids);
    const { body, headers } = await request(`${world.origin}/api/v1/listings?ids=${ids.join(',')}`, {
      headers: { authorization: `Bearer ${shop.apiKey}`, 'accept-encoding': 'br' },
    });
    assert.equal(headers['content-encoding'], 'br');
    assert.equal(brotliDecompressSync(Buffer.from(await body.arrayBuffer())).toString(), plain.text);
  });

  it('projects documents first whose promotion has ended, however many', async (t) => {
    const shop = await openShop(world);
    t.after(() => world.setTime(null));
    const ids = await publishMany(shop, 3);
    const now = Date.now();
    world.setTime(new Date(now));
    for (const id of ids) {
      await startPromotion(world.channel, TESTER, shop.organizationId, id, {
        priceAmount: 1_000_000,
        startsAt: new Date(now),
        endsAt: new Date(now + HOUR_MS),
      });
    }
    const amounts = async () =>
      (await read(shop, ids)).body.data.map(({ price }: { price: { amount: number } }) => price.amount);
    assert.deepEqual(await amounts(), [1_000_000, 1_000_000, 1_000_000]);
    world.setTime(new Date(now + HOUR_MS));
    assert.deepEqual(await amounts(), [1_299_000, 1_299_000, 1_299_000]);
  });

  it('of many bytes comes whole, in pieces, in the order asked', async () => {
    const shop = await openShop(world);
    const ids = (await publishMany(shop, 30, { description: '😀'.repeat(DESCRIPTION_LENGTH_LIMIT / 2) })).sort(
      (one, other) => one.slice(-5).localeCompare(other.slice(-5)),
    );
    const answer = await read(shop, ['x', ...ids]);
    assert.ok(Buffer.byteLength(answer.text) > WHOLE_PAGE_BYTES, `${answer.text.length} characters`);
    assert.deepEqual([idsOf(answer), answer.body.missing], [ids, ['x']]);
    const again = await shop.api.get(`/v1/listings?ids=x,${ids.join(',')}`, {
      'if-none-match': answer.headers.etag ?? '',
    });
    assert.equal(again.status, 304);
  });

  it('is kept: asked again, it reads nothing from the database', async () => {
    const shop = await openShop(world);
    const ids = await publishMany(shop, 2);
    const first = await read(shop, ids);
    await world.db.query(rawSql('alter table channel_documents rename to documents_away'));
    try {
      assert.equal((await read(shop, ids)).text, first.text);
      assert.equal((await shop.api.get(`/v1/listings?x=1&ids=${ids.join('%2C')}`)).text, first.text);
      assert.deepEqual(faultOf(await read(shop, [...ids].reverse())), { status: 500, code: 'query_failed' });
    } finally {
      await world.db.query(rawSql('alter table documents_away rename to channel_documents'));
    }
  });
});
