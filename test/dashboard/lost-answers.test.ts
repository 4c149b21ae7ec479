import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { sql } from '../../src/db/sql.ts';
import { editItem } from '../../src/inventory/items/item-operations.ts';
import { sellUnits } from '../../src/sales/sell.ts';
import { TESTER } from '../harness/actor.ts';
import {
  type DashboardSite,
  type Person,
  settled,
  signIn,
  startDashboard,
} from '../harness/browser/dashboard-browser.ts';
import { until } from '../harness/database/locks.ts';
import { runJobs } from '../harness/jobs/stock-jobs.ts';
import { addShop, reportOrder, type Shop } from '../harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../harness/stock.ts';
import type { Dealer } from '../harness/world.ts';

describe('an answer that is lost on the way', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let shop: Shop;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    shop = await addShop(site.world, dealer);
  });
  after(() => site?.stop());

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
  /** The service gets the next request to this path, and the page never learns what became of it. */
  async function loseNextAnswer(page: Page, path: string): Promise<void> {
    await page.route(
      `**/api/dashboard${path}`,
      async (route) => {
        await route.fetch();
        await route.abort('connectionreset');
      },
      { times: 1 },
    );
  }
  const lost = (page: Page) => page.getByText('The service can’t be reached.').first().waitFor();
  const freePart = (stockNumber: string) =>
    publishNew(site.world, shop, part({ title: stockNumber, units: 9, stockNumber }));
  async function chooseItem(page: Page, stockNumber: string): Promise<void> {
    await page.goto(`${site.url}/sales`);
    await settled(page);
    await button(page, 'Record a sale').first().click();
    await page.getByLabel('Search your stock').fill(stockNumber);
    await button(page, `Choose ${stockNumber}`).click();
  }

  it('of a sale: whoever tries again has sold once, and one more sale is another', async (t) => {
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    const itemId = await freePart('P-LOST');
    await chooseItem(page, 'P-LOST');
    await loseNextAnswer(page, '/sales');
    await button(page, 'Record the sale').click();
    await lost(page);
    await button(page, 'Record the sale').click();
    await page.getByText('The sale is recorded.').waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 8, held: 0 });
    await chooseItem(page, 'P-LOST');
    await button(page, 'Record the sale').click();
    await page.getByText('The sale is recorded.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await stockOf(site.world, itemId), { units: 7, held: 0 });
  });

  it('of a sale on the page of the item: whoever tries again has sold once, and releases no reservation', async (t) => {
    const itemId = await publishNew(site.world, shop, part({ title: 'P-HELD', units: 4, stockNumber: 'P-HELD' }));
    const held = await shop.post('/v1/reservations', { part_id: itemId, quantity: 2, ttl_seconds: 600 });
    assert.equal(held.status, 201);
    const { page, context } = await site.openAs(owner, `/parts/${itemId}`);
    t.after(() => context.close());
    await button(page, 'Actions').click();
    await page.getByRole('menuitem', { name: 'Mark as sold' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Units').fill('2');
    await loseNextAnswer(page, '/sales');
    const readAnew = page.waitForResponse((answer) => answer.url().endsWith(`/api/dashboard/items/${itemId}`));
    await dialog.getByRole('button', { name: 'Mark as sold' }).click();
    await lost(page);
    await readAnew;
    await settled(page);
    await dialog.getByRole('button', { name: /sold|sell/ }).click();
    await page.getByText('The sale is recorded.').waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 2, held: 2 });
  });

  it('of the last sale that is voided: whoever tries again voids no other', async (t) => {
    const itemId = await freePart('P-VOIDED');
    for (const units of [1, 2]) await sellUnits(site.world.channel, TESTER, dealer.organizationId, itemId, units);
    const { page, context } = await site.openAs(owner, `/parts/${itemId}`);
    t.after(() => context.close());
    await button(page, 'Actions').click();
    await page.getByRole('menuitem', { name: 'Void the last sale' }).click();
    await loseNextAnswer(page, `/items/${itemId}/sales/*/void`);
    const readAnew = page.waitForResponse((answer) => answer.url().endsWith(`/api/dashboard/items/${itemId}`));
    await button(page, 'Void sale').click();
    await lost(page);
    await readAnew;
    await settled(page);
    await button(page, 'Void sale').click();
    await page.getByText(/Sale voided|was voided before/).waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 8, held: 0 });
  });

  it('of units that are moved: whoever tries again has moved them once, and once more is another', async (t) => {
    const itemId = await freePart('P-MOVED');
    const { page, context } = await site.openAs(owner, `/parts/${itemId}`);
    t.after(() => context.close());
    const openDialog = async () => {
      await button(page, 'Actions').click();
      await page.getByRole('menuitem', { name: 'Restock' }).click();
      await page.getByRole('dialog').getByLabel('Units').fill('2');
    };
    await openDialog();
    await loseNextAnswer(page, `/items/${itemId}/movements`);
    await button(page, 'Restock').click();
    await lost(page);
    await button(page, 'Restock').click();
    await page.getByText('Restocked.').waitFor();
    assert.deepEqual(await stockOf(site.world, itemId), { units: 11, held: 0 });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await openDialog();
    await button(page, 'Restock').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await stockOf(site.world, itemId), { units: 13, held: 0 });
  });

  it('of an item that is added to an order: whoever tries again holds it once, and once more is another', async (t) => {
    const itemId = await freePart('P-ADDED');
    const { id } = await reportOrder(shop);
    const { page, context } = await site.openAs(owner, `/orders/${id}`);
    t.after(() => context.close());
    const openDialog = async () => {
      await button(page, 'Add an item').click();
      await page.getByLabel('Search your stock').fill('P-ADDED');
      await button(page, 'Match P-ADDED').waitFor();
    };
    const isHeld = (held: number) =>
      until(async () => (await stockOf(site.world, itemId)).held === held, `${held} are not held`);
    await openDialog();
    await loseNextAnswer(page, `/orders/${id}/match`);
    await button(page, 'Match P-ADDED').click();
    await lost(page);
    await isHeld(1);
    await button(page, 'Match P-ADDED').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await isHeld(1);
    await openDialog();
    await button(page, 'Match P-ADDED').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await isHeld(2);
  });

  it('of a change of many prices: whoever tries again has changed them once', async (t) => {
    await publishNew(site.world, shop, watch({ title: 'Lost', stockNumber: 'W-LOST', priceAmount: 100_000 }));
    const { page, context } = await site.openAs(owner, '/watches');
    t.after(() => context.close());
    await settled(page);
    await page.getByRole('checkbox', { name: 'Select Lost' }).check();
    await button(page, 'Change price').click();
    await page.getByRole('dialog').getByRole('textbox').first().fill('10');
    await loseNextAnswer(page, '/stock/bulk');
    await button(page, /^Change 1$/).click();
    await lost(page);
    await button(page, /^Change 1$/).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await runJobs(site.world);
    const jobs = await site.world.db.query(sql`
      select id from stock_jobs where organization_id = ${dealer.organizationId}`);
    assert.equal(jobs.length, 1);
  });

  it('is no reason for a second click of the same moment to be a second sale', async (t) => {
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    const itemId = await freePart('P-TWICE');
    await chooseItem(page, 'P-TWICE');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/sales')) asked.push(request.url());
    });
    await button(page, 'Record the sale').evaluate((element) => {
      for (let click = 0; click < 3; click++) (element as unknown as { click(): void }).click();
    });
    await page.getByText('The sale is recorded.').waitFor();
    assert.equal(asked.length, 1);
    assert.deepEqual(await stockOf(site.world, itemId), { units: 8, held: 0 });
  });

  it('of units: more than are free are an error at the field, and nothing is sold', async (t) => {
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    const itemId = await freePart('P-UNITS');
    await chooseItem(page, 'P-UNITS');
    await page.getByLabel('Units').fill('12');
    await button(page, 'Record the sale').click();
    await page.getByText('Enter a number from 1 to 9.').waitFor();
    assert.equal(await page.getByLabel('Units').inputValue(), '12');
    assert.deepEqual(await stockOf(site.world, itemId), { units: 9, held: 0 });
  });

  it('of a read that hangs: it is asked again after a minute, also what the live stream named', async (t) => {
    // A window of its own, since its clock is not the true one any more.
    const context = await site.browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${site.url}/sign-in`);
    await signIn(page, owner.email);
    await page.waitForURL(`${site.url}/`);
    const itemId = await freePart('P-HANGS');
    const rename = (title: string) => editItem(site.world.channel, TESTER, dealer.organizationId, itemId, { title });
    const titled = (title: string) => page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.goto(`${site.url}/parts/${itemId}`);
    await titled('P-HANGS');
    await page.clock.install();
    let asked = 0;
    await page.route(`**/api/dashboard/items/${itemId}`, async (route) => {
      asked += 1;
      if (asked > 1) await route.fallback();
    });
    await rename('Before');
    await until(async () => asked === 1, 'the page does not read the change');
    await rename('After');
    // The retry waits, too.
    await page.clock.fastForward(61_000);
    await titled('After');
  });
});
