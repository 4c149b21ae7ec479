import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTokenBuckets } from './token-buckets.ts';

describe('token buckets', () => {
  it('give so many tokens at once, then so many a second, to each key', () => {
    let nowMs = 0;
    const buckets = createTokenBuckets({ burst: 3, perSecond: 2, keys: 10 }, () => nowMs);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => buckets.take('a')),
      [0, 0, 0, 500],
    );
    assert.equal(buckets.take('b'), 0);
    nowMs = 250;
    assert.equal(buckets.take('a'), 250, 'a refusal takes nothing');
    nowMs = 500;
    assert.deepEqual([buckets.take('a'), buckets.take('a')], [0, 500]);
    nowMs = 60_000;
    assert.deepEqual(
      [1, 2, 3, 4].map(() => buckets.take('a')),
      [0, 0, 0, 500],
    );
  });

  it('take what was used already, and say how long they owe some of it', () => {
    let nowMs = 0;
    const buckets = createTokenBuckets({ burst: 50, perSecond: 50, keys: 10 }, () => nowMs);
    buckets.spend('a', 40);
    assert.equal(buckets.debtMs('a'), 0);
    buckets.spend('a', 60);
    assert.deepEqual([buckets.debtMs('a'), buckets.debtMs('b')], [1_000, 0]);
    nowMs = 400;
    assert.equal(buckets.debtMs('a'), 600);
    nowMs = 1_000;
    assert.equal(buckets.debtMs('a'), 0);
  });

  it('remember so many keys, and forget the one that was used least lately', () => {
    const buckets = createTokenBuckets({ burst: 1, perSecond: 1, keys: 2 }, () => 0);
    for (const key of ['a', 'b', 'a', 'c']) buckets.take(key);
    assert.equal(buckets.take('a'), 1_000, 'a is remembered');
    assert.equal(buckets.take('b'), 0, 'b is forgotten');
  });
});
