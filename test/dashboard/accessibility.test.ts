import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { COMMAND_LINE } from '../../src/audit/actor.ts';
import { findApiRequest } from '../../src/http/logging/api-requests.ts';
import { createItem } from '../../src/inventory/items/item-operations.ts';
import { startJob } from '../../src/inventory/jobs/stock-job-queue.ts';
import { setPublished } from '../../src/inventory/publications.ts';
import {
  assertAccessible,
  assertBothLooks,
  type DashboardSite,
  DESKTOP_WIDTH,
  LOOKS,
  type Look,
  type Person,
  PHONE_WIDTH,
  startDashboard,
  turnTo,
} from '../harness/browser/dashboard-browser.ts';
import { freshKey } from '../harness/shop.ts';
import { part, watch } from '../harness/stock.ts';
import { connectReceiver } from '../harness/webhooks/webhook-world.ts';
import type { Dealer } from '../harness/world.ts';

/**
 * Walks every page of the router, so that a new page is looked at from its first day. A page whose address has a parameter
 * needs something to show: teach the walk how to make it in `ids`, by the part of the address before it.
 */
const TABS: Record<string, string[]> = {
  '/integrations/$id': ['', '?tab=webhooks', '?tab=prices', '?tab=danger'],
};
/** With this folder set, pictures of all four looks are taken there. */
const PICTURES_DIR = process.env.SCREENSHOTS_DIR;
const PICTURE_LOOKS: Required<Look>[] = [
  { scheme: 'dark', width: DESKTOP_WIDTH },
  { scheme: 'light', width: PHONE_WIDTH },
];

describe('every page of the dashboard', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  const ids: Record<string, string> = {};
  before(async () => {
    site = await startDashboard();
    const { channel } = site.world;
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    ids['/watches'] = await createItem(channel, COMMAND_LINE, dealer.organizationId, watch());
    ids['/parts'] = await createItem(channel, COMMAND_LINE, dealer.organizationId, part());
    ids['/integrations'] = dealer.integrationId;
    ids['/jobs'] = await startJob(site.world.db, COMMAND_LINE, {
      organizationId: dealer.organizationId,
      kind: 'undo',
      title: 'A job',
      parameters: {},
      isUndoable: false,
    });
    const report = { channel_order_id: 'SO-1', lines: [{ listing_id: ids['/watches'] }] };
    const order = await dealer.api.post('/v1/orders', report, { 'idempotency-key': 'SO-1' });
    assert.equal(order.status, 201, JSON.stringify(order.body));
    ids['/orders'] = order.body.id;
    await connectReceiver(site.world, dealer).then((receiver) => receiver.stop());
    const ping = await dealer.api.post('/v1/test/webhook_ping', undefined, freshKey());
    ids['/deliveries'] = ping.body.delivery_id;
    ids['/events'] = ping.body.event_id;
    ids['/requests'] = String(order.headers['x-request-id']);
    // The log of requests is written after the answers are sent.
    while ((await findApiRequest(site.world.db, [dealer.integrationId], ids['/requests'])) === null) await sleep(50);
    const buyer = { email: 'ana@example.com', first_name: 'Ana' };
    ids['/customers'] = (await dealer.api.post('/v1/customers', buyer, freshKey())).body.id;
    const items = [ids['/watches'], ids['/parts']];
    await setPublished(channel, COMMAND_LINE, dealer.organizationId, dealer.integrationId, items, true);
  });
  after(() => site?.stop());

  const routesOf = (page: Page) =>
    page.evaluate(
      'Object.keys(__TSR_ROUTER__.routesByPath).map((path) => path === "/" ? path : path.replace(/\\/$/, ""))',
    ) as Promise<string[]>;

  function addressesOf(route: string): string[] {
    const [, start = '', name] = /^(.*?)\/\$(\w+)/.exec(route) ?? [];
    if (name === undefined) return [route];
    const id = ids[start];
    assert.ok(id !== undefined, `${route}: teach this walk an id for ${start}`);
    return (TABS[route] ?? ['']).map((tab) => `${route.replace(`$${name}`, id)}${tab}`);
  }

  it('has nothing that axe finds and fits its window, light at 1440 px and dark at 390 px', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/');
    t.after(() => context.close());
    const routes = [...new Set(await routesOf(page))];
    assert.ok(routes.length > 10, 'the router has its pages');
    for (const address of routes.flatMap(addressesOf)) {
      await page.goto(`${site.url}${address}`);
      await assertBothLooks(page, address);
      if (PICTURES_DIR === undefined) continue;
      for (const look of [...LOOKS, ...PICTURE_LOOKS]) {
        await turnTo(page, look);
        const name = `${address.replaceAll(/[^\w-]+/g, '-')}-${look.width}-${look.scheme}.png`;
        await page.screenshot({ path: `${PICTURES_DIR}/${name}`, fullPage: true });
      }
    }
    assert.deepEqual(complaints, []);
  });

  it('has nothing that axe finds while a dealer has nothing to show but examples, dark at 390 px', async (t) => {
    const { page, context } = await site.openAs(await site.person(await site.world.dealer()), '/');
    t.after(() => context.close());
    for (const address of ['/orders', '/customers', '/requests']) {
      await page.goto(`${site.url}${address}`);
      await turnTo(page, { scheme: 'dark', width: PHONE_WIDTH });
      await page.locator('pre').waitFor();
      await assertAccessible(page, address);
    }
  });
});
