import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { runJobs, undoWhole } from '../../../../../test/harness/jobs/stock-jobs.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';
import { setRate } from '../../../../dealers/rates/exchange-rates.ts';
import { createItem, editItem } from '../../../../inventory/items/item-operations.ts';
import { undoChange } from '../../../../inventory/items/undo-change.ts';
import { startJob } from '../../../../inventory/jobs/stock-job-queue.ts';
import { endPromotion, startPromotion } from '../../../../inventory/promotions.ts';
import { deleteItem } from '../../../../sales/delete-item.ts';

/** Amounts are stored in minor units: 890000 is 8,900.00 dollars, 890,000 yen and 890.000 dinars. */
describe('the currency of the business', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
    for (const currency of ['JPY', 'KWD', 'EUR']) await setRate(world.channel, TESTER, currency, 'USD', '1.5');
  });
  after(() => world.stop());

  async function business() {
    const owner = await signedIn(world);
    const { organizationId } = owner;
    const read = async () => (await owner.call('GET', '/business')).body;
    const save = async (currency: string) =>
      await owner.call('PATCH', '/business', { revision: (await read()).revision, currency });
    const assertRefused = async (currency: string, code: string, message: RegExp) => {
      const before = await read();
      const { status, body, text } = await save(currency);
      assert.equal(status, 409, text);
      assert.deepEqual([body.error.code, body.error.field], [code, 'currency']);
      assert.match(body.error.message, message);
      assert.deepEqual(await read(), before);
    };
    const make = (amounts: { priceAmount: number | null; costAmount?: number }) =>
      createItem(world.channel, TESTER, organizationId, watch(amounts));
    const edit = (id: string, changes: object) => editItem(world.channel, TESTER, organizationId, id, changes);
    return { organizationId, read, save, assertRefused, make, edit };
  }

  const amountsOf = async (id: string) => {
    const [row] = await world.db.query<{ price: number | null; cost: number | null }>(sql`
      select price_amount as price, cost_amount as cost from items where id = ${id}`);
    return [row?.price ?? null, row?.cost ?? null];
  };

  it('with other decimals is refused while items have a price or a cost price', async () => {
    const { assertRefused, make, edit, save } = await business();
    const priced = await make({ priceAmount: 890_000 });
    const bought = await make({ priceAmount: null, costAmount: 500 });
    await make({ priceAmount: 0 });
    await assertRefused('JPY', 'not_empty', /^USD has 2 decimals and JPY has 0.* 2 items have a price or a cost price/);
    await assertRefused('KWD', 'not_empty', /^USD has 2 decimals and KWD has 3.* 2 items have a price or a cost price/);
    assert.deepEqual(await amountsOf(priced), [890_000, null]);
    await edit(priced, { priceAmount: null });
    await assertRefused('JPY', 'not_empty', / 1 item has a price or a cost price/);
    await edit(bought, { costAmount: null });
    assert.equal((await save('JPY')).body.currency, 'JPY');
  });

  it('with other decimals is refused while items have promotions', async () => {
    const { organizationId, assertRefused, make, edit, save } = await business();
    const id = await make({ priceAmount: 890_000 });
    const promotion = { priceAmount: 800_000, startsAt: new Date(), endsAt: null };
    const promotionId = await startPromotion(world.channel, TESTER, organizationId, id, promotion);
    await edit(id, { priceAmount: null });
    await assertRefused('JPY', 'not_empty', / 1 item has a promotion/);
    await endPromotion(world.channel, TESTER, organizationId, promotionId);
    assert.equal((await save('JPY')).status, 200);
  });

  it('with other decimals is taken after a promotion that ended by itself, which no page can end', async () => {
    const { organizationId, assertRefused, make, edit, save } = await business();
    const id = await make({ priceAmount: 890_000 });
    const promotion = { priceAmount: 800_000, startsAt: new Date(), endsAt: new Date(Date.now() + 3_600_000) };
    await startPromotion(world.channel, TESTER, organizationId, id, promotion);
    await edit(id, { priceAmount: null });
    await assertRefused('JPY', 'not_empty', / 1 item has a promotion/);
    await world.db.query(sql`
      update promotions set starts_at = now() - interval '2 days', ends_at = now() - interval '1 day'
      where item_id = ${id}`);
    assert.equal((await save('JPY')).status, 200);
  });

  it('with other decimals is refused while a job may still write amounts', async () => {
    const { organizationId, assertRefused, save } = await business();
    const parameters = { selection: { itemIds: [] }, change: { action: 'hide' } };
    await startJob(world.db, TESTER, { organizationId, kind: 'bulk_change', title: 'x', parameters, isUndoable: true });
    await assertRefused('JPY', 'not_empty', /jobs? .*waiting or running/);
    await runJobs(world);
    assert.equal((await save('JPY')).status, 200);
  });

  it('with as many decimals keeps every amount', async () => {
    const { make, save } = await business();
    const id = await make({ priceAmount: 890_000, costAmount: 500 });
    assert.equal((await save('EUR')).body.currency, 'EUR');
    assert.deepEqual(await amountsOf(id), [890_000, 500]);
  });

  it('with other decimals keeps an undo from bringing old amounts back, and lets it bring the rest', async () => {
    const { organizationId, make, edit, save } = await business();
    const id = await make({ priceAmount: 890_000 });
    const { auditId } = await edit(id, { priceAmount: null, title: 'Cleared' });
    const other = await make({ priceAmount: 700_000 });
    const jobId = await startJob(world.db, TESTER, {
      organizationId,
      kind: 'bulk_change',
      title: 'x',
      parameters: {
        selection: { itemIds: [other] },
        change: { action: 'change_price', basisPoints: -10_000, amount: null, roundTo: null },
      },
      isUndoable: true,
    });
    await runJobs(world);
    assert.deepEqual(await amountsOf(other), [0, null]);
    assert.equal((await save('JPY')).status, 200);
    const undone = await undoChange(world.channel, TESTER, organizationId, auditId ?? '', { isCostAllowed: true });
    assert.deepEqual(undone.skipped, ['priceAmount']);
    assert.deepEqual(await amountsOf(id), [null, null]);
    const { counts, errors } = await undoWhole(world, organizationId, jobId);
    assert.deepEqual([counts.changed, counts.skipped], [0, 1]);
    assert.match(String(errors[0]?.[2]), /decimals/);
    assert.deepEqual(await amountsOf(other), [0, null]);
    assert.equal((await save('USD')).status, 200);
  });

  it('says nothing of items that were deleted', async () => {
    const { organizationId, make, save } = await business();
    await deleteItem(world.channel, TESTER, organizationId, await make({ priceAmount: 890_000 }));
    assert.equal((await save('KWD')).status, 200);
  });
});
