import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { spreadOverTurns } from './spread-over-turns.ts';

describe('work that is spread over turns', () => {
  it('begins at once, so much in each turn, in the order in which it came', async () => {
    const spread = spreadOverTurns(3);
    const done: number[] = [];
    for (let index = 0; index < 8; index++) spread(() => done.push(index));
    assert.deepEqual(done, [0, 1, 2]);
    await nextRound();
    assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
    await nextRound();
    assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('waits behind what came before it, also in a turn that has room', async () => {
    const spread = spreadOverTurns(2);
    const done: string[] = [];
    for (const name of ['a', 'b', 'c']) spread(() => done.push(name));
    // Its place is taken by c, and the other one is free.
    setImmediate(() => spread(() => done.push('d')));
    await nextRound();
    assert.deepEqual(done, ['a', 'b', 'c', 'd']);
  });

  it('begins at once again after a turn without any', async () => {
    const spread = spreadOverTurns(1);
    const done: number[] = [];
    spread(() => done.push(1));
    await nextRound();
    spread(() => done.push(2));
    assert.deepEqual(done, [1, 2]);
  });

  it('lets work come from work', async () => {
    const spread = spreadOverTurns(2);
    let count = 0;
    const again = () => {
      count += 1;
      if (count < 5) spread(again);
    };
    spread(again);
    assert.equal(count, 2);
    while (count < 5) await nextRound();
  });
});
