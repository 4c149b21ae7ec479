import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createItem } from '../../../src/inventory/items/item-operations.ts';
import { readItem } from '../../../src/inventory/items/read-item.ts';
import { TESTER } from '../../harness/actor.ts';
import {
  type DashboardSite,
  type Person,
  save,
  startDashboard,
  toast,
  until,
} from '../../harness/browser/dashboard-browser.ts';
import { watch } from '../../harness/stock.ts';
import type { Dealer } from '../../harness/world.ts';

describe('the fields of an item', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
  });
  after(() => site?.stop());

  const create = (item = watch()) => createItem(site.world.channel, TESTER, dealer.organizationId, item);
  const itemOf = (id: string) => readItem(site.world.db, dealer.organizationId, id);
  const price = (page: Page) => page.getByRole('textbox', { name: /^Price/ });
  /** Key by key, as a person does: a field may react to each. */
  async function type(field: Locator, text: string): Promise<void> {
    await field.fill('');
    await field.pressSequentially(text);
    await field.blur();
  }
  const hasFocus = (field: Locator) => field.evaluate((field) => field === field.ownerDocument.activeElement);

  it('take an amount with thousands and decimals as people of several countries type it', async (t) => {
    const id = await create();
    const { page, context, complaints } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    assert.equal(await price(page).inputValue(), '12,990');
    for (const [typed, shown] of [
      ['12,500', '12,500'],
      ['1,250,000', '1,250,000'],
      ['12.500', '12,500'],
      ["12'500", '12,500'],
      ['12500,50', '12,500.50'],
      ['12,500.5', '12,500.50'],
    ] as const) {
      await type(price(page), typed);
      assert.equal(await price(page).inputValue(), shown, typed);
    }
    await save(page);
    await toast(page, 'Saved.').waitFor();
    assert.equal((await itemOf(id)).priceAmount, 1_250_050);
    // Whoever comes with the Tab key writes over what is there.
    await page.getByLabel('Stock number').focus();
    await page.keyboard.press('Tab');
    assert.equal(await hasFocus(price(page)), true);
    await page.keyboard.type('9,000');
    await page.keyboard.press('Tab');
    assert.equal(await price(page).inputValue(), '9,000');
    // A digit that is taken away leaves no comma behind.
    await type(price(page), '12500');
    await price(page).press('End');
    await price(page).press('Backspace');
    await price(page).blur();
    assert.equal(await price(page).inputValue(), '1,250');
    assert.deepEqual(complaints, []);
  });

  it('leave an amount that is none as it is, say so, and save nothing', async (t) => {
    const id = await create();
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    await type(price(page), '12.5.0');
    await page.getByText('Enter a number, such as 12,500.').waitFor();
    assert.equal(await price(page).inputValue(), '12.5.0');
    await save(page);
    await until(async () => assert.equal(await hasFocus(price(page)), true));
    assert.equal((await itemOf(id)).priceAmount, 1_299_000);
    await page.getByRole('button', { name: 'Discard' }).click();
    assert.equal(await price(page).inputValue(), '12,990');
  });

  it('that are wrong: the first one gets the focus, and each keeps its message until it is touched', async (t) => {
    const { page, context } = await site.openAs(owner, '/watches');
    t.after(() => context.close());
    await page.getByRole('link', { name: 'New watch' }).first().click();
    await page.getByRole('heading', { name: 'New watch' }).waitFor();
    await save(page);
    const title = page.getByLabel('Title');
    await until(async () => assert.equal(await hasFocus(title), true));
    const missing = page.getByText('This is required.');
    const count = await missing.count();
    assert.ok(count > 2, `${count} messages`);
    await title.fill('Omega');
    await until(async () => assert.equal(await missing.count(), count - 1));
    await page.getByLabel('Stock number').fill('BACK-1');
    await page.getByRole('combobox', { name: 'Brand' }).fill('Omega');
    await until(async () => assert.equal(await missing.count(), count - 3));
    await page.getByLabel('Model').fill('Seamaster');
    // The form of a new item is no step of the browser's history once the item is stored.
    await save(page);
    await page.waitForURL(/\/watches\/lst_/);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Watches' }).waitFor();
  });

  it('that are no amounts: units with thousands, a measure with a decimal comma', async (t) => {
    const id = await create();
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    await type(page.getByLabel('Units to sell'), '1,000');
    await type(page.getByRole('textbox', { name: 'Diameter' }), '40,5');
    await save(page);
    await toast(page, 'Saved.').waitFor();
    const item = await itemOf(id);
    assert.deepEqual([item.units, item.attributes.case_diameter_mm], [1_000, 40.5]);
  });

  it('of a new item say why channels can’t be switched on yet', async (t) => {
    const { page, context } = await site.openAs(owner, '/watches/new');
    t.after(() => context.close());
    await page.getByLabel('Title').fill('Omega');
    await page.getByLabel('Stock number').fill('CHANNEL-1');
    await page.getByRole('combobox', { name: 'Brand' }).fill('Omega');
    await page.getByLabel('Model').fill('Seamaster');
    const channels = page.getByRole('region', { name: 'Channels' });
    await channels.getByRole('switch').waitFor();
    await channels.getByText('Save first. Then you switch on the channels').waitFor();
  });

  describe('of a promotion', () => {
    const open = async (id: string) => {
      const opened = await site.openAs(owner, `/watches/${id}`);
      await opened.page.getByRole('button', { name: 'Start promotion' }).click();
      const dialog = opened.page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: /^Promotional price/ }).fill('11,000');
      return { ...opened, dialog, send: dialog.getByRole('button', { name: 'Save promotion' }) };
    };

    it('say that a date is incomplete, and start nothing', async (t) => {
      const id = await create();
      const { page, context, dialog, send } = await open(id);
      t.after(() => context.close());
      for (const label of [/^Starts/, /^Ends/]) {
        const field = dialog.getByLabel(label);
        // The month and the day, but no year and no time.
        await field.pressSequentially('1231');
        await send.press('Enter');
        await dialog.getByText('Complete the date and time').waitFor();
        assert.equal(await hasFocus(field), true);
        assert.deepEqual((await itemOf(id)).promotions, []);
        await field.fill('2099-12-31T10:00');
        await field.blur();
        await dialog.getByText('Complete the date and time').waitFor({ state: 'detached' });
        await field.fill('');
      }
      await dialog.getByLabel(/^Ends/).fill('2099-12-31T10:00');
      await send.click();
      await page.getByText('Runs now').waitFor();
      const [promotion] = (await itemOf(id)).promotions;
      assert.deepEqual([promotion?.priceAmount, promotion?.endsAt !== null], [1_100_000, true]);
    });

    it('say that an end has passed', async (t) => {
      const id = await create();
      const { context, dialog, send } = await open(id);
      t.after(() => context.close());
      await dialog.getByLabel(/^Starts/).fill('2020-01-01T10:00');
      await dialog.getByLabel(/^Ends/).fill('2020-02-01T10:00');
      await send.click();
      await dialog.getByText('This end has passed.').waitFor();
      assert.deepEqual((await itemOf(id)).promotions, []);
    });

    it('close with the focus on the button that opened them', async (t) => {
      const { page, context } = await open(await create());
      t.after(() => context.close());
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Discard', exact: true }).click();
      await until(async () =>
        assert.equal(await hasFocus(page.getByRole('button', { name: 'Start promotion' })), true),
      );
      const actions = page.getByRole('button', { name: 'Actions' });
      await actions.click();
      await page.getByRole('menuitem', { name: 'Mark as sold' }).click();
      await page.getByRole('dialog', { name: 'Mark as sold' }).getByLabel('Units').fill('1');
      await page.keyboard.press('Escape');
      await until(async () => assert.equal(await hasFocus(actions), true));
    });
  });

  it('of a bulk change take amounts with thousands, and refuse a percentage below −100 with words', async (t) => {
    await create(watch({ title: 'Bulk price' }));
    const { page, context } = await site.openAs(owner, '/watches?q=bulk');
    t.after(() => context.close());
    await page.getByRole('checkbox', { name: 'Select Bulk price' }).check();
    await page.getByRole('button', { name: 'Change price' }).click();
    const dialog = page.getByRole('dialog', { name: /^Change the price/ });
    const send = dialog.getByRole('button', { name: 'Change 1' });
    const percent = dialog.getByRole('textbox', { name: 'Percent' });
    await type(percent, '-150');
    await dialog.getByText('Enter a number from -100 to 900.').waitFor();
    assert.equal(await percent.inputValue(), '-150');
    assert.equal(await send.isDisabled(), true);
    await type(percent, '-10');
    await dialog.getByText('Enter a number from -100 to 900.').waitFor({ state: 'detached' });
    // The reason stands there while the field still has the focus.
    await percent.fill('-150');
    await dialog.getByText('Enter a number from -100 to 900.').waitFor();
    assert.equal(await hasFocus(percent), true);
    await type(percent, '-10,5');
    await dialog.getByText(/USD.12,990\.00 → USD.11,626\.05/).waitFor();
    await dialog.getByText('By amount, USD').click();
    await type(dialog.getByRole('textbox', { name: 'Amount, USD' }), '-1,000');
    await dialog.getByText(/USD.12,990\.00 → USD.11,990\.00/).waitFor();
    assert.equal(await send.isDisabled(), false);
    await type(dialog.getByRole('textbox', { name: 'Amount, USD' }), '-12,989.99');
    await dialog.getByRole('combobox', { name: 'Round to' }).click();
    await page.getByRole('option', { name: 'USD 100.00' }).click();
    await dialog.getByText(/USD.12,990\.00 → USD.100\.00/).waitFor();
    await type(dialog.getByRole('textbox', { name: 'Amount, USD' }), '-12,990.01');
    await dialog.getByText(/USD.12,990\.00 → refused, as it would be below zero/).waitFor();
  });

  it('of the price filter take amounts with thousands', async (t) => {
    const { page, context } = await site.openAs(owner, '/watches');
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Price', exact: true }).first().click();
    await type(page.getByRole('textbox', { name: 'Price from, USD' }), '1.2.3');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Enter a number, such as 12,500.').waitFor();
    await type(page.getByRole('textbox', { name: 'Price from, USD' }), '12,500');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/price_from=1250000(?:&|$)/);
    await page.getByRole('button', { name: 'Price from 12,500' }).waitFor();
  });

  it('of a range of times say that one is incomplete', async (t) => {
    const { page, context } = await site.openAs(owner, '/deliveries?code=418');
    t.after(() => context.close());
    await page.getByRole('combobox', { name: 'Time', exact: true }).click();
    await page.getByRole('option', { name: 'From … to …' }).click();
    const range = page.getByRole('dialog', { name: 'Time range' });
    await range.getByLabel('Time from').pressSequentially('1231');
    await range.getByRole('button', { name: 'Apply' }).click();
    await range.getByText('Complete the date and time').waitFor();
  });
});
