import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertMuchLess } from '../../../test/parsers/cpu-time.ts';
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

  it('costs a part of what it would to take the header apart', () => {
    const header = ';'.repeat(HEADERS_LIMIT_BYTES);
    assertMuchLess(
      () => cookieOf(header, 'session'),
      () => header.split(';').map((cookie) => cookie.trim()),
    );
  });
});
