import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { COMMAND_LINE } from '../../../src/audit/actor.ts';
import { createItem, editItem } from '../../../src/inventory/items/item-operations.ts';
import { createBusinessUnit, createLocation } from '../../../src/inventory/locations.ts';
import { setPublished } from '../../../src/inventory/publications.ts';
import {
  assertAccessible,
  assertBothLooks,
  type DashboardSite,
  LOOKS,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
  turnTo,
  until,
} from '../../harness/browser/dashboard-browser.ts';
import { runJobs } from '../../harness/jobs/stock-jobs.ts';
import { watch } from '../../harness/stock.ts';
import type { Dealer } from '../../harness/world.ts';

describe('the lists of the dashboard', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    const ids: string[] = [];
    for (const title of ['Royal Oak', 'Submariner', 'Speedmaster']) ids.push(await create({ title }));
    await setPublished(
      site.world.channel,
      COMMAND_LINE,
      dealer.organizationId,
      dealer.integrationId,
      ids.slice(0, 2),
      true,
    );
  });
  after(() => site?.stop());

  const create = (input: Parameters<typeof watch>[0], { organizationId } = dealer) =>
    createItem(site.world.channel, COMMAND_LINE, organizationId, watch(input));
  const notify = (id: string) => site.world.channel.notifyDashboards?.(dealer.organizationId, 'item', [id]);
  const rowNames = (page: Page) => page.locator('.data-table .row-name').allInnerTexts();

  it('show photo, title, price, status and channels in the rows of a phone, and filter in a sheet', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/watches', { width: PHONE_WIDTH });
    t.after(() => context.close());
    const row = page.getByRole('list', { name: 'Watches' }).getByRole('listitem').filter({ hasText: 'Royal Oak' });
    await row.getByText('USD 12,990.00').waitFor();
    await row.getByText('In stock').waitFor();
    assert.equal(await row.getByRole('switch', { name: /^Royal Oak on / }).isChecked(), true);
    assert.equal(await row.locator('.thumbnail').count(), 1);
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const sheet = page.getByRole('dialog', { name: 'Filter and order' });
    await sheet.getByRole('combobox', { name: 'Channel' }).click();
    await page.getByRole('option', { name: 'On no channel' }).click();
    await sheet.getByRole('button', { name: 'Show 1' }).click();
    await page.waitForURL(/integration_id=none/);
    await page.getByText('Royal Oak').waitFor({ state: 'detached' });
    assert.deepEqual(await rowNames(page), ['Speedmaster']);
    await page.getByRole('button', { name: 'Filter · 1' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('save what they show as a view, share it, rename it, delete it and bring it back', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/watches?q=royal&sort=-price');
    t.after(() => context.close());
    const views = page.getByRole('button', { name: /^Saved views/ });
    await views.click();
    await page.getByRole('menuitem', { name: 'Save as a new view' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save this view' });
    await dialog.getByLabel('Name').fill('Royals');
    await dialog.getByRole('switch', { name: 'Share with the team' }).press('Space');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL(/view=viw_/);
    await page.getByRole('button', { name: 'Saved views: Royals' }).waitFor();

    const colleague = await site.openAs(await site.person(dealer, 'staff'), '/watches');
    t.after(() => colleague.context.close());
    await colleague.page.getByRole('button', { name: /^Saved views/ }).click();
    await colleague.page.getByRole('menuitem', { name: /Royals/ }).click();
    await colleague.page.waitForURL(/q=royal&sort=-price/);
    assert.deepEqual(await colleague.page.getByRole('searchbox').inputValue(), 'royal');

    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.reload();
    await settled(page);
    await views.click();
    await page.getByRole('menuitem', { name: /Royals/ }).click();
    await page.waitForURL(/q=royal/);
    await page.getByRole('columnheader', { name: 'Price' }).getByRole('button').click();
    await page.getByRole('button', { name: 'Saved views: Royals (changed)' }).click();
    await page.getByRole('menuitem', { name: 'Save the changes' }).click();
    await page.getByRole('button', { name: 'Saved views: Royals', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('dialog', { name: 'Rename the view' }).getByLabel('Name').fill('Royal Oaks');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('button', { name: 'Saved views: Royal Oaks' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await views.click();
    await page.getByRole('menuitem', { name: /Royal Oaks/ }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('show cards instead of the table, as their address says', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/watches');
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Show as cards' }).click();
    await page.waitForURL(/layout=cards/);
    await page.reload();
    await settled(page);
    const card = page.getByRole('list', { name: 'Watches' }).getByRole('listitem').filter({ hasText: 'Submariner' });
    await card.getByText('USD 12,990.00').waitFor();
    await card.getByRole('link').click();
    await page.waitForURL(/\/watches\/lst_/);
    await page.goBack();
    await page.getByRole('button', { name: 'Show as a table' }).click();
    await page.getByRole('table').waitFor();
    assert.deepEqual(complaints, []);
  });

  it('keep their rows in place when something changes elsewhere, and say how much did', async (t) => {
    const id = await create({ title: 'Quiet one' });
    const { page, context } = await site.openAs(owner, '/watches');
    t.after(() => context.close());
    await page.getByText('Quiet one').waitFor();
    const before = await rowNames(page);
    await editItem(site.world.channel, COMMAND_LINE, dealer.organizationId, id, { priceAmount: 77_700 });
    notify(id);
    await page.getByText('USD 777.00').first().waitFor();
    assert.deepEqual(await rowNames(page), before);
    assert.equal(await page.getByText(/changed$/).count(), 0);
    notify(await create({ title: 'Newcomer' }));
    await page.getByText('1 new').waitFor();
    assert.deepEqual(await rowNames(page), before);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('Newcomer').waitFor();
    assert.deepEqual(await rowNames(page), ['Newcomer', ...before]);
  });

  it('are worked by keyboard: j, k, Enter, e and /', async (t) => {
    const { page, context } = await site.openAs(owner, '/watches?sort=title');
    t.after(() => context.close());
    const [first = '', second = ''] = await rowNames(page);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    assert.match((await page.locator('tr[data-active]').textContent()) ?? '', new RegExp(second));
    await page.keyboard.press('k');
    assert.match((await page.locator('tr[data-active]').textContent()) ?? '', new RegExp(first));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/watches\/lst_/);
    await page.goBack();
    await settled(page);
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.waitForURL(/\/watches\/lst_/);
    await page.goBack();
    await settled(page);
    await page.keyboard.press('/');
    await page.keyboard.type('speed');
    await page.waitForURL(/q=speed/);
    await page.getByText('Royal Oak').waitFor({ state: 'detached' });
    assert.deepEqual(await rowNames(page), ['Speedmaster']);
  });

  it('keep their selection when Escape closes what is open above them, and clear it with the next one', async (t) => {
    const { page, context } = await site.openAs(owner, '/watches?sort=title');
    t.after(() => context.close());
    const selected = page.getByRole('region', { name: 'Selection' });
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await selected.getByText('1 selected').waitFor();
    for (const [opener, role] of [
      [page.getByRole('button', { name: /^Saved views/ }), 'menu'],
      [page.getByRole('button', { name: 'Price', exact: true }).first(), 'dialog'],
    ] as const) {
      await opener.click();
      const layer = page.getByRole(role);
      await layer.waitFor();
      await page.keyboard.press('Escape');
      await layer.waitFor({ state: 'detached' });
      assert.equal(await selected.count(), 1, role);
    }
    await page.keyboard.press('Escape');
    await selected.waitFor({ state: 'detached' });
  });

  it('show the columns that somebody chose, and remember them; a long location ends in an ellipsis', async (t) => {
    const name = 'Window of the boutique at the lake, second row from the left';
    const unitId = await createBusinessUnit(site.world.db, COMMAND_LINE, dealer.organizationId, 'Geneva');
    const locationId = await createLocation(site.world.db, COMMAND_LINE, dealer.organizationId, unitId, name);
    await create({ title: 'In the window', locationId });
    const { page, context } = await site.openAs(owner, '/watches');
    t.after(() => context.close());
    const location = page.getByRole('cell', { name });
    assert.ok(((await location.boundingBox())?.width ?? 0) < 200, 'the column is not as wide as its longest text');
    assert.equal(await location.getByTitle(name).count(), 1);
    await page.getByRole('button', { name: 'Choose columns' }).click();
    await page.getByRole('menuitem', { name: 'Location' }).click();
    await page.getByRole('columnheader', { name: 'Location' }).waitFor({ state: 'detached' });
    await page.reload();
    await settled(page);
    assert.equal(await page.getByRole('columnheader', { name: 'Location' }).count(), 0);
    await page.getByRole('button', { name: 'Choose columns' }).click();
    await page.getByRole('menuitem', { name: 'Back to the usual columns' }).click();
    await page.getByRole('columnheader', { name: 'Location' }).waitFor();
  });

  it('are searched from everywhere: Ctrl-K finds an item by its stock number', async (t) => {
    const id = await create({ title: 'Found by number', stockNumber: 'PAL-4711' });
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Pages, stock, customers, numbers or an id').fill('pal-4711');
    await page.getByRole('button', { name: /Found by number/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${site.url}/watches/${id}`);
  });

  it('change all that match as a job with progress, and undo it from the toast', async (t) => {
    const ids = [await create({ title: 'Bulky one' }), await create({ title: 'Bulky two' })];
    const { page, context, complaints } = await site.openAs(owner, '/watches?q=bulky');
    t.after(() => context.close());
    await page.getByText('Bulky one').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await page.getByText('2 selected').waitFor();
    await assertAccessible(page, 'a selection');
    await page.getByRole('button', { name: 'Change price' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the price of 2 watches' });
    await dialog.getByRole('textbox', { name: 'Percent' }).fill('10');
    await dialog.getByText(/USD.12,990\.00 → USD.14,289\.00/).waitFor();
    await assertAccessible(page, 'the dialog of a bulk change');
    await dialog.getByRole('button', { name: 'Change 2' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await runJobs(site.world);
    for (const id of ids) notify(id);
    await page.getByText('2 changed.').waitFor();
    await until(async () => assert.equal(await page.getByText('USD 14,289.00').count(), 2));
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undo: Change price by +10 %').waitFor();
    await runJobs(site.world);
    for (const id of ids) notify(id);
    await page.getByText('USD 12,990.00').nth(1).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('delete for ever only for owners, and after the number was typed', async (t) => {
    await create({ title: 'Obsolete' });
    const staff = await site.openAs(await site.person(dealer, 'staff'), '/watches?q=obsolete');
    t.after(() => staff.context.close());
    await staff.page.getByRole('checkbox', { name: 'Select Obsolete' }).check();
    await staff.page.getByRole('button', { name: 'Actions' }).click();
    const item = staff.page.getByRole('menuitem', { name: 'Delete for ever (owners only)' });
    assert.equal(await item.isDisabled(), true);
    const { page, context } = await site.openAs(owner, '/watches?q=obsolete');
    t.after(() => context.close());
    await page.getByRole('checkbox', { name: 'Select Obsolete' }).check();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete for ever' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete for ever: 1 watch' });
    assert.equal(await dialog.getByRole('button', { name: 'Delete 1' }).isDisabled(), true);
    await dialog.getByLabel('Type 1 to confirm').fill('1');
    await dialog.getByRole('button', { name: 'Delete 1' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await runJobs(site.world);
    await page.getByText('1 removed.').waitFor();
  });

  it('are found clean by axe: cards, nothing there, nothing found and an error, wide and light, narrow and dark', async (t) => {
    const opened = await site.openAs(owner, '/watches?layout=cards');
    t.after(() => opened.context.close());
    const empty = await site.openAs(await site.person(await site.world.dealer()), '/parts');
    t.after(() => empty.context.close());
    await assertBothLooks(opened.page, 'cards');
    for (const look of LOOKS) {
      await turnTo(opened.page, look);
      const colors = (await opened.page.evaluate(CONTROL_COLORS)) as [string, string, string][];
      for (const [control, color, ground] of colors) {
        assert.ok(contrast(color, ground) >= 3, `${control}, ${look.scheme}: ${color} on ${ground}`);
      }
    }
    await empty.page.getByText('No parts yet.').waitFor();
    await assertBothLooks(empty.page, 'nothing there');
    await empty.page.getByRole('tab', { name: 'Incomplete' }).click();
    await empty.page.getByText('No part is incomplete.').waitFor();
    assert.equal(await empty.page.getByText('Clear search and filters').count(), 0);
    await opened.page.goto(`${site.url}/watches?q=nothinglikethis`);
    await opened.page.getByText('Nothing matches.').waitFor();
    await assertBothLooks(opened.page, 'nothing found');
    await opened.page.route('**/api/dashboard/stock?*', (route) =>
      route.fulfill({
        status: 400,
        json: { error: { code: 'invalid_cursor', message: 'This page is no longer there.', request_id: 'req_7' } },
      }),
    );
    await opened.page.goto(`${site.url}/watches?after=x`);
    await opened.page.getByText('req_7').waitFor();
    await assertBothLooks(opened.page, 'an error');
  });
});

/** What says where a control is, each with the ground that it stands on: axe leaves WCAG 1.4.11 out. */
const CONTROL_COLORS = `(() => {
  const read = (control, selector, property) => {
    const element = document.querySelector(selector);
    let ground = element.parentElement;
    while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
    return [control, getComputedStyle(element)[property], getComputedStyle(ground).backgroundColor];
  };
  return [
    read('the edge of a field', 'input[type="search"]', 'borderTopColor'),
    read('an empty box', '.mantine-Checkbox-input:not(:checked)', 'borderTopColor'),
    read('a switch that is off', '.mantine-Switch-input:not(:checked) + .mantine-Switch-track', 'backgroundColor'),
  ];
})()`;

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [...color.matchAll(/[\d.]+/g)].map(([text]) => {
    const share = Number(text) / 255;
    return share <= 0.039_28 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
