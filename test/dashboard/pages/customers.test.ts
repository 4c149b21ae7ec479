import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { runErasures } from '../../../src/sales/erasure/run-erasures.ts';
import {
  assertAccessible,
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
} from '../../harness/browser/dashboard-browser.ts';
import { addShop, faultOf, type Shop } from '../../harness/shop.ts';

describe('the customers in the browser', () => {
  let site: DashboardSite;
  let owner: Person;
  let shop: Shop;
  before(async () => {
    site = await startDashboard();
    const dealer = await site.world.dealer();
    owner = await site.person(dealer);
    shop = await addShop(site.world, dealer);
  });
  after(() => site?.stop());

  async function picture(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS_DIR;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/customers-${name}.png` });
  }

  it('are merged from a conflict after a preview, and the site’s request passes then', async (t) => {
    const address = { line1: 'Rue du Rhône 1', postal_code: '1204', city: 'Geneva', country: 'CH' };
    const mia = { external_id: 'm1', email: 'mia@example.ch', first_name: 'Mia' };
    const roth = { external_id: 'm2', email: 'roth@example.ch', phone: '+41227355555', last_name: 'Roth', address };
    const kept = (await shop.post('/v1/customers', mia)).body.id;
    await shop.post('/v1/customers', roth);
    const buyer = { email: 'mia@example.ch', phone: '+41227355555' };
    const request = { ...buyer, external_id: 'm2' };
    assert.equal(faultOf(await shop.post('/v1/customers', request)).code, 'customer_contact_conflict');
    const { body: order } = await shop.post('/v1/orders', { channel_order_id: 'SO-77', customer: buyer });

    const { page, context, complaints } = await site.openAs(owner, '/customers');
    t.after(() => context.close());
    const missing: string[] = [];
    page.on('response', (response) => response.status() === 404 && missing.push(response.url()));
    await page.getByRole('link', { name: /^Customers.*1 need attention/ }).waitFor();
    await picture(page, 'list-1440');
    await page.getByRole('tab', { name: /Conflicts/ }).click();
    await page.getByRole('link', { name: 'SO-77' }).waitFor();
    await assertAccessible(page, 'the list of conflicts');
    await picture(page, 'conflicts-1440');
    await page.getByRole('button', { name: 'Merge the customers of SO-77' }).click();
    const dialog = page.getByRole('dialog', { name: 'Merge two customers' });
    await dialog.getByRole('row', { name: /^Last name/ }).waitFor();
    if (!(await dialog.getByRole('columnheader', { name: 'Kept: Mia' }).isVisible())) {
      await dialog.getByRole('button', { name: 'Keep the other one' }).click();
    }
    await dialog.getByRole('columnheader', { name: 'Kept: Mia' }).waitFor();
    await dialog.getByRole('row', { name: 'Last name – Roth Roth' }).waitFor();
    await dialog.getByRole('row', { name: 'Email mia@example.ch roth@example.ch mia@example.ch' }).waitFor();
    await dialog.getByText('1 order in conflict is decided.').waitFor();
    await assertAccessible(page, 'the preview of a merge');
    await picture(page, 'merge-1440');
    await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('No conflicts.').waitFor();

    const retried = await shop.post('/v1/customers', request);
    assert.deepEqual([retried.status, retried.body.id], [200, kept]);
    assert.deepEqual(missing, [], 'the preview of a merge that is done was read again');
    await page.goto(`${site.url}/orders/${order.id}`);
    await page.getByRole('link', { name: 'Mia Roth' }).click();
    await page.getByRole('heading', { name: 'Mia Roth' }).waitFor();
    await page.getByRole('link', { name: 'SO-77' }).waitFor();
    await assertAccessible(page, 'the page of a customer');
    await picture(page, 'detail-1440');
    assert.deepEqual(complaints, []);
  });

  it('are found, corrected and looked at on a phone', async (t) => {
    await shop.post('/v1/customers', { external_id: 'p1', email: 'paul@example.ch', first_name: 'Paul' });
    const { body: other } = await shop.post('/v1/customers', { email: 'paula@example.ch', first_name: 'Paula' });
    const { page, context, complaints } = await site.openAs(owner, '/customers?q=paul', {
      width: PHONE_WIDTH,
      scheme: 'dark',
    });
    t.after(() => context.close());
    await page.getByRole('link', { name: 'Paula' }).waitFor();
    await picture(page, 'list-390');
    await page.goto(`${site.url}/customers/${other.id}`);
    await settled(page);
    await picture(page, 'detail-390');
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit Paula' });
    await dialog.getByLabel('Email').fill('paula at example');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/^Email must be an email address/).waitFor();
    await dialog.getByLabel('Email').fill('paul@example.ch');
    await dialog.getByLabel('Last name').fill('Keller');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Another customer has this email.').waitFor();
    await assertAccessible(page, 'the form of a customer');
    await dialog.getByLabel('Email').fill('paula.keller@example.ch');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Paula Keller' }).waitFor();
    await page.getByRole('button', { name: 'Merge…' }).click();
    const picker = page.getByRole('dialog', { name: 'Merge with Paula Keller' });
    await picker.getByRole('combobox', { name: 'The same person as' }).fill('paul@');
    await page.getByRole('option', { name: /paul@example.ch/ }).click();
    await picker.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('A merge can’t be undone.').waitFor();
    await assertAccessible(page, 'the preview of a merge on a phone');
    await picture(page, 'merge-390');
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(overflow) <= 0, `the preview is wider than the window by ${overflow} px`);
    assert.deepEqual(complaints, []);
  });

  it('are not found at an address that is no id, such as /customers/conflicts, by a page with its own title', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/customers');
    t.after(() => context.close());
    const addresses = { customers: 'conflicts', orders: 'choices', deliveries: 'choices', events: 'choices' };
    for (const [area, id] of Object.entries({ ...addresses, requests: 'choices', integrations: 'x', jobs: 'x' })) {
      await page.goto(`${site.url}/${area}/${id}`);
      await page.getByRole('heading', { level: 1, name: 'That is not here.' }).waitFor();
      await page.getByText('There is no such').waitFor();
      await assertAccessible(page, `${area}/${id}`);
    }
    await page.getByRole('link', { name: 'Go to Jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    // React logs what a page could not show; a crash would be another error.
    assert.deepEqual(
      complaints.filter((text) => !text.startsWith('ApiFailure: There is no such')),
      [],
    );
  });

  it('are erased by an owner after a dialog that says what goes and what stays', async (t) => {
    const buyer = { email: 'gone@example.ch', first_name: 'Gone', last_name: 'Person' };
    const { body: order } = await shop.post('/v1/orders', { channel_order_id: 'SO-gone', customer: buyer });
    const { page, context, complaints } = await site.openAs(owner, `/customers/${order.customer_id}`);
    t.after(() => context.close());
    await page.getByRole('button', { name: 'Erase this person' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase Gone Person' });
    await dialog.getByText(/lose buyer, addresses, metadata/).waitFor();
    await assertAccessible(page, 'the dialog that erases a person');
    await picture(page, 'erase-1440');
    await dialog.getByRole('button', { name: 'Erase for ever' }).click();
    await page.waitForURL(`${site.url}/customers`);
    await page.getByText('Erased. What is left in orders, events and logs is being removed.').waitFor();
    await page.getByText(/A person is being erased: step 1 of \d+/).waitFor();
    await runErasures(site.world.channel, undefined, { pauseMs: 0, settleMs: 0 });
    // Without a reload: the live stream tells the page.
    await page.getByText(/A person was erased .*: \d+ records searched, \d+ changed/).waitFor();
    assert.equal((await shop.api.get(`/v1/orders/${order.id}`)).body.customer, null);
    assert.deepEqual(complaints, []);
  });
});
