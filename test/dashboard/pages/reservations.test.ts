import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { createItem } from '../../../src/inventory/items/item-operations.ts';
import { setPublished } from '../../../src/inventory/publications.ts';
import { TESTER } from '../../harness/actor.ts';
import {
  assertAccessible,
  assertBothLooks,
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
  until,
} from '../../harness/browser/dashboard-browser.ts';
import { freshKey } from '../../harness/shop.ts';
import { stockOf, watch } from '../../harness/stock.ts';
import type { Dealer } from '../../harness/world.ts';

describe('reservations on the page of an item', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let staff: Person;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    staff = await site.person(dealer, 'staff');
  });
  after(() => site.stop());

  async function reservedWatch(reference: string): Promise<{ itemId: string; reservationId: string }> {
    const { channel } = site.world;
    const itemId = await createItem(channel, TESTER, dealer.organizationId, watch());
    await setPublished(channel, TESTER, dealer.organizationId, dealer.integrationId, [itemId], true);
    const body = { listing_id: itemId, ttl_seconds: 900, reference };
    const answer = await dealer.api.post('/v1/reservations', body, freshKey());
    assert.equal(answer.status, 201, answer.text);
    return { itemId, reservationId: answer.body.id };
  }
  const panelOf = (page: Page) => page.getByRole('region', { name: 'Reservations' });
  const statusOf = async (id: string) => (await dealer.api.get(`/v1/reservations/${id}`)).body.status;

  it('show their reference, their channel and the time that is left, and can be released', async () => {
    const { itemId, reservationId } = await reservedWatch('cart-9');
    const { page, complaints } = await site.openAs(staff, `/watches/${itemId}`);
    const panel = panelOf(page);
    await panel.getByText('cart-9').waitFor();
    await panel.getByText(/1 unit · Website · 1\d min \d+ s left/).waitFor();
    await panel.getByRole('button', { name: 'Release cart-9' }).click();
    const dialog = page.getByRole('dialog', { name: 'Release this reservation?' });
    await dialog.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Reservation released.' }).waitFor();
    await panel.getByText('No site holds a unit now.').waitFor();
    // The button is gone, and the focus not at the top of the page.
    const heading = panel.getByRole('heading', { name: 'Reservations' });
    await until(async () =>
      assert.equal(await heading.evaluate((one) => one === one.ownerDocument.activeElement), true),
    );
    assert.equal(await statusOf(reservationId), 'released');
    await page.getByText('Reservation released', { exact: true }).first().waitFor();
    assert.deepEqual(complaints, []);
  });

  it('have nothing that axe objects to, wide and narrow', async (t) => {
    const { itemId } = await reservedWatch('cart-with-a-rather-long-reference-of-the-site-0123456789');
    const { page, context } = await site.openAs(staff, `/watches/${itemId}`);
    t.after(() => context.close());
    await panelOf(page).getByText(/left$/).waitFor();
    await assertBothLooks(page, 'reservations');
  });

  it('appear while the page is open', async () => {
    const { channel } = site.world;
    const itemId = await createItem(channel, TESTER, dealer.organizationId, watch());
    await setPublished(channel, TESTER, dealer.organizationId, dealer.integrationId, [itemId], true);
    const { page } = await site.openAs(staff, `/watches/${itemId}`);
    await settled(page);
    assert.equal(await panelOf(page).count(), 0);
    await dealer.api.post('/v1/reservations', { listing_id: itemId, reference: 'cart-live' }, freshKey());
    await panelOf(page).getByText('cart-live').waitFor();
  });

  it('are released by a sale over the counter that needs their units, on a phone, too', async (t) => {
    const { itemId, reservationId } = await reservedWatch('cart-10');
    const { page, context, complaints } = await site.openAs(staff, `/watches/${itemId}`, { width: PHONE_WIDTH });
    t.after(() => context.close());
    await panelOf(page).getByText('cart-10').waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Mark as sold' }).click();
    const dialog = page.getByRole('dialog', { name: 'Mark as sold' });
    await dialog.getByText('No unit is free').waitFor();
    await assertAccessible(page, 'the dialog of a sale that releases');
    await dialog.getByRole('button', { name: 'Release and sell' }).click();
    await page.getByRole('alert').filter({ hasText: 'The sale is recorded.' }).waitFor();
    await panelOf(page).getByText('No site holds a unit now.').waitFor();
    assert.equal(await statusOf(reservationId), 'released');
    assert.deepEqual(await stockOf(site.world, itemId), { units: 0, held: 0 });
    assert.deepEqual(complaints, []);
  });
});
