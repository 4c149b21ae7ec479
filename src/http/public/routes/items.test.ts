import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { part, publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';

describe('reading listings and parts', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('serves a published listing with every field', async () => {
    const dealer = await world.dealer();
    const id = await publishNew(world, dealer, watch());
    const { status, body } = await dealer.api.get(`/v1/listings/${id}`);
    assert.equal(status, 200);
    assert.equal(body.id, id);
    assert.equal(body.status, 'active');
    assert.deepEqual(body.price, { amount: 1299000, amount_formatted: '$12,990.00', currency: 'USD' });
    assert.deepEqual(body.description_paragraphs, ['One.', 'Two.']);
    assert.equal(body.description, 'One.\n\nTwo.');
    assert.equal(body.watch.tax_treatment, 'vat_included');
    const list = await dealer.api.get('/v1/listings');
    assert.equal(list.body.data.length, 1);
    assert.deepEqual(list.body.data[0], body);
    const events = await dealer.api.get('/v1/events');
    assert.deepEqual(
      events.body.data.map((event: { type: string }) => event.type),
      ['listing.published'],
    );
  });

  it('serves a published part', async () => {
    const dealer = await world.dealer();
    const id = await publishNew(world, dealer, part());
    const { status, body } = await dealer.api.get(`/v1/parts/${id}`);
    assert.equal(status, 200);
    assert.equal(body.quantity, 5);
  });
});
