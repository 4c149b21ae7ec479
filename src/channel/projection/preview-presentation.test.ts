import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runAtOnce } from '../../concurrency/time-slices.ts';
import { countSteps } from './preview-presentation.ts';
import type { PriceRule } from './pricing.ts';

const RULE: PriceRule = {
  from: 'CHF',
  to: 'CHF',
  rate: { numerator: 1n, denominator: 1n },
  markupBasisPoints: 0,
  rounding: 'none',
};
const CHANNEL = { imageFormat: 'jpeg', priceRule: RULE } as const;
const AMOUNTS = [
  { amount: 100_00, hasPhotos: true, count: 3 },
  { amount: 200_00, hasPhotos: false, count: 5 },
  { amount: null, hasPhotos: true, count: 7 },
  { amount: null, hasPhotos: false, count: 11 },
];

describe('the preview of prices and photos', () => {
  it('counts what a change touches', () => {
    const count = (after: Parameters<typeof countSteps>[2]) => runAtOnce(countSteps(AMOUNTS, CHANNEL, after));
    assert.deepEqual(count(CHANNEL), { touched: 0, onChannel: 26 });
    assert.deepEqual(count({ ...CHANNEL, imageFormat: 'webp' }), { touched: 10, onChannel: 26 });
    const marked = { ...CHANNEL, priceRule: { ...RULE, markupBasisPoints: 1_000 } };
    assert.deepEqual(count(marked), { touched: 8, onChannel: 26 });
    assert.deepEqual(count({ ...marked, imageFormat: 'webp' }), { touched: 15, onChannel: 26 });
  });

  it('can be interrupted after each price, however many there are', () => {
    const amounts = Array.from({ length: 10_000 }, (_, index) => ({ amount: index, hasPhotos: false, count: 1 }));
    const steps = countSteps(amounts, CHANNEL, CHANNEL);
    let yielded = 0;
    while (!steps.next().done) yielded += 1;
    assert.equal(yielded, amounts.length);
  });
});
