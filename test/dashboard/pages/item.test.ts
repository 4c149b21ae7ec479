import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { sql } from '../../../src/db/sql.ts';
import { createItem, editItem } from '../../../src/inventory/items/item-operations.ts';
import { readItem } from '../../../src/inventory/items/read-item.ts';
import { sellUnits } from '../../../src/sales/sell.ts';
import { TESTER } from '../../harness/actor.ts';
import {
  assertAccessible,
  assertBothLooks,
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  save,
  startDashboard,
  toast,
  turnTo,
  until,
} from '../../harness/browser/dashboard-browser.ts';
import { part, watch } from '../../harness/stock.ts';
import type { Dealer } from '../../harness/world.ts';

describe('the page of an item', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let staff: Person;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    staff = await site.person(dealer, 'staff');
  });
  after(() => site.stop());

  const picture = (background: string) =>
    sharp({ create: { width: 60, height: 40, channels: 3, background } })
      .jpeg()
      .toBuffer();
  const title = (page: Page) => page.getByLabel('Title');

  it('takes a new watch, two photos, an edit and a channel', async () => {
    const { page, complaints } = await site.openAs(owner, '/watches');
    await page.getByRole('link', { name: 'New watch' }).first().click();
    await page.getByRole('heading', { name: 'New watch' }).waitFor();
    await title(page).fill('Omega Speedmaster Professional');
    await page.getByLabel('Stock number').fill('W-2000');
    await page.getByRole('textbox', { name: /^Price/ }).fill('5200');
    await page.getByRole('combobox', { name: 'Brand' }).fill('Omega');
    await page.getByLabel('Model').fill('Speedmaster');
    await page.getByRole('button', { name: /^Details of/ }).click();
    await page.getByText(/^What .* would read$/).waitFor();
    // Chosen before there is an item: it is uploaded with the save.
    await page.getByLabel('Photo files').setInputFiles([
      { name: 'front.jpg', mimeType: 'image/jpeg', buffer: await picture('#345') },
      { name: 'phone.heic', mimeType: 'image/heic', buffer: Buffer.from('heic') },
    ]);
    await page.getByText('phone.heic: This is an HEIC photo').waitFor();
    await save(page);
    await page.waitForURL(/\/watches\/lst_/);
    await page.getByText('1 of 50.').waitFor();
    await page
      .getByLabel('Photo files')
      .setInputFiles([{ name: 'back.jpg', mimeType: 'image/jpeg', buffer: await picture('#863') }]);
    await page.getByText('2 of 50.').waitFor();
    await page.getByRole('button', { name: 'Move photo 2 earlier' }).click();
    await title(page).fill('Omega Speedmaster');
    await page.keyboard.press('Control+s');
    // The message of the first save may still be there.
    await toast(page, 'Saved.').filter({ hasNotText: 'being uploaded' }).waitFor();
    await page.getByRole('switch').last().waitFor();
    const channel = page.getByRole('region', { name: 'Channels' }).getByRole('switch');
    await channel.press('Space');
    await page.getByText('listing.published').waitFor();
    const rows = await site.world.db.query<{ document: string }>(sql`
      select document from channel_documents where kind = 'listing'`);
    const document = JSON.parse(rows[0]?.document ?? '{}');
    assert.deepEqual(
      [document.title, document.photos.length, document.price.amount],
      ['Omega Speedmaster', 2, 520_000],
    );
    assert.deepEqual(complaints, []);
  });

  it('shows both versions when two colleagues edit one field, lets each be chosen, and loses neither', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch({ title: 'Shared' }));
    const [first, second] = [await site.openAs(owner, `/watches/${id}`), await site.openAs(staff, `/watches/${id}`)];
    t.after(() => Promise.all([first.context.close(), second.context.close()]));
    await title(second.page).fill('Title of staff');
    await second.page.getByLabel('Caliber').fill('Cal. of staff');
    await second.page.getByRole('textbox', { name: /^Price/ }).fill('12000');
    await title(first.page).fill('Title of the owner');
    await first.page.getByRole('textbox', { name: /^Price/ }).fill('11000');
    await save(first.page);
    await toast(first.page, 'Saved.').waitFor();
    await save(second.page);
    const dialog = second.page.getByRole('dialog');
    const side = (field: string, which: RegExp) =>
      dialog.getByRole('radiogroup', { name: field }).getByRole('radio', { name: which });
    await side('Title', /^Saved: Title of the owner/).click();
    assert.equal(await side('Price', /^Yours: USD.12,000\.00/).count(), 1, 'money is shown as money');
    await assertAccessible(second.page, 'the dialog of a conflict');
    await dialog.getByRole('button', { name: 'Save what I chose' }).click();
    await toast(second.page, 'Saved.').waitFor();
    const item = await readItem(site.world.db, dealer.organizationId, id);
    assert.deepEqual(
      [item.title, item.attributes.caliber, item.priceAmount],
      ['Title of the owner', 'Cal. of staff', 1_200_000],
    );
  });

  it('keeps what is typed when a colleague saves another field, and saves both', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch({ title: 'Shared' }));
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    await title(page).fill('Half typed');
    await editItem(site.world.channel, TESTER, dealer.organizationId, id, { attributes: { year: 1950 } });
    site.world.channel.notifyDashboards?.(dealer.organizationId, 'item', [id]);
    await page.getByText('Year').first().waitFor();
    await page.getByRole('list', { name: 'History' }).getByText('1950').waitFor();
    assert.equal(await title(page).inputValue(), 'Half typed');
    await save(page);
    await toast(page, 'Saved.').waitFor();
    const item = await readItem(site.world.db, dealer.organizationId, id);
    assert.deepEqual([item.title, item.attributes.year], ['Half typed', 1950]);
  });

  it('shows a channel in one row, in two lines on a phone, and below it only what went wrong', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    await site.world.db.query(sql`update integrations set name = 'Main site' where id = ${dealer.integrationId}`);
    const { page, context, complaints } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    const channels = page.getByRole('region', { name: 'Channels' });
    const row = channels.getByRole('listitem').filter({ hasText: 'Main site' });
    await row.getByRole('switch', { name: 'Main site' }).press('Space');
    await row.getByText('Published', { exact: true }).waitFor();
    // Its webhooks have no URL.
    await row.getByText('Last event:').waitFor();
    const top = async (part: Locator) => Math.round((await part.boundingBox())?.y ?? Number.NaN);
    const middle = async (part: Locator) => {
      const box = await part.boundingBox();
      return (box?.y ?? Number.NaN) + (box?.height ?? 0) / 2;
    };
    const [name, state, price] = [
      row.getByText('Main site', { exact: true }),
      row.getByText('Published', { exact: true }),
      row.getByText(/^USD/).first(),
    ];
    for (const part of [state, price]) assert.ok(Math.abs((await middle(part)) - (await middle(name))) < 6);
    await row.getByRole('button', { name: 'Details of Main site' }).click();
    await row.getByRole('region', { name: 'JSON on Main site' }).waitFor();
    await assertBothLooks(page, 'a channel with its details');
    await turnTo(page, { width: PHONE_WIDTH, scheme: 'light' });
    assert.ok((await top(price)) > (await middle(name)), 'the price is in the second line');
    assert.ok(Math.abs((await middle(price)) - (await middle(state))) < 6);
    assert.deepEqual(complaints, []);
  });

  it('takes back an edit from its history, and says what stays because it was changed since', async (t) => {
    const { channel } = site.world;
    const id = await createItem(
      channel,
      TESTER,
      dealer.organizationId,
      watch({ title: 'First', priceAmount: 100_000 }),
    );
    await editItem(channel, TESTER, dealer.organizationId, id, { title: 'Renamed', priceAmount: 90_000 });
    await editItem(channel, TESTER, dealer.organizationId, id, { priceAmount: 80_000 });
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    const entry = page.getByRole('list', { name: 'History' }).getByRole('listitem').filter({ hasText: 'Renamed' });
    await entry.getByText('USD 1,000.00').waitFor();
    await entry.getByRole('button', { name: 'Undo' }).click();
    await toast(page, 'Undone, except what was changed since: Price.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'First' }).waitFor();
    await page.getByText('Was undone').waitFor();
  });

  it('takes and shows promotion times in the zone of the business, in the history and the audit log as well', async (t) => {
    const zoned = await site.world.dealer();
    await site.world.db.query(sql`
      update organizations set time_zone = 'Europe/Zurich' where id = ${zoned.organizationId}`);
    const id = await createItem(site.world.channel, TESTER, zoned.organizationId, watch());
    const { page, context } = await site.openAs(await site.person(zoned), `/watches/${id}`);
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Start promotion' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: /^Promotional price/ }).fill('1000');
    await dialog.getByLabel('Starts (Europe/Zurich)').fill('2027-07-01T09:00');
    await dialog.getByText('Jul 1, 2027, 7:00 AM where you are (UTC).').waitFor();
    await dialog.getByRole('button', { name: 'Save promotion' }).click();
    await page.getByText(/Jul 1, 2027, 9:00 AM – no end \(Europe\/Zurich\)/).waitFor();
    const item = await readItem(site.world.db, zoned.organizationId, id);
    assert.equal(new Date(item.promotions[0]?.startsAt ?? '').toISOString(), '2027-07-01T07:00:00.000Z');
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText('Times in Europe/Zurich').waitFor();
    const started = history.getByRole('listitem').filter({ hasText: 'Promotion planned or started' }).first();
    assert.match((await started.textContent()) ?? '', /Starts Jul 1, 2027, 9:00\sAM\s*Ends never/);
    assert.match((await started.locator('time').getAttribute('title')) ?? '', / GMT\+[12]$/);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Cancel the promotion?' });
    await question.getByRole('button', { name: 'Keep it' }).click();
    await question.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await question.getByRole('button', { name: 'Cancel it' }).click();
    await toast(page, 'Promotion cancelled.').waitFor();
    const ended = history.getByRole('listitem').filter({ hasText: 'Promotion ended' }).first();
    assert.doesNotMatch((await ended.textContent()) ?? '', /nothing|never/);
    await page.goto(`${site.url}/audit?object_id=${id}`);
    await page.getByText('Days and times in Europe/Zurich').waitFor();
    await page
      .getByText(/^Jul 1, 2027, 9:00\sAM$/)
      .first()
      .waitFor();
  });

  it('edits what a part fits, and fits, restocks and sells its units within their limits', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, part({ units: 2 }));
    const { page, context } = await site.openAs(owner, `/parts/${id}`);
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Add a watch' }).click();
    await page.getByRole('group', { name: 'Fit 2' }).getByLabel('Model').fill('Daytona');
    await page.getByRole('button', { name: 'Remove fit 1' }).click();
    await save(page);
    await toast(page, 'Saved.').waitFor();
    const fits = (await readItem(site.world.db, dealer.organizationId, id)).attributes.compatibility;
    assert.deepEqual(fits, [{ brand: null, model: 'Daytona', reference_number: null, caliber: null }]);

    const discard = async () => {
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Discard', exact: true }).click();
    };
    const act = async (action: string, units: string) => {
      await page.getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name: action }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Units').fill(units);
      return dialog;
    };
    const tooMany = await act('Fit to a watch', '3');
    await tooMany.getByText('Enter a number from 1 to 2.').waitFor();
    assert.equal(await tooMany.getByRole('button', { name: 'Fit to a watch' }).isDisabled(), true);
    await discard();
    await tooMany.waitFor({ state: 'detached' });
    const selling = await act('Mark as sold', '2');
    // A client is faster.
    await sellUnits(site.world.channel, TESTER, dealer.organizationId, id, 1);
    await selling.getByRole('button', { name: 'Mark as sold' }).click();
    await selling.getByText('Only 1 units are available.').waitFor();
    await discard();
    await (await act('Restock', '10')).getByRole('button', { name: 'Restock' }).click();
    await toast(page, 'Restocked.').waitFor();
    await page.getByRole('list', { name: 'Sales' }).getByRole('button', { name: 'Void' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Void sale' }).click();
    await toast(page, 'Sale voided.').waitFor();
    assert.equal((await readItem(site.world.db, dealer.organizationId, id)).units, 12);
  });

  it('is hidden and shown, duplicated without its numbers, and deleted for ever by owners alone', async (t) => {
    const item = watch({ title: 'Original', serialNumber: 'SN-1' });
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, item);
    const act = async (page: Page, name: string) => {
      await page.getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    await act(page, 'Hide on every channel');
    await toast(page, 'Hidden on every channel.').getByRole('button', { name: 'Undo' }).click();
    await toast(page, 'Undone.').waitFor();
    await act(page, 'Duplicate');
    await page.getByRole('heading', { level: 1, name: 'New watch' }).waitFor();
    await until(async () => assert.equal(await title(page).inputValue(), 'Original'));
    assert.equal(await page.getByLabel('Stock number').inputValue(), '');
    assert.equal(await page.getByLabel('Serial number').inputValue(), '');
    await save(page);
    await page.getByText('This is required.').first().waitFor();
    await page.getByLabel('Stock number').fill(item.stockNumber);
    // A live update of the original leaves its copy alone.
    const reread = page.waitForResponse((answer) => answer.url().endsWith(`/items/${id}`));
    await editItem(site.world.channel, TESTER, dealer.organizationId, id, { attributes: { year: 1950 } });
    site.world.channel.notifyDashboards?.(dealer.organizationId, 'item', [id]);
    await (await reread).finished();
    await save(page);
    await page.getByText(`The stock number ${item.stockNumber} is taken.`).waitFor();
    await page.getByLabel('Stock number').fill(`${item.stockNumber}-B`);
    await save(page);
    await page.waitForURL(/\/watches\/lst_/);

    const other = await site.openAs(staff, `/watches/${id}`);
    t.after(() => other.context.close());
    await other.page.getByRole('button', { name: 'Actions' }).click();
    const forbidden = other.page.getByRole('menuitem', { name: 'Delete for ever' });
    assert.equal(await forbidden.isDisabled(), true);
    await forbidden.getByText('Only owners may do this.').waitFor();

    await act(page, 'Delete for ever');
    const dialog = page.getByRole('dialog');
    assert.equal(await dialog.getByRole('button', { name: 'Delete for ever' }).isDisabled(), true);
    await dialog.getByLabel(`Type ${item.stockNumber}-B to confirm`).fill(`${item.stockNumber}-B`);
    await dialog.getByRole('button', { name: 'Delete for ever' }).click();
    await page.waitForURL(/\/watches$/);
  });
});
