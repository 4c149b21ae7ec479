import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setEnabled } from '../../../src/dealers/integrations/integrations.ts';
import { findApiRequest } from '../../../src/http/logging/api-requests.ts';
import { TESTER } from '../../harness/actor.ts';
import {
  assertAccessible,
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
  until,
} from '../../harness/browser/dashboard-browser.ts';
import type { Dealer } from '../../harness/world.ts';

describe('the pages of API requests', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  before(async () => {
    site = await startDashboard({ requestLogLimits: { batchMs: 20 } });
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
  });
  after(() => site?.stop());

  it('lead from a replay that was searched for to its original and to the order that it made', async () => {
    const key = { 'idempotency-key': 'SO-1' };
    const body = { channel_order_id: 'SO-1', channel_orderid: 'typo' };
    const first = await dealer.api.post('/v1/orders', body, key);
    const replay = await dealer.api.post('/v1/orders', body, key);
    const [firstId, replayId] = [first, replay].map(({ headers }) => String(headers['x-request-id']));
    await until(async () => {
      assert.ok(await findApiRequest(site.world.db, [dealer.integrationId], String(replayId)));
    });
    for (const look of [{}, { width: PHONE_WIDTH, scheme: 'dark' }] as const) {
      const { page, context, complaints } = await site.openAs(owner, '/requests', look);
      await page.getByRole('link', { name: 'POST /v1/orders' }).first().waitFor();
      await settled(page);
      await assertAccessible(page, 'the list of requests');
      const width = 'width' in look ? look.width : 1440;
      const folder = process.env.SCREENSHOTS_DIR;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/requests-${width}.png` });
      await page.goto(`${new URL(page.url()).origin}/requests?q=${replayId}`);
      await page.getByRole('link', { name: 'POST /v1/orders' }).first().click();
      await page.getByText('Replay of').waitFor();
      await settled(page);
      await assertAccessible(page, 'a request');
      if (folder !== undefined) await page.screenshot({ path: `${folder}/request-${width}.png` });
      await page.getByRole('link', { name: String(firstId) }).click();
      await page.getByText('Replayed by').waitFor();
      await page.getByText('channel_orderid').waitFor();
      await page.getByRole('link', { name: first.body.id }).click();
      await page.getByRole('heading', { name: 'SO-1' }).waitFor();
      assert.deepEqual(complaints, []);
      await context.close();
    }
  });

  it('tell the dealer what to do about a refusal, and quote what only the website can mend', async (t) => {
    const refused = async (path: string, body: object) => {
      const { headers } = await dealer.api.post(path, body, { 'idempotency-key': `refused ${path}` });
      const id = String(headers['x-request-id']);
      await until(async () => {
        assert.ok(await findApiRequest(site.world.db, [dealer.integrationId], id));
      });
      return id;
    };
    const invalid = await refused('/v1/orders', { channel_order_id: 7 });
    const { page, context } = await site.openAs(owner, `/requests/${invalid}`);
    t.after(() => context.close());
    await page.getByText('The website was told:').waitFor();
    await page.getByText('The answer to the website also named the field or header').waitFor();
    await assertAccessible(page, 'a refused request');
    await setEnabled(site.world.db, TESTER, dealer.integrationId, false);
    await page.goto(`${site.url}/requests/${await refused('/v1/customers', { email: 'ana@example.ch' })}`);
    await page.getByText('This integration was switched off when the request came.').waitFor();
    const meaning = page.getByRole('definition').first();
    assert.doesNotMatch((await meaning.textContent()) ?? '', /the dealer|field/i);
    await meaning.getByRole('link', { name: 'switch it on' }).click();
    await page.waitForURL(`${site.url}/integrations/${dealer.integrationId}`);
  });
});
