import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { createItem } from '../../../src/inventory/items/item-operations.ts';
import { readItem } from '../../../src/inventory/items/read-item.ts';
import { TESTER } from '../../harness/actor.ts';
import {
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  startDashboard,
  toast,
  until,
} from '../../harness/browser/dashboard-browser.ts';
import { watch } from '../../harness/stock.ts';
import type { Dealer } from '../../harness/world.ts';

/** Much longer than a finger has to rest, or than a new order takes to be saved. */
const GESTURE_LIMIT_MS = 5_000;
const POLL_MS = 50;

/** So many that one of them meets what happens one time in four. */
const MOVES = 12;

describe('the photos of an item', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  before(async () => {
    site = await startDashboard();
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
  });
  after(() => site?.stop());

  const picture = (background: string) =>
    sharp({ create: { width: 60, height: 40, channels: 3, background } })
      .jpeg()
      .toBuffer();

  /** The page of an item with three photos. */
  async function openPhotos(t: TestContext) {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    const { page, context, complaints } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    const colors = ['#300', '#030', '#003'];
    const files = await Promise.all(
      colors.map(async (color) => ({ name: `${color}.jpg`, mimeType: 'image/jpeg', buffer: await picture(color) })),
    );
    await page.getByLabel('Photo files').setInputFiles(files);
    await page.getByText('3 of 50.').waitFor();
    return {
      id,
      page,
      complaints,
      photosOf: async () => (await readItem(site.world.db, dealer.organizationId, id)).photos.map((one) => one.id),
      shown: () =>
        page.evaluate<string[]>('[...document.querySelectorAll("li[data-row-key]")].map((row) => row.dataset.rowKey)'),
      focused: () =>
        page.evaluate<string>(
          'document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? ""',
        ),
    };
  }

  it('orders photos by keyboard and by dragging, turns one, removes one and puts it back', async (t) => {
    const { page, complaints, photosOf } = await openPhotos(t);
    const [a, b, c] = await photosOf();
    const handle = (index: number) => page.getByRole('button', { name: new RegExp(`^Drag photo ${index} `) });

    await handle(1).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    await until(async () => assert.deepEqual(await photosOf(), [b, a, c]));

    const [from, to] = [await handle(3).boundingBox(), await handle(1).boundingBox()];
    assert.ok(from !== null && to !== null);
    await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
    await page.mouse.down();
    for (const share of [0.25, 0.5, 0.75, 1]) {
      await page.mouse.move(from.x + from.width / 2 + (to.x - from.x) * share, from.y + from.height / 2);
    }
    await page.mouse.up();
    await until(async () => assert.deepEqual(await photosOf(), [c, b, a]));

    // Whichever the page shows first by now: a turned photo is a new one in its place.
    await page.getByRole('button', { name: 'Turn photo 1' }).click();
    await until(async () => assert.equal((await photosOf()).filter((one) => ![a, b, c].includes(one)).length, 1));
    const turned = await photosOf();
    await page.getByRole('button', { name: 'Remove photo 2' }).click();
    await toast(page, 'Photo removed.').getByRole('button', { name: 'Undo' }).click();
    await toast(page, 'Undone.').waitFor();
    await until(async () => assert.deepEqual(await photosOf(), turned));
    assert.deepEqual(complaints, []);
  });

  it('orders photos with a finger that rests on one first, and scrolls with one that does not', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    const { page, context } = await site.openAs(owner, `/watches/${id}`, { width: PHONE_WIDTH });
    t.after(() => context.close());
    const files = await Promise.all(
      ['#300', '#030'].map(async (color) => ({
        name: `${color}.jpg`,
        mimeType: 'image/jpeg',
        buffer: await picture(color),
      })),
    );
    await page.getByLabel('Photo files').setInputFiles(files);
    await page.getByText('2 of 50.').waitFor();
    const photosOf = async () => (await readItem(site.world.db, dealer.organizationId, id)).photos.map((one) => one.id);
    const [a, b] = await photosOf();
    const handle = (index: number) => page.getByRole('button', { name: new RegExp(`^Drag photo ${index} `) });
    const hand = await context.newCDPSession(page);
    await hand.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    const finger = async (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0) => {
      const touchPoints = type === 'touchEnd' ? [] : [{ x, y }];
      await hand.send('Input.dispatchTouchEvent', { type, touchPoints });
    };
    const middleOf = async (index: number) => {
      // Where neither the bar with Save nor a message lies over it.
      await handle(index).evaluate((photo) => photo.scrollIntoView({ block: 'center', behavior: 'instant' }));
      const box = await handle(index).boundingBox();
      assert.ok(box !== null);
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };

    const start = await middleOf(2);
    await finger('touchStart', start.x, start.y);
    await finger('touchMove', start.x, start.y - 80);
    await finger('touchMove', start.x, start.y - 160);
    await finger('touchEnd');
    assert.equal(await page.locator('li[data-dragged]').count(), 0);
    assert.deepEqual(await photosOf(), [a, b]);

    const dragged = page.locator('li[data-dragged]').first();
    const isSoon = (wait: Promise<unknown>) =>
      wait.then(
        () => true,
        () => false,
      );
    // On a slow machine a finger may miss the photo, or let it go before the page has seen where it is; then it tries again.
    await until(async () => {
      const [to, from] = [await middleOf(1), await middleOf(2)];
      await finger('touchStart', from.x, from.y);
      if (await isSoon(dragged.waitFor({ timeout: GESTURE_LIMIT_MS }))) {
        for (const share of [0.25, 0.5, 0.75, 1]) await finger('touchMove', from.x + (to.x - from.x) * share, from.y);
      }
      await finger('touchEnd');
      const giveUpAt = Date.now() + GESTURE_LIMIT_MS;
      while ((await photosOf())[0] !== b && Date.now() < giveUpAt) await sleep(POLL_MS);
      assert.deepEqual(await photosOf(), [b, a]);
    });
  });

  it('refuses HEIC, and offers an upload that was cut off again', async (t) => {
    const id = await createItem(site.world.channel, TESTER, dealer.organizationId, watch());
    const { page, context } = await site.openAs(owner, `/watches/${id}`);
    t.after(() => context.close());
    let isCut = true;
    await page.route('**/photos', (route) => {
      if (!isCut) return route.fallback();
      isCut = false;
      return route.abort();
    });
    await page.getByLabel('Photo files').setInputFiles([
      { name: 'phone.heic', mimeType: 'image/heic', buffer: Buffer.from('ftypheic') },
      { name: 'cut.jpg', mimeType: 'image/jpeg', buffer: await picture('#123') },
      { name: 'fine.jpg', mimeType: 'image/jpeg', buffer: await picture('#456') },
    ]);
    await page.getByText(/phone\.heic: This is an HEIC photo.*Save it as JPEG/).waitFor();
    await page.getByText('cut.jpg: The upload was cut off.').waitFor();
    await page.getByText('1 of 50.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('2 of 50.').waitFor();
  });

  it('keeps the focus of who works with the keyboard: moving, turning and removing photos', async (t) => {
    const { page, complaints, photosOf, focused } = await openPhotos(t);
    const [a, b, c] = await photosOf();
    const focusIs = (name: string) => until(async () => assert.equal(await focused(), name));

    await page.getByRole('button', { name: 'Move photo 1 later' }).focus();
    await page.keyboard.press('Enter');
    await until(async () => assert.deepEqual(await photosOf(), [b, a, c]));
    await focusIs('Move photo 2 later');
    await page.keyboard.press('Enter');
    await until(async () => assert.deepEqual(await photosOf(), [b, c, a]));
    await focusIs('Move photo 3 later');
    assert.equal(await page.getByRole('button', { name: 'Move photo 3 later' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Move photo 3 earlier' }).focus();
    await page.keyboard.press('Enter');
    await until(async () => assert.deepEqual(await photosOf(), [b, a, c]));
    await focusIs('Move photo 2 earlier');

    await page.getByRole('button', { name: 'Turn photo 2' }).focus();
    await page.keyboard.press('Enter');
    await until(async () => assert.equal((await photosOf()).includes(a ?? ''), false));
    const turned = (await photosOf())[1];
    await page.locator(`li[data-row-key="${turned}"]`).waitFor();
    await focusIs('Turn photo 2');

    const isOn = (name: string) =>
      until(async () => assert.equal(await page.getByRole('button', { name }).isEnabled(), true));
    await page.getByRole('button', { name: 'Remove photo 3' }).focus();
    await isOn('Remove photo 3');
    await page.keyboard.press('Enter');
    await page.getByText('2 of 50.').waitFor();
    await focusIs('Remove photo 2');
    await isOn('Remove photo 2');
    await page.keyboard.press('Enter');
    await page.getByText('1 of 50.').waitFor();
    await focusIs('Remove photo 1');
    await isOn('Remove photo 1');
    await page.keyboard.press('Enter');
    await page.getByText('0 of 50.').waitFor();
    await focusIs('Add photos');
    assert.deepEqual(complaints, []);
  });

  it('keeps a turned photo in its place while the order before it is still being saved', async (t) => {
    const { page, id, complaints, photosOf, shown } = await openPhotos(t);
    const [a, b, c] = await photosOf();
    const saved = Promise.withResolvers<void>();
    const moves: string[] = [];
    await page.route(`**/items/${id}/photos`, async (route) => {
      moves.push(route.request().postData() ?? '');
      const answer = await route.fetch();
      await saved.promise;
      await route.fulfill({ response: answer });
    });

    await page.getByRole('button', { name: 'Move photo 1 later' }).press('Enter');
    await until(async () => assert.deepEqual(await photosOf(), [b, a, c]));
    await page.getByRole('button', { name: 'Turn photo 2' }).press('Enter');
    await until(async () => assert.equal((await photosOf()).includes(a ?? ''), false));
    const turned = (await photosOf())[1];
    await until(async () => assert.deepEqual(await shown(), [b, turned, c]));
    // The next order waits for the one before: the service must not take them the other way round.
    await page.getByRole('button', { name: 'Move photo 2 later' }).press('Enter');
    await until(async () => assert.deepEqual(await shown(), [b, c, turned]));
    assert.deepEqual(moves, [JSON.stringify({ photo_ids: [b, a, c] })]);
    saved.resolve();
    await until(async () => assert.deepEqual(await photosOf(), [b, c, turned]));
    await until(async () => assert.deepEqual(await shown(), [b, c, turned]));
    assert.deepEqual(complaints, []);
  });

  it('shows no order that was there before, not even for a moment, when another one is saved', async (t) => {
    const { page, complaints, photosOf } = await openPhotos(t);
    const [a, b, c] = await photosOf();
    // On a slow machine there is time between what a page hears at once and what it hears later.
    const browser = await page.context().newCDPSession(page);
    await browser.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.evaluate(`{
      const rows = () => [...document.querySelectorAll('li[data-row-key]')].map((row) => row.dataset.rowKey).join();
      window.orders = [rows()];
      new MutationObserver(() => rows() === window.orders.at(-1) || window.orders.push(rows()))
        .observe(document.body, { subtree: true, childList: true });
    }`);
    const [one, other] = [
      [a, b, c],
      [b, a, c],
    ];
    for (let move = 1; move <= MOVES; move++) {
      await page.getByRole('button', { name: 'Move photo 1 later' }).press('Enter');
      const answered = page.waitForResponse((response) => response.request().method() === 'GET');
      await until(async () => assert.deepEqual(await photosOf(), move % 2 === 1 ? other : one));
      await answered;
    }
    assert.deepEqual(
      await page.evaluate<string[]>('window.orders'),
      Array.from({ length: MOVES + 1 }, (_, move) => (move % 2 === 1 ? other : one).join()),
    );
    assert.deepEqual(complaints, []);
  });

  it('saves a photo that is moved there and back before the first move is saved', async (t) => {
    const { page, id, complaints, photosOf, shown } = await openPhotos(t);
    const [a, b, c] = await photosOf();
    const savable = Promise.withResolvers<void>();
    const moves: string[] = [];
    await page.route(`**/items/${id}/photos`, async (route) => {
      await savable.promise;
      moves.push(route.request().postData() ?? '');
      await route.continue();
    });
    await page.getByRole('button', { name: 'Move photo 1 later' }).press('Enter');
    await page.getByRole('button', { name: 'Move photo 2 later' }).press('Enter');
    await page.getByRole('button', { name: 'Move photo 3 earlier' }).press('Enter');
    await until(async () => assert.deepEqual(await shown(), [b, a, c]));
    savable.resolve();
    const orders = [
      [b, a, c],
      [b, c, a],
      [b, a, c],
    ];
    await until(async () =>
      assert.deepEqual(
        moves,
        orders.map((order) => JSON.stringify({ photo_ids: order })),
      ),
    );
    await until(async () => assert.deepEqual(await photosOf(), [b, a, c]));
    await page.getByRole('button', { name: 'Move photo 1 later' }).press('Enter');
    await until(async () => assert.deepEqual(await photosOf(), [a, b, c]));
    await until(async () => assert.deepEqual(await shown(), [a, b, c]));
    assert.deepEqual(complaints, []);
  });

  it('refuses what is no photo, or a damaged one, before the item is saved', async (t) => {
    const { page, context } = await site.openAs(owner, '/watches/new');
    t.after(() => context.close());
    const fine = await picture('#123');
    await page.getByLabel('Photo files').setInputFiles([
      { name: 'invoice.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') },
      { name: 'broken.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no picture') },
      { name: 'torn.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no picture either') },
      { name: 'fine.jpg', mimeType: 'image/jpeg', buffer: fine },
    ]);
    await page.getByText('invoice.pdf: This is no photo. Add JPEG, PNG, WebP or AVIF.').waitFor();
    await page.getByText('broken.jpg: This file is damaged').waitFor();
    await page.getByText('torn.jpg: This file is damaged').waitFor();
    await until(async () => assert.equal(await page.getByRole('button', { name: /^Remove / }).count(), 1));
    await page.getByRole('button', { name: 'Remove fine.jpg' }).focus();
    await page.keyboard.press('Enter');
    const add = page.getByRole('button', { name: 'Add photos' });
    await until(async () =>
      assert.equal(await add.evaluate((button) => button === button.ownerDocument.activeElement), true),
    );
  });
});
