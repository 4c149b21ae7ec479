import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectionCount, poolSizes } from './pool-sizes.ts';

describe('the connections of the service', () => {
  it('the pools of a process together have as many connections as DATABASE_POOL_SIZE', () => {
    for (const databasePoolSize of [2, 7, 8, 20, 500]) {
      for (const roles of [['api'], ['worker'], ['api', 'worker']] as const) {
        const { shared, admission, worker } = poolSizes({ databasePoolSize, roles: [...roles] });
        assert.equal(shared + admission + worker, databasePoolSize);
      }
    }
  });

  it('each process has three besides its pools, and so has the supervisor of several processes', () => {
    assert.equal(connectionCount({ databasePoolSize: 20, processes: 1 }), 23);
    assert.equal(connectionCount({ databasePoolSize: 20, processes: 8 }), 9 * 23);
  });
});
