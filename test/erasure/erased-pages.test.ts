import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ORDER_LINES_LIMIT } from '../../src/contract/limits.ts';
import { WHOLE_PAGE_BYTES } from '../../src/db/large-pages.ts';
import { eraseCustomer } from '../../src/sales/erasure/erase-customer.ts';
import { runErasures } from '../../src/sales/erasure/run-erasures.ts';
import { dismissOrder } from '../../src/sales/orders/order-operations.ts';
import { TESTER } from '../harness/actor.ts';
import { openShop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

describe('a large page of events', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('is another one after the erasure of a person', async () => {
    const shop = await openShop(world);
    const lines = Array.from({ length: ORDER_LINES_LIMIT }, () => ({ title: '時'.repeat(500) }));
    const customer = { email: 'gone@example.ch', first_name: 'Gone' };
    for (let number = 1; number <= 8; number++) {
      const { body, text } = await shop.post('/v1/orders', { channel_order_id: `SO-${number}`, customer, lines });
      assert.ok(body.customer_id, text);
      await dismissOrder(world.channel, TESTER, shop.organizationId, body.id, null);
    }
    const page = await shop.api.get('/v1/events');
    assert.ok(Buffer.byteLength(page.text) > WHOLE_PAGE_BYTES);
    assert.equal(page.body.data[1].data.object.customer.email, customer.email);
    const etag = { 'if-none-match': page.headers.etag ?? '' };
    assert.equal((await shop.api.get('/v1/events', etag)).status, 304);
    const { customer_id: customerId } = page.body.data[0].data.object;
    await eraseCustomer(world.channel, TESTER, shop.organizationId, customerId);
    await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 });
    const erased = await shop.api.get('/v1/events', etag);
    assert.equal(erased.status, 200);
    assert.doesNotMatch(erased.text, /gone@example/);
  });
});
