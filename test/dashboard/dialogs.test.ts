import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COMMAND_LINE } from '../../src/audit/actor.ts';
import { createItem } from '../../src/inventory/items/item-operations.ts';
import {
  assertAccessible,
  type DashboardSite,
  type Person,
  startDashboard,
  until,
} from '../harness/browser/dashboard-browser.ts';
import { watch } from '../harness/stock.ts';

describe('a dialog', () => {
  let site: DashboardSite;
  let owner: Person;
  before(async () => {
    site = await startDashboard();
    const dealer = await site.world.dealer();
    owner = await site.person(dealer);
    const input = watch({ title: 'Royal Oak', units: 3 });
    await createItem(site.world.channel, COMMAND_LINE, dealer.organizationId, input);
  });
  after(() => site?.stop());

  async function openSale(t: { after: (hook: () => Promise<void>) => void }) {
    const { page, context, complaints } = await site.openAs(owner, '/sales');
    t.after(() => context.close());
    const dialog = page.getByRole('dialog', { name: 'Record a sale' });
    const question = page.getByRole('dialog', { name: 'Discard what you typed?' });
    const start = async () => {
      await page.getByRole('button', { name: 'Record a sale' }).first().click();
      await dialog.getByRole('button', { name: 'Choose Royal Oak' }).click();
      await dialog.getByLabel('Amount').waitFor();
    };
    const close = {
      escape: () => page.keyboard.press('Escape'),
      cross: () => dialog.getByRole('button', { name: 'Close' }).click(),
      outside: () => page.mouse.click(5, 5),
    };
    await start();
    return { page, dialog, question, start, close, complaints };
  }

  it('closes at once by Escape, × and a click outside while nothing is typed, also in a field that has the focus', async (t) => {
    const { dialog, question, start, close, complaints } = await openSale(t);
    for (const way of [close.escape, close.cross, close.outside]) {
      await dialog.getByLabel('Amount').focus();
      await dialog.getByLabel('Units').focus();
      await dialog.getByLabel('Amount').focus();
      await way();
      await dialog.waitFor({ state: 'detached' });
      assert.equal(await question.count(), 0);
      await start();
    }
    assert.deepEqual(complaints, []);
  });

  it('asks by each of these ways before it loses what was typed or chosen', async (t) => {
    const { page, dialog, question, start, close, complaints } = await openSale(t);
    await dialog.getByLabel('Amount').fill('11000');
    for (const way of [close.escape, close.cross, close.outside]) {
      await way();
      await question.waitFor();
      await assertAccessible(page, 'the question');
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'detached' });
      assert.match(await dialog.getByLabel('Amount').inputValue(), /^11,?000/);
    }
    await close.escape();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
    await close.escape();
    await question.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await question.count(), 0);

    await start();
    await dialog.getByLabel('Amount').fill('5');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  it('asks before the browser’s Back loses what was typed, and leaves at once while nothing is', async (t) => {
    const { page, dialog, question, complaints } = await openSale(t);
    const start = async () => {
      // By a link of the page, so that Back has somewhere to go without a load.
      await page.goto(`${site.url}/customers`);
      await page.getByRole('navigation').getByRole('link', { name: 'Sales' }).first().click();
      await page.getByRole('button', { name: 'Record a sale' }).first().click();
      await dialog.getByRole('button', { name: 'Choose Royal Oak' }).click();
      await dialog.getByLabel('Amount').waitFor();
    };
    await start();
    await page.goBack();
    await page.waitForURL(`${site.url}/customers`);
    assert.equal(await question.count(), 0);

    await start();
    await dialog.getByLabel('Amount').fill('11000');
    await page.goBack();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
    assert.match(await dialog.getByLabel('Amount').inputValue(), /^11,?000/);
    await page.waitForURL(/\/sales/);
    await page.goBack();
    await question.getByRole('button', { name: 'Discard' }).click();
    await page.waitForURL(`${site.url}/customers`);
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  it('closes with what Back discards, also where the page below stays', async (t) => {
    const { page, context } = await site.openAs(owner, '/watches');
    t.after(() => context.close());
    await page.getByRole('tab', { name: /^In stock/ }).click();
    await page.waitForURL(/\?/);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save as a new view' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save this view' });
    await dialog.getByLabel('Name').fill('Mine');
    await page.goBack();
    const question = page.getByRole('dialog', { name: 'Discard what you typed?' });
    await question.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.waitForURL(`${site.url}/watches`);
  });

  it('stays open when Escape closes a list of choices in it, and asks about a choice', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/team');
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite somebody' });
    await dialog.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'Owner' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('option', { name: 'Owner' }).waitFor({ state: 'hidden' });
    assert.equal(await dialog.count(), 1);
    await dialog.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'Owner' }).click();
    await page.keyboard.press('Escape');
    await page
      .getByRole('dialog', { name: 'Discard what you typed?' })
      .getByRole('button', { name: 'Discard' })
      .click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Invite' }).click();
    assert.equal(await dialog.getByRole('combobox', { name: 'Role' }).inputValue(), 'Staff');
  });

  it('says what is missing in its own words beside the field, not in a bubble of the browser', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/team');
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite somebody' });
    const send = dialog.getByRole('button', { name: 'Make the link' });
    const email = dialog.getByLabel('Email');
    await send.click();
    await dialog.getByText('Fill this in.').waitFor();
    assert.equal(await email.evaluate((field) => field === field.ownerDocument.activeElement), true);
    await email.fill('ana');
    await dialog.getByText('Fill this in.').waitFor({ state: 'detached' });
    await send.click();
    await dialog.getByText('Enter an email address, such as name@example.com.').waitFor();
    await assertAccessible(page, 'a field with what is wrong');
  });

  it('opens from the palette to record a sale, and closes with the address', async (t) => {
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Pages, stock, customers, numbers or an id').fill('record a');
    await page.getByText('Record a sale', { exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Record a sale' });
    await dialog.getByLabel('Search your stock').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.waitForURL(`${site.url}/sales`);
  });

  it('keeps the focus in it when its next step begins', async (t) => {
    const { page, dialog } = await openSale(t);
    const focused = () =>
      page.evaluate('document.activeElement.labels?.[0]?.textContent ?? document.activeElement.tagName');
    await until(async () => assert.equal(await focused(), 'Units'));
    await dialog.getByRole('button', { name: 'Change' }).click();
    await until(async () => assert.equal(await focused(), 'Search your stock'));
  });
});
