import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/** An endpoint of a dealer who has no other. */
const of = (id: string) => ({ integrationId: id, organizationId: `dealer of ${id}` });

describe('the concurrency limit of a worker', () => {
  it('the concurrency limit always leaves free slots: with n endpoints that hang, each has its share and as many are left as one may take', () => {
    for (const [hanging, share] of [
      [1, 64],
      [8, 64],
      [24, 32],
      [56, 16],
      [120, 8],
    ] as const) {
      const slots = createConcurrencyLimit(1_024, 64);
      let isGrowing = true;
      while (isGrowing) {
        isGrowing = false;
        for (let index = 0; index < hanging; index++) {
          const { total, perEndpoint } = slots.available(1);
          const id = `int_${index}`;
          if (total === 0 || (slots.inFlight.get(id) ?? 0) >= perEndpoint) continue;
          slots.acquire(of(id), 100);
          isGrowing = true;
        }
      }
      const largest = Math.max(...slots.inFlight.values());
      assert.ok(largest <= 64 && largest >= share - 1 && largest <= share + 1, `${hanging}: ${largest}`);
      assert.ok(1_024 - slots.total() >= share - 1, `${hanging}: ${slots.total()} in flight`);
    }
  });

  it('an endpoint with an eighth of the bytes in flight waits until some of them have ended', () => {
    const slots = createConcurrencyLimit(1_024, 64, 800);
    slots.acquire(of('large'), 60);
    slots.acquire(of('small'), 1);
    assert.deepEqual([slots.hasManyBytes(of('large')), slots.withManyBytes().integrationIds], [false, []]);
    slots.acquire(of('large'), 60);
    assert.deepEqual([slots.hasManyBytes(of('large')), slots.withManyBytes().integrationIds], [true, ['large']]);
    assert.equal(slots.hasManyBytes(of('small')), false);
    slots.release(of('large'), 60);
    assert.deepEqual([slots.hasManyBytes(of('large')), slots.withManyBytes().integrationIds], [false, []]);
    slots.release(of('large'), 60);
    slots.acquire(of('large'), 99);
    assert.equal(slots.hasManyBytes(of('large')), false);
  });

  it('a dealer whose receivers hang has half of what is left free, with any number of endpoints', () => {
    const slots = createConcurrencyLimit(1_024, 64);
    for (let round = 0; round < 64; round++) {
      for (let index = 0; index < 100; index++) {
        const { perEndpoint, perDealer } = slots.available(1);
        const endpoint = { integrationId: `int_${index}`, organizationId: 'org_1' };
        const isFull =
          (slots.inFlight.get(endpoint.integrationId) ?? 0) >= perEndpoint ||
          (slots.inFlightByDealer.get('org_1') ?? 0) >= perDealer;
        if (!isFull) slots.acquire(endpoint, 100);
      }
    }
    assert.equal(slots.total(), Math.floor(1_024 / 3));
  });

  it('a dealer with a quarter of the bytes in flight waits with all endpoints', () => {
    const slots = createConcurrencyLimit(1_024, 64, 800);
    const endpoint = (index: number) => ({ integrationId: `int_${index}`, organizationId: 'org_1' });
    for (let index = 0; index < 4; index++) slots.acquire(endpoint(index), 50);
    assert.deepEqual(slots.withManyBytes(), { integrationIds: [], organizationIds: ['org_1'] });
    assert.equal(slots.hasManyBytes(endpoint(9)), true);
    slots.release(endpoint(0), 50);
    assert.equal(slots.hasManyBytes(endpoint(9)), false);
    assert.equal(slots.hasManyBytes(of('other')), false);
  });

  it('the concurrency limit counts what is released, in slots and in bytes', () => {
    const slots = createConcurrencyLimit(4, 2);
    slots.acquire(of('a'), 100);
    slots.acquire(of('a'), 100);
    slots.acquire(of('b'), 100);
    assert.deepEqual(
      [slots.total(), [...slots.inFlight]],
      [
        3,
        [
          ['a', 2],
          ['b', 1],
        ],
      ],
    );
    for (const id of ['a', 'b', 'a']) slots.release(of(id), 100);
    assert.deepEqual([slots.total(), slots.bytes(), [...slots.inFlight]], [0, 0, []]);
    assert.deepEqual(slots.available(1), { total: 2, perEndpoint: 1, perDealer: 2 });
  });
});
