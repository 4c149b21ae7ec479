import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startReceiver } from '../../test/harness/receiver.ts';
import { publishNew, watch } from '../../test/harness/stock.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { setUrl } from './endpoints.ts';
import { startWebhookEngine } from './engine.ts';
import { createGuard } from './guard.ts';
import { createSealedBox } from './sealed-box.ts';

describe('the webhook engine', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('delivers what a change caused, signed', async () => {
    const receiver = await startReceiver();
    const box = createSealedBox(['a secret key for tests, long enough to be one']);
    const guard = createGuard(true);
    const dealer = await world.dealer();
    await setUrl(world.db, { guard, box }, dealer.integrationId, receiver.url);
    const faults: unknown[] = [];
    const engine = startWebhookEngine({
      db: world.db,
      box,
      guard,
      now: () => null,
      onFault: (error) => faults.push(error),
    });
    try {
      const id = await publishNew(world, dealer, watch());
      engine.wake();
      const [first] = await receiver.until(1);
      assert.deepEqual(JSON.parse(first?.body ?? '').data.object, { id, object: 'listing' });
      const ping = await dealer.api.post('/v1/test/webhook_ping', {}, { 'idempotency-key': randomUUID() });
      engine.wake();
      const [, second] = await receiver.until(2);
      assert.equal(second?.headers['x-svc-delivery-id'], ping.body.delivery_id);
      assert.equal(second?.headers['x-svc-delivery-attempt'], '1');
    } finally {
      await engine.stop();
      await receiver.stop();
    }
    assert.deepEqual(faults, []);
  });
});
