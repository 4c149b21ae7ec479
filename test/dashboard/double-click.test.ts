import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { sql } from '../../src/db/sql.ts';
import { startStockJobWorker } from '../../src/inventory/jobs/stock-job-worker.ts';
import { STOCK_JOB_KINDS_RUN } from '../../src/service/stock-job-kinds.ts';
import {
  type DashboardSite,
  DESKTOP_WIDTH,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
} from '../harness/browser/dashboard-browser.ts';
import { jobContext } from '../harness/jobs/stock-jobs.ts';
import { addCustomer, addShop, type Shop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import type { Dealer } from '../harness/world.ts';

/** Until the second click: either so long, or until the first one has shown what it did, which is the worst moment. */
type Pause = number | 'answered';
const PAUSES: readonly Pause[] = [60, 400, 'answered'];
const WIDTHS = [DESKTOP_WIDTH, PHONE_WIDTH];

describe('a double-click', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let shop: Shop;
  let worker: { stop(): Promise<void> };
  const faults: unknown[] = [];
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    shop = await addShop(site.world, dealer);
    worker = startStockJobWorker(jobContext(site.world), STOCK_JOB_KINDS_RUN, (error) => faults.push(error));
  });
  after(async () => {
    await worker?.stop();
    await site?.stop();
    assert.deepEqual(faults, []);
  });

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

  /** Two clicks at one point, whatever is there at the second. `answer` is what the first one shows. */
  async function doubleClick(page: Page, target: Locator, pause: Pause, answer: Locator): Promise<void> {
    await target.click({ trial: true });
    const box = await target.boundingBox();
    assert.ok(box !== null);
    const point = [box.x + box.width / 2, box.y + box.height / 2] as const;
    await page.mouse.click(...point);
    await pass(pause, answer);
    await page.mouse.click(...point);
  }

  async function pass(pause: Pause, answer: Locator): Promise<void> {
    if (pause === 'answered') await answer.waitFor();
    else await sleep(pause);
  }

  let orders = 0;
  async function openOrder(page: Page): Promise<string> {
    orders += 1;
    const stockNumber = `DC-${orders}`;
    const itemId = await publishNew(site.world, shop, watch({ stockNumber }));
    const report = { channel_order_id: `SO-${stockNumber}`, lines: [{ listing_id: itemId }] };
    const { status, body } = await shop.post('/v1/orders', report);
    assert.equal(status, 201);
    await page.goto(`${site.url}/orders/${body.id}`);
    await settled(page);
    return body.id;
  }
  const statusOf = async (orderId: string) => (await shop.api.get(`/v1/orders/${orderId}`)).body.status;

  const matched = (page: Page) => page.getByText('Confirmed', { exact: true });

  for (const width of WIDTHS) {
    it(`on "Confirm sale" confirms and does not fulfil, at ${width} px`, async (t) => {
      const { page, context, answered, complaints } = await site.openAs(owner, '/', { width });
      t.after(() => context.close());
      for (const pause of PAUSES) {
        const orderId = await openOrder(page);
        await doubleClick(page, button(page, 'Confirm sale'), pause, matched(page));
        await answered();
        assert.equal(await statusOf(orderId), 'matched', `clicks: ${pause}`);
      }
      assert.deepEqual(complaints, []);
    });
  }

  it('of Enter on "Confirm sale" confirms and does not fulfil', async (t) => {
    const { page, context, answered } = await site.openAs(owner, '/');
    t.after(() => context.close());
    for (const pause of PAUSES) {
      const orderId = await openOrder(page);
      await button(page, 'Confirm sale').focus();
      await page.keyboard.press('Enter');
      await pass(pause, matched(page));
      await page.keyboard.press('Enter');
      await answered();
      assert.equal(await statusOf(orderId), 'matched', `keys: ${pause}`);
    }
  });

  it('leaves the buttons of an order where they are while its status changes', async (t) => {
    const { page, context } = await site.openAs(owner, '/', { width: PHONE_WIDTH });
    t.after(() => context.close());
    await openOrder(page);
    const names = ['More', 'Confirm sale', 'Fulfil'];
    const places = () => Promise.all(names.map((name) => button(page, name).boundingBox()));
    const received = await places();
    await button(page, 'Confirm sale').click();
    await matched(page).waitFor();
    assert.deepEqual(await places(), received);
    assert.equal(await button(page, 'Confirm sale').getAttribute('aria-disabled'), 'true');
    await button(page, 'Fulfil').click();
    await page.getByText('Fulfilled', { exact: true }).waitFor();
    assert.deepEqual(await places(), received);
    const cut = await button(page, 'Confirm sale').evaluate((element) =>
      [element, ...element.querySelectorAll('span')].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth),
    );
    assert.equal(cut, false, 'the label of "Confirm sale" is cut');
  });

  for (const width of WIDTHS) {
    it(`on "Create" stays at the step that shows the API key, at ${width} px`, async (t) => {
      for (const pause of PAUSES) {
        const { page, context, answered, complaints } = await site.openAs(owner, '/integrations/new', { width });
        t.after(() => context.close());
        await page.getByLabel('Name').fill('A website');
        const key = page.getByLabel('API key', { exact: true });
        await doubleClick(page, button(page, 'Create'), pause, key);
        await key.waitFor();
        await answered();
        assert.ok(await key.isVisible(), `clicks: ${pause}`);
        const url = page.getByLabel('Webhook URL');
        await doubleClick(page, button(page, 'I have stored the key'), pause, url);
        await answered();
        assert.ok(await url.isVisible(), `clicks: ${pause}`);
        assert.deepEqual(complaints, []);
      }
    });
  }

  it('on "Regenerate" and on "Make the link" leaves open what is shown this once', async (t) => {
    const { page, context, answered } = await site.openAs(owner, `/integrations/${dealer.integrationId}?tab=danger`);
    t.after(() => context.close());
    for (const [index, width] of WIDTHS.entries()) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${site.url}/integrations/${dealer.integrationId}?tab=danger`);
      await button(page, 'Regenerate key').click();
      await doubleClick(page, button(page, 'Regenerate'), 'answered', button(page, 'I have stored it'));
      await answered();
      await button(page, 'I have stored it').click();

      await page.goto(`${site.url}/settings/team`);
      await button(page, 'Invite').click();
      await page.getByLabel('Email').fill(`double${index}@dealer.example`);
      const link = page.getByLabel('Link', { exact: true });
      await doubleClick(page, button(page, 'Make the link'), 'answered', link);
      await answered();
      assert.match(await link.inputValue(), /\/invitation#/);
    }
  });

  it('on "Withdraw" withdraws one of two invitations', async (t) => {
    const other = await site.world.dealer();
    const person = await site.person(other);
    const { page, context, answered } = await site.openAs(person, '/settings/team');
    t.after(() => context.close());
    for (const email of ['one@dealer.example', 'two@dealer.example']) {
      await button(page, 'Invite').click();
      await page.getByLabel('Email').fill(email);
      await button(page, 'Make the link').click();
      await page.getByLabel('Link', { exact: true }).waitFor();
      await page.reload();
      await settled(page);
    }
    await doubleClick(page, button(page, 'Withdraw').first(), 'answered', page.getByText('Invitation withdrawn.'));
    await answered();
    assert.equal(await button(page, 'Withdraw').count(), 1);
  });

  it('on "Check all lines" and on "Import" does nothing more than that', async (t) => {
    const { page, context, answered, complaints } = await site.openAs(owner, '/import');
    t.after(() => context.close());
    const undo = page.locator('#page').getByRole('button', { name: 'Undo' });
    const checked = page.getByText(/lines are checked/);
    for (const [index, pause] of PAUSES.entries()) {
      await page.goto(`${site.url}/import`);
      const text = `Stock number;Title;Brand;Model;Condition\nI-${index};A watch;Omega;Seamaster;Very good\n`;
      const file = { name: 'stock.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
      await page.locator('input[type=file]').setInputFiles(file);
      await doubleClick(page, button(page, 'Upload'), pause, button(page, 'Check all lines'));
      await answered();
      // On a busy machine the second click comes after the guard has ended. It may then open a list of choices, which does nothing.
      await page.keyboard.press('Escape');
      await doubleClick(page, button(page, 'Check all lines'), pause, checked);
      await answered();
      await checked.waitFor();
      assert.match(page.url(), /check=/);
      assert.doesNotMatch(page.url(), /[?&]job=/, `clicks: ${pause}`);
      await doubleClick(page, button(page, /^Import 1 lines?$/), pause, undo);
      await answered();
      assert.match(page.url(), /[?&]job=/);
      assert.equal(await page.getByText('Undone').count(), 0);
    }
    assert.deepEqual(complaints, []);
  });

  for (const width of WIDTHS) {
    it(`on "Preview" of a merge shows the preview and merges nothing, at ${width} px`, async (t) => {
      const kept = await addCustomer(shop, { email: `kept${width}@example.ch`, first_name: 'Kept' });
      const merged = await addCustomer(shop, { email: `merged${width}@example.ch` });
      const { page, context, answered, complaints } = await site.openAs(owner, `/customers/${kept}`, { width });
      t.after(() => context.close());
      await button(page, 'Merge…').click();
      await page.getByRole('combobox', { name: 'The same person as' }).fill(`merged${width}@`);
      await page.getByRole('option', { name: new RegExp(`merged${width}@`) }).click();
      await doubleClick(page, button(page, 'Preview'), 'answered', page.getByText('A merge can’t be undone.'));
      await answered();
      const left = await site.world.db.query(sql`select id from customers where id in (${kept}, ${merged})`);
      assert.equal(left.length, 2);
      assert.deepEqual(complaints, []);
    });
  }
});
