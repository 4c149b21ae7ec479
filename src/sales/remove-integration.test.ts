import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { changing, hold, untilBlocked } from '../../test/harness/hold.ts';
import { addShop, openShop } from '../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { runJobs } from '../channel/run-jobs.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';
import { reserveUnits } from '../inventory/movements.ts';
import { setPublished } from '../inventory/publications.ts';
import { confirmOrder } from './order-operations.ts';
import { removeIntegration } from './remove-integration.ts';

describe('removing an integration', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('frees what its orders held, and nothing else; the dealer’s other channels show it', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const listingId = await publishNew(world, shop, watch());
    const partId = await publishNew(world, shop, part({ units: 10 }));
    const soldId = await publishNew(world, shop, watch());
    await setPublished(
      world.channel,
      TESTER,
      shop.organizationId,
      sibling.integrationId,
      [listingId, partId, soldId],
      true,
    );
    await reserveUnits(world.channel, TESTER, shop.organizationId, partId, 1);
    const lines = [{ listing_id: listingId }, { part_id: partId, quantity: 2 }];
    await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines });
    await shop.post('/v1/orders', { channel_order_id: 'SO-2', lines: [{ part_id: partId, quantity: 3 }] });
    await sibling.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ part_id: partId }] });
    const sold = await shop.post('/v1/orders', { channel_order_id: 'SO-3', lines: [{ listing_id: soldId }] });
    await confirmOrder(world.channel, TESTER, shop.organizationId, sold.body.id);
    assert.equal((await sibling.api.get(`/v1/parts/${partId}`)).body.quantity, 3);

    assert.equal(await removeIntegration(world.db, TESTER, shop.integrationId), true);
    assert.equal((await shop.api.get('/v1/me')).status, 401);
    await runJobs(world.channel, undefined, 0);
    assert.equal((await sibling.api.get(`/v1/listings/${listingId}`)).body.status, 'active');
    assert.equal((await sibling.api.get(`/v1/parts/${partId}`)).body.quantity, 8);
    assert.equal((await sibling.api.get(`/v1/listings/${soldId}`)).body.status, 'sold');
    const sales = await world.db.query(sql`select status from sales where organization_id = ${shop.organizationId}`);
    assert.deepEqual(sales, [{ status: 'completed' }]);
  });

  it('goes well while orders come in: no unit stays held for an order that is gone', async () => {
    const shop = await openShop(world);
    const ids = [
      await publishNew(world, shop, part({ units: 1_000 })),
      await publishNew(world, shop, part({ units: 9 })),
    ];
    const orders = Array.from({ length: 40 }, (_, index) =>
      shop.post('/v1/orders', { channel_order_id: `SO-${index}`, lines: [{ part_id: ids[index % 2] }] }),
    );
    await orders[0];
    await removeIntegration(world.db, TESTER, shop.integrationId);
    await Promise.all(orders);
    const held = await world.db.query(sql`
      select reserved_units from items where id = any(${ids}::text[])`);
    assert.deepEqual(held, [{ reserved_units: 0 }, { reserved_units: 0 }]);
  });

  it('waits for an order under change without holding what that change needs next', async () => {
    const shop = await openShop(world);
    const { body } = await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ title: 'Holds nothing' }] });
    const change = await changing(world.db, body.id);
    const removed = removeIntegration(world.db, TESTER, shop.integrationId);
    await untilBlocked(world.db);
    await change.takeClock(shop.integrationId);
    await change.end();
    assert.equal(await removed, true);
  });

  it('lets go of everything for an order that came in meanwhile and is under change already', async () => {
    const shop = await openShop(world);
    const partId = await publishNew(world, shop, part());
    const lines = [{ part_id: partId }];
    await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines });
    const stock = await hold(world.db, 'select 1 from items where id = $1 for update', [partId]);
    const removed = removeIntegration(world.db, TESTER, shop.integrationId);
    await untilBlocked(world.db);
    const late = await shop.post('/v1/orders', { channel_order_id: 'SO-2', lines: [{ title: 'Holds nothing' }] });
    const change = await changing(world.db, late.body.id);
    await stock.letGo();
    await untilBlocked(world.db);
    await change.takeClock(shop.integrationId);
    await change.end();
    assert.equal(await removed, true);
  });

  it('answers false for an unknown one', async () => {
    assert.equal(await removeIntegration(world.db, TESTER, newId('integration')), false);
  });
});
