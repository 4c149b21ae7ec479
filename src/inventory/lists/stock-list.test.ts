import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { part, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { STOCK_SORTS } from '../../contract/dashboard/stock/stock.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { createItem, editItem, setHidden } from '../items/item-operations.ts';
import { startPromotion } from '../promotions.ts';
import { setPublished } from '../publications.ts';
import { reserveUnits } from '../units/movements.ts';
import {
  countStock,
  findStockIds,
  listBrands,
  listStock,
  type StockFilter,
  type StockPage,
  type StockRow,
} from './stock-list.ts';
import { summarizeItems } from './stock-summary.ts';

describe('the list of stock', () => {
  let world: World;
  let dealer: Dealer;
  let other: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    other = await world.dealer();
  });
  after(() => world.stop());

  const filterOf = (filter: Partial<StockFilter>): StockFilter => ({
    organizationId: dealer.organizationId,
    kind: 'listing',
    ...filter,
  });
  const list = (page: Partial<StockPage>) =>
    listStock(world.db, { ...filterOf(page), sort: '-created', from: null, limit: 50, ...page }, null);
  const idsOf = (rows: StockRow[]) => rows.map((row) => row.id);
  const find = async (search: string) => idsOf(await list({ search }));

  it('finds an item by any words of its number, title, brand, model and reference, whatever their case and accents', async () => {
    const item = watch({ stockNumber: 'ÉB-77/1042', title: 'Grönefeld 1941 Remontoire' });
    const id = await createItem(world.channel, TESTER, dealer.organizationId, {
      ...item,
      attributes: { ...item.attributes, brand: 'Grönefeld', model: 'Remontoire', reference_number: 'GRO.41-A' },
    });
    await createItem(world.channel, TESTER, other.organizationId, watch({ title: 'Grönefeld of another dealer' }));
    for (const search of [
      'grone',
      'GRÖNEFELD',
      '1042',
      'eb771042',
      'remont 1941',
      'gro41a',
      'GRO.41-A',
      'ÉB-77/1042',
    ]) {
      assert.deepEqual(await find(search), [id], search);
    }
    for (const search of ['gronefeld rolex', 'onefeld', '---', "' | 'rolex", 'x:*']) {
      assert.deepEqual(await find(search), [], search);
    }
  });

  it('finds an item by its new words after an edit, and no more by the old', async () => {
    const id = await createItem(world.channel, TESTER, dealer.organizationId, watch({ title: 'Zenith Defy' }));
    await editItem(world.channel, TESTER, dealer.organizationId, id, { title: 'Zenith Elprimero' });
    assert.deepEqual(await find('elprimero'), [id]);
    assert.deepEqual(await find('defy'), []);
  });

  it('filters by status, channel, hidden items, missing facts, brand and price', async () => {
    const { organizationId, integrationId } = dealer;
    const item = watch();
    const unique = { ...item.attributes, brand: 'Filterbrand' };
    const make = (changes: Parameters<typeof watch>[0]) =>
      createItem(world.channel, TESTER, organizationId, watch({ attributes: unique, ...changes }));
    const free = await make({ priceAmount: 100 });
    const held = await make({ priceAmount: 200 });
    const sold = await make({ priceAmount: 300, units: 0 });
    const bare = await make({ priceAmount: null, description: '' });
    await reserveUnits(world.channel, TESTER, organizationId, held, 1);
    await setPublished(world.channel, TESTER, organizationId, integrationId, [free, held], true);
    await setPublished(world.channel, TESTER, organizationId, integrationId, [held], false);
    await setHidden(world.channel, TESTER, organizationId, [held], true);
    const found = async (filter: Partial<StockFilter>) => idsOf(await list({ brand: 'Filterbrand', ...filter })).sort();
    assert.deepEqual(await found({ status: 'in_stock' }), [free, bare].sort());
    assert.deepEqual(await found({ status: 'reserved' }), [held]);
    assert.deepEqual(await found({ status: 'sold' }), [sold]);
    assert.deepEqual(await found({ integrationId }), [free]);
    assert.deepEqual(await found({ isOnNoChannel: true }), [held, sold, bare].sort());
    assert.deepEqual(await found({ isHidden: true }), [held]);
    assert.deepEqual(await found({ priceFrom: 150, priceTo: 300 }), [held, sold].sort());
    assert.deepEqual(await found({ needsWork: true, status: 'sold' }), [sold]);
    const [row] = (await list({ brand: 'Filterbrand' })).filter((one) => one.id === bare);
    assert.deepEqual(row?.missing, ['photos', 'price', 'description']);
    assert.deepEqual(await countStock(world.db, filterOf({ brand: 'Filterbrand' })), { value: 4, isCapped: false });
    const ids = await findStockIds(world.db, filterOf({ brand: 'Filterbrand' }), { after: '', limit: 3 });
    assert.deepEqual(ids, [free, held, sold, bare].sort().slice(0, 3));
  });

  it('shows what the site reads on each channel, and the running promotion', async () => {
    const { organizationId, integrationId } = dealer;
    const id = await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: 'ONE-CHANNEL' }));
    await setPublished(world.channel, TESTER, organizationId, integrationId, [id], true);
    await startPromotion(world.channel, TESTER, organizationId, id, {
      priceAmount: 999_000,
      startsAt: new Date(Date.now() - 60_000),
      endsAt: null,
    });
    const [row] = await list({ search: 'onechannel' });
    assert.equal(row?.priceAmount, 1_299_000);
    assert.equal(row?.promotionAmount, 999_000);
    assert.equal(row?.channels.length, 1);
    assert.equal(row?.channels[0]?.price?.amount, 999_000);
    assert.equal(row?.channels[0]?.isOn, true);
  });

  it('shows the price of a site whatever stands before it in the document, and none where the price is on request', async () => {
    const disguised = `{"price":{"amount":1},"price":null} \\"price":{"amount":2}${'\u0001'.repeat(440)}`;
    const numbers = ['long', 'on request', 'another form'].map((name) => `"price":{"amount":3} ${name}`);
    const [long = '', onRequest = '', another = ''] = await Promise.all(
      numbers.map((stockNumber, index) =>
        createItem(world.channel, TESTER, dealer.organizationId, {
          ...watch({ stockNumber, title: disguised }),
          priceAmount: index === 1 ? null : 4_200_000,
        }),
      ),
    );
    const ids = [long, onRequest, another];
    await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, ids, true);
    // Another version of the API may write a document in another order.
    await world.db.query(sql`
      update channel_documents set document = '{"description":"' || repeat('x', 10000) || '","price":{"amount":7,"currency":"EUR"}}'
      where item_id = ${another}`);
    const shown = new Map((await list({})).map(({ id, channels }) => [id, channels[0]?.price]));
    assert.equal(shown.get(long)?.amount, 4_200_000);
    assert.equal(shown.get(onRequest), null);
    assert.deepEqual(shown.get(another), { amount: 7, currency: 'EUR' });
  });

  it('is a full page also when one of its items is deleted while it is read', async () => {
    const { organizationId } = await world.dealer();
    const ids: string[] = [];
    for (let index = 0; index < 4; index++) {
      ids.unshift(await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: `D-${index}` })));
    }
    let isDeleted = false;
    const db: Queryable = {
      async query(...args) {
        const rows = await world.db.query(...args);
        if (!isDeleted) await world.db.query(sql`delete from items where id = ${ids[0]}`);
        isDeleted = true;
        return rows as never;
      },
    };
    const page = { organizationId, kind: 'listing', sort: '-created', from: null, limit: 3 } as const;
    assert.deepEqual(idsOf(await listStock(db, page, null)), ids.slice(1));
  });

  it('reads every item once over its pages, in every order, also where values tie or are missing', async () => {
    const { organizationId } = other;
    for (let index = 0; index < 17; index++) {
      await createItem(
        world.channel,
        TESTER,
        organizationId,
        part({ title: `Crown ${index % 3}`, priceAmount: index % 4 === 0 ? null : (index % 5) * 100 }),
      );
    }
    const filter = { organizationId, kind: 'part' as const };
    const { value: total } = await countStock(world.db, filter);
    for (const sort of STOCK_SORTS) {
      const read = (from: StockPage['from']) => listStock(world.db, { ...filter, sort, from, limit: 4 }, null);
      const positionOf = (row: StockRow) => ({ value: row.sortValue, id: row.id });
      const seen: string[] = [];
      let rows = await read(null);
      for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
        seen.push(...idsOf(rows));
        const next = await read({ position: positionOf(last), isBackwards: false });
        const [first] = next;
        if (first !== undefined) {
          const back = await read({ position: positionOf(first), isBackwards: true });
          assert.deepEqual(idsOf(back), idsOf(rows), `${sort}: the page before is the one that was read before`);
        }
        rows = next;
      }
      assert.equal(seen.length, total, sort);
      assert.equal(new Set(seen).size, total, sort);
    }
  });

  it('does not miss photos of an item that has some', async () => {
    const id = await createItem(world.channel, TESTER, dealer.organizationId, watch({ stockNumber: 'WITH-PHOTO' }));
    await world.db.transaction(async (tx) => {
      await tx.query(sql`
        insert into photos (id, item_id, organization_id, position, width, height, format)
        values (${newId('photo')}, ${id}, ${dealer.organizationId}, 1, 10, 10, 'jpeg')`);
      await summarizeItems(tx, [id]);
    });
    assert.deepEqual((await list({ search: 'withphoto' }))[0]?.missing, []);
    assert.deepEqual(idsOf(await list({ search: 'withphoto', needsWork: true })), []);
  });

  it('fills its pages from a word that more items have than it reads by their ids', async () => {
    const { organizationId } = await world.dealer();
    await world.db.query(sql`
      insert into items (id, organization_id, kind, stock_number, title, description, price_amount, units, attributes, created_at)
      select 'prt_' || lpad(n::text, 26, '0'), ${organizationId}, 'part', 'C-' || n, 'Common spring', '', n, 1, '{}',
        now() + n * interval '1 second' from generate_series(1, 1200) n`);
    const page = { organizationId, kind: 'part' as const, search: 'spring', limit: 50 };
    for (const [sort, first, last] of [
      ['-created', 'C-1200', 'C-1151'],
      ['price', 'C-1', 'C-50'],
    ] as const) {
      const rows = await listStock(world.db, { ...page, sort, from: null }, null);
      assert.deepEqual([rows.at(0)?.stockNumber, rows.at(-1)?.stockNumber, rows.length], [first, last, 50]);
    }
    const end = { value: '1190', id: `prt_${'1190'.padStart(26, '0')}` };
    const rest = await listStock(
      world.db,
      { ...page, sort: 'price', from: { position: end, isBackwards: false } },
      null,
    );
    assert.equal(rest.length, 10);
    assert.deepEqual(await countStock(world.db, page), { value: 1_200, isCapped: false });
  });

  it('finds words that only the oldest of many items have, in every order', async () => {
    const { organizationId } = await world.dealer();
    const insert = async (from: number, to: number, title: string) =>
      await world.db.query(sql`
        insert into items (id, organization_id, kind, stock_number, title, description, price_amount, units, attributes,
          created_at)
        select 'prt_9' || lpad(n::text, 25, '0'), ${organizationId}, 'part', 'F-' || n, ${title}, '', n, 1, '{}',
          now() + n * interval '1 second' from generate_series(${from}::integer, ${to}::integer) n`);
    await insert(1, 1_100, 'Old wheel');
    await insert(1_101, 5_200, 'New wheel');
    const page = { organizationId, kind: 'part' as const, limit: 50, from: null };
    for (const [search, sort, first] of [
      ['old', '-created', 'F-1100'],
      ['wheel old', '-created', 'F-1100'],
      ['wheel old', '-price', 'F-1100'],
      ['wheel old', 'price', 'F-1'],
      ['wheel f1100', '-created', 'F-1100'],
      ['wheel', '-created', 'F-5200'],
    ] as const) {
      const rows = await listStock(world.db, { ...page, search, sort }, null);
      assert.equal(rows[0]?.stockNumber, first, `${search} ${sort}`);
    }
    const count = (search: string) => countStock(world.db, { ...page, search });
    assert.deepEqual(await count('wheel old'), { value: 1_000, isCapped: true });
    assert.deepEqual(await count('wheel'), { value: 1_000, isCapped: true });
    assert.deepEqual(await count('wheel f1100'), { value: 1, isCapped: false });
  });

  it('takes digits for a stock number, however they begin', async () => {
    const item = part({ stockNumber: '0012-3456' });
    const id = await createItem(world.channel, TESTER, dealer.organizationId, item);
    const page = { organizationId: dealer.organizationId, kind: 'part' as const, sort: '-created' as const, limit: 5 };
    const rows = await listStock(world.db, { ...page, search: '0012-3456', from: null }, null);
    assert.deepEqual(
      rows.map((row) => row.id),
      [id],
    );
  });

  it('lists the brands of one dealer', async () => {
    assert.deepEqual(await listBrands(world.db, other.organizationId, 'part'), ['Rolex']);
    assert.ok((await listBrands(world.db, dealer.organizationId, 'listing')).includes('Filterbrand'));
  });
});
