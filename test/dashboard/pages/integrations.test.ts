import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { COMMAND_LINE } from '../../../src/audit/actor.ts';
import { startChannelWorker } from '../../../src/channel/jobs/worker.ts';
import { createItem } from '../../../src/inventory/items/item-operations.ts';
import { setPublished } from '../../../src/inventory/publications.ts';
import { runDeletions } from '../../../src/sales/deletion/run-deletions.ts';
import { type DashboardSite, type Person, startDashboard } from '../../harness/browser/dashboard-browser.ts';
import { type Receiver, startReceiver } from '../../harness/servers/receiver.ts';
import { watch } from '../../harness/stock.ts';
import { startTestWorker, type TestWorker } from '../../harness/webhooks/webhook-world.ts';
import type { Dealer } from '../../harness/world.ts';

describe('the integration pages', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let receiver: Receiver;
  let worker: TestWorker;
  let jobs: { stop(): Promise<void> };
  const faults: unknown[] = [];
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    receiver = await startReceiver();
    worker = startTestWorker(site.world);
    jobs = startChannelWorker(site.world.channel, (error) => faults.push(error));
  });
  after(async () => {
    await receiver?.stop();
    await worker?.stop();
    await jobs?.stop();
    await site?.stop();
    assert.deepEqual(faults, []);
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const me = async (apiKey: string) => (await site.world.client(apiKey).get('/v1/me')).status;

  it('lead from a name in four steps to a test event that is seen to arrive, live, and to a new key', async () => {
    const { page, complaints } = await site.openAs(owner, '/integrations/new');
    await page.getByLabel('Name').fill('Our website');
    await button(page, 'Create').click();
    const apiKey = await page.getByLabel('API key', { exact: true }).inputValue();
    assert.equal(await me(apiKey), 200);
    await button(page, 'I have stored the key').click();
    await page.getByLabel('Webhook URL').fill(receiver.url);
    await button(page, 'Save and check').click();
    await page.getByText(/Answered 200 after/).waitFor();
    assert.match(await page.getByLabel('Signing secret', { exact: true }).inputValue(), /^whsec_/);
    await button(page, 'I have stored the secret').click();
    await button(page, 'Send test event').click();
    await page.getByText('Arrived').waitFor();
    assert.equal(receiver.received.length, 2, 'the check, and the test event');
    await button(page, 'Finish').click();
    await page.getByRole('heading', { level: 1, name: 'Our website' }).waitFor();
    const docs = page.getByRole('link', { name: 'developer documentation' });
    assert.equal(await docs.getAttribute('href'), '/docs/api');

    await button(page, 'Go live').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Go live' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    assert.equal((await site.world.client(apiKey).get('/v1/me')).body.is_test_mode, false);

    await page.getByRole('tab', { name: 'Danger' }).click();
    await button(page, 'Regenerate key').click();
    await button(page, 'Regenerate').click();
    const newKey = await page.getByLabel('API key', { exact: true }).inputValue();
    assert.equal(await me(apiKey), 401);
    assert.equal(await me(newKey), 200);
    await button(page, 'I have stored it').click();

    await page.reload();
    await button(page, 'Delete integration').waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByLabel('Enabled').click();
    await page.getByText('Disabled').first().waitFor();
    assert.equal(await me(newKey), 403);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('change prices with a preview, the progress of the job, and an event for each item', async () => {
    const { world } = site;
    const { organizationId, integrationId } = dealer;
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) {
      const item = watch({ priceAmount: 1_000_000 });
      ids.push(await createItem(world.channel, COMMAND_LINE, organizationId, item));
    }
    await setPublished(world.channel, COMMAND_LINE, organizationId, integrationId, ids, true);
    const { page, complaints } = await site.openAs(owner, `/integrations/${integrationId}?tab=prices`);
    await page.getByText('6 are on this channel').waitFor();
    await page.getByLabel('Markup').fill('10');
    await page.getByText('6 of 6 items would change').waitFor();
    assert.equal(await page.getByText(/11,000\.00/).count(), 5);
    await button(page, 'Save prices and photos').click();
    await page.getByText('6 of 6 items', { exact: true }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    assert.equal((await dealer.api.get(`/v1/listings/${ids[0]}`)).body.price.amount, 1_100_000);
    const events = (await dealer.api.get('/v1/events?type=listing.updated')).body.data;
    assert.equal(events.length, 6);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('ask before a tab with unsaved changes is left, and take settings back', async () => {
    const { integrationId } = dealer;
    const { page } = await site.openAs(owner, `/integrations/${integrationId}?tab=webhooks`);
    await page.getByLabel('Orders', { exact: true }).click();
    await page.getByRole('tab', { name: 'Overview' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave this page?' });
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await button(page, 'Save events').click();
    await page.getByRole('alert').filter({ hasText: 'Events saved.' }).getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('checkbox', { name: 'All events', checked: true }).waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByLabel('Name').fill('Another name');
    await button(page, 'Rename').click();
    await page.getByRole('alert').filter({ hasText: 'Renamed.' }).getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { level: 1, name: 'Website' }).waitFor();
    await page.context().close();
  });

  it('refuse a currency without an exchange rate with a sentence', async () => {
    const { page } = await site.openAs(owner, `/integrations/${dealer.integrationId}?tab=prices`);
    await page.getByRole('combobox', { name: 'Currency' }).fill('SEK');
    await page.getByText('There is no exchange rate to that currency.').waitFor();
    await page.context().close();
  });

  it('show how far a deletion is until nothing is left', async () => {
    const other = await site.world.dealer();
    const person = await site.person(other);
    const id = await createItem(site.world.channel, COMMAND_LINE, other.organizationId, watch());
    await setPublished(site.world.channel, COMMAND_LINE, other.organizationId, other.integrationId, [id], true);
    const { page } = await site.openAs(person, `/integrations/${other.integrationId}?tab=danger`);
    await button(page, 'Delete integration').click();
    await page.getByLabel('Type Website to confirm').fill('Website');
    await button(page, 'Delete for ever').click();
    await page.getByText(/Website: 0.* records removed/).waitFor();
    assert.equal(await me(other.apiKey), 401);
    await runDeletions(site.world.channel);
    await page.getByText(/records removed/).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('show staff what only owners may do, disabled with its reason', async () => {
    const staff = await site.person(dealer, 'staff');
    const { page } = await site.openAs(staff, `/integrations/${dealer.integrationId}?tab=danger`);
    const regenerate = button(page, 'Regenerate key');
    assert.equal(await regenerate.getAttribute('aria-disabled'), 'true');
    assert.equal(await regenerate.getAttribute('title'), 'Only owners may do this.');
    await page.context().close();
  });
});
