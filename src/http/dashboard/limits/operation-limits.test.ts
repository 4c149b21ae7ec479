import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { holdLock } from '../../../../test/harness/database/locks.ts';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';

describe('operations of the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('of one dealer that hang leave connections to other dealers and to the public API', async () => {
    const attacker = await signedIn(world);
    const neighbour = await signedIn(world);
    const { api } = await world.dealer();
    // Locations are read for the choices of filters, and by nobody who is measured here.
    const lock = await holdLock(world.db, 'lock table locations in access exclusive mode', []);
    const hanging = ['/stock/choices?kind=listing', '/stock/export.csv?kind=listing'].flatMap((path) =>
      Array.from({ length: 60 }, () => attacker.call('GET', path)),
    );
    try {
      for (let round = 0; round < 5; round++) {
        assert.equal((await neighbour.call('GET', '/team')).status, 200);
        assert.equal((await api.get('/v1/listings')).status, 200);
      }
    } finally {
      await lock.release();
    }
    const statuses = new Set((await Promise.all(hanging)).map(({ status }) => status));
    assert.ok(
      [...statuses].every((status) => status === 200 || status === 503),
      [...statuses].join(),
    );
  });
});
