import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { sellUnits } from '../../sales/sell.ts';
import type { ItemChanges } from './item-input.ts';
import { type EditBasis, editItem, setHidden } from './item-operations.ts';
import { readItem } from './read-item.ts';

describe('an edit that names what it began from', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
  });
  after(() => world.stop());

  const edit = (id: string, changes: ItemChanges, basis?: EditBasis) =>
    editItem(world.channel, TESTER, dealer.organizationId, id, changes, basis);
  const revisionOf = async (id: string) => (await readItem(world.db, dealer.organizationId, id)).revision;

  it('is refused if somebody else has saved meanwhile, and raises the revision if not', async () => {
    const id = await publishNew(world, dealer, watch());
    assert.equal((await edit(id, { title: 'First' }, { revision: 1 })).revision, 2);
    await assertRefused(edit(id, { title: 'Second' }, { revision: 1 }), 'changed_meanwhile', 'revision');
    assert.equal((await readItem(world.db, dealer.organizationId, id)).title, 'First');
    assert.equal((await edit(id, { title: 'Second' }, { revision: 2 })).revision, 3);
  });

  it('leaves the revision if it changes nothing, as do orders, toggles and hiding', async () => {
    const id = await publishNew(world, dealer, watch({ title: 'Same', units: 2 }));
    assert.deepEqual(await edit(id, { title: 'Same' }), { revision: 1, auditId: null });
    await setHidden(world.channel, TESTER, dealer.organizationId, [id], true);
    await sellUnits(world.channel, TESTER, dealer.organizationId, id, 1);
    assert.equal(await revisionOf(id), 1);
  });

  it('does not give back the unit that was sold meanwhile', async () => {
    const id = await publishNew(world, dealer, watch({ units: 2 }));
    await sellUnits(world.channel, TESTER, dealer.organizationId, id, 1);
    await assertRefused(edit(id, { units: 3 }, { revision: 1, units: 2 }), 'changed_meanwhile', 'units');
    await edit(id, { units: 3 }, { revision: 1, units: 1 });
    assert.equal((await readItem(world.db, dealer.organizationId, id)).units, 3);
  });

  it('lets exactly one of two that race win', async () => {
    const id = await publishNew(world, dealer, watch());
    const all = await Promise.allSettled(['A', 'B'].map((title) => edit(id, { title }, { revision: 1 })));
    assert.deepEqual(all.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal(await revisionOf(id), 2);
  });

  it('keeps private fields, which no client reads', async () => {
    const id = await publishNew(
      world,
      dealer,
      watch({ serialNumber: 'SN-SECRET', costAmount: 700, privateNotes: 'psst' }),
    );
    await edit(id, { privateNotes: 'psst!', costAmount: null });
    const item = await readItem(world.db, dealer.organizationId, id);
    assert.deepEqual([item.serialNumber, item.costAmount, item.privateNotes], ['SN-SECRET', null, 'psst!']);
    const { text } = await dealer.api.get(`/api/v1/listings/${id}`);
    assert.doesNotMatch(text, /SN-SECRET|psst/);
  });
});
