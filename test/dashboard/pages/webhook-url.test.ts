import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type DashboardSite, type Person, startDashboard, toast } from '../../harness/browser/dashboard-browser.ts';
import type { Receiver } from '../../harness/servers/receiver.ts';
import { freshKey } from '../../harness/shop.ts';
import { connectReceiver, startTestWorker, type TestWorker } from '../../harness/webhooks/webhook-world.ts';
import type { Dealer } from '../../harness/world.ts';

const HOUR_MS = 3_600_000;

describe('the webhook URL of an integration', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let receiver: Receiver;
  let worker: TestWorker;
  let deliveryId: string;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    receiver = await connectReceiver(site.world, dealer);
    worker = startTestWorker(site.world);
    const ping = await dealer.api.post('/v1/test/webhook_ping', undefined, freshKey());
    deliveryId = ping.body.delivery_id;
    await worker.settled();
  });
  after(async () => {
    await receiver?.stop();
    await worker?.stop();
    await site?.stop();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('is not shown as working after a check that was answered with 500', async (t) => {
    const { page, context } = await site.openAs(owner, `/integrations/${dealer.integrationId}?tab=webhooks`);
    t.after(() => context.close());
    await page.getByText('Arriving', { exact: true }).waitFor();
    // Whatever the clock of the browser says.
    await page.clock.setFixedTime(new Date(Date.now() - HOUR_MS));
    receiver.answerWith(500);
    await button(page, 'Check again').click();
    await page.getByText(/^Answered 500 after/).waitFor();
    await page.getByText('Check failed', { exact: true }).waitFor();
    assert.equal(await page.getByText('Arriving', { exact: true }).count(), 0);
    receiver.answerWith(200);
    await button(page, 'Check again').click();
    await page.getByText('Arriving', { exact: true }).waitFor();
  });

  it('is removed only after a question; a replay says then that nothing is sent, and why', async (t) => {
    const { page, context, complaints } = await site.openAs(
      owner,
      `/integrations/${dealer.integrationId}?tab=webhooks`,
    );
    t.after(() => context.close());
    const dialog = page.getByRole('dialog', { name: 'Remove the webhook URL?' });
    await page.getByLabel('Webhook URL').fill('');
    await button(page, 'Save and check').click();
    await dialog.getByRole('button', { name: 'Keep the URL' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Arriving', { exact: true }).waitFor();
    await button(page, 'Save and check').click();
    await dialog.getByRole('button', { name: 'Remove the URL' }).click();
    await toast(page, 'The webhook URL is removed.').waitFor();
    await page.getByText('No URL', { exact: true }).waitFor();

    await page.goto(`${site.url}/deliveries/${deliveryId}`);
    await button(page, 'Replay').click();
    await toast(page, 'Queued, and held until it can be sent. There is no webhook URL.').waitFor();
    await page.getByText(/Nothing is sent to/).waitFor();
    assert.equal(await page.getByText(/no webhook URL yet|sent now/).count(), 0);
    assert.deepEqual(complaints, []);
  });
});
