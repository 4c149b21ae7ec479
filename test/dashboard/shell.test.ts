import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import {
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  settled,
  signIn,
  startDashboard,
} from '../harness/browser/dashboard-browser.ts';
import type { Dealer } from '../harness/world.ts';

/** All script of a first visit, from the sign-in to the home page, as it travels. */
const FIRST_LOAD_LIMIT_BYTES = 300 * 1024;

describe('the shell of the dashboard', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
  });
  after(() => site?.stop());

  it('opens the sign-in, then the page that was asked for, and closes with signing out', async (t) => {
    const { page, context, complaints } = await site.open('/settings/team');
    t.after(() => context.close());
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByText('If you are the only owner, ask the operator of this service.').waitFor();
    await signIn(page, owner.email, 'not the password');
    await page.getByRole('alert').filter({ hasText: 'Email or password is wrong.' }).waitFor();
    await signIn(page, owner.email);
    await page.waitForURL(`${site.url}/settings/team`);
    await page.getByText(owner.email).first().waitFor();

    await page.getByRole('link', { name: 'Home' }).click();
    await page.waitForURL(`${site.url}/`);
    await page.getByRole('button', { name: `Account of ${owner.name}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${site.url}/settings/team`);
    await page.waitForURL(/\/sign-in\?next=/);
    assert.deepEqual(complaints, []);
  });

  it('loads at most 300 KB of brotli script for sign-in and home page together', async (t) => {
    const { page, context } = await site.open('/sign-in');
    t.after(() => context.close());
    await signIn(page, owner.email);
    await page.getByRole('link', { name: 'Home' }).waitFor();
    await settled(page);
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js'))
        .map((entry) => (entry as PerformanceResourceTiming).encodedBodySize),
    );
    const bytes = scripts.reduce((total, size) => total + size, 0);
    assert.ok(bytes > 50_000 && bytes <= FIRST_LOAD_LIMIT_BYTES, `${Math.round(bytes / 1024)} KB of script`);
  });

  it('asks for the password over the open page when the session has ended, and loses nothing that was typed', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/account');
    t.after(() => context.close());
    await page.getByLabel('Name').fill('A name half typed');
    await site.world.db.query(sql`delete from sessions where user_id = ${owner.userId}`);
    // Not a click of the mouse: the live stream may have noticed the end first, and its dialog would be in the way.
    await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').first().fill('a long test password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(await page.getByLabel('Name').inputValue(), 'A name half typed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
  });

  it('opens the page that could not be opened while the session had ended, after signing in over it', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/account');
    t.after(() => context.close());
    await site.world.db.query(sql`delete from sessions where user_id = ${owner.userId}`);
    await page.getByRole('link', { name: 'Integrations' }).first().dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').first().fill('a long test password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
    await page.getByText('This could not be shown.').waitFor({ state: 'detached' });
  });

  it('says that a search could not be done, and where an order is looked for that nobody knows', async (t) => {
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    await page.keyboard.press('Control+k');
    const field = page.getByPlaceholder('Pages, stock, customers, numbers or an id');
    await page.route('**/api/dashboard/search?*', (route) => route.abort());
    await field.fill('SO-987654');
    const again = page.getByText('The search could not be done. Search again');
    await again.waitFor();
    await page.unroute('**/api/dashboard/search?*');
    await again.click();
    await page.getByText('An order of a website never arrived? See its refused requests').click();
    await page.waitForURL(/\/requests\?status=4xx$/);
  });

  it('is worked by keyboard: the palette, g and a letter, and the list of all shortcuts', async (t) => {
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Pages, stock, customers, numbers or an id').fill('team');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${site.url}/settings/team`);
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.waitForURL(`${site.url}/`);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  it('names on a phone what stands in a stacked cell, and oneself as here now', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/team', { width: PHONE_WIDTH });
    t.after(() => context.close());
    const labelOf = (text: RegExp) =>
      page
        .locator('td')
        .filter({ hasText: text })
        .evaluate((cell) => cell.ownerDocument.defaultView?.getComputedStyle(cell, '::before').content);
    assert.equal(await labelOf(/^now$/), '"Last seen "');
    await page.goto(`${site.url}/integrations`);
    await settled(page);
    assert.equal(await labelOf(/^No URL$/), '"Webhooks "');
    await page.goto(`${site.url}/settings/account`);
    await page.getByRole('listitem').filter({ hasText: 'This one' }).getByText('seen now').waitFor();
  });

  it('shows a change of a colleague without a reload', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/team');
    t.after(() => context.close());
    const colleague = await site.person(dealer, 'staff');
    site.world.channel.notifyDashboards?.(dealer.organizationId, 'team', [colleague.userId]);
    await page.getByText(colleague.email).waitFor();
  });

  it('lets somebody join by an invitation and set a password by a reset link', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/team');
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').getByLabel('Email').fill('guest@dealer.example');
    await page.getByRole('button', { name: 'Make the link' }).click();
    const dialog = page.getByRole('dialog', { name: 'One-time link' });
    const link = await dialog.getByLabel('Link', { exact: true }).inputValue();
    // It is shown this once: only its button closes it.
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await dialog.waitFor({ state: 'detached' });

    const guest = await site.open(link.slice(site.url.length));
    t.after(() => guest.context.close());
    await guest.page.getByLabel('Your name').fill('Guest');
    await guest.page.getByLabel('Password').first().fill('a long guest password');
    await guest.page.getByRole('button', { name: 'Join' }).click();
    await guest.page.waitForURL(`${site.url}/`);
    await guest.page.goto(`${site.url}/settings/team`);
    await settled(guest.page);
    assert.equal(await guest.page.getByRole('button', { name: 'Remove' }).first().isDisabled(), true);

    const again = await site.open(link.slice(site.url.length));
    t.after(() => again.context.close());
    await again.page.getByText('Ask for a new one').waitFor();
    await again.page.getByRole('link', { name: 'sign in' }).click();
    await again.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });

  it('says what went wrong with the request’s id and a Retry, and goes on', async (t) => {
    const { page, context } = await site.openAs(owner, '/');
    t.after(() => context.close());
    let isBroken = true;
    await page.route('**/api/dashboard/team', (route) =>
      isBroken
        ? route.fulfill({
            status: 500,
            json: { error: { code: 'internal_error', message: 'Something went wrong.', request_id: 'req_1' } },
          })
        : route.continue(),
    );
    await page.goto(`${site.url}/settings/team`);
    await page.getByText('req_1').waitFor();
    await page.getByRole('heading', { level: 1, name: 'This could not be shown.' }).waitFor();
    isBroken = false;
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText(owner.email).waitFor();
  });

  it('leads from what is not there to its list, and keeps the navigation around an unknown address', async (t) => {
    const { page, context } = await site.openAs(owner, '/nowhere');
    t.after(() => context.close());
    await page.getByText('This page is not here.').waitFor();
    await page.getByRole('link', { name: 'Watches' }).first().waitFor();
    await page.goto(`${site.url}/watches/lst_nope`);
    await page.getByText('That is not here.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
    await page.getByRole('link', { name: 'Go to Watches' }).click();
    await page.getByRole('heading', { level: 1, name: 'Watches' }).waitFor();
  });
});
