import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { COMMAND_LINE } from '../../src/audit/actor.ts';
import { sql } from '../../src/db/sql.ts';
import { insertUser } from '../../src/dealers/users/users.ts';
import { createBusinessUnit, createLocation } from '../../src/inventory/locations.ts';
import {
  assertFits,
  type DashboardSite,
  LOOKS,
  type Person,
  startDashboard,
  turnTo,
} from '../harness/browser/dashboard-browser.ts';
import { TEST_PASSWORD_HASH } from '../harness/passwords.ts';
import { addCustomer, addShop, type Shop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import { connectReceiver } from '../harness/webhooks/webhook-world.ts';
import type { Dealer } from '../harness/world.ts';

const EMAIL = 'maximilian.schwarzenberger@uhrenliebhaber-zuerich.example';
const EXTERNAL_ID = '0123456789abcdef'.repeat(4);
const WORD = 'x'.repeat(300);
/** As a website may send it: the longest reason, without a blank. */
const REASON = 'r'.repeat(500);

describe('names, ids and reasons that are one long word', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let shop: Shop;
  const ids: Record<string, string> = {};
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
    shop = await addShop(site.world, dealer);
    const { db } = site.world;
    await db.query(sql`update integrations set name = ${WORD} where id = ${shop.integrationId}`);
    const unit = await createBusinessUnit(db, COMMAND_LINE, dealer.organizationId, WORD.slice(0, 200));
    await createLocation(db, COMMAND_LINE, dealer.organizationId, unit, WORD.slice(0, 200));
    const colleague = { organizationId: dealer.organizationId, name: WORD.slice(0, 200), email: EMAIL, role: 'staff' };
    await insertUser(db, COMMAND_LINE, colleague as Parameters<typeof insertUser>[2], TEST_PASSWORD_HASH);

    const receiver = await connectReceiver(site.world, shop);
    await receiver.stop();
    ids.customer = await addCustomer(shop, { email: EMAIL });
    ids.other = await addCustomer(shop, {
      external_id: EXTERNAL_ID,
      phone: '+41227355555',
      first_name: WORD,
      company: WORD,
    });
    const itemId = await publishNew(
      site.world,
      shop,
      watch({ title: WORD.slice(0, 200), stockNumber: 'W'.repeat(64) }),
    );
    ids.sold = await report(EXTERNAL_ID, {
      lines: [{ listing_id: itemId, title: WORD }],
      customer: { email: EMAIL, external_id: EXTERNAL_ID.replace('0', 'f') },
      metadata: { [WORD.slice(0, 40)]: WORD },
    });
    ids.conflict = await report(`c${EXTERNAL_ID}`, { customer: { email: EMAIL, phone: '+41227355555' } });
    ids.dismissed = await report(`d${EXTERNAL_ID}`, { customer: { email: EMAIL } });
    const cancelled = await shop.post(`/v1/orders/${ids.dismissed}/cancel`, { reason: REASON });
    assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    const events = (await shop.api.get('/v1/events')).body.data;
    ids.event = events[0]?.id;
  });
  after(() => site?.stop());

  async function report(channelOrderId: string, fields: object): Promise<string> {
    const { status, body } = await shop.post('/v1/orders', { channel_order_id: channelOrderId, ...fields });
    assert.equal(status, 201, JSON.stringify(body));
    return body.id;
  }

  async function assertWithin(page: Page, target: Locator, what: string): Promise<void> {
    const box = await target.boundingBox();
    const width = page.viewportSize()?.width ?? 0;
    assert.ok(
      box !== null && box.x >= 0 && box.x + box.width <= width,
      `${what} at ${width} px: ${JSON.stringify(box)}`,
    );
  }

  it('scroll no page sideways, and leave its title and its buttons in sight', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/');
    t.after(() => context.close());
    const paths = [
      '/orders?tab=all',
      `/orders/${ids.sold}`,
      `/orders/${ids.conflict}`,
      `/orders/${ids.dismissed}`,
      '/customers',
      '/customers?tab=conflicts',
      `/customers/${ids.customer}`,
      `/customers/${ids.other}`,
      '/sales?tab=all',
      '/integrations',
      `/integrations/${shop.integrationId}`,
      `/integrations/${shop.integrationId}?tab=webhooks`,
      `/integrations/${shop.integrationId}?tab=danger`,
      '/deliveries',
      '/events',
      `/events/${ids.event}`,
      '/requests',
      '/settings/team',
      '/settings/locations',
      '/audit',
      '/',
    ];
    const faults: string[] = [];
    const note = (error: Error) => faults.push(error.message);
    for (const path of paths) {
      await page.goto(`${site.url}${path}`);
      for (const look of LOOKS) {
        await turnTo(page, look);
        await assertFits(page, `${path} at ${look.width} px`).catch(note);
        const parts = page.locator('h1, .page-header button, .page-header a').filter({ visible: true });
        for (const part of await parts.all()) {
          await assertWithin(page, part, `${path}: ${await part.textContent()}`).catch(note);
        }
      }
    }
    assert.deepEqual(faults, []);
    assert.deepEqual(complaints, []);
  });

  it('leave the cross of a dialog in sight', async (t) => {
    const { page, context } = await site.openAs(owner, `/customers/${ids.other}`);
    t.after(() => context.close());
    for (const look of LOOKS) {
      await turnTo(page, look);
      for (const name of ['Edit', 'Merge…', 'Erase this person']) {
        await page.getByRole('button', { name, exact: true }).click();
        const dialog = page.getByRole('dialog');
        const close = dialog.getByRole('button', { name: 'Close' });
        await close.waitFor();
        await assertWithin(page, close, name);
        assert.ok((await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)) <= 0, name);
        await close.click();
        await dialog.waitFor({ state: 'detached' });
      }
    }
  });

  it('leave all columns of the orders in sight, and are the title of their cell', async (t) => {
    const { page, context } = await site.openAs(owner, '/orders?tab=all');
    t.after(() => context.close());
    await assertWithin(page, page.getByRole('columnheader', { name: 'Total' }), 'the total');
    await assertWithin(page, page.getByRole('columnheader', { name: 'Received' }), 'when it was received');
    assert.equal(await page.getByTitle(EMAIL).first().textContent(), EMAIL);
  });
});
