import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEADERS_LIMIT_BYTES } from '../../contract/limits.ts';
import { cookieOf } from './cookie.ts';

describe('the cookie of a name', () => {
  for (const [header, expected] of [
    ['', null],
    ['session=a', 'session=a'],
    ['x=1; session=a ; y=2', 'session=a'],
    ['x=1;\t session=a', 'session=a'],
    ['session=a; session=b', 'session=a'],
    ['xsession=a', null],
    ['x=session=a', null],
    ['x session=a; session=b', 'session=b'],
    ['session', null],
    ['session=', 'session='],
  ] as const) {
    it(`of "${header}" is ${expected}`, () => assert.equal(cookieOf(header, 'session'), expected));
  }

  it('takes no time to look for among thousands', () => {
    const header = ';'.repeat(HEADERS_LIMIT_BYTES);
    const times = Array.from({ length: 50 }, () => {
      const startedAt = performance.now();
      cookieOf(header, 'session');
      return performance.now() - startedAt;
    });
    // The least, since a machine that is busy takes longer now and then.
    const leastMs = Math.min(...times);
    assert.ok(leastMs < 0.1, `${leastMs} ms`);
  });
});
