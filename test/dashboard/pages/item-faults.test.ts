import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { sql } from '../../../src/db/sql.ts';
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
import { TEST_PASSWORD } from '../../harness/passwords.ts';
import { watch } from '../../harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../harness/world.ts';

describe('what is typed on the page of an item', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
  });
  after(() => site?.stop());

  const title = (page: Page) => page.getByLabel('Title');

  it('asks before it is left with unsaved changes', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    await title(page).fill('Not saved');
    await page.getByRole('link', { name: 'Parts' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Leave this page?' });
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await title(page).inputValue(), 'Not saved');
    const asked = page.waitForEvent('dialog');
    const closing = page.close({ runBeforeUnload: true });
    const question = await asked;
    assert.equal(question.type(), 'beforeunload');
    await question.dismiss();
    await closing;
    await page.getByRole('link', { name: 'Parts' }).first().click();
    await dialog.getByRole('button', { name: 'Leave', exact: true }).click();
    await page.waitForURL(/\/parts$/);
  });

  it('keeps what is typed when the session ends, and saves it after the password', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    const person = await site.person(dealer);
    const { page, context } = await site.openAs(person, `/watches/${id}`);
    t.after(() => context.close());
    await title(page).fill('Typed before the end');
    await site.world.db.query(sql`delete from sessions where user_id = ${person.userId}`);
    // By keyboard: the preview may have met the end of the session before, and its dialog lies over the button.
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').first().fill(TEST_PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await title(page).inputValue(), 'Typed before the end');
    await save(page);
    await toast(page, 'Saved.').waitFor();
  });

  it('keeps what is typed while a save is under way, and saves it with the next one', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    const { promise: isTyped, resolve: typed } = Promise.withResolvers<void>();
    await page.route(`**/api/dashboard/items/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') await isTyped;
      await route.fallback();
    });
    await title(page).fill('Typed before');
    const saving = page.waitForRequest((request) => request.method() === 'PATCH');
    await save(page);
    await saving;
    await page.getByLabel('Caliber').fill('Typed meanwhile');
    typed();
    await toast(page, 'Saved.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Typed before' }).waitFor();
    assert.equal(await page.getByLabel('Caliber').inputValue(), 'Typed meanwhile');
    await save(page);
    await until(async () => {
      const item = await readItem(site.world.db, dealer.organizationId, id);
      assert.deepEqual([item.title, item.attributes.caliber], ['Typed before', 'Typed meanwhile']);
    });
  });

  it('says so when the line is cut in the middle of a save, and saves once when it is back', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    await title(page).fill('Saved over a bad line');
    await context.setOffline(true);
    await save(page);
    await toast(page, 'The service can’t be reached. What you entered is still here').waitFor();
    await context.setOffline(false);
    // The service stores it, and only the answer is lost.
    await page.route(`**/api/dashboard/items/${id}`, async (route) => {
      if (route.request().method() !== 'PATCH') return await route.fallback();
      await route.fetch();
      await route.abort();
      await page.unroute(`**/api/dashboard/items/${id}`);
    });
    await save(page);
    await toast(page, 'The service can’t be reached. What you entered is still here').last().waitFor();
    await save(page);
    await toast(page, 'Saved.').waitFor();
    const { revision, title: saved } = await readItem(site.world.db, dealer.organizationId, id);
    assert.deepEqual([saved, revision], ['Saved over a bad line', 2]);
  });
});

it('a page that is open while the service restarts says so, loses nothing, and goes on by itself', async (t) => {
  const site = await startDashboard();
  let again: World | null = null;
  t.after(async () => {
    await again?.stop();
    await site.stop();
  });
  const { world } = site;
  const dealer = await world.dealer();
  const id = await createItem(world.channel, TESTER, dealer.organizationId, watch());
  const { page } = await site.openAs(await site.person(dealer), `/watches/${id}`);
  const title = page.getByLabel('Title');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await title.fill('Typed before the restart');

  await world.app.close();
  const banner = page.getByText('The service can’t be reached. What you have typed is safe');
  await banner.waitFor();
  await save.click();
  await page.getByRole('alert').filter({ hasText: 'What you entered is still here' }).waitFor();
  assert.equal(await title.inputValue(), 'Typed before the restart');

  // The same database, which the first world drops in the end.
  const database = { ...world.database, drop: async () => {} };
  again = await startWorld({ database, port: world.port, publicUrl: site.url });
  await banner.waitFor({ state: 'detached' });
  assert.equal(await title.inputValue(), 'Typed before the restart');
  await save.click();
  await page.getByRole('alert').filter({ hasText: 'Saved.' }).waitFor();
  assert.equal((await readItem(world.db, dealer.organizationId, id)).title, 'Typed before the restart');
});
