import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEADERS_LIMIT_BYTES } from '../contract/limits.ts';
import { acceptedEncoding } from './accept-encoding.ts';

describe('Accept-Encoding', () => {
  for (const [header, expected] of [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;q=1.0, *;q=0', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.000,gzip;q=0', 'identity'],
  ] as const) {
    it(`"${header}" is answered with ${expected}`, () => assert.equal(acceptedEncoding(header), expected));
  }

  it('of thousands of offers takes no time', () => {
    const header = ','.repeat(HEADERS_LIMIT_BYTES);
    const times = Array.from({ length: 50 }, () => {
      const startedAt = performance.now();
      acceptedEncoding(header);
      return performance.now() - startedAt;
    });
    // The least, since a machine that is busy takes longer now and then.
    const leastMs = Math.min(...times);
    assert.ok(leastMs < 0.2, `${leastMs} ms`);
  });
});
