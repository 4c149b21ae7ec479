import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBatchSize } from './batch-size.ts';

const LIMITS = { first: 40, least: 10, most: 100 };
const HELD_MS = 20;

/** The sizes of batches whose documents take so long each. */
function sizesOf(msEach: number[]): number[] {
  const size = createBatchSize(LIMITS, HELD_MS);
  return msEach.map((ms) => {
    size.note(size.documents(), size.documents() * ms);
    return size.documents();
  });
}

describe('the size of a batch', () => {
  it('comes to what is done in the time that it may take', () => {
    assert.deepEqual(sizesOf([0.4, 0.4, 0.4]), [50, 50, 50]);
    assert.deepEqual(sizesOf([0.25, 0.25, 0.25]), [60, 80, 80]);
    assert.deepEqual(sizesOf([1, 1, 1, 1]), [26, 20, 20, 20]);
  });

  it('stays within its limits, whatever is measured', () => {
    assert.deepEqual(sizesOf([0, 0, 0, 0]), [60, 90, 100, 100]);
    assert.deepEqual(sizesOf([1_000, 1_000, 1_000, 1_000, 1_000]), [26, 17, 11, 10, 10]);
  });

  it('is half back after one slow batch', () => {
    assert.deepEqual(sizesOf([0.4, 10, 0.4, 0.4]), [50, 33, 50, 50]);
  });

  it('does not follow a batch that was not full', () => {
    const size = createBatchSize(LIMITS, HELD_MS);
    size.note(1, 5);
    assert.equal(size.documents(), LIMITS.first);
  });
});
