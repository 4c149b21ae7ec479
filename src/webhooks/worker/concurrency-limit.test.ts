import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConcurrencyLimit } from './concurrency-limit.ts';

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
          slots.acquire(id, 100);
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
    slots.acquire('large', 60);
    slots.acquire('small', 1);
    assert.deepEqual([slots.hasManyBytes('large'), slots.withManyBytes()], [false, []]);
    slots.acquire('large', 60);
    assert.deepEqual([slots.hasManyBytes('large'), slots.withManyBytes()], [true, ['large']]);
    assert.equal(slots.hasManyBytes('small'), false);
    slots.release('large', 60);
    assert.deepEqual([slots.hasManyBytes('large'), slots.withManyBytes()], [false, []]);
    slots.release('large', 60);
    slots.acquire('large', 99);
    assert.equal(slots.hasManyBytes('large'), false);
  });

  it('the concurrency limit counts what is released, in slots and in bytes', () => {
    const slots = createConcurrencyLimit(4, 2);
    slots.acquire('a', 100);
    slots.acquire('a', 100);
    slots.acquire('b', 100);
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
    for (const id of ['a', 'b', 'a']) slots.release(id, 100);
    assert.deepEqual([slots.total(), slots.bytes(), [...slots.inFlight]], [0, 0, []]);
    assert.deepEqual(slots.available(1), { total: 2, perEndpoint: 1 });
  });
});
