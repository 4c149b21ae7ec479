import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { IMPORT_HEADER, importedRows, importText } from '../../../test/harness/jobs/stock-files.ts';
import { undoWhole } from '../../../test/harness/jobs/stock-jobs.ts';
import { addShop } from '../../../test/harness/shop.ts';
import { watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { deleteIntegration } from '../../dealers/deletions.ts';
import { runDeletions } from '../../sales/deletion/run-deletions.ts';
import { sellUnits } from '../../sales/sell.ts';
import { createItem, editItem, setHidden } from '../items/item-operations.ts';
import { createBusinessUnit, createLocation, deleteLocation } from '../locations.ts';
import { endPromotion, startPromotion } from '../promotions.ts';
import { setPublished } from '../publications.ts';
import { moveUnits, releaseUnits, reserveUnits } from '../units/movements.ts';

describe('the undo of an import of stock', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
  });

  const run = (text: string | Buffer, options?: Parameters<typeof importText>[3]) =>
    importText(world, dealer.organizationId, text, options);
  const rows = () => importedRows(world, dealer.organizationId);
  const undo = (jobId: string) => undoWhole(world, dealer.organizationId, jobId);

  it('is undone: what it created is removed, what it changed gets its old values, what changed since stays', async () => {
    const itemId = await createItem(
      world.channel,
      TESTER,
      dealer.organizationId,
      watch({ stockNumber: 'W-1', title: 'Old' }),
    );
    const before = await rows();
    const first = await run(
      `${IMPORT_HEADER}\nW-1,New,Tudor,,,1,\nW-8,One,Omega,Seamaster,Good,1,1\nW-9,Two,Omega,Seamaster,Good,1,1\n`,
    );
    await undo(first.jobId);
    assert.deepEqual(await rows(), before);
    const second = await run(
      `${IMPORT_HEADER}\nW-1,New,Tudor,,,1,\nW-8,One,Omega,Seamaster,Good,1,1\nW-9,Two,Omega,Seamaster,Good,1,1\n`,
    );
    await editItem(world.channel, TESTER, dealer.organizationId, itemId, { title: 'By hand' });
    const [, eight] = await world.db.query<{ id: string }>(sql`
      select id from items where organization_id = ${dealer.organizationId} order by stock_number`);
    await sellUnits(world.channel, TESTER, dealer.organizationId, eight?.id ?? '', 1);
    await undo(second.jobId);
    assert.partialDeepStrictEqual(await rows(), [
      { stock_number: 'W-1', title: 'By hand', brand: 'Rolex', price_amount: 1_299_000 },
      { stock_number: 'W-8', units: 0 },
    ]);
  });

  it('keeps at its undo what it created and somebody promoted or moved since, also if that came to nothing', async () => {
    const { organizationId } = dealer;
    const names = ['promoted', 'promoted once', 'reserved once', 'restocked once', 'untouched'];
    const lines = names.map((name, index) => `W-${index},${name},Omega,Seamaster,Good,1000,1`);
    const { jobId } = await run(`${IMPORT_HEADER}\n${lines.join('\n')}\n`);
    const items = await world.db.query<{ id: string }>(sql`
      select id from items where organization_id = ${organizationId} order by stock_number`);
    const [promoted = '', promotedOnce = '', reserved = '', restocked = ''] = items.map(({ id }) => id);
    const promote = (id: string) =>
      startPromotion(world.channel, TESTER, organizationId, id, {
        priceAmount: 50_000,
        startsAt: new Date(),
        endsAt: null,
      });
    await promote(promoted);
    await endPromotion(world.channel, TESTER, organizationId, await promote(promotedOnce));
    await reserveUnits(world.channel, TESTER, organizationId, reserved, 1);
    await releaseUnits(world.channel, TESTER, organizationId, reserved, 1);
    await moveUnits(world.channel, TESTER, organizationId, restocked, 'restock', 2);
    await moveUnits(world.channel, TESTER, organizationId, restocked, 'remove', 2);
    assert.partialDeepStrictEqual((await undo(jobId)).counts, { removed: 1, skipped: 4 });
    assert.deepEqual(
      (await rows()).map((row) => row.title),
      names.slice(0, -1),
    );
  });

  it('keeps at its undo what it created and somebody hid and showed since', async () => {
    const { organizationId, integrationId } = dealer;
    const lines = ['hidden', 'published', 'untouched'].map((name, index) => `W-${index},${name},Omega,A,Good,1,1`);
    const { jobId } = await run(`${IMPORT_HEADER}\n${lines.join('\n')}\n`);
    const items = await world.db.query<{ id: string }>(sql`
      select id from items where organization_id = ${organizationId} order by stock_number`);
    const [hidden = '', published = ''] = items.map(({ id }) => id);
    for (const isSet of [true, false]) {
      await setHidden(world.channel, TESTER, organizationId, [hidden], isSet);
      await setPublished(world.channel, TESTER, organizationId, integrationId, [published], isSet);
    }
    assert.partialDeepStrictEqual((await undo(jobId)).counts, { removed: 1, skipped: 2 });
    assert.deepEqual(
      (await rows()).map((row) => row.title),
      ['hidden', 'published'],
    );
  });

  for (const isDeletionDone of [false, true]) {
    const when = isDeletionDone ? 'was deleted' : 'is being deleted';

    it(`removes at its undo what it created, although one of the channels ${when}`, async () => {
      const gone = await addShop(world, dealer);
      const both = `${dealer.integrationId}|${gone.integrationId}`;
      const { jobId } = await run(`${IMPORT_HEADER},channels\nW-1,One,Omega,Seamaster,Good,1,1,${both}\n`);
      await deleteIntegration(world.db, TESTER, gone.integrationId);
      if (isDeletionDone) await runDeletions(world.channel, undefined, 0);
      assert.partialDeepStrictEqual(await undo(jobId), { counts: { removed: 1, skipped: 0 }, errors: [] });
      assert.deepEqual(await rows(), []);
    });

    it(`gets its old values back at its undo, although a channel ${when}, and says what is gone`, async () => {
      const gone = await addShop(world, dealer);
      const line = (price: number, channels: string) =>
        `${IMPORT_HEADER},channels\nW-1,Price ${price},Omega,Seamaster,Good,${price},1,${channels}\n`;
      await run(line(1_000, `${dealer.integrationId}|${gone.integrationId}`));
      const { jobId } = await run(line(2_000, dealer.integrationId));
      await deleteIntegration(world.db, TESTER, gone.integrationId);
      if (isDeletionDone) await runDeletions(world.channel, undefined, 0);
      assert.partialDeepStrictEqual(await undo(jobId), {
        counts: { changed: 1, skipped: 1 },
        errors: [['W-1', 'channels', 'A channel that it was on no longer exists.']],
      });
      assert.partialDeepStrictEqual(await rows(), [{ title: 'Price 1000', price_amount: 100_000 }]);
    });

    it(`says nothing at its undo of a channel that it published on and that ${when}`, async () => {
      const gone = await addShop(world, dealer);
      const line = (price: number, channels: string) =>
        `${IMPORT_HEADER},channels\nW-1,One,Omega,Seamaster,Good,${price},1,${channels}\n`;
      await run(line(1_000, dealer.integrationId));
      const { jobId } = await run(line(2_000, `${dealer.integrationId}|${gone.integrationId}`));
      await deleteIntegration(world.db, TESTER, gone.integrationId);
      if (isDeletionDone) await runDeletions(world.channel, undefined, 0);
      assert.partialDeepStrictEqual(await undo(jobId), { counts: { changed: 1, skipped: 0 }, errors: [] });
      assert.partialDeepStrictEqual(await rows(), [{ price_amount: 100_000 }]);
    });
  }

  it('gets its old values back at its undo, although the old location was deleted', async () => {
    const { organizationId } = dealer;
    const unit = await createBusinessUnit(world.db, TESTER, organizationId, 'Geneva');
    const safe = await createLocation(world.db, TESTER, organizationId, unit, 'Safe');
    const shop = await createLocation(world.db, TESTER, organizationId, unit, 'Shop');
    const before = watch({ stockNumber: 'W-1', priceAmount: 100_000, locationId: safe });
    const id = await createItem(world.channel, TESTER, organizationId, before);
    const { jobId } = await run('stock_number,price,location\nW-1,2000,Shop\n');
    await deleteLocation(world.channel, TESTER, { organizationId, id: safe, confirmedItems: 0 });
    assert.partialDeepStrictEqual(await undo(jobId), {
      counts: { changed: 1, skipped: 1 },
      errors: [['W-1', 'locationId', 'The old location no longer exists.']],
    });
    assert.deepEqual(await world.db.query(sql`select price_amount, location_id from items where id = ${id}`), [
      { price_amount: 100_000, location_id: shop },
    ]);
  });

  it('releases test reservations of what its undo removes, and keeps what a live one holds', async () => {
    const shop = await addShop(world, dealer, { isTestMode: true });
    const live = await addShop(world, dealer);
    const both = `${shop.integrationId}|${live.integrationId}`;
    const { jobId } = await run(
      `${IMPORT_HEADER},channels\nW-1,One,Omega,Seamaster,Good,1,1,${both}\nW-2,Two,Omega,Seamaster,Good,1,1,${both}\n`,
    );
    const [one, two] = (await live.api.get('/v1/listings')).body.data
      .toSorted((a: { stock_number: string }, b: { stock_number: string }) =>
        a.stock_number < b.stock_number ? -1 : 1,
      )
      .map((listing: { id: string }) => listing.id);
    const ofTest = (await shop.post('/v1/reservations', { listing_id: one })).body;
    const held = (await live.post('/v1/reservations', { listing_id: two })).body;
    await undo(jobId);
    assert.equal((await shop.api.get(`/v1/reservations/${ofTest.id}`)).body.status, 'released');
    assert.equal((await live.api.get(`/v1/reservations/${held.id}`)).body.status, 'active');
    assert.deepEqual(
      (await rows()).map((row) => row.stock_number),
      ['W-2'],
    );
  });
});
