import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { photoWeight } from './photo-memory.ts';

const GIB = 1_073_741_824;
const of = (megapixels: number) => ({ width: megapixels * 1_000, height: 1_000 });

describe('the memory of a picture', () => {
  it('counts as the share of one picture while it is small', () => {
    assert.equal(photoWeight(of(1), ['jpeg'], 2), GIB / 2);
    assert.equal(photoWeight(of(24), ['png', 'webp'], 2), GIB / 2);
    assert.equal(photoWeight(of(1), ['jpeg'], 1), GIB);
  });

  it('counts by pixels and format beyond, up to all of it, so that a large picture runs alone', () => {
    assert.equal(photoWeight(of(50), ['jpeg'], 2), 650_000_000);
    assert.equal(photoWeight(of(24), ['jpeg', 'avif'], 2), 912_000_000);
    assert.equal(photoWeight(of(50), ['avif'], 2), GIB);
  });
});
