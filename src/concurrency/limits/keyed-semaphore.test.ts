import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AcquireOptions,
  createKeyedSemaphore,
  type KeyedSemaphoreLimits,
  type Release,
  SemaphoreError,
} from './keyed-semaphore.ts';

describe('a keyed semaphore', () => {
  const ROOMY = { total: 100, perKey: 100, waitingTotal: 100 };
  const tick = () => new Promise((resolve) => setImmediate(resolve));

  /** A semaphore whose tasks start when it lets them, and end when the test says so. */
  function open(limits: Partial<KeyedSemaphoreLimits>) {
    const semaphore = createKeyedSemaphore({ ...ROOMY, ...limits });
    const started: string[] = [];
    const releases = new Map<string, Release>();
    /** `a1` is the first task of the key `a`, and `ab1` of the key `b` in the group `a`. */
    const acquire = async (name: string, options?: AcquireOptions) => {
      const keys = name.replaceAll(/\d/g, '');
      const [group = '', key] = keys;
      const release = await semaphore.acquire(key === undefined ? group : { group, key }, options);
      started.push(name);
      releases.set(name, release);
    };
    const end = async (...names: string[]) => {
      for (const name of names) releases.get(name)?.();
      await tick();
    };
    return { semaphore, started, acquire, end };
  }

  const refusedAs = (reason: SemaphoreError['reason']) => (error: unknown) =>
    error instanceof SemaphoreError && error.reason === reason;

  it('starts as many tasks of one key as its limit allows, and those of other keys beside them', async () => {
    const { acquire, started, end } = open({ perKey: 2 });
    const all = ['a1', 'a2', 'a3', 'b1', 'a4'].map((name) => acquire(name));
    await tick();
    assert.deepEqual(started, ['a1', 'a2', 'b1']);
    await end('a2');
    await end('a1');
    assert.deepEqual(started, ['a1', 'a2', 'b1', 'a3', 'a4']);
    await Promise.all(all);
  });

  it('gives units without a wait only if they are free and nobody waits for them', async () => {
    const { semaphore, acquire, end } = open({ total: 3, perKey: 2 });
    const release = semaphore.tryAcquire('a', 2);
    assert.ok(release);
    assert.equal(semaphore.tryAcquire('a'), null);
    const waiting = acquire('a1');
    assert.ok(semaphore.tryAcquire('b'));
    assert.equal(semaphore.tryAcquire('c'), null);
    release();
    await waiting;
    await end('a1');
    assert.equal(semaphore.held(), 1);
    assert.ok(semaphore.tryAcquire('c', 5), 'what is heavier than a limit counts as that limit');
    assert.equal(semaphore.held(), 3);
  });

  it('serves keys round-robin when the total is used up', async () => {
    const { acquire, started, end } = open({ total: 1 });
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => acquire(name));
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
      await tick();
      assert.equal(started.at(-1), name);
      await end(name);
    }
    await Promise.all(all);
  });

  it('refuses a task at once when too many wait, of one key or of all', async () => {
    const { semaphore, acquire, end } = open({ perKey: 1, waitingPerKey: 1, waitingTotal: 2 });
    const all = ['a1', 'a2', 'b1', 'c1'].map((name) => acquire(name));
    await assert.rejects(acquire('a3'), refusedAs('full'));
    all.push(acquire('b2'));
    await assert.rejects(acquire('c2'), refusedAs('full'));
    assert.equal(semaphore.waiting(), 2);
    await end('a1', 'b1', 'c1');
    await Promise.all(all);
    assert.equal(semaphore.waiting(), 0);
  });

  it('refuses a task whose deadline passes while it waits, or has passed', async () => {
    const { semaphore, acquire, started, end } = open({ total: 1 });
    await acquire('a1');
    await assert.rejects(acquire('a2', { deadlineMs: performance.now() + 5 }), refusedAs('late'));
    await assert.rejects(acquire('b1', { deadlineMs: performance.now() - 1 }), refusedAs('late'));
    await end('a1');
    assert.deepEqual(started, ['a1']);
    assert.equal(semaphore.held(), 0);
  });

  it('refuses a task whose signal is aborted while it waits, or was aborted', async () => {
    const { semaphore, acquire, end } = open({ total: 1 });
    await acquire('a1');
    const client = new AbortController();
    const waiting = acquire('a2', { signal: client.signal });
    client.abort();
    await assert.rejects(waiting, refusedAs('aborted'));
    await assert.rejects(acquire('a3', { signal: client.signal }), refusedAs('aborted'));
    await end('a1');
    assert.deepEqual([semaphore.held(), semaphore.waiting()], [0, 0]);
  });

  it('lets a task that stood behind one that gave up start at once', async () => {
    const { acquire, started } = open({ total: 10 });
    await acquire('a1', { weight: 5 });
    const client = new AbortController();
    const heavy = acquire('b1', { weight: 8, signal: client.signal });
    const light = acquire('c1', { weight: 5 });
    await tick();
    assert.deepEqual(started, ['a1']);
    client.abort();
    await assert.rejects(heavy, refusedAs('aborted'));
    await light;
    assert.deepEqual(started, ['a1', 'c1']);
  });

  it('counts weights: a heavy task waits for its units, and lighter ones do not overtake it', async () => {
    const { semaphore, acquire, started, end } = open({ total: 10 });
    await acquire('a1', { weight: 6 });
    const all = [acquire('b1', { weight: 8 }), acquire('c1', { weight: 2 })];
    await tick();
    assert.deepEqual(started, ['a1']);
    await end('a1');
    assert.deepEqual(started, ['a1', 'b1', 'c1']);
    assert.equal(semaphore.held(), 10);
    await Promise.all(all);
  });

  it('runs a task alone that is heavier than the limit', async () => {
    const { semaphore, acquire, started, end } = open({ total: 10, perKey: 4 });
    await acquire('a1', { weight: 1_000 });
    assert.equal(semaphore.held(), 4);
    const second = acquire('a2', { weight: 1 });
    await tick();
    assert.deepEqual(started, ['a1']);
    await end('a1');
    await second;
  });

  it('gives all keys of a group the share of one group', async () => {
    const { acquire, started, end } = open({ total: 6, perKey: 2, perGroup: 3 });
    const all = ['aa1', 'aa2', 'aa3', 'ab1', 'ac1', 'ba1', 'bb1'].map((name) => acquire(name));
    await tick();
    assert.deepEqual(started, ['aa1', 'aa2', 'ab1', 'ba1', 'bb1']);
    // The key that could start all the time, had its group not been full, comes before the one that can only now.
    await end('aa1');
    assert.deepEqual(started.slice(5), ['ac1']);
    await end('aa2');
    assert.deepEqual(started.slice(6), ['aa3']);
    await Promise.all(all);
  });

  it('serves groups round-robin, and the keys of each', async () => {
    const { acquire, started, end } = open({ total: 1 });
    const all = ['aa1', 'aa2', 'aa3', 'ab1', 'ac1', 'ba1', 'bb1', 'c1'].map((name) => acquire(name));
    for (const name of ['aa1', 'aa2', 'ba1', 'c1', 'ab1', 'bb1', 'ac1', 'aa3']) {
      await tick();
      assert.equal(started.at(-1), name);
      await end(name);
    }
    await Promise.all(all);
  });

  it('lets a task of a group that is heavier than what the group has left wait, and no other of the group overtake it', async () => {
    const { semaphore, acquire, started, end } = open({ total: 20, perKey: 8, perGroup: 10 });
    await acquire('aa1', { weight: 6 });
    const all = [acquire('ab1', { weight: 8 }), acquire('ac1', { weight: 1 }), acquire('ba1', { weight: 8 })];
    await tick();
    assert.deepEqual(started, ['aa1', 'ba1']);
    assert.equal(semaphore.tryAcquire({ group: 'a', key: 'd' }), null);
    await end('aa1');
    assert.deepEqual(started.slice(2), ['ab1', 'ac1']);
    await end('ab1', 'ac1', 'ba1');
    await Promise.all(all);
    assert.deepEqual([semaphore.held(), semaphore.waiting()], [0, 0]);
  });

  it('refuses a task at once when too many of its group wait', async () => {
    const { acquire, end } = open({ perKey: 1, waitingPerGroup: 2 });
    const all = ['aa1', 'ab1', 'ac1', 'ba1', 'bb1'].map((name) => acquire(name));
    await assert.rejects(acquire('ad1'), refusedAs('full'));
    all.push(acquire('bc1'));
    for (const name of ['aa1', 'ab1', 'ac1', 'ba1', 'bb1', 'bc1']) {
      await tick();
      await end(name);
    }
    await Promise.all(all);
  });

  it('takes units back once, however often they are released', async () => {
    const { semaphore, acquire, end } = open({ total: 2 });
    await acquire('a1');
    await acquire('a2');
    await end('a1', 'a1');
    assert.equal(semaphore.held(), 1);
  });

  it('takes units back from a task that throws', async () => {
    const { semaphore } = open({ total: 1 });
    await assert.rejects(
      semaphore.run('a', () => Promise.reject(new Error('broken'))),
      /broken/,
    );
    assert.equal(await semaphore.run('a', () => Promise.resolve(7)), 7);
    assert.equal(semaphore.held(), 0);
  });
});
