import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COMMAND_LINE } from '../../../src/audit/actor.ts';
import { BYTES_PER_MB, DASHBOARD_STORAGE_QUOTA_DEFAULT_MB_PER_DAY } from '../../../src/contract/limits.ts';
import { createItem, setHidden } from '../../../src/inventory/items/item-operations.ts';
import { createBusinessUnit, createLocation } from '../../../src/inventory/locations.ts';
import { confirmationCode } from '../../../src/notifications/mail-confirmation.ts';
import { raiseStorageUsage } from '../../../src/quota/storage-usage.ts';
import {
  assertAccessible,
  assertBothLooks,
  type DashboardSite,
  type Person,
  settled,
  startDashboard,
  toast,
} from '../../harness/browser/dashboard-browser.ts';
import { watch } from '../../harness/stock.ts';
import { type Dealer, WORLD_SECRET_KEY } from '../../harness/world.ts';

describe('the settings and the audit log in the browser', () => {
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

  it('save the business, and show two colleagues who edit it each other’s values', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/settings/business');
    t.after(() => context.close());
    const other = await site.openAs(owner, '/settings/business');
    t.after(() => other.context.close());
    await other.page.getByLabel('Name').fill('Theirs');
    await page.getByLabel('Name').fill('Mine');
    await page.getByLabel('City').fill('Geneva');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. Your sites').waitFor();
    await other.page.getByRole('button', { name: 'Save' }).click();
    await other.page.getByText('yours is “Theirs”, saved is “Mine”').waitFor();
    await assertAccessible(other.page, 'a conflict of settings');
    await other.page.getByRole('button', { name: 'Save mine' }).click();
    await other.page.getByText('Saved. Your sites').waitFor();
    await page.reload();
    await settled(page);
    assert.equal(await page.getByLabel('Name').inputValue(), 'Theirs');
    assert.equal(await page.getByLabel('City').inputValue(), 'Geneva');
    assert.deepEqual(complaints, []);
  });

  it('refuse a currency without exchange rates beside its field', async (t) => {
    const { page, context } = await site.openAs(owner, '/settings/business');
    t.after(() => context.close());
    await page.getByRole('combobox', { name: 'Currency' }).fill('KWD');
    await page.getByRole('option', { name: /^KWD/ }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/no exchange rate for KWD\//).waitFor();
  });

  it('refuse a currency with other decimals beside its field, with what to do', async (t) => {
    const other = await site.world.dealer();
    await createItem(site.world.channel, COMMAND_LINE, other.organizationId, watch({ priceAmount: 890_000 }));
    const { page, context } = await site.openAs(await site.person(other), '/settings/business');
    t.after(() => context.close());
    await page.getByRole('combobox', { name: 'Currency' }).fill('JPY');
    await page.getByRole('option', { name: /^JPY/ }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^USD has 2 decimals and JPY has 0.*1 item has a price.*import it with “none”/).waitFor();
  });

  it('say in a form and beside an upload that the storage quota is used up', async (t) => {
    const other = await site.world.dealer();
    const { page, context } = await site.openAs(await site.person(other), '/settings/business');
    t.after(() => context.close());
    const bytes = DASHBOARD_STORAGE_QUOTA_DEFAULT_MB_PER_DAY * BYTES_PER_MB;
    await site.world.db.query(raiseStorageUsage(other.organizationId, bytes, null));
    await page.getByLabel('City').fill('Geneva');
    await page.getByRole('button', { name: 'Save' }).click();
    const sentence = 'Your business has stored the 100 GB that it may store in a day';
    await toast(page, sentence).waitFor();
    await page.goto(`${site.url}/import`);
    const file = { name: 'stock.csv', mimeType: 'text/csv', buffer: Buffer.from('Stock number;Title\nW-1;Watch\n') };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText(sentence).waitFor();
  });

  it('begin mail when the person has entered the code that was sent to them', async (t) => {
    const { page, context, complaints } = await site.openAs(staff, '/settings/account');
    t.after(() => context.close());
    await page.getByText(staff.email, { exact: true }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Email' }).count(), 0, 'it can’t be edited here');
    await page.getByLabel('New orders in the queue').click();
    await page.getByText(`We are sending a code to ${staff.email}.`).waitFor();
    await assertBothLooks(page, 'the code that confirms an address');
    await page.getByLabel('Code from the mail').fill('wrong');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('This is not the code').waitFor();
    await page.getByLabel('Code from the mail').fill(confirmationCode(WORLD_SECRET_KEY, staff));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Confirmed. Mail begins now.').waitFor();
    assert.equal(await page.getByLabel('Code from the mail').count(), 0);
    // The browser itself complains of the answer 400.
    assert.deepEqual(
      complaints.filter((line) => !line.includes('400')),
      [],
    );
  });

  it('add, rename and delete locations, with the number of items that lose theirs', async (t) => {
    const unitId = await createBusinessUnit(site.world.db, COMMAND_LINE, dealer.organizationId, 'Basel');
    const locationId = await createLocation(site.world.db, COMMAND_LINE, dealer.organizationId, unitId, 'Window');
    await createItem(site.world.channel, COMMAND_LINE, dealer.organizationId, watch({ locationId }));
    const { page, context, complaints } = await site.openAs(staff, '/settings/locations');
    t.after(() => context.close());
    const basel = page.getByRole('region', { name: 'Basel' });
    await basel.getByRole('button', { name: 'Add a location' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Safe');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await basel.getByText('Safe').waitFor();
    await basel.getByRole('button', { name: 'Delete Window' }).click();
    await page.getByText('1 item lies there and will have no location').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await basel.getByText('Window').waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  it('let staff read the business but not change it', async (t) => {
    const { page, context } = await site.openAs(staff, '/settings/business');
    t.after(() => context.close());
    assert.equal(await page.getByLabel('Name').isDisabled(), true);
    assert.equal(await page.getByLabel('Staff may see cost prices').isDisabled(), true);
    assert.ok(await page.getByText('Only owners may do this.').first().isVisible());
  });

  it('list who changed what, each of many on demand', async (t) => {
    const ids = [];
    for (const title of ['First', 'Second']) {
      ids.push(await createItem(site.world.channel, COMMAND_LINE, dealer.organizationId, watch({ title })));
    }
    await setHidden(site.world.channel, COMMAND_LINE, dealer.organizationId, ids, true);
    const { page, context, complaints } = await site.openAs(owner, '/audit?action=item.visibility_changed');
    t.after(() => context.close());
    await page.getByText('2 items').waitFor();
    await page.getByRole('button', { name: 'Show each' }).click();
    await page.getByText(/^First \(/).waitFor();
    await page.goto(`${site.url}/audit?object_id=${ids[0]}`);
    await page.getByRole('cell', { name: 'Item created' }).waitFor();
    await page.goto(`${site.url}/audit?from=2020-03-01T00:00:00.000Z&to=2020-04-01T00:00:00.000Z`);
    assert.equal(await page.getByLabel('From this day').inputValue(), 'March 1, 2020');
    assert.equal(await page.getByLabel('Up to this day').inputValue(), 'March 31, 2020');
    await page.getByText('0 rows').waitFor();
    assert.deepEqual(complaints, []);
  });
});
