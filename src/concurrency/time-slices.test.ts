import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SemaphoreError } from './limits/keyed-semaphore.ts';
import { createTimeSlices, mapSteps, runAtOnce, type Steps } from './time-slices.ts';

/** Slices of one step each, whose pauses end when the test says so. */
function open() {
  const pauses: (() => void)[] = [];
  const done: string[] = [];
  const slices = createTimeSlices({
    sliceMs: 0,
    pause: () => new Promise<void>((resolve) => pauses.push(resolve)),
  });
  function* steps(name: string, count: number): Steps<string> {
    for (let index = 1; index <= count; index++) {
      done.push(`${name}${index}`);
      yield;
    }
    return name;
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const endPause = async () => {
    await settle();
    pauses.shift()?.();
    await settle();
  };
  return { slices, steps, done, pauses, settle, endPause };
}

describe('time slices', () => {
  it('run one slice between two pauses, however many computations wait', async () => {
    const { slices, steps, done, pauses, settle, endPause } = open();
    const all = ['a', 'b', 'c'].map((name) => slices.run(name, steps(name, 1)));
    await settle();
    assert.deepEqual(done, ['a1']);
    assert.equal(pauses.length, 1);
    for (const expected of [
      ['a1', 'b1'],
      ['a1', 'b1', 'c1'],
    ]) {
      await endPause();
      assert.deepEqual(done, expected);
    }
    while (pauses.length > 0) await endPause();
    assert.deepEqual(await Promise.all(all), ['a', 'b', 'c']);
  });

  it('pause also behind a computation that ends within its slice', async () => {
    const { slices, steps, done, endPause, settle } = open();
    assert.equal(await slices.run('a', steps('a', 0)), 'a');
    const next = slices.run('b', steps('b', 1));
    await settle();
    assert.deepEqual(done, []);
    await endPause();
    assert.deepEqual(done, ['b1']);
    await endPause();
    await next;
  });

  it('let keys take turns, so that many computations of one key do not hold up another', async () => {
    const { slices, steps, done, pauses, endPause } = open();
    const all = [slices.run('a', steps('a', 2)), slices.run('a', steps('A', 2)), slices.run('b', steps('b', 2))];
    while (pauses.length > 0 || done.length < 6) await endPause();
    await Promise.all(all);
    assert.ok(done.indexOf('b1') < done.indexOf('A1') || done.indexOf('b1') < done.indexOf('a2'), done.join(' '));
    assert.ok(done.indexOf('b2') < done.length - 1, done.join(' '));
  });

  it('give up a computation whose signal is aborted, and go on with the others', async () => {
    const { slices, steps, done, endPause } = open();
    const gone = new AbortController();
    const first = slices.run('a', steps('a', 1_000), { signal: gone.signal });
    const second = slices.run('b', steps('b', 1));
    gone.abort();
    await assert.rejects(first, (error) => error instanceof SemaphoreError && error.reason === 'aborted');
    await endPause();
    await endPause();
    assert.equal(await second, 'b');
    assert.deepEqual(done, ['a1', 'b1']);
  });

  it('reject with what a computation throws, and go on with the others', async () => {
    const { slices, steps, endPause } = open();
    // biome-ignore lint/correctness/useYield: it fails before its first step.
    function* failing(): Steps<never> {
      throw new Error('not JSON');
    }
    const failed = slices.run('a', failing());
    const next = slices.run('b', steps('b', 1));
    await assert.rejects(failed, /not JSON/);
    await endPause();
    await endPause();
    assert.equal(await next, 'b');
  });

  it('let the event loop serve others while a long computation runs', async () => {
    const slices = createTimeSlices();
    let isDone = false;
    function* long(): Steps<void> {
      // By CPU time: on a busy machine the thread stands still for most of a span of time.
      for (const before = process.threadCpuUsage(); process.threadCpuUsage(before).user < 100_000; ) yield;
    }
    const running = slices.run('a', long()).then(() => {
      isDone = true;
    });
    let rounds = 0;
    while (!isDone) {
      rounds += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await running;
    assert.ok(rounds > 10, `${rounds} rounds of the event loop`);
  });
});

describe('a computation in steps', () => {
  it('of a list makes a value for each item and can be interrupted after each', () => {
    const steps = mapSteps(['a', 'b'], (item, index) => `${item}${index}`);
    assert.deepEqual(
      [steps.next(), steps.next()],
      [
        { done: false, value: undefined },
        { done: false, value: undefined },
      ],
    );
    assert.deepEqual(steps.next(), { done: true, value: ['a0', 'b1'] });
    assert.deepEqual(runAtOnce(mapSteps([1, 2], (item) => item * 2)), [2, 4]);
  });
});
