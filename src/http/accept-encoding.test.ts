import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertMuchLess } from '../../test/parsers/cpu-time.ts';
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

  it('of thousands of offers costs a part of what it would to read all of them', () => {
    const header = ','.repeat(HEADERS_LIMIT_BYTES);
    assertMuchLess(
      () => acceptedEncoding(header),
      () => header.split(',').map((offer) => offer.trim()),
    );
  });
});
