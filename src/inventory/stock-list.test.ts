import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { part, watch } from '../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../test/harness/world.ts';
import { STOCK_SORTS } from '../contract/dashboard/stock.ts';
import { createItem, editItem, setHidden } from './items.ts';
import { reserveUnits } from './movements.ts';
import { startPromotion } from './promotions.ts';
import { setPublished } from './publications.ts';
import {
  countStock,
  findStockIds,
  listBrands,
  listStock,
  type StockFilter,
  type StockPage,
  type StockRow,
} from './stock-list.ts';

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

  it('lists the brands of one dealer', async () => {
    assert.deepEqual(await listBrands(world.db, other.organizationId, 'part'), ['Rolex']);
    assert.ok((await listBrands(world.db, dealer.organizationId, 'listing')).includes('Filterbrand'));
  });
});
