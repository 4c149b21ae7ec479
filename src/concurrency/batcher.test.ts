import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBatcher, createKeyedBatcher } from './batcher.ts';

describe('a batcher', () => {
  /** Batches that end when the test says so. */
  function openBatches() {
    const batches: { inputs: number[]; finish(outputs: number[]): void; fail(error: Error): void }[] = [];
    const call = createBatcher(
      (inputs: number[]) =>
        new Promise<number[]>((resolve, reject) => batches.push({ inputs, finish: resolve, fail: reject })),
    );
    const tick = () => new Promise((resolve) => setImmediate(resolve));
    return { batches, call, tick };
  }

  it('makes one batch of the calls of one round of the event loop, and answers each with its own result', async () => {
    const { batches, call, tick } = openBatches();
    const answers = Promise.all([1, 2, 3].map(call));
    await tick();
    assert.deepEqual(
      batches.map((batch) => batch.inputs),
      [[1, 2, 3]],
    );
    batches[0]?.finish([10, 20, 30]);
    assert.deepEqual(await answers, [10, 20, 30]);
  });

  it('never adds a call to a batch that has begun: the next one takes all that came meanwhile', async () => {
    const { batches, call, tick } = openBatches();
    const first = call(1);
    await tick();
    const second = call(2);
    await tick();
    const third = call(3);
    await tick();
    assert.equal(batches.length, 1);
    batches[0]?.finish([10]);
    assert.equal(await first, 10);
    await tick();
    assert.deepEqual(batches[1]?.inputs, [2, 3]);
    batches[1]?.finish([20, 30]);
    assert.deepEqual(await Promise.all([second, third]), [20, 30]);
  });

  it('fails all calls of a failed batch and none of the next', async () => {
    const { batches, call, tick } = openBatches();
    const doomed = Promise.allSettled([call(1), call(2)]);
    await tick();
    const next = call(3);
    batches[0]?.fail(new Error('no database'));
    assert.deepEqual(
      (await doomed).map((one) => one.status),
      ['rejected', 'rejected'],
    );
    await tick();
    batches[1]?.finish([30]);
    assert.equal(await next, 30);
  });

  it('outlives a batch that throws at once, or that answers too few', async () => {
    let calls = 0;
    const call = createBatcher((inputs: number[]): Promise<number[]> => {
      calls += 1;
      if (calls === 1) throw new Error('at once');
      return Promise.resolve(calls === 2 ? [] : inputs);
    });
    await assert.rejects(call(1), /at once/);
    await assert.rejects(call(2), /got 0 results/);
    assert.equal(await call(3), 3);
  });

  it('keeps the calls of different keys apart', async () => {
    const batches: string[][] = [];
    const call = createKeyedBatcher((inputs: string[]) => {
      batches.push(inputs);
      return Promise.resolve(inputs);
    });
    await Promise.all([call('a', 'a1'), call('b', 'b1'), call('a', 'a2')]);
    assert.deepEqual(batches, [['a1', 'a2'], ['b1']]);
  });
});
