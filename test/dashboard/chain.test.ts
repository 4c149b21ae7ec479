import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { startChannelWorker } from '../../src/channel/jobs/worker.ts';
import { sql } from '../../src/db/sql.ts';
import {
  type DashboardSite,
  type OpenedPage,
  settled,
  signIn,
  startDashboard,
} from '../harness/browser/dashboard-browser.ts';
import { type Received, type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { freshKey } from '../harness/shop.ts';
import { startTestWorker, type TestWorker } from '../harness/webhooks/webhook-world.ts';

/**
 * The whole way of a new dealer, on the real service with a real browser, a real receiver and the public API: each step
 * begins where the one before it ended.
 */
const PASSWORD = 'a long password of the owner';
const DAY_MS = 24 * 60 * 60 * 1000;
const WAIT_LIMIT_MS = 60_000;

describe('a new dealer', () => {
  let site: DashboardSite;
  let receiver: Receiver;
  let worker: TestWorker;
  let jobs: { stop(): Promise<void> };
  let opened: OpenedPage;
  let page: Page;
  const faults: unknown[] = [];
  before(async () => {
    site = await startDashboard();
    receiver = await startReceiver();
    worker = startTestWorker(site.world);
    jobs = startChannelWorker(site.world.channel, (error) => faults.push(error));
    opened = await site.open('/sign-up');
    page = opened.page;
  });
  after(async () => {
    await receiver?.stop();
    await worker?.stop();
    await jobs?.stop();
    await site?.stop();
    assert.deepEqual(faults, []);
  });

  const button = (name: string, within: { getByRole: Page['getByRole'] } = page) =>
    within.getByRole('button', { name, exact: true });
  /** The first webhook of a type that came after so many others. */
  async function arrived(type: string, from: number): Promise<Received> {
    const deadline = Date.now() + WAIT_LIMIT_MS;
    for (;;) {
      const found = receiver.received.slice(from).find((one) => one.type === type);
      if (found !== undefined) return found;
      const types = receiver.received.slice(from).map((one) => one.type);
      assert.ok(Date.now() < deadline, `${type} did not arrive, only ${types.join(', ') || 'nothing'}`);
      await receiver.until(receiver.received.length + 1, deadline - Date.now()).catch(() => {});
    }
  }
  /** As the client reads it when an event has told it to. */
  const listing = async () => (await site.world.client(apiKey).get(`/v1/listings/${itemId}`)).body;
  const dataOf = (webhook: Received) => JSON.parse(webhook.body).data.object;
  const toast = (text: string) => page.getByRole('alert').filter({ hasText: text }).first().waitFor();
  const picture = (background: string) =>
    sharp({ create: { width: 80, height: 60, channels: 3, background } })
      .jpeg()
      .toBuffer();

  let itemUrl = '';
  let itemId = '';
  let integrationUrl = '';
  let apiKey = '';

  it('signs up', async () => {
    await page.getByLabel('Name of your business').fill('Aurum Watches');
    await page.getByRole('combobox', { name: 'Currency' }).fill('CHF');
    await page.getByRole('option', { name: /^CHF/ }).click();
    await page.getByLabel('Your name').fill('Ada Owner');
    await page.getByLabel('Email').fill('ada@aurum.example');
    await page.getByLabel('Password').first().fill(PASSWORD);
    await button('Sign up').click();
    await page.getByRole('link', { name: 'Home' }).waitFor();
    await settled(page);
    await page.goto(`${site.url}/audit`);
    await settled(page);
    await page
      .getByRole('cell', { name: /Ada Owner/ })
      .first()
      .waitFor();
  });

  it('enters the first watch with two photos', async () => {
    await page.goto(`${site.url}/watches/new`);
    await settled(page);
    await page.getByLabel('Title').fill('Omega Speedmaster Professional');
    await page.getByLabel('Stock number').fill('W-1');
    await page.getByRole('textbox', { name: /^Price/ }).fill('5200');
    await page.getByRole('combobox', { name: 'Brand' }).fill('Omega');
    await page.getByLabel('Model').fill('Speedmaster');
    await button('Save').click();
    await page.waitForURL(/\/watches\/lst_/);
    itemUrl = page.url();
    itemId = itemUrl.split('/').at(-1) ?? '';
    // Of the item's own page: the form of the new one takes photos, too, until it is saved.
    await page.getByText('0 of 50.').waitFor();
    await page.getByLabel('Photo files').setInputFiles([
      { name: 'front.jpg', mimeType: 'image/jpeg', buffer: await picture('#345') },
      { name: 'back.jpg', mimeType: 'image/jpeg', buffer: await picture('#863') },
    ]);
    await page.getByText('2 of 50.').waitFor();
    await page.getByRole('button', { name: /^Drag photo 2/ }).waitFor();
  });

  it('makes an integration in four steps and sees the test event arrive', async () => {
    await page.goto(`${site.url}/integrations/new`);
    await settled(page);
    await page.getByLabel('Name').fill('aurum.example');
    await button('Create').click();
    apiKey = await page.getByLabel('API key', { exact: true }).inputValue();
    await button('I have stored the key').click();
    await page.getByLabel('Webhook URL').fill(receiver.url);
    await button('Save and check').click();
    await page.getByText(/Answered 200 after/).waitFor();
    await button('I have stored the secret').click();
    const from = receiver.received.length;
    await button('Send test event').click();
    await page.getByText('Arrived').waitFor();
    await arrived('integration.test_event', from);
    await button('Finish').click();
    await page.getByRole('heading', { level: 1, name: 'aurum.example' }).waitFor();
    integrationUrl = page.url();
  });

  it('goes live: test data is deleted, and the banner that says test mode disappears from every page', async () => {
    const client = site.world.client(apiKey);
    const order = { channel_order_id: 'TEST-1', customer: { email: 'test@buyer.example' } };
    const { body: made } = await client.post('/v1/orders', order, freshKey());
    assert.equal(made.is_test, true);
    await page.reload();
    await page.getByText('aurum.example is in test mode').waitFor();
    await button('Go live').click();
    const dialog = page.getByRole('dialog');
    assert.ok(await dialog.getByLabel('Delete 1 test order and 1 test customer for ever').isChecked());
    await button('Go live', dialog).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('aurum.example is in test mode').waitFor({ state: 'detached' });
    assert.equal((await client.get('/v1/me')).body.is_test_mode, false);
    assert.equal((await client.get(`/v1/orders/${made.id}`)).status, 404);
  });

  it('publishes the watch: the event arrives and the client reads it', async () => {
    const from = receiver.received.length;
    await page.goto(itemUrl);
    await settled(page);
    await page.getByRole('region', { name: 'Channels' }).getByRole('switch').press('Space');
    await toast('Published on aurum.example.');
    const webhook = await arrived('listing.published', from);
    assert.equal(dataOf(webhook).id, itemId);
    const { status, body } = await site.world.client(apiKey).get(`/v1/listings/${itemId}`);
    assert.equal(status, 200);
    assert.deepEqual(
      [body.title, body.photos.length, body.price.amount],
      ['Omega Speedmaster Professional', 2, 520_000],
    );
  });

  it('changes the price: the event arrives; undoes it in the toast: another one arrives', async () => {
    const from = receiver.received.length;
    await page.getByRole('textbox', { name: /^Price/ }).fill('4900');
    await button('Save').click();
    await toast('Saved.');
    await arrived('listing.updated', from);
    assert.equal((await listing()).price.amount, 490_000);
    const later = receiver.received.length;
    await page.getByRole('alert').filter({ hasText: 'Saved.' }).getByRole('button', { name: 'Undo' }).click();
    await toast('Undone.');
    await arrived('listing.updated', later);
    assert.equal((await listing()).price.amount, 520_000);
    await page.getByText('Undo: Item edited').waitFor();
  });

  it('plans a promotion: on its date the event arrives by itself', async (t) => {
    t.after(() => site.world.setTime(null));
    const start = new Date(Date.now() + DAY_MS);
    await button('Start promotion').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: /^Promotional price/ }).fill('4500');
    await dialog.getByLabel(/^Starts/).fill(start.toISOString().slice(0, 16));
    await button('Save promotion', dialog).click();
    await page.getByText('Planned').waitFor();
    const from = receiver.received.length;
    site.world.setTime(new Date(start.getTime() + 60_000));
    await arrived('listing.updated', from);
    const { price, promotion } = await listing();
    assert.deepEqual([price.amount, promotion.regular_amount], [450_000, 520_000]);
  });

  it('changes the markup with a preview, progress and an event', async () => {
    const from = receiver.received.length;
    await page.goto(`${integrationUrl}?tab=prices`);
    await settled(page);
    await page.getByLabel('Markup').fill('10');
    await page.getByText('1 item would change').waitFor();
    assert.equal(
      await page.getByRole('table', { name: 'Preview' }).getByRole('img').count(),
      0,
      'photos are decoration',
    );
    assert.equal(await page.locator('table img.thumbnail').count(), 1);
    await button('Save prices and photos').click();
    await page.getByText('1 of 1 items', { exact: true }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    await arrived('listing.updated', from);
    const { price, promotion } = await listing();
    assert.equal(promotion?.regular_amount ?? price.amount, 572_000);
  });

  it('regenerates the key: the old one is unknown on the next request', async () => {
    await page.goto(`${integrationUrl}?tab=danger`);
    await settled(page);
    await button('Regenerate key').click();
    await button('Regenerate', page.getByRole('dialog')).click();
    const newKey = await page.getByLabel('API key', { exact: true }).inputValue();
    assert.equal((await site.world.client(apiKey).get('/v1/me')).status, 401);
    assert.equal((await site.world.client(newKey).get('/v1/me')).status, 200);
    await button('I have stored it').click();
    apiKey = newKey;
  });

  it('disables the integration: the client reads 403, and after Undo 200', async () => {
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByLabel('Enabled').click();
    await toast('Disabled.');
    assert.equal((await site.world.client(apiKey).get('/v1/me')).status, 403);
    await page.getByRole('alert').filter({ hasText: 'Disabled.' }).getByRole('button', { name: 'Undo' }).click();
    await toast('Enabled.');
    assert.equal((await site.world.client(apiKey).get('/v1/me')).status, 200);
    await page.getByText(/tokens used in the last 60 seconds/).waitFor();
    assert.deepEqual(opened.complaints, []);
  });

  it('invites staff, who see what only owners may do disabled with its reason, and get 403 when they ask', async (t) => {
    await page.goto(`${site.url}/settings/team`);
    await settled(page);
    await button('Invite').click();
    await page.getByRole('dialog').getByLabel('Email').fill('sam@aurum.example');
    await button('Make the link').click();
    const link = await page
      .getByRole('dialog', { name: 'One-time link' })
      .getByLabel('Link', { exact: true })
      .inputValue();
    const guest = await site.open(link.slice(site.url.length));
    t.after(() => guest.context.close());
    await guest.page.getByLabel('Your name').fill('Sam Staff');
    await guest.page.getByLabel('Password').first().fill(PASSWORD);
    await guest.page.getByRole('button', { name: 'Join' }).click();
    await guest.page.waitForURL(`${site.url}/`);
    await guest.page.goto(`${integrationUrl}?tab=danger`);
    await settled(guest.page);
    const regenerate = button('Regenerate key', guest.page);
    assert.equal(await regenerate.getAttribute('aria-disabled'), 'true');
    const integrationId = integrationUrl.split('/').at(-1) ?? '';
    const answer = await guest.context.request.post(`${site.url}/api/dashboard/integrations/${integrationId}/key`, {
      headers: { origin: site.url },
    });
    assert.equal(answer.status(), 403);
    assert.match((await answer.json()).error.message, /^Only owners /);
    const [row] = await site.world.db.query<{ actor: string }>(sql`
      select u.name as actor from audit_log a join users u on u.id = a.actor_id
      where a.action = 'user.created' order by a.at desc limit 1`);
    assert.equal(row?.actor, 'Sam Staff');
  });

  it('has two colleagues edit one watch: each chooses field by field, and nothing is lost', async (t) => {
    const sam = await site.open(`/sign-in?next=${encodeURIComponent(new URL(itemUrl).pathname)}`);
    t.after(() => sam.context.close());
    await signIn(sam.page, 'sam@aurum.example', PASSWORD);
    await sam.page.waitForURL(itemUrl);
    await settled(sam.page);
    await page.goto(itemUrl);
    await settled(page);
    await sam.page.getByLabel('Title').fill('Title of Sam');
    await sam.page.getByLabel('Caliber').fill('Caliber of Sam');
    await sam.page.getByLabel('Reference').fill('Reference of Sam');
    await page.getByLabel('Title').fill('Title of Ada');
    await page.getByLabel('Caliber').fill('Caliber of Ada');
    await page.getByLabel('Year').fill('1969');
    await button('Save').click();
    await toast('Saved.');
    await button('Save', sam.page).click();
    const dialog = sam.page.getByRole('dialog');
    await dialog.getByText('Changed only there, and kept: Year').waitFor();
    await dialog
      .getByRole('radiogroup', { name: 'Title' })
      .getByRole('radio', { name: /^Saved/ })
      .click();
    await button('Save what I chose', dialog).click();
    await dialog.waitFor({ state: 'detached' });
    await sam.page.getByRole('alert').filter({ hasText: 'Saved.' }).first().waitFor();
    const { body } = await site.world.client(apiKey).get(`/v1/listings/${itemId}`);
    assert.deepEqual(
      [body.title, body.watch.caliber, body.watch.reference_number, body.watch.year],
      ['Title of Ada', 'Caliber of Sam', 'Reference of Sam', 1969],
    );
  });
});
