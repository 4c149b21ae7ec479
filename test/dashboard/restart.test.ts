import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createItem } from '../../src/inventory/items.ts';
import { readItem } from '../../src/inventory/read-item.ts';
import { TESTER } from '../harness/actor.ts';
import { startDashboard } from '../harness/dashboard-browser.ts';
import { watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';

it('a page that is open while the service restarts says so, loses nothing, and goes on by itself', async (t) => {
  const site = await startDashboard();
  let again: World | null = null;
  t.after(async () => {
    await again?.stop();
    await site.stop();
  });
  const { world } = site;
  const dealer = await world.dealer();
  const id = await createItem(world.channel, TESTER, dealer.organizationId, watch());
  const { page } = await site.openAs(await site.person(dealer), `/watches/${id}`);
  const title = page.getByLabel('Title');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await title.fill('Typed before the restart');

  await world.app.close();
  const banner = page.getByText('The service can’t be reached. What you have typed is safe');
  await banner.waitFor();
  await save.click();
  await page.getByRole('alert').filter({ hasText: 'Nothing was lost' }).waitFor();
  assert.equal(await title.inputValue(), 'Typed before the restart');

  // The same database, which the first world drops in the end.
  const database = { ...world.database, drop: async () => {} };
  again = await startWorld({ database, port: world.port, publicUrl: site.url });
  await banner.waitFor({ state: 'detached' });
  assert.equal(await title.inputValue(), 'Typed before the restart');
  await save.click();
  await page.getByRole('alert').filter({ hasText: 'Saved.' }).waitFor();
  assert.equal((await readItem(world.db, dealer.organizationId, id)).title, 'Typed before the restart');
});
