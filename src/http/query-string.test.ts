import assert from 'node:assert/strict';
import { stringify } from 'node:querystring';
import { describe, it } from 'node:test';
import { parseQueryString } from './query-string.ts';

const CASES: [string, Record<string, string | string[]>][] = [
  ['', {}],
  ['&&', {}],
  ['a=1&b=2', { a: '1', b: '2' }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['=', { '': '' }],
  ['=1', { '': '1' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
  ['a+b=c+d', { 'a b': 'c d' }],
  ['a=%2B%26%3D&%61b=1', { a: '+&=', ab: '1' }],
  ['a=Z%C3%BCrich', { a: 'Zürich' }],
  ['a=%ZZ&b=100%&c=%C3', { a: '%ZZ', b: '100%', c: '%C3' }],
  ['toString=1&constructor=2', { toString: '1', constructor: '2' }],
];

describe('a query string', () => {
  for (const [text, expected] of CASES) {
    it(`"${text}" is read`, () => assert.deepEqual({ ...parseQueryString(text) }, expected));
  }

  it('with the name of the prototype has it as any other', () => {
    const query = parseQueryString('__proto__=1');
    assert.deepEqual(Object.entries(query), [['__proto__', '1']]);
    assert.equal(Object.getPrototypeOf(query), null);
  });

  it('is what Node writes', () => {
    const query = { a: ['x&y', 'ü =', '%41'], 'b c': '+', empty: '' };
    assert.deepEqual({ ...parseQueryString(stringify(query)) }, query);
  });

  it('is decoded as decodeURIComponent does it, and what that refuses stands for itself', () => {
    const edges = [
      0x00, 0x25, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf3, 0xf4,
      0xf5,
    ];
    const escapes = edges.map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
    let sequences = [''];
    for (let length = 1; length <= 4; length++) {
      sequences = sequences.flatMap((start) => escapes.map((next) => start + next));
      for (const text of sequences) {
        if (parseQueryString(text)[decodedOr(text)] === undefined) assert.fail(text);
      }
    }
  });
});

function decodedOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
