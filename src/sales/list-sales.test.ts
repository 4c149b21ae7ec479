import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { assertRefused } from '../../test/harness/refusal.ts';
import { addShop, openShop, type Shop } from '../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../test/harness/stock.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { newId } from '../ids/new-id.ts';
import { mergeCustomers } from './customers/merge-customers.ts';
import { countSales, listSales, type SalePage, totalSales } from './list-sales.ts';
import { cancelSale, confirmOrder } from './orders/order-operations.ts';
import { changeSale, sellUnits, voidSale } from './sell.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

function page({ organizationId }: Shop, changes: Partial<SalePage> = {}): SalePage {
  return {
    organizationId,
    channel: null,
    statuses: ['completed', 'voided'],
    isTest: [false],
    from: null,
    to: null,
    search: '',
    isDescending: true,
    start: null,
    limit: 50,
    ...changes,
  };
}
const list = (shop: Shop, changes: Partial<SalePage> = {}) => listSales(world.db, page(shop, changes));
const idsOf = async (shop: Shop, changes: Partial<SalePage> = {}) => (await list(shop, changes)).map(({ id }) => id);
const dealerOf = (shop: Shop) => [world.channel, TESTER, shop.organizationId] as const;

async function confirmed(shop: Shop, channelOrderId: string, body: object): Promise<string> {
  const { body: order, text } = await shop.post('/v1/orders', { channel_order_id: channelOrderId, ...body });
  assert.ok(order.id, text);
  await confirmOrder(...dealerOf(shop), order.id);
  return order.id;
}

describe('the list of sales', () => {
  it('says what was sold for how much, on which channel and to whom', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch({ stockNumber: 'W-1', title: 'Submariner' }));
    const partId = await publishNew(world, shop, part({ units: 9 }));
    const customer = { first_name: 'Ana', last_name: 'Berger', email: 'ana@example.ch' };
    const orderId = await confirmed(shop, 'SO-1', {
      currency: 'EUR',
      customer,
      lines: [
        { listing_id: itemId, unit_amount: 1_200_000, discount_amount: 50_000 },
        { part_id: partId, quantity: 3, unit_amount: 100 },
        { part_id: partId },
      ],
    });
    const [unsaid, three, first] = await list(shop);
    assert.deepEqual(
      [first, three, unsaid].map((sale) => [sale?.amount, sale?.currency, sale?.units]),
      [
        [1_150_000, 'EUR', 1],
        [300, 'EUR', 3],
        [null, 'EUR', 1],
      ],
    );
    assert.equal(first?.channel, shop.integrationId);
    assert.deepEqual([first?.orderId, first?.channelOrderId], [orderId, 'SO-1']);
    assert.equal(first?.reportedBuyer?.last_name, 'Berger');
    assert.match(first?.customerId ?? '', /^cus_/);
  });

  it('narrows by channel, status, test mode and words, and adds up what was sold', async () => {
    const shop = await openShop(world);
    const test = await addShop(world, shop, { isTestMode: true });
    const itemId = await publishNew(world, shop, part({ stockNumber: 'P-77', title: 'Triplock crown', units: 20 }));
    const counter = await sellUnits(...dealerOf(shop), itemId, 2, { amount: 5_000, customerId: null });
    const voided = await sellUnits(...dealerOf(shop), itemId, 1, { amount: 7_000, customerId: null });
    await voidSale(...dealerOf(shop), voided);
    await confirmed(shop, 'SO-1', { currency: 'EUR', lines: [{ part_id: itemId, unit_amount: 900 }] });
    const [online] = await idsOf(shop);
    const { body: tried } = await test.post('/v1/orders', { channel_order_id: 'T-1', lines: [{ part_id: itemId }] });
    assert.equal(tried.is_test, true);
    assert.deepEqual(await idsOf(shop, { channel: 'counter' }), [voided, counter]);
    assert.deepEqual(await idsOf(shop, { channel: shop.integrationId }), [online]);
    assert.deepEqual(await idsOf(shop, { statuses: ['voided'] }), [voided]);
    assert.deepEqual(await idsOf(shop, { isTest: [true] }), []);
    assert.deepEqual(await idsOf(shop, { search: 'p77 trip' }), [online, voided, counter]);
    assert.deepEqual(await idsOf(shop, { search: counter }), [counter]);
    assert.deepEqual(await idsOf(shop, { search: 'nothing' }), []);
    assert.deepEqual(await countSales(world.db, page(shop)), { value: 3, isCapped: false });
    assert.deepEqual((await totalSales(world.db, page(shop)))?.totals, [
      { currency: 'EUR', amount: 900 },
      { currency: 'USD', amount: 5_000 },
    ]);
    assert.deepEqual(await idsOf(await openShop(world)), []);
  });

  it('keeps the order of a sale that was cancelled, and gives the stock back', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch());
    const orderId = await confirmed(shop, 'SO-1', { lines: [{ listing_id: itemId }] });
    assert.deepEqual(await stockOf(world, itemId), { units: 0, held: 0 });
    await cancelSale(...dealerOf(shop), orderId);
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    const [sale] = await list(shop);
    assert.deepEqual([sale?.status, sale?.orderId], ['voided', orderId]);
  });
});

describe('a sale over the counter', () => {
  it('has a buyer and an amount in the dealer’s currency, which can be corrected', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch());
    const ana = (await shop.post('/v1/customers', { email: 'ana@example.ch' })).body.id;
    const ben = (await shop.post('/v1/customers', { email: 'ben@example.ch' })).body.id;
    const id = await sellUnits(...dealerOf(shop), itemId, 1, { amount: 1_000, customerId: ana });
    assert.deepEqual(await termsOf(shop), [1_000, 'USD', ana]);
    await changeSale(...dealerOf(shop), id, { amount: 900 });
    assert.deepEqual(await termsOf(shop), [900, 'USD', ana]);
    await mergeCustomers(...dealerOf(shop), ben, ana);
    assert.deepEqual(await termsOf(shop), [900, 'USD', ben]);
    await changeSale(...dealerOf(shop), id, { amount: null, customerId: null });
    assert.deepEqual(await termsOf(shop), [null, 'USD', null]);
    await voidSale(...dealerOf(shop), id);
    await assertRefused(changeSale(...dealerOf(shop), id, { amount: 1 }), 'already_voided');
  });

  it('refuses unknown, foreign and test customers, and takes no stock then', async () => {
    const shop = await openShop(world);
    const test = await addShop(world, shop, { isTestMode: true });
    const itemId = await publishNew(world, shop, watch());
    const foreign = (await (await openShop(world)).post('/v1/customers', { email: 'x@example.ch' })).body.id;
    const tester = (await test.post('/v1/customers', { email: 'x@example.ch' })).body.id;
    const sell = (customerId: string) => sellUnits(...dealerOf(shop), itemId, 1, { amount: null, customerId });
    await assertRefused(sell(newId('customer')), 'not_found', 'customerId');
    await assertRefused(sell(foreign), 'not_found', 'customerId');
    await assertRefused(sell(tester), 'wrong_kind', 'customerId');
    assert.deepEqual(await stockOf(world, itemId), { units: 1, held: 0 });
    await assertRefused(changeSale(...dealerOf(shop), newId('sale'), { amount: 1 }), 'not_found');
  });

  it('leaves the buyer of an order’s sale to the order', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch());
    await confirmed(shop, 'SO-1', { lines: [{ listing_id: itemId }] });
    const [sale] = await list(shop);
    await changeSale(...dealerOf(shop), sale?.id ?? '', { amount: 5 });
    await assertRefused(
      changeSale(...dealerOf(shop), sale?.id ?? '', { customerId: null }),
      'wrong_kind',
      'customerId',
    );
    assert.equal((await list(shop))[0]?.amount, 5);
  });

  async function termsOf(shop: Shop) {
    const [sale] = await list(shop);
    return [sale?.amount, sale?.currency, sale?.customerId];
  }
});
