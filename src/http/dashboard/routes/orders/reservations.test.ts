import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addShop, type Shop } from '../../../../../test/harness/shop.ts';
import { part, publishNew, stockOf } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { newId } from '../../../../ids/new-id.ts';
import { reserveUnits } from '../../../../inventory/units/movements.ts';

describe('the reservations of an item in the dashboard', () => {
  let world: World;
  let staff: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    staff = await signedIn(world);
    shop = await addShop(world, staff);
  });
  after(() => world.stop());

  it('are listed with reference, channel and time, and count neither as free nor as reserved by hand', async () => {
    const id = await publishNew(world, shop, part({ units: 5 }));
    await reserveUnits(world.channel, TESTER, staff.organizationId, id, 1);
    const { body: made } = await shop.post('/v1/reservations', { part_id: id, quantity: 2, reference: 'cart-9' });
    const { body } = await staff.call('GET', `/items/${id}/reservations`);
    const [{ channel, created_at, ...shown }] = body.data;
    assert.match(channel, /^Shop \d+$/);
    assert.equal(created_at, made.created_at);
    assert.deepEqual(shown, {
      id: made.id,
      integration_id: shop.integrationId,
      units: 2,
      reference: 'cart-9',
      expires_at: made.expires_at,
    });
    const { body: item } = await staff.call('GET', `/items/${id}`);
    assert.deepEqual(
      [item.free_units, item.reserved_units, item.releasable_units, item.site_reserved_units],
      [2, 3, 1, 2],
    );
  });

  it('are released by hand; one that has ended is 404', async () => {
    const id = await publishNew(world, shop, part({ units: 5 }));
    const { body: made } = await shop.post('/v1/reservations', { part_id: id, quantity: 2 });
    const path = (reservationId: string) => `/items/${id}/reservations/${reservationId}/release`;
    assert.equal((await staff.call('POST', path(newId('reservation')))).status, 404);
    assert.equal((await staff.call('POST', path(made.id))).status, 204);
    assert.equal((await staff.call('POST', path(made.id))).status, 404);
    assert.deepEqual((await staff.call('GET', `/items/${id}/reservations`)).body, { data: [] });
    assert.deepEqual(await stockOf(world, id), { units: 5, held: 0 });
  });

  it('keep a sale from their units, unless it says that it releases them', async () => {
    const id = await publishNew(world, shop, part({ units: 1 }));
    const { body: made } = await shop.post('/v1/reservations', { part_id: id });
    const sale = { item_id: id, units: 1, amount: null, customer_id: null };
    const refused = await staff.call('POST', '/sales', sale);
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'not_enough_units']);
    const sold = await staff.call('POST', '/sales', { ...sale, releases_reservations: true });
    assert.equal(sold.status, 200, JSON.stringify(sold.body));
    assert.equal((await shop.api.get(`/v1/reservations/${made.id}`)).body.status, 'released');
  });
});
