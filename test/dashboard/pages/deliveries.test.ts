import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { sql } from '../../../src/db/sql.ts';
import {
  assertAccessible,
  type DashboardSite,
  DESKTOP_WIDTH,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
} from '../../harness/browser/dashboard-browser.ts';
import { freshKey } from '../../harness/shop.ts';
import { publishNew, watch } from '../../harness/stock.ts';
import {
  type ConnectedReceiver,
  connectReceiver,
  ping,
  queueEvents,
  startTestWorker,
  type TestWorker,
} from '../../harness/webhooks/webhook-world.ts';
import type { Dealer } from '../../harness/world.ts';

describe('the pages of deliveries and events', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let receiver: ConnectedReceiver;
  let worker: TestWorker;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    receiver = await connectReceiver(site.world, dealer);
    worker = startTestWorker(site.world);
  });
  after(async () => {
    await receiver?.stop();
    await worker?.stop();
    await site?.stop();
  });

  const post = { post: (path: string, body?: unknown) => dealer.api.post(path, body, freshKey()) };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('lead from a failing receiver to its attempts, the dead letter, a replay and its arrival, live', async (t) => {
    receiver.answer = (response) => response.writeHead(500).end('the queue is full');
    const id = await ping(post);
    await worker.settled();
    // Its retry must not come while the attempt is looked at.
    await site.world.db.query(sql`update deliveries set due_at = now() + interval '1 hour' where id = ${id}`);
    await worker.settled();
    const { page, context, complaints } = await site.openAs(owner, '/deliveries');
    t.after(() => context.close());
    const row = page.getByRole('row').filter({ hasText: 'integration.test_event' });
    await row.getByText('Retrying').waitFor();
    await row.getByText('500').waitFor();
    const attempts = page.getByRole('group', { name: 'Attempts', exact: true });
    // On a slow machine the first retry, 5 s later, is counted before the page is read.
    await attempts.getByText(/^[1-9] failed/).waitFor();
    await button(page, 'Hide plots').click();
    await attempts.waitFor({ state: 'detached' });
    await button(page, 'Show plots').click();
    await attempts.waitFor();
    await assertAccessible(page, 'deliveries');
    await row.getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: 'integration.test_event' }).waitFor();
    await page.getByText('Failed, 500').first().waitFor();
    await page.getByText('the queue is full').first().waitFor();
    await page.getByText('Signature verified').first().waitFor();
    const field = page.getByLabel('Compare with the X-SVC-Signature that the website received').first();
    await field.fill(receiver.received.at(-1)?.signature ?? '');
    await page.getByText('The same: secret, time and bytes agree.').waitFor();
    await field.fill('t=1,v1=00');
    await page.getByText('It is of another attempt').waitFor();

    // The eighth attempt is the last; the seven before it would take a day.
    await site.world.db.query(sql`update deliveries set attempts = 7, due_at = now() where id = ${id}`);
    worker.wake();
    await page.getByText(/Tried 8 times, then given up/).waitFor();
    await assertAccessible(page, 'a dead letter');
    await page.getByRole('link', { name: /Deliveries/ }).click();
    await page.getByRole('tab', { name: /Dead letters/ }).click();
    await row.getByText('Dead letter').waitFor();
    await page.goBack();
    await page.goBack();
    receiver.answerWith(204);
    await button(page, 'Replay').click();
    await page.getByText(/Arrived after/).waitFor();
    await page.getByText('Delivered, 204').waitFor();
    const numbers = await page.getByText(/^(Replay, attempt|Attempt) [1-8]$/).allTextContents();
    assert.equal(numbers[0], 'Replay, attempt 1');
    assert.ok(
      numbers.slice(1).every((text) => text.startsWith('Attempt')),
      numbers.join('; '),
    );
    assert.ok((await page.getByText(/Failed, 500/).count()) >= 2, 'the failed attempts stay');
    await page.getByRole('link', { name: /^evt_/ }).click();
    await page.getByText('What caused this event').waitFor();
    await page.getByRole('link', { name: /^dlv_/ }).waitFor();
    await assertAccessible(page, 'an event');
    assert.deepEqual(complaints, []);
  });

  it('show why an endpoint was switched off by five 410s, and turn it on again with one click', async (t) => {
    receiver.answerWith(410);
    for (let count = 0; count < 5; count++) await ping(post);
    const { page, context } = await site.openAs(owner, '/deliveries', { width: PHONE_WIDTH });
    t.after(() => context.close());
    await page.getByText(/answered 410 Gone 5 times in a row/).waitFor();
    const [held = ''] = await queueEvents(site.world, dealer, 1);
    await page.getByText(/held, and sent when it is on again/).waitFor();
    await page.getByRole('link', { name: 'Correct the webhook URL' }).waitFor();
    await assertAccessible(page, 'an endpoint that is off, on a phone');
    receiver.answerWith(200);
    await button(page, 'Turn on and resume').click();
    await page.getByText(/answered 410 Gone/).waitFor({ state: 'detached' });
    await worker.settled();
    assert.ok(receiver.received.some(({ deliveryId }) => deliveryId === held));
    await page.goto(`${site.url}/deliveries/${held}`);
    await page.getByText(/Arrived after/).waitFor();
  });

  it('are filtered by a time range of one’s own and by one code, and lead to what was never sent', async (t) => {
    receiver.answerWith(418);
    await ping(post);
    await worker.settled();
    await dealer.api.post('/v1/orders', { channel_order_id: 'SO-1' }, freshKey());
    await site.world.db.query(sql`
      update webhook_endpoints set subscribed_events = '{order.*}' where integration_id = ${dealer.integrationId}`);
    await publishNew(site.world, dealer, watch());
    const { page, context, complaints } = await site.openAs(owner, '/deliveries?code=418');
    t.after(() => context.close());
    const row = page.getByRole('row').filter({ hasText: '418' });
    await row.waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Answer' }).inputValue(), '418');
    await page.getByRole('combobox', { name: 'Time', exact: true }).click();
    await page.getByRole('option', { name: 'From … to …' }).click();
    await page.getByLabel('Time from').fill('2001-02-03T04:05');
    await page.getByLabel('Time to').fill('2002-02-03T04:05');
    await assertAccessible(page, 'the time range of a list');
    await button(page, 'Apply').click();
    await row.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('from'), '2001-02-03T04:05:00.000Z');
    await page.goBack();
    await row.waitFor();
    await page.getByRole('link', { name: 'Not sent: not subscribed (1)' }).click();
    await page.getByRole('link', { name: 'listing.published' }).click();
    await page.getByText('If you subscribe now, only later events are sent.').waitFor();
    await page.getByRole('link', { name: 'Webhook settings' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('replay what is selected, and find a delivery by the id that a receiver saw', async (t) => {
    receiver.answerWith(200);
    await worker.settled();
    const { page, context } = await site.openAs(owner, '/deliveries?status=succeeded');
    t.after(() => context.close());
    await settled(page);
    const before = receiver.received.length;
    await page.getByRole('checkbox').nth(1).check();
    await button(page, 'Replay').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click();
    await receiver.until(before + 1);
    await page.getByText('1 queued.').waitFor();
    const seen = receiver.received.at(-1)?.deliveryId ?? '';
    await page.goto(`${site.url}/deliveries?q=${seen}`);
    await page
      .getByRole('row')
      .filter({ hasText: /listing.updated|integration.test_event/ })
      .first()
      .waitFor();
    for (const width of [DESKTOP_WIDTH, PHONE_WIDTH]) {
      for (const scheme of ['light', 'dark'] as const) {
        if (process.env.SCREENSHOTS_DIR === undefined) continue;
        const shown = await site.openAs(owner, '/deliveries', { width, scheme });
        t.after(() => shown.context.close());
        for (const path of ['/deliveries', `/deliveries/${seen}`, '/events']) {
          await shown.page.goto(`${site.url}${path}`);
          await settled(shown.page);
          const name = `${path.slice(1).replaceAll(/\W+/g, '-').slice(0, 14)}-${width}-${scheme}.png`;
          await shown.page.screenshot({ path: `${process.env.SCREENSHOTS_DIR}/${name}` });
        }
      }
    }
  });
});
