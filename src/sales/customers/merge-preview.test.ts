import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { addCustomer, addShop, openShop, type Shop } from '../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { PERSONAL_FIELDS } from '../../customers/merged-fields.ts';
import { linksOfCustomers, readCustomer } from '../../customers/read-customer.ts';
import { countConflicts, listConflicts } from './customer-conflicts.ts';
import { mergeCustomers } from './merge-customers.ts';
import { previewMerge } from './merge-preview.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

const report = async (shop: Shop, number: string, buyer: object) =>
  (await shop.post('/v1/orders', { channel_order_id: number, customer: buyer })).body.id;

describe('the preview of a merge', () => {
  it('shows what the merge then does to each field, to orders, external ids and conflicts', async () => {
    const shop = await openShop(world);
    const address = { line1: 'Rue 1', city: 'Geneva', country: 'CH' };
    const kept = await addCustomer(shop, { external_id: 'c1', email: 'kept@example.ch', first_name: 'Ana' });
    const merged = await addCustomer(shop, {
      external_id: 'c2',
      email: 'merged@example.ch',
      phone: '+41227300000',
      first_name: 'Anna',
      last_name: 'Berger',
      address,
    });
    await addCustomer(shop, { external_id: 'c3', email: 'third@example.ch' });
    await report(shop, 'SO-1', { email: 'merged@example.ch' });
    const both = await report(shop, 'SO-2', { email: 'kept@example.ch', phone: '+41227300000' });
    await report(shop, 'SO-3', { email: 'third@example.ch', phone: '+41227300000' });
    await report(shop, 'SO-4', { external_id: 'c9', email: 'kept@example.ch', phone: '+41227300000' });
    const { organizationId } = shop;

    const conflicts = await listConflicts(world.db, organizationId, [false], 10);
    assert.deepEqual(
      conflicts.map(({ order, customers, isDecidedByMerge }) => [
        order.channelOrderId,
        customers.length,
        isDecidedByMerge,
      ]),
      [
        ['SO-4', 2, false],
        ['SO-3', 2, true],
        ['SO-2', 2, true],
      ],
    );
    const preview = await previewMerge(world.db, organizationId, kept, merged);
    assert.equal(preview.moved.orderCount, 1);
    assert.deepEqual(
      preview.movedLinks.map(({ externalId }) => externalId),
      ['c2'],
    );
    assert.equal(preview.resolvedOrders, 1);

    await mergeCustomers(world.channel, TESTER, organizationId, kept, merged);
    const after = await readCustomer(world.db, organizationId, kept);
    assert.deepEqual(
      preview.fields.map(({ field, result }) => [field, result]),
      PERSONAL_FIELDS.map((field) => [field, after[field]]),
    );
    assert.equal((await shop.api.get(`/v1/orders/${both}`)).body.customer_id, kept);
    assert.equal(await countConflicts(world.db, organizationId, [false], 10), 2);
    assert.equal((await linksOfCustomers(world.db, [kept])).length, 2);
  });

  it('is refused for whom the merge refuses', async () => {
    const shop = await openShop(world);
    const test = await addShop(world, shop, { isTestMode: true });
    const own = await addCustomer(shop, { email: 'a@b.ch' });
    const ofTest = await addCustomer(test, { email: 'a@b.ch' });
    const foreign = await addCustomer(await openShop(world), { email: 'a@b.ch' });
    const preview = (merged: string) => previewMerge(world.db, shop.organizationId, own, merged);
    await assertRefused(preview(own), 'invalid_input', 'mergedId');
    await assertRefused(preview(ofTest), 'wrong_kind', 'mergedId');
    await assertRefused(preview(foreign), 'not_found');
  });
});
