import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createByteRate } from './byte-rate.ts';
import { SemaphoreError } from './keyed-semaphore.ts';

/** A clock that moves only by the waits. */
function startClock() {
  const waits: number[] = [];
  let nowMs = 1_000;
  return {
    waits,
    pass: (ms: number) => {
      nowMs += ms;
    },
    options: {
      bytesPerSecond: 1_000,
      burstBytes: 500,
      now: () => nowMs,
      wait: async (ms: number) => {
        waits.push(ms);
        nowMs += ms;
      },
    },
  };
}

describe('a byte rate', () => {
  it('lets a burst pass at once and then so many bytes a second', async () => {
    const clock = startClock();
    const rate = createByteRate(clock.options);
    await rate.pass('a', 500);
    assert.deepEqual(clock.waits, []);
    await rate.pass('a', 200);
    await rate.pass('a', 300);
    assert.deepEqual(clock.waits, [200, 300]);
  });

  it('saves no more than the burst, however long nothing passed', async () => {
    const clock = startClock();
    const rate = createByteRate(clock.options);
    clock.pass(1_000_000);
    await rate.pass('a', 600);
    assert.deepEqual(clock.waits, [100]);
  });

  it('serves keys round-robin: one that has much to send does not hold the others up', async () => {
    const clock = startClock();
    const rate = createByteRate(clock.options);
    const served: string[] = [];
    const pass = async (key: string) => {
      await rate.pass(key, 1_000);
      served.push(key);
    };
    await Promise.all([pass('a'), pass('a'), pass('a'), pass('b')]);
    assert.deepEqual(served, ['a', 'b', 'a', 'a']);
  });

  it('forgets whoever gives up while waiting', async () => {
    const clock = startClock();
    const rate = createByteRate(clock.options);
    const gone = new AbortController();
    const first = rate.pass('a', 1_000);
    const second = rate.pass('a', 1_000, { signal: gone.signal });
    gone.abort();
    await assert.rejects(second, SemaphoreError);
    await first;
    await rate.pass('a', 100);
    assert.deepEqual(clock.waits, [500, 100]);
  });
});
