import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { publishNew, watch } from '../../../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';
import { createItem, editItem } from '../../../../inventory/items/item-operations.ts';
import { changePromotion, endPromotion, startPromotion } from '../../../../inventory/promotions.ts';
import { setPublished } from '../../../../inventory/publications.ts';
import { deleteItem } from '../../../../sales/delete-item.ts';

const HOUR_MS = 3_600_000;

describe('answers to reads', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
    world.setTime(null);
  });

  const edit = (id: string, title: string) => editItem(world.channel, TESTER, dealer.organizationId, id, { title });

  describe('have an ETag', () => {
    it('that stands while nothing changes, and answers 304 without a body', async () => {
      const id = await publishNew(world, dealer, watch());
      for (const path of [`/v1/listings/${id}`, '/v1/listings', '/v1/parts', '/v1/events']) {
        const first = await dealer.api.get(path);
        assert.match(first.headers.etag ?? '', /^W\/"[\w-]+"$/);
        assert.equal(first.headers.vary, 'Accept-Encoding');
        assert.equal(first.headers['cache-control'], 'private, no-cache');
        const again = await dealer.api.get(path);
        assert.equal(again.headers.etag, first.headers.etag);
        const etag = first.headers.etag ?? '';
        for (const sent of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
          const kept = await dealer.api.get(path, { 'if-none-match': sent });
          assert.deepEqual([kept.status, kept.text, kept.headers.etag], [304, '', etag], sent);
          assert.ok(kept.headers['x-ratelimit-remaining'], 'counted like any other');
          assert.equal(kept.headers.vary, 'Accept-Encoding');
        }
        const other = await dealer.api.get(path, { 'if-none-match': '"other"' });
        assert.equal(other.status, 200);
      }
    });

    it('that changes with the document and the lists it is on, and with nothing else', async () => {
      const [id, neighbour] = [await publishNew(world, dealer, watch()), await publishNew(world, dealer, watch())];
      const tagOf = async (path: string) => (await dealer.api.get(path)).headers.etag ?? '';
      const [one, other, list, partList] = [
        await tagOf(`/v1/listings/${id}`),
        await tagOf(`/v1/listings/${neighbour}`),
        await tagOf('/v1/listings'),
        await tagOf('/v1/parts'),
      ];
      await edit(id, 'Changed');
      const statusFor = async (path: string, etag: string) =>
        (await dealer.api.get(path, { 'if-none-match': etag })).status;
      assert.equal(await statusFor(`/v1/listings/${id}`, one), 200);
      assert.equal(await statusFor('/v1/listings', list), 200);
      assert.equal(await statusFor(`/v1/listings/${neighbour}`, other), 304);
      assert.equal(await statusFor('/v1/parts', partList), 304);
      const changed = await tagOf(`/v1/listings/${id}`);
      await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [id], false);
      assert.equal(await statusFor(`/v1/listings/${id}`, changed), 200);
      await deleteItem(world.channel, TESTER, dealer.organizationId, id);
      assert.equal(await statusFor(`/v1/listings/${id}`, '*'), 404);
    });

    it('that differs between dealers and between URLs, though the cache is one', async () => {
      const other = await world.dealer();
      const id = await publishNew(world, dealer, watch());
      await publishNew(world, other, watch());
      const mine = await dealer.api.get('/v1/listings');
      const theirs = await other.api.get('/v1/listings');
      assert.notEqual(mine.headers.etag, theirs.headers.etag);
      assert.equal(mine.body.data[0].id, id);
      assert.equal((await other.api.get(`/v1/listings/${id}`)).status, 404);
    });
  });

  it('are right at once after a change, whatever was cached', async () => {
    const id = await publishNew(world, dealer, watch());
    for (let round = 0; round < 20; round++) {
      await edit(id, `Round ${round}`);
      const [one, list] = await Promise.all([dealer.api.get(`/v1/listings/${id}`), dealer.api.get('/v1/listings')]);
      assert.equal(one.body.title, `Round ${round}`);
      assert.equal(list.body.data[0].title, `Round ${round}`);
    }
  });

  it('to HEAD are those to GET without the body', async () => {
    const id = await publishNew(world, dealer, watch());
    for (const path of [`/v1/listings/${id}`, '/v1/listings', '/v1/parts', '/v1/events', '/v1/listings/unknown']) {
      const get = await dealer.api.get(path);
      const head = await dealer.api.send(path, { method: 'HEAD' });
      assert.deepEqual([head.status, head.text], [get.status, ''], path);
      for (const name of ['etag', 'content-type', 'content-length', 'x-api-version', 'vary']) {
        assert.equal(head.headers[name], get.headers[name], `${path} ${name}`);
      }
    }
    const { headers } = await dealer.api.get('/v1/listings');
    const head = await dealer.api.send('/v1/listings', {
      method: 'HEAD',
      headers: { 'if-none-match': headers.etag ?? '' },
    });
    assert.equal(head.status, 304);
  });

  describe('are compressed', () => {
    async function raw(path: string, acceptEncoding: string | null) {
      const response = await request(`${world.origin}/api${path}`, {
        headers: {
          authorization: `Bearer ${dealer.apiKey}`,
          ...(acceptEncoding === null ? {} : { 'accept-encoding': acceptEncoding }),
        },
      });
      const bytes = Buffer.from(await response.body.arrayBuffer());
      const { 'content-encoding': encoding = null, 'content-length': length, vary, etag } = response.headers;
      assert.equal(Number(length), bytes.length);
      assert.equal(vary, 'Accept-Encoding');
      return { encoding, bytes, etag };
    }
    const rows: [string | null, string | null][] = [
      [null, null],
      ['identity', null],
      ['gzip', 'gzip'],
      ['GZIP', 'gzip'],
      ['br', 'br'],
      ['gzip, deflate, br', 'br'],
      ['gzip, deflate', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['br; q=0.0, gzip;q=0', null],
      ['br;q=0.5, gzip', 'br'],
      ['deflate', null],
      ['*', null],
      ['', null],
    ];
    it('as the client takes it, with one ETag for all, cold and warm', async () => {
      const id = await publishNew(world, dealer, watch({ description: 'Très beau. '.repeat(300) }));
      const path = `/v1/listings/${id}`;
      const plain = (await dealer.api.get(path)).text;
      for (const [accepted, expected] of [...rows, ...rows]) {
        const { encoding, bytes, etag } = await raw(path, accepted);
        assert.equal(encoding, expected, String(accepted));
        const decoded =
          expected === 'br' ? brotliDecompressSync(bytes) : expected === 'gzip' ? gunzipSync(bytes) : bytes;
        assert.equal(decoded.toString(), plain);
        if (expected !== null) assert.ok(bytes.length < plain.length / 2);
        assert.equal(etag, (await dealer.api.get(path)).headers.etag);
      }
    });
    it('also where many of them are events', async () => {
      for (let index = 0; index < 10; index++) await publishNew(world, dealer, watch());
      const plain = (await dealer.api.get('/v1/events')).text;
      const [gzip, br] = [await raw('/v1/events', 'gzip'), await raw('/v1/events', 'gzip, br')];
      assert.deepEqual([gzip.encoding, gunzipSync(gzip.bytes).toString()], ['gzip', plain]);
      assert.deepEqual([br.encoding, brotliDecompressSync(br.bytes).toString()], ['br', plain]);
    });
    it('unless they are small', async () => {
      const { encoding, bytes } = await raw('/v1/listings', 'gzip, br');
      assert.deepEqual([encoding, JSON.parse(bytes.toString()).data], [null, []]);
    });
    it('at once for many clients, and right for all', async () => {
      const id = await publishNew(world, dealer, watch({ description: 'Très beau. '.repeat(300) }));
      const plain = (await dealer.api.get(`/v1/listings/${id}`)).text;
      const answers = await Promise.all(Array.from({ length: 20 }, () => raw(`/v1/listings/${id}`, 'br')));
      for (const { bytes } of answers) assert.equal(brotliDecompressSync(bytes).toString(), plain);
    });
  });

  describe('never show a promotion that has ended', () => {
    const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
    const promote = (id: string, startsAt: Date, endsAt: Date | null) =>
      startPromotion(world.channel, TESTER, dealer.organizationId, id, { priceAmount: 1_000, startsAt, endsAt });
    const read = async (id: string) => {
      const [one, list] = [await dealer.api.get(`/v1/listings/${id}`), await dealer.api.get('/v1/listings')];
      const inList = list.body.data.find((document: { id: string }) => document.id === id);
      assert.deepEqual(inList, one.body);
      return { amount: one.body.price.amount, promotion: one.body.promotion, etag: one.headers.etag ?? '' };
    };

    it('not from the cache, not by a 304, and not a millisecond too long', async () => {
      const id = await publishNew(world, dealer, watch());
      const ends = at(1);
      await promote(id, at(-1), ends);
      const running = await read(id);
      assert.equal(running.amount, 1_000);
      world.setTime(new Date(ends.getTime() - 1));
      assert.deepEqual(await read(id), running);
      world.setTime(ends);
      const { status, body } = await dealer.api.get(`/v1/listings/${id}`, { 'if-none-match': running.etag });
      assert.deepEqual([status, body?.price.amount, body?.promotion], [200, 1_299_000, null]);
      const ended = await read(id);
      assert.notEqual(ended.etag, running.etag);
      world.setTime(at(1000));
      assert.deepEqual(await read(id), ended);
    });

    it('not in a page that met it first', async () => {
      const id = await publishNew(world, dealer, watch());
      const ends = at(1);
      await promote(id, at(-1), ends);
      const list = await dealer.api.get('/v1/listings');
      world.setTime(ends);
      const after = await dealer.api.get('/v1/listings', { 'if-none-match': list.headers.etag ?? '' });
      assert.equal(after.status, 200);
      assert.equal(after.body.data[0].promotion, null);
      const { body } = await dealer.api.get('/v1/events?limit=1');
      assert.deepEqual([body.data[0].type, body.data[0].data.object.id], ['listing.updated', id]);
      assert.equal(body.data[0].created_at, after.body.data[0].updated_at);
    });

    it('and show one from its first millisecond', async () => {
      const id = await publishNew(world, dealer, watch());
      const starts = at(1);
      await promote(id, starts, null);
      assert.equal((await read(id)).amount, 1_299_000);
      world.setTime(new Date(starts.getTime() - 1));
      assert.equal((await read(id)).amount, 1_299_000);
      world.setTime(starts);
      assert.equal((await read(id)).amount, 1_000);
    });

    it('also when its time is changed after it was cached', async () => {
      const id = await publishNew(world, dealer, watch());
      const promotionId = await promote(id, at(5), at(10));
      await read(id);
      await changePromotion(world.channel, TESTER, dealer.organizationId, promotionId, {
        priceAmount: 2_000,
        startsAt: at(2),
        endsAt: at(3),
      });
      await read(id);
      world.setTime(at(2.5));
      assert.equal((await read(id)).amount, 2_000);
      world.setTime(at(3.5));
      assert.equal((await read(id)).amount, 1_299_000);
      world.setTime(null);
      await endPromotion(world.channel, TESTER, dealer.organizationId, promotionId);
      assert.equal((await read(id)).amount, 1_299_000);
    });

    it('on any page, when those of the whole stock end at once', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 330; index++) {
        ids.push(await createItem(world.channel, TESTER, dealer.organizationId, watch()));
      }
      const ends = at(1);
      await world.db.query(sql`
        insert into promotions (id, item_id, organization_id, price_amount, starts_at, ends_at)
        select 'prm_' || substr(id, 5), id, organization_id, 1000, now() - interval '1 hour', ${ends}
        from items where organization_id = ${dealer.organizationId}`);
      await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, ids, true);
      const first = await dealer.api.get('/v1/listings?limit=10');
      assert.equal(first.body.data[0].price.amount, 1_000);
      world.setTime(ends);
      // The rest of the list as it was has moved to the top: nothing is left behind the cursor.
      const [rest, ...tops] = await Promise.all([
        dealer.api.get(`/v1/listings?limit=10&after=${first.body.next_cursor}`),
        dealer.api.get('/v1/listings?limit=250'),
        dealer.api.get('/v1/listings?limit=40'),
      ]);
      assert.deepEqual([rest?.status, rest?.body.data, rest?.body.has_more], [200, [], false]);
      for (const top of tops) {
        assert.equal(top.status, 200);
        for (const { promotion } of top.body.data) assert.equal(promotion, null);
      }
      const types = (await dealer.api.get('/v1/events?limit=250&type=listing.updated')).body.data;
      assert.equal(types.length, 250);
    });
  });
});
