import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/sql.ts';
import { setEnabled } from '../../../src/dealers/integrations/integrations.ts';
import { setPlan } from '../../../src/dealers/organizations.ts';
import { TESTER } from '../../harness/actor.ts';
import {
  assertBothLooks,
  type DashboardSite,
  settled,
  startDashboard,
  until,
} from '../../harness/browser/dashboard-browser.ts';
import { freshKey } from '../../harness/shop.ts';
import { publishNew, watch } from '../../harness/stock.ts';
import { connectReceiver, queueEvents } from '../../harness/webhooks/webhook-world.ts';

describe('the home page', () => {
  let site: DashboardSite;
  before(async () => {
    site = await startDashboard({ requestLogLimits: { batchMs: 20 } });
  });
  after(() => site?.stop());

  it('leads a new dealer to the first live order, and then shows what needs attention', async () => {
    const { world } = site;
    const dealer = await world.dealer();
    const owner = await site.person(dealer);
    const { page, context, complaints } = await site.openAs(owner, '/');
    const setup = page.getByRole('region', { name: 'Set up' });
    await setup.getByText('Connect your website · done').waitFor();
    await page.getByText('Nothing right now.').waitFor();
    assert.equal(await page.title(), `${await page.getByRole('heading', { level: 1 }).textContent()} · Crownwheel`);
    await assertBothLooks(page, 'the home page of a new dealer');

    const itemId = await publishNew(world, dealer, watch());
    const receiver = await connectReceiver(world, dealer);
    const order = { channel_order_id: 'SO-1', lines: [{ listing_id: itemId, unit_amount: 100_00 }] };
    assert.equal((await dealer.api.post('/v1/orders', order, freshKey())).status, 201);
    // Without a reload: the live stream tells the page.
    await page.getByRole('link', { name: '1 order waits for you in the queue' }).waitFor();
    await setup.waitFor({ state: 'detached' });
    await until(async () => assert.match(await page.title(), /^\(1\) /));

    await queueEvents(world, dealer, 2);
    await world.db.query(sql`
      update deliveries set status = 'dead_letter', due_at = null where integration_id = ${dealer.integrationId}`);
    await world.db.query(sql`
      update webhook_endpoints set is_enabled = false where integration_id = ${dealer.integrationId}`);
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    await receiver.stop();
    await page.reload();
    await settled(page);
    for (const [name, path] of [
      ['2 webhooks were given up after their last attempt', '/deliveries?status=dead_letter'],
      ['1 website gets no webhooks: they are switched off', '/integrations'],
      ['1 website is switched off: its requests are answered with 403', '/integrations'],
      ['1 order waits for you in the queue', '/orders'],
    ] as const) {
      await page.getByRole('link', { name }).click();
      await page.waitForURL((url) => `${url.pathname}${url.search}` === path);
      await settled(page);
      await page.goBack();
      await page.getByRole('link', { name }).waitFor();
    }

    // The plots can be read as tables, too.
    await page.getByText('24 hours').click();
    await page.getByRole('button', { name: 'Show as tables' }).click();
    await page.waitForURL(/range=24h.*plots=tables|plots=tables.*range=24h/);
    const orders = page.getByRole('group', { name: 'Orders', exact: true }).getByRole('table');
    await orders.getByRole('cell', { name: '1', exact: true }).waitFor();
    await assertBothLooks(page, 'the home page with tables');
    assert.deepEqual(complaints, []);
    await context.close();
  });

  it('says when the plan has no integrations: websites get 403, and 200 when it is on again', async () => {
    const { world } = site;
    const dealer = await world.dealer();
    const owner = await site.person(dealer);
    const { page, context } = await site.openAs(owner, '/');
    const notice = page.getByText('Your plan has no integrations');
    assert.equal((await dealer.api.get('/v1/me')).status, 200);
    assert.equal(await notice.count(), 0);
    await setPlan(world.db, TESTER, dealer.organizationId, false);
    const refused = await dealer.api.get('/v1/me');
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'subscription_required']);
    await page.reload();
    await notice.waitFor();
    await assertBothLooks(page, 'the home page without the plan');
    await setPlan(world.db, TESTER, dealer.organizationId, true);
    assert.equal((await dealer.api.get('/v1/me')).status, 200);
    await page.reload();
    await page.getByText('Nothing right now.').waitFor();
    assert.equal(await notice.count(), 0);
    await context.close();
  });
});
