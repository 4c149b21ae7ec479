import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { sql } from '../../src/db/sql.ts';
import { createItem } from '../../src/inventory/items.ts';
import { TESTER } from '../harness/actor.ts';
import {
  assertAccessible,
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
} from '../harness/dashboard-browser.ts';
import { watch } from '../harness/stock.ts';
import type { Dealer } from '../harness/world.ts';

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
  const save = async (page: Page) => await page.getByRole('button', { name: 'Save', exact: true }).click();
  const title = (page: Page) => page.getByLabel('Title');

  it('takes a new watch, two photos, an edit and a channel', async () => {
    const { page, complaints } = await site.openAs(owner, '/watches');
    await page.getByRole('link', { name: 'New watch' }).click();
    await page.getByRole('heading', { name: 'New watch' }).waitFor();
    await title(page).fill('Omega Speedmaster Professional');
    await page.getByLabel('Stock number').fill('W-2000');
    await page.getByRole('textbox', { name: /^Price/ }).fill('5200');
    await page.getByRole('combobox', { name: 'Brand' }).fill('Omega');
    await page.getByLabel('Model').fill('Speedmaster');
    await page.getByText('What your site would read').waitFor();
    await save(page);
    await page.waitForURL(/\/watches\/lst_/);
    await settled(page);
    await page.getByLabel('Photo files').setInputFiles([
      { name: 'front.jpg', mimeType: 'image/jpeg', buffer: await picture('#345') },
      { name: 'back.jpg', mimeType: 'image/jpeg', buffer: await picture('#863') },
    ]);
    await page.getByText('2 of 50.').waitFor();
    await page.getByRole('button', { name: 'Move photo 2 forward' }).click();
    await title(page).fill('Omega Speedmaster');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved.', { exact: true }).waitFor();
    await page.getByRole('switch').last().waitFor();
    const channel = page.getByRole('region', { name: 'Channels' }).getByRole('switch');
    await channel.check({ force: true });
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

  it('shows both versions when two colleagues edit one watch, and loses neither', async () => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch({ title: 'Shared' }));
    const [first, second] = [await site.openAs(owner, `/watches/${id}`), await site.openAs(staff, `/watches/${id}`)];
    await title(second.page).fill('Title of staff');
    await second.page.getByLabel('Caliber').fill('Cal. of staff');
    await title(first.page).fill('Title of the owner');
    await save(first.page);
    await first.page.getByText('Saved.', { exact: true }).waitFor();
    await save(second.page);
    const dialog = second.page.getByRole('dialog');
    await dialog.getByText('Title of the owner').waitFor();
    await dialog.getByText('Title of staff').waitFor();
    await dialog.getByRole('button', { name: 'Take theirs' }).click();
    assert.equal(await title(second.page).inputValue(), 'Title of the owner');
    assert.equal(await second.page.getByLabel('Caliber').inputValue(), 'Cal. of staff');
    await save(second.page);
    await second.page.getByText('Saved.', { exact: true }).waitFor();
  });

  it('has nothing that axe objects to, in both schemes and on a phone', async () => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    for (const scheme of ['light', 'dark'] as const) {
      for (const look of [{ scheme }, { scheme, width: PHONE_WIDTH }]) {
        const { page } = await site.openAs(owner, `/watches/${id}`, look);
        await page.getByText('Item created').waitFor();
        await assertAccessible(page, `the item, ${JSON.stringify(look)}`);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.ok(Number(width) <= (look.width ?? 1440), 'the page does not scroll sideways');
        if (process.env.SCREENSHOTS_DIR !== undefined) {
          const name = `${process.env.SCREENSHOTS_DIR}/item-${look.width ?? 1440}-${scheme}.png`;
          await page.screenshot({ path: name, fullPage: true });
        }
        await page.goto(`${site.url}/parts/new`);
        await settled(page);
        await assertAccessible(page, `a new part, ${JSON.stringify(look)}`);
      }
    }
  });
});
