import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKeyedQueue, NEXT_BATCH } from './keyed-queue.ts';
import { createTurns, type Turns } from './limits/turns.ts';

describe('a keyed queue', () => {
  type Results = (string | typeof NEXT_BATCH)[];
  type Batch = { names: string[]; finish(results?: Results): Promise<void>; fail(error: Error): Promise<void> };
  const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

  /** Batches that end when the test says so; each entry's result is its own name unless the test gives another. */
  function open(batchLimit = 1, turns?: Turns, resultsAtOnce?: number) {
    const batches: Batch[] = [];
    const queue = createKeyedQueue<string, string>({
      run: (names) =>
        new Promise((resolve, reject) => {
          const finish = (results: Results = names) => {
            resolve(results);
            return tick();
          };
          const fail = (error: Error) => {
            reject(error);
            return tick();
          };
          batches.push({ names, finish, fail });
        }),
      batchLimit,
      canJoin: (first, waiting) => first[0] === waiting[0] || !/[xy]/.test(first),
      resultForWaiting: (result) => (result === 'no connection' ? result : undefined),
      ...(turns && { takeTurn: async (_first, isSharing) => (isSharing ? await turns.take('a key') : () => {}) }),
      ...(resultsAtOnce && { resultsAtOnce }),
    });
    const names = () => batches.map((batch) => batch.names.join(' '));
    return { queue, batches, names };
  }

  it('runs entries of one key one after the other in the order of arrival, other keys beside them', async () => {
    const { queue, batches, names } = open();
    const all = [queue.add('a', 'a1'), queue.add('a', 'a2'), queue.add('b', 'b1'), queue.add('a', 'a3')];
    await tick();
    assert.deepEqual(names(), ['a1', 'b1']);
    await batches[0]?.finish();
    assert.deepEqual(names(), ['a1', 'b1', 'a2']);
    await batches[2]?.finish();
    await batches[1]?.finish();
    await batches[3]?.finish();
    assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'b1', 'a3']);
    assert.equal(queue.size(), 0);
  });

  it('takes as many waiting entries into a batch as the limit allows, and none into a batch that has begun', async () => {
    const { queue, batches, names } = open(2);
    const all = ['1', '2', '3', '4', '5'].map((name) => queue.add('a', name));
    await tick();
    assert.deepEqual(names(), ['1 2']);
    all.push(queue.add('a', '6'));
    for (const index of [0, 1, 2]) await batches[index]?.finish();
    assert.deepEqual(names(), ['1 2', '3 4', '5 6']);
    await Promise.all(all);
  });

  it('joins only those that may run with the first, and passes over nobody for ever', async () => {
    const { queue, batches, names } = open(3);
    const all = ['x1', 'y1', 'x2', 'y2'].map((name) => queue.add('a', name));
    await tick();
    for (const index of [0, 1]) await batches[index]?.finish();
    assert.deepEqual(names(), ['x1 x2', 'y1 y2']);
    await Promise.all(all);
  });

  it('begins the first batch after everything that arrived in the same round of the event loop', async () => {
    const { queue, batches, names } = open(10);
    const first = queue.add('a', '1');
    // However many promises resolve in between, the order of microtasks decides nothing.
    for (let step = 0; step < 100; step++) await Promise.resolve();
    const second = queue.add('a', '2');
    await tick();
    assert.deepEqual(names(), ['1 2']);
    await batches[0]?.finish();
    await Promise.all([first, second]);
  });

  it('lets an entry leave as late when its deadline passes while it waits', async () => {
    const { queue, batches, names } = open();
    const first = queue.add('a', 'first');
    await tick();
    const impatient = queue.add('a', 'impatient', { deadlineMs: performance.now() + 5 });
    const patient = queue.add('a', 'patient', { deadlineMs: performance.now() + 60_000 });
    assert.equal(await impatient, 'late');
    await batches[0]?.finish();
    assert.deepEqual(names(), ['first', 'patient']);
    await batches[1]?.finish();
    assert.deepEqual(await Promise.all([first, patient]), ['first', 'patient']);
  });

  it('does not run an entry past its deadline, though no timer had time to say so', async () => {
    const { queue, names } = open();
    assert.equal(await queue.add('a', 'late', { deadlineMs: performance.now() - 1 }), 'late');
    await tick();
    assert.deepEqual(names(), []);
    assert.equal(queue.size(), 0);
  });

  it('lets an entry that runs end, however late', async () => {
    const { queue, batches } = open();
    const slow = queue.add('a', 'slow', { deadlineMs: performance.now() + 50 });
    await tick();
    assert.equal(batches.length, 1);
    await new Promise((resolve) => setTimeout(resolve, 60));
    await batches[0]?.finish();
    assert.equal(await slow, 'slow');
  });

  it('fails the entries of a batch that throws, and runs the next ones', async () => {
    const { queue, batches } = open();
    const doomed = queue.add('a', '1');
    const next = queue.add('a', '2');
    await tick();
    const refused = assert.rejects(doomed, /broken/);
    await batches[0]?.fail(new Error('broken'));
    await refused;
    await batches[1]?.finish();
    assert.equal(await next, '2');
  });

  it('fails the entries of a batch that answers too few results', async () => {
    const { queue, batches } = open(2);
    const all = Promise.allSettled([queue.add('a', '1'), queue.add('a', '2')]);
    await tick();
    await batches[0]?.finish(['1']);
    for (const one of await all) assert.equal(one.status, 'rejected');
  });

  it('runs entries again that a batch leaves for the next one, before those that wait and in their order', async () => {
    const { queue, batches, names } = open(4);
    const all = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].map((name) => queue.add('a', name));
    await tick();
    await batches[0]?.finish(['1', NEXT_BATCH, NEXT_BATCH, NEXT_BATCH]);
    assert.equal(await all[0], '1');
    // It takes at most twice as many as the batch before could do, until a batch leaves none.
    assert.deepEqual(names(), ['1 2 3 4', '2 3']);
    await batches[1]?.finish(['2', NEXT_BATCH]);
    await batches[2]?.finish();
    await batches[3]?.finish();
    assert.deepEqual(names(), ['1 2 3 4', '2 3', '3 4', '5 6 7 8', '9']);
    await batches[4]?.finish();
    assert.deepEqual(await Promise.all(all), ['1', '2', '3', '4', '5', '6', '7', '8', '9']);
    assert.equal(queue.size(), 0);
  });

  it('lets an entry that is left for the next batch leave at its deadline', async () => {
    const { queue, batches, names } = open(2);
    const first = queue.add('a', '1');
    const late = queue.add('a', '2', { deadlineMs: performance.now() + 30 });
    await tick();
    await new Promise((resolve) => setTimeout(resolve, 40));
    await batches[0]?.finish(['1', NEXT_BATCH]);
    assert.deepEqual([await first, await late], ['1', 'late']);
    assert.deepEqual(names(), ['1 2']);
    assert.equal(queue.size(), 0);
  });

  it('fails the entries of a batch that leaves all of them for the next one', async () => {
    const { queue, batches } = open(2);
    const all = Promise.allSettled([queue.add('a', '1'), queue.add('a', '2')]);
    await tick();
    await batches[0]?.finish([NEXT_BATCH, NEXT_BATCH]);
    for (const one of await all) assert.equal(one.status, 'rejected');
  });

  it('hands out the results of a large batch in several rounds of the event loop, and begins the next one after the last', async () => {
    const { queue, batches, names } = open(100, undefined, 8);
    const answered: number[] = [];
    const all = Array.from({ length: 20 }, (_, index) => queue.add('a', `${index}`).then(() => answered.push(index)));
    await tick();
    const late = queue.add('a', 'late');
    const counts: number[] = [];
    void batches[0]?.finish();
    while (answered.length < all.length) {
      await tick();
      counts.push(answered.length);
    }
    assert.ok(counts.length >= 3, `all at once: ${counts}`);
    assert.deepEqual(answered, [...answered.keys()], 'in the order of arrival');
    assert.ok((counts[0] ?? 0) < 20);
    await tick();
    assert.equal(names()[1], 'late');
    await batches[1]?.finish();
    assert.equal(await late, 'late');
  });

  it('gives a result that is for all to nobody who comes while results are handed out', async () => {
    const { queue, batches } = open(100, undefined, 8);
    const all = Array.from({ length: 20 }, (_, index) => queue.add('a', `${index}`));
    await tick();
    const waiting = queue.add('a', 'waiting');
    void batches[0]?.finish(all.map(() => 'no connection'));
    await all[0];
    const late = queue.add('a', 'late');
    assert.equal(await waiting, 'no connection');
    await Promise.all(all);
    await tick();
    assert.deepEqual(batches[1]?.names, ['late']);
    await batches[1]?.finish();
    assert.equal(await late, 'late');
  });

  it('gives a result that is for all to those who wait, and not to those who come later', async () => {
    const { queue, batches, names } = open();
    const all = [queue.add('a', '1'), queue.add('a', '2'), queue.add('a', '3'), queue.add('b', 'b1')];
    await tick();
    await batches[0]?.finish(['no connection']);
    await batches[1]?.finish();
    assert.deepEqual(await Promise.all(all), ['no connection', 'no connection', 'no connection', 'b1']);
    const later = queue.add('a', '4');
    await tick();
    await batches[2]?.finish();
    assert.equal(await later, '4');
    assert.deepEqual(names(), ['1', 'b1', '4']);
  });

  describe('with turns', () => {
    const AN_HOUR_MS = 3_600_000;

    /** A queue with one turn; the last batches of 'a' and 'b' were shared. */
    async function openSharing() {
      const opened = open(5, createTurns({ limit: 1, waitLimitMs: AN_HOUR_MS }));
      const all = ['a1', 'a2'].map((name) => opened.queue.add('a', name));
      all.push(...['b1', 'b2'].map((name) => opened.queue.add('b', name)));
      await tick();
      assert.deepEqual(opened.names(), ['a1 a2', 'b1 b2']);
      for (const batch of opened.batches) await batch.finish();
      await Promise.all(all);
      return opened;
    }

    it('a key that shares batches waits for its turn, and what arrives meanwhile joins it', async () => {
      const { queue, batches, names } = await openSharing();
      const all = [queue.add('a', 'a3')];
      await tick();
      all.push(queue.add('b', 'b3'));
      await tick();
      all.push(queue.add('b', 'b4'));
      await tick();
      assert.deepEqual(names().slice(2), ['a3']);
      await batches[2]?.finish();
      assert.deepEqual(names().slice(2), ['a3', 'b3 b4']);
      await batches[3]?.finish();
      await Promise.all(all);
      assert.equal(queue.size(), 0);
    });

    it('a key whose entries come one at a time never waits for one', async () => {
      const { queue, batches, names } = await openSharing();
      const all = [queue.add('a', 'a3'), queue.add('c', 'c1')];
      await tick();
      assert.deepEqual(names().slice(2), ['a3', 'c1']);
      // The last batch of 'a' had one entry, too.
      await batches[2]?.finish();
      all.push(queue.add('b', 'b3'), queue.add('a', 'a4'));
      await tick();
      assert.deepEqual(names().slice(4), ['b3', 'a4']);
      for (const batch of batches.slice(3)) await batch.finish();
      await Promise.all(all);
    });

    it('gives its turn back when nobody is left to run, and when a batch fails', async () => {
      const { queue, batches, names } = await openSharing();
      const all = [queue.add('a', 'a3'), queue.add('a', 'a4')];
      await tick();
      const late = queue.add('b', 'b3', { deadlineMs: performance.now() + 5 });
      assert.equal(await late, 'late');
      const failed = Promise.allSettled(all);
      await batches[2]?.fail(new Error('broken'));
      assert.deepEqual(
        (await failed).map((result) => result.status),
        ['rejected', 'rejected'],
      );
      const next = queue.add('a', 'a5');
      await tick();
      assert.deepEqual(names().slice(3), ['a5']);
      await batches[3]?.finish();
      assert.equal(await next, 'a5');
      assert.equal(queue.size(), 0);
    });

    it('remembers only so many keys, and lets those it forgot begin at once', async () => {
      const { queue, batches, names } = await openSharing();
      for (let index = 0; index < 10_000; index++) {
        const shared = ['1', '2'].map((name) => queue.add(`other ${index}`, name));
        await tick();
        await batches.at(-1)?.finish();
        await Promise.all(shared);
      }
      const all = [queue.add('other 0', 'o3')];
      await tick();
      all.push(queue.add('other 1', 'p3'), queue.add('a', 'a3'));
      await tick();
      assert.deepEqual(names().slice(10_002), ['o3', 'a3']);
      for (const index of [10_002, 10_003, 10_004]) await batches[index]?.finish();
      await Promise.all(all);
    });
  });
});
