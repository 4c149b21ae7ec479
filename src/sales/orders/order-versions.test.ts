import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { freshKey, openShop } from '../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { CURRENT_VERSION } from '../../contract/versions.ts';
import { sql } from '../../db/sql.ts';
import { confirmOrder, fulfilOrder } from './order-operations.ts';

/** Invented: the version of today reads as an old one that shows a field more. */
const NEXT = '2027-01-01';

describe('orders in the version that an integration is pinned to', () => {
  let world: World;
  before(async () => {
    world = await startWorld({
      versions: [
        { date: CURRENT_VERSION, present: (document) => ({ ...document, shape: 'old' }) },
        { date: NEXT, present: (document) => document },
      ],
    });
  });
  after(() => world.stop());

  it('read alike in answers, lists and events, and a replay stays as it was after a roll', async () => {
    const shop = await openShop(world);
    const listingId = await publishNew(world, shop, watch());
    const key = freshKey();
    const report = { channel_order_id: 'SO-1', lines: [{ listing_id: listingId }] };
    const first = await shop.api.post('/v1/orders', report, key);
    const { id } = first.body;
    assert.equal(first.body.shape, 'old');
    assert.deepEqual((await shop.api.get(`/v1/orders/${id}`)).body, first.body);
    assert.deepEqual((await shop.api.get('/v1/orders')).body.data, [first.body]);
    await confirmOrder(world.channel, TESTER, shop.organizationId, id);
    await fulfilOrder(world.channel, TESTER, shop.organizationId, id);
    const events = await shop.api.get('/v1/events?type=order.fulfilled');
    assert.deepEqual(events.body.data[0].data.object, (await shop.api.get(`/v1/orders/${id}`)).body);
    assert.equal(events.body.data[0].data.object.shape, 'old');

    await world.db.query(sql`update integrations set api_version = ${NEXT} where id = ${shop.integrationId}`);
    const today = (await shop.api.get(`/v1/orders/${id}`)).body;
    assert.equal(today.shape, undefined);
    assert.equal(today.status, 'fulfilled');
    assert.equal((await shop.api.post('/v1/orders', report, key)).text, first.text);
    const second = await shop.post('/v1/orders', { channel_order_id: 'SO-2' });
    assert.equal(second.body.shape, undefined);
    assert.equal((await shop.post(`/v1/orders/${second.body.id}/cancel`)).body.shape, undefined);
  });
});
