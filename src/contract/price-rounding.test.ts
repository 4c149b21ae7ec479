import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedPrice } from './price-rounding.ts';

describe('the change of a price', () => {
  const none = { basisPoints: null, amount: null, roundTo: null };
  for (const [name, price, change, expected] of [
    ['by percent is rounded to minor units', 99_999, { basisPoints: 115 }, 101_149],
    ['is rounded to the nearest step', 14_900, { basisPoints: -1_000, roundTo: 10_000 }, 10_000],
    ['is rounded up from half a step', 10_000, { amount: 5_000, roundTo: 10_000 }, 20_000],
    ['by percent never rounds a price to nothing', 3_000, { basisPoints: -1_000, roundTo: 10_000 }, 10_000],
    ['by an amount never rounds a price to nothing', 3_000, { amount: -2_999, roundTo: 10_000 }, 10_000],
    ['by percent leaves a minor unit of a minor unit', 1, { basisPoints: -9_000 }, 1],
    ['by the whole price makes it free, as was asked for', 3_000, { amount: -3_000, roundTo: 10_000 }, 0],
    ['leaves what is free', 0, { basisPoints: -1_000, roundTo: 10_000 }, 0],
    ['to just below zero is none, although it would round to zero', 3_000, { amount: -3_001, roundTo: 10_000 }, null],
    ['of the largest price is exact', 999_999_999_999, { basisPoints: 90_000 }, 9_999_999_999_990],
  ] as const) {
    it(name, () => assert.equal(changedPrice(price, { ...none, ...change }), expected));
  }
});
