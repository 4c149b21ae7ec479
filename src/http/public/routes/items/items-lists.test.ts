import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import type { ApiClient } from '../../../../../test/harness/http/api-client.ts';
import { part, publishNew, watch } from '../../../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../../../test/harness/world.ts';
import { createItem, editItem, setHidden } from '../../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../../inventory/publications.ts';
import { reserveUnits } from '../../../../inventory/units/movements.ts';
import { sellUnits } from '../../../../sales/sell.ts';

type Row = { id: string; status: string; updated_at: string };

describe('lists of listings and parts', () => {
  let world: World;
  /** Seven active listings, of which five came in one commit and tie; and one of each other status. */
  let dealer: Dealer;
  let api: ApiClient;
  const ids: Record<string, string> = {};
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    api = dealer.api;
    const { organizationId, integrationId } = dealer;
    const tied: string[] = [];
    for (let index = 0; index < 5; index++) tied.push(await createItem(world.channel, TESTER, organizationId, watch()));
    await setPublished(world.channel, TESTER, organizationId, integrationId, tied, true);
    ids.active = await publishNew(world, dealer, watch());
    ids.newest = await publishNew(world, dealer, watch());
    ids.reserved = await publishNew(world, dealer, watch());
    await reserveUnits(world.channel, TESTER, organizationId, ids.reserved, 1);
    ids.sold = await publishNew(world, dealer, watch());
    await sellUnits(world.channel, TESTER, organizationId, ids.sold, 1);
    ids.unpublished = await publishNew(world, dealer, watch());
    await setPublished(world.channel, TESTER, organizationId, integrationId, [ids.unpublished], false);
    ids.part = await publishNew(world, dealer, part());
    ids.soldOut = await publishNew(world, dealer, part({ units: 0 }));
    ids.hiddenPart = await publishNew(world, dealer, part());
    await setHidden(world.channel, TESTER, organizationId, [ids.hiddenPart], true);
  });
  after(() => world.stop());

  const rowsOf = async (path: string): Promise<Row[]> => {
    const { status, body } = await api.get(path);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data;
  };
  async function pages(path: string): Promise<Row[][]> {
    const found: Row[][] = [];
    let after = '';
    for (;;) {
      const { body } = await api.get(`${path}${after}`);
      found.push(body.data);
      assert.equal(body.has_more, body.next_cursor !== null);
      if (body.next_cursor === null) return found;
      after = `&after=${body.next_cursor}`;
    }
  }
  async function assertInvalid(path: string, param: string, code = 'invalid_request'): Promise<void> {
    const { status, body } = await api.get(path);
    assert.deepEqual([status, body.error?.code, body.error?.param], [400, code, param], path);
  }

  it('are ordered by updated_at, then id, descending', async () => {
    const rows = await rowsOf('/v1/listings?status=any&limit=250');
    assert.equal(rows.length, 10);
    const sorted = rows.toSorted((one, other) =>
      one.updated_at === other.updated_at ? (one.id < other.id ? 1 : -1) : one.updated_at < other.updated_at ? 1 : -1,
    );
    assert.deepEqual(rows, sorted);
    assert.ok(new Set(rows.map((row) => row.updated_at)).size < rows.length, 'some tie');
  });

  for (const limit of [1, 2, 3, 4, 5, 7, 10, 11, 250]) {
    it(`page by ${limit} without a gap, a repetition or an empty last page`, async () => {
      const whole = await rowsOf('/v1/listings?status=any&limit=250');
      const found = await pages(`/v1/listings?status=any&limit=${limit}`);
      assert.deepEqual(found.flat(), whole);
      assert.equal(found.length, Math.ceil(whole.length / limit));
      assert.ok(found.every((page) => page.length <= limit));
    });
  }

  it('hold 50 unless limit says otherwise', async () => {
    const other = await world.dealer();
    const many = [];
    for (let index = 0; index < 53; index++)
      many.push(await createItem(world.channel, TESTER, other.organizationId, watch()));
    await setPublished(world.channel, TESTER, other.organizationId, other.integrationId, many, true);
    const { body } = await other.api.get('/v1/listings');
    assert.equal(body.data.length, 50);
    assert.equal(body.has_more, true);
    const { body: rest } = await other.api.get(`/v1/listings?after=${body.next_cursor}`);
    assert.equal(rest.data.length, 3);
    assert.equal(rest.has_more, false);
  });

  it('take a limit from 1 to 250, and refuse all else', async () => {
    for (const limit of ['0', '-1', '251', '1000000', 'abc', '1.5', '', '0x10', '1e1', 'Infinity', '1,2']) {
      for (const list of ['listings', 'parts', 'events']) await assertInvalid(`/v1/${list}?limit=${limit}`, 'limit');
    }
    for (const limit of ['1', '250']) assert.equal((await api.get(`/v1/listings?limit=${limit}`)).status, 200);
    await assertInvalid('/v1/listings?limit=1&limit=2', 'limit');
  });

  describe('after', () => {
    it('that was altered, made by hand, or is of another list or dealer, is an invalid cursor', async () => {
      const { body } = await api.get('/v1/listings?limit=2');
      const cursor: string = body.next_cursor;
      const other = await world.dealer();
      await publishNew(world, other, watch());
      await publishNew(world, other, watch());
      const foreign = (await other.api.get('/v1/listings?limit=1')).body.next_cursor;
      const bad = ['', 'abc', `${cursor}A`, cursor.slice(1), `${cursor}%3D`, `${cursor}%20`, '%00', foreign];
      for (const after of bad) await assertInvalid(`/v1/listings?after=${after}`, 'after', 'invalid_cursor');
      await assertInvalid(`/v1/parts?after=${cursor}`, 'after', 'invalid_cursor');
      await assertInvalid(`/v1/events?after=${cursor}`, 'after', 'invalid_cursor');
    });
    it('carries updated_after and status on, which may be sent again if they are the same', async () => {
      const [oldest = { updated_at: '' }] = (await rowsOf('/v1/listings?status=any&limit=250')).slice(-1);
      const since = `updated_after=${oldest.updated_at}`;
      const { body } = await api.get(`/v1/listings?${since}&status=active,reserved&limit=1`);
      const cursor = `after=${body.next_cursor}&limit=250`;
      const carried = await rowsOf(`/v1/listings?${cursor}`);
      assert.deepEqual(new Set(carried.map((row) => row.status)), new Set(['active']));
      assert.ok(carried.every((row) => row.updated_at > oldest.updated_at));
      const shifted = new Date(oldest.updated_at).toISOString().replace('Z', '%2B00:00');
      for (const same of [since, 'status=active,reserved', 'status=reserved,active', `updated_after=${shifted}`]) {
        assert.deepEqual(await rowsOf(`/v1/listings?${cursor}&${same}`), carried, same);
      }
      await assertInvalid(`/v1/listings?${cursor}&status=active`, 'status');
      await assertInvalid(`/v1/listings?${cursor}&status=any`, 'status');
      await assertInvalid(`/v1/listings?${cursor}&updated_after=2020-01-01`, 'updated_after');
    });
    it('of a list without filters refuses filters that were not there', async () => {
      const { body } = await api.get('/v1/listings?limit=1');
      await assertInvalid(`/v1/listings?after=${body.next_cursor}&updated_after=2020-01-01`, 'updated_after');
      await assertInvalid(`/v1/listings?after=${body.next_cursor}&status=sold`, 'status');
    });
    it('may come with another limit', async () => {
      const whole = await rowsOf('/v1/listings?limit=250');
      const { body } = await api.get('/v1/listings?limit=1');
      assert.deepEqual(await rowsOf(`/v1/listings?limit=3&after=${body.next_cursor}`), whole.slice(1, 4));
    });
    it('stays good when its row moves on or goes', async () => {
      const other = await world.dealer();
      const listed: string[] = [];
      for (let index = 0; index < 4; index++) listed.push(await publishNew(world, other, watch()));
      const [first, , third, fourth] = listed as [string, string, string, string];
      const { body } = await other.api.get('/v1/listings?limit=2');
      await editItem(world.channel, TESTER, other.organizationId, third, { title: 'To the top' });
      await setPublished(world.channel, TESTER, other.organizationId, other.integrationId, [fourth], false);
      const { body: rest } = await other.api.get(`/v1/listings?limit=5&after=${body.next_cursor}`);
      assert.deepEqual(
        rest.data.map((row: Row) => row.id),
        [listed[1], first],
      );
    });
  });

  describe('status', () => {
    const idsOf = (rows: Row[]) => rows.map((row) => row.id).sort();
    const wanted = (...names: string[]) => names.map((name) => String(ids[name])).sort();

    it('unless it is given, is what can be sold now', async () => {
      const rows = await rowsOf('/v1/listings');
      assert.equal(rows.length, 7);
      assert.ok(rows.every((row) => row.status === 'active'));
      assert.deepEqual(idsOf(await rowsOf('/v1/parts')), wanted('part'));
    });
    it('with updated_after is every one, or the client could not learn what was sold', async () => {
      assert.equal((await rowsOf('/v1/listings?updated_after=2020-01-01')).length, 10);
      assert.deepEqual(
        idsOf(await rowsOf('/v1/parts?updated_after=2020-01-01')),
        wanted('part', 'soldOut', 'hiddenPart'),
      );
      const rows = await rowsOf('/v1/listings?updated_after=2020-01-01&status=active');
      assert.equal(rows.length, 7);
    });
    it('takes any, single ones and lists', async () => {
      assert.equal((await rowsOf('/v1/listings?status=any')).length, 10);
      assert.deepEqual(idsOf(await rowsOf('/v1/listings?status=sold')), wanted('sold'));
      assert.deepEqual(idsOf(await rowsOf('/v1/listings?status=sold,%20reserved')), wanted('sold', 'reserved'));
      assert.deepEqual(idsOf(await rowsOf('/v1/listings?status=unpublished')), wanted('unpublished'));
      assert.deepEqual(idsOf(await rowsOf('/v1/parts?status=sold_out,unpublished')), wanted('soldOut', 'hiddenPart'));
    });
    it('refuses what is none', async () => {
      for (const status of ['', 'nonsense', 'active,nonsense', 'active,', 'ACTIVE', 'any,active', 'sold_out']) {
        await assertInvalid(`/v1/listings?status=${status}`, 'status');
      }
      await assertInvalid('/v1/parts?status=sold', 'status');
    });
  });

  describe('updated_after', () => {
    it('keeps rows that are later, and not the one it names', async () => {
      const rows = await rowsOf('/v1/listings?status=any&limit=250');
      for (const [index, row] of rows.entries()) {
        const later = await rowsOf(`/v1/listings?updated_after=${row.updated_at}&limit=250`);
        assert.deepEqual(
          later,
          rows.slice(0, index).filter((other) => other.updated_at > row.updated_at),
        );
      }
    });
    it('takes any offset, a "+" that became a blank, fewer and more digits, and a plain date', async () => {
      const [first] = await rowsOf('/v1/listings?status=any&limit=1');
      const at = new Date(String(first?.updated_at));
      const shifted = (hours: number, minutes = 0) =>
        new Date(at.getTime() + (hours * 60 + minutes) * 60_000).toISOString().slice(0, -1);
      const exact = [
        at.toISOString(),
        at.toISOString().toLowerCase(),
        `${shifted(0)}`,
        `${shifted(0)}999Z`,
        `${shifted(2)}%2B02:00`,
        `${shifted(2)}+02:00`,
        `${shifted(2)}+0200`,
        `${shifted(2)}+02`,
        `${shifted(2)}%2B02`,
        `${shifted(-3, -30)}-03:30`,
        `${shifted(-3, -30)}-0330`,
        `${shifted(14)}%2B14:00`,
        at.toISOString().replace('T', '%20'),
        at.toISOString().replace('.', ','),
      ];
      for (const text of exact) {
        assert.deepEqual(await rowsOf(`/v1/listings?updated_after=${text}`), [], text);
      }
      const before = new Date(at.getTime() - 1).toISOString();
      assert.equal((await rowsOf(`/v1/listings?updated_after=${before}`)).length, 1);
      for (const text of ['2020-01-01', '2020-01-01T00:00Z', '2020-02-29', '0001-01-01', '1970-01-01T24:00:00Z']) {
        assert.equal((await rowsOf(`/v1/listings?updated_after=${text}`)).length, 10, text);
      }
      assert.deepEqual(await rowsOf('/v1/listings?updated_after=9999-12-31T23:59:59Z'), []);
    });
    it('refuses what is no time', async () => {
      const bad = [
        '',
        'yesterday',
        '1778230800',
        '2026-02-30',
        '2025-02-29',
        '2026-02-30T00:00:00Z',
        '2026-13-01',
        '2026-00-10',
        '2026-05-08T25:00:00Z',
        '2026-05-08T09:60:00Z',
        '2026-05-08T09:00:00%2B25:00',
        '2026-5-8',
        '08.05.2026',
        '2026-05-08T09',
        '2026-05-08TZ',
        'null',
        '%00',
        '2026-05-08T09:00:00Z%00',
        '2026-05-08,2026-05-09',
      ];
      for (const text of bad) {
        await assertInvalid(`/v1/listings?updated_after=${text}`, 'updated_after');
        await assertInvalid(`/v1/events?created_after=${text}`, 'created_after');
      }
    });
  });

  it('ignore parameters that nobody knows', async () => {
    assert.equal((await rowsOf('/v1/listings?colour=red&created_after=nonsense')).length, 7);
  });
});
