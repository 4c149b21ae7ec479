import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';

describe('orders', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  const key = () => ({ 'idempotency-key': randomUUID() });

  it('reserves the listing of a live order, and gives it back on cancellation', async () => {
    const dealer = await world.dealer();
    const id = await publishNew(world, dealer, watch());
    const made = await dealer.api.post(
      '/v1/orders',
      {
        channel_order_id: 'SO-1',
        customer: { email: 'ana@example.ch', phone: '+41 22 730 00 00' },
        lines: [{ listing_id: id, unit_amount: 100, quantity: 1 }],
      },
      key(),
    );
    assert.equal(made.status, 201);
    assert.deepEqual(made.body.lines[0].match, { object: 'listing', id, remaining_quantity: 0 });
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.status, 'reserved');
    assert.deepEqual((await dealer.api.get(`/v1/orders/${made.body.id}`)).body, made.body);
    const cancelled = await dealer.api.post(`/v1/orders/${made.body.id}/cancel`, undefined, key());
    assert.equal(cancelled.status, 200);
    assert.equal(cancelled.body.status, 'cancelled');
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.status, 'active');
    assert.equal((await dealer.api.get('/v1/orders')).body.data.length, 1);
  });

  it('makes one order of a hundred racing requests with one key', async () => {
    const dealer = await world.dealer();
    const headers = key();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => dealer.api.post('/v1/orders', { channel_order_id: 'SO-1' }, headers)),
    );
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]));
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
    assert.equal(answers.filter((answer) => answer.headers['idempotent-replay'] === undefined).length, 1);
  });

  it('upserts customers, and pings', async () => {
    const dealer = await world.dealer();
    const made = await dealer.api.post('/v1/customers', { email: 'A@b.ch' }, key());
    assert.equal(made.status, 201);
    const again = await dealer.api.post('/v1/customers', { email: 'a@B.ch', first_name: 'Ana' }, key());
    assert.equal(again.status, 200);
    assert.equal(again.body.id, made.body.id);
    const bulk = await dealer.api.post(
      '/v1/customers/bulk',
      { customers: [{ email: 'x@y.z' }, { email: 'a@b.ch', external_id: 'c1' }] },
      key(),
    );
    assert.deepEqual(bulk.body.bulk_result, { total: 2, created: 1, updated: 1 });
    const ping = await dealer.api.post('/v1/test/webhook_ping', undefined, key());
    assert.equal(ping.body.enqueued, false);
  });
});
