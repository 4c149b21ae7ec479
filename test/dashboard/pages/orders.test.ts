import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { sql } from '../../../src/db/sql.ts';
import { setPublished } from '../../../src/inventory/publications.ts';
import { TESTER } from '../../harness/actor.ts';
import {
  assertBothLooks,
  type DashboardSite,
  DESKTOP_WIDTH,
  type Person,
  PHONE_WIDTH,
  startDashboard,
  turnTo,
} from '../../harness/browser/dashboard-browser.ts';
import { until } from '../../harness/database/locks.ts';
import { addShop, type Shop } from '../../harness/shop.ts';
import { publishNew, stockOf, watch } from '../../harness/stock.ts';
import {
  type ConnectedReceiver,
  connectReceiver,
  startTestWorker,
  type TestWorker,
} from '../../harness/webhooks/webhook-world.ts';
import type { Dealer } from '../../harness/world.ts';

/** Orders as a dealer works through them: real pages, the real API, and real receivers of two websites. */
describe('the pages of orders and sales', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let shop: Shop;
  let other: Shop;
  let receiver: ConnectedReceiver;
  let otherReceiver: ConnectedReceiver;
  let worker: TestWorker;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    shop = await addShop(site.world, dealer);
    other = await addShop(site.world, dealer);
    receiver = await connectReceiver(site.world, shop);
    otherReceiver = await connectReceiver(site.world, other);
    worker = startTestWorker(site.world);
  });
  after(async () => {
    await receiver?.stop();
    await otherReceiver?.stop();
    await worker?.stop();
    await site?.stop();
  });

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const ofType = (from: ConnectedReceiver, type: string) => from.received.filter((one) => one.type === type);

  /** A watch on both websites. */
  async function stocked(changes: Parameters<typeof watch>[0]): Promise<string> {
    const id = await publishNew(site.world, shop, watch(changes));
    await setPublished(site.world.channel, TESTER, dealer.organizationId, other.integrationId, [id], true);
    return id;
  }

  async function report(channelOrderId: string, fields: object = {}) {
    const answer = await shop.post('/v1/orders', { channel_order_id: channelOrderId, ...fields });
    assert.equal(answer.status, 201, answer.text);
    return { ...answer.body, requestId: answer.headers['x-request-id'] };
  }

  async function received(from: ConnectedReceiver, type: string, count: number) {
    await until(async () => ofType(from, type).length >= count, `${type} never came`);
    return ofType(from, type);
  }

  it('take an order from the queue by a suggestion to a sale, and fulfil it; the event is what the API reads', async () => {
    const itemId = await stocked({ title: 'Speedmaster Moonwatch', stockNumber: 'W-310', priceAmount: 640_000 });
    const { page, complaints } = await site.openAs(owner, '/orders');
    await page.getByText('No orders yet.').waitFor();
    const alignment = "getComputedStyle(document.querySelector('.empty-state pre')).textAlign";
    assert.equal(await page.evaluate(alignment), 'left', 'the lines of the example begin together');
    const order = await report('SO-2001', {
      lines: [{ title: 'Omega Speedmaster W-310', unit_amount: 640_000 }],
      customer: { first_name: 'Ana', last_name: 'Berger', email: 'ana@example.ch' },
      shipping_address: { name: 'Ana Berger', line1: 'Rue du Lac 1', city: 'Geneva', country: 'CH' },
      metadata: { cart: '9' },
    });
    // Live: nobody reloads the page, and the tab counts what waits.
    const row = page.getByRole('link', { name: /SO-2001/ });
    await row.or(button(page, 'Show')).first().waitFor();
    if (await button(page, 'Show').isVisible()) await button(page, 'Show').click();
    await until(async () => (await page.title()).startsWith('(1) Orders'), 'the title never counted the order');
    await row.click();
    await page.getByRole('heading', { level: 1, name: 'SO-2001' }).waitFor();
    await page.getByText('Needs matching').waitFor();
    const confirm = button(page, 'Confirm sale');
    assert.equal(await confirm.getAttribute('aria-disabled'), 'true');
    assert.match((await confirm.getAttribute('title')) ?? '', /^Match at least one line/);
    await page.getByText('The site did not say which item of yours it is.').waitFor();
    await page.getByText(/Its stock number is in the title/).waitFor();
    await button(page, 'Match Speedmaster Moonwatch').click();
    await page.getByText('Held for this order', { exact: true }).waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 1, held: 1 });
    await confirm.click();
    await page.getByText('Confirmed', { exact: true }).waitFor();
    assert.equal((await received(otherReceiver, 'listing.sold', 1)).length, 1);
    assert.deepEqual(ofType(receiver, 'listing.sold'), [], 'its own sale is not echoed to the site');
    await button(page, 'Fulfil').click();
    await page.getByText('Fulfilled', { exact: true }).waitFor();
    const [event] = await received(receiver, 'order.fulfilled', 1);
    const read = await shop.api.get(`/v1/orders/${order.id}`);
    assert.deepEqual(JSON.parse(event?.body ?? '{}').data.object, read.body);
    await page.getByText('Delivered, answered 200').waitFor();
    await page.getByText(order.requestId).first().waitFor();
    assert.deepEqual(complaints, []);

    await page.goto(`${site.url}/sales`);
    await page.getByText('Speedmaster Moonwatch').waitFor();
    await page.getByText('Ana Berger').waitFor();
    await page.context().close();
  });

  it('confirm an order in part only after a question that names what is not sold', async (t) => {
    const itemId = await stocked({ title: 'Aqua Terra', stockNumber: 'W-220' });
    const lines = [{ listing_id: itemId }, { title: 'A strap nobody has' }];
    const order = await report('SO-2010', { lines });
    const { page, context, complaints } = await site.openAs(owner, `/orders/${order.id}`);
    t.after(() => context.close());
    const question = page.getByRole('dialog', { name: 'Confirm 1 of 2 lines?' });
    await button(page, 'Confirm sale').click();
    await question.getByText('A strap nobody has').waitFor();
    await question.getByRole('button', { name: 'Back to matching' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal((await shop.api.get(`/v1/orders/${order.id}`)).body.status, 'received');
    await page.getByText('Needs matching', { exact: true }).waitFor();
    await button(page, 'More').click();
    await page.getByText('There is no sale to cancel yet.').waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Confirm sale').click();
    await question.getByRole('button', { name: 'Confirm without them' }).click();
    await page.getByText('Confirmed in part', { exact: true }).waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 0, held: 0 });
    assert.deepEqual(complaints, []);
  });

  it('dismiss an order with a reason that its site gets', async () => {
    const order = await report('SO-2002');
    const { page } = await site.openAs(owner, `/orders/${order.id}`);
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: /Dismiss the order/ }).click();
    await page.getByLabel('Reason').fill('Sold in the shop');
    await button(page, 'Dismiss').click();
    await page.getByText('You dismissed this order').waitFor();
    const [event] = await received(receiver, 'order.cancelled', 1);
    const object = JSON.parse(event?.body ?? '{}').data.object;
    assert.deepEqual([object.id, object.cancellation.reason], [order.id, 'Sold in the shop']);
    await page.context().close();
  });

  it('cancel a sale: the order is back in the queue, the stock too, and the other website gets an event', async () => {
    const itemId = await stocked({ title: 'Explorer II', stockNumber: 'W-226' });
    const order = await report('SO-2003', { lines: [{ listing_id: itemId }] });
    const { page } = await site.openAs(owner, `/orders/${order.id}`);
    await button(page, 'Confirm sale').click();
    await page.getByText('Confirmed', { exact: true }).waitFor();
    const before = ofType(otherReceiver, 'listing.in_stock').length;
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Cancel the sale' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep the sale' }).waitFor();
    assert.equal(await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).count(), 0);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the sale' }).click();
    await page.getByText('Needs matching').waitFor();
    await page.getByText('W-226 can be sold now.').waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 1, held: 0 });
    await received(otherReceiver, 'listing.in_stock', before + 1);
    assert.equal((await shop.api.get(`/v1/orders/${order.id}`)).body.status, 'received');
    await page.context().close();
  });

  it('with as many lines as there may be say why no item is added', async () => {
    const order = await report('SO-200', { lines: Array.from({ length: 200 }, () => ({ title: 'Strap' })) });
    const { page } = await site.openAs(owner, `/orders/${order.id}`);
    assert.match(
      (await button(page, 'Add an item').getAttribute('title')) ?? '',
      /^An order can have at most 200 lines\./,
    );
    await page.context().close();
  });

  it('match by a search of the stock, take the item off again, and record a sale over the counter', async () => {
    const itemId = await stocked({ title: 'Reverso Duoface', stockNumber: 'W-384', priceAmount: 890_000 });
    const order = await report('SO-2004', { lines: [{ title: 'Without a price', quantity: 2 }] });
    const { page } = await site.openAs(owner, `/orders/${order.id}`);
    await page.getByText('2 units', { exact: true }).waitFor();
    await button(page, 'Add an item').click();
    await page.getByLabel('Search your stock').fill('reverso');
    // The button is held down while the search ends and the rows of other items go: the click must not miss it.
    await button(page, 'Match Reverso Duoface').hover();
    await page.mouse.down();
    await page.getByText('Explorer II').waitFor({ state: 'detached' });
    await page.mouse.up();
    await page.getByText('Held for this order', { exact: true }).waitFor();
    await button(page, 'Take off').click();
    await page.getByText('Held for this order', { exact: true }).waitFor({ state: 'detached' });
    await until(async () => (await stockOf(site.world, itemId)).held === 0, 'the item is still held');

    await page.goto(`${site.url}/sales`);
    await button(page, 'Record a sale').click();
    await page.getByLabel('Search your stock').fill('reverso');
    await button(page, 'Choose Reverso Duoface').click();
    assert.equal(await page.getByLabel(/^Amount/).inputValue(), '8,900');
    // Nobody of that name ever ordered. What was typed is neither lost nor taken for nobody.
    const buyer = page.getByRole('combobox', { name: 'Buyer' });
    await buyer.fill('Max Muster');
    await page.keyboard.press('Tab');
    await page.getByText('Choose a customer of the list, or clear the field.').waitFor();
    await button(page, 'Record the sale').click();
    assert.equal(await buyer.inputValue(), 'Max Muster');
    assert.deepEqual(await stockOf(site.world, itemId), { units: 1, held: 0 });
    await buyer.fill('');
    await page.keyboard.press('Tab');
    await button(page, 'Record the sale').click();
    await page.getByText('The sale is recorded.').waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 0, held: 0 });
    await page.goto(`${site.url}/sales?q=reverso`);
    await page.getByText(/^Completed sales come to USD.8,900\.00$/).waitFor();
    await button(page, 'Actions for the sale of Reverso Duoface').click();
    await page.getByRole('menuitem', { name: 'Correct the sale' }).click();
    await page.getByRole('dialog').getByLabel('Amount').fill('');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 completed sale has no amount.').waitFor();
    // As if the business had had another currency when it sold.
    await site.world.db.query(sql`update sales set currency = 'JPY' where item_id = ${itemId}`);
    await page.reload();
    await button(page, 'Actions for the sale of Reverso Duoface').click();
    await page.getByRole('menuitem', { name: 'Correct the sale' }).click();
    await page.getByRole('dialog').getByLabel('Amount (JPY)').fill('9000');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${site.url}/audit`);
    // Each in the currency of its time.
    await page.getByText(/^JPY.9,000$/).waitFor();
    await page
      .getByText(/^USD.8,900\.00$/)
      .first()
      .waitFor();
    await page.goto(`${site.url}/sales?q=reverso`);
    await turnTo(page, { width: PHONE_WIDTH, scheme: 'light' });
    const menu = await button(page, 'Actions for the sale of Reverso Duoface').boundingBox();
    const card = await page.getByRole('list', { name: 'Sales' }).getByRole('listitem').boundingBox();
    assert.ok(menu !== null && card !== null);
    assert.ok(menu.y - card.y < 16 && card.x + card.width - menu.x - menu.width < 16, 'the menu is in the corner');
    await turnTo(page, { width: DESKTOP_WIDTH, scheme: 'light' });
    await button(page, 'Actions for the sale of Reverso Duoface').click();
    await page.getByRole('menuitem', { name: 'Void the sale' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Void the sale' }).click();
    await page.getByText('The sale is voided.').waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 1, held: 0 });
    await page.context().close();
  });

  it('have nothing that axe finds and no sideways scrolling, wide and narrow', async () => {
    const order = await report('SO-2005', { lines: [{ title: 'A watch', unit_amount: 890_000 }], metadata: { a: 1 } });
    const done = await shop.api.get('/v1/orders?status=fulfilled');
    const { page, complaints } = await site.openAs(owner, '/orders');
    const orders = [`/orders/${order.id}`, `/orders/${done.body.data[0].id}`];
    for (const path of ['/orders?tab=all', ...orders, '/sales?tab=all']) {
      await page.goto(`${site.url}${path}`);
      await assertBothLooks(page, path);
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
