import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { JSON_DEPTH_LIMIT } from '../../contract/limits.ts';
import { OrderInput } from '../../contract/resources/order.ts';
import { parseJsonBody } from './json-body.ts';

const JSON_TYPE = 'application/json';

function parse(body: string | Uint8Array, contentType: string | undefined = JSON_TYPE): unknown {
  return parseJsonBody(Buffer.from(body), contentType);
}

function assertRefused(run: () => unknown, code: ErrorCode, expected: { param?: string; message?: RegExp } = {}): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, code);
    assert.equal(error.param, expected.param);
    if (expected.message !== undefined) assert.match(error.message, expected.message);
    return true;
  });
}

describe('a JSON body', () => {
  it('may be empty, with or without a content type, and then is {}', () => {
    assert.deepEqual(parse(''), {});
    assert.deepEqual(parseJsonBody(Buffer.alloc(0), undefined), {});
    assert.deepEqual(parse('', 'text/plain'), {});
  });

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON; Charset="utf-8"',
    'application/json; charset=utf8',
    'application/json; profile=x; charset=utf-8',
  ]) {
    it(`is taken as ${type}`, () => assert.deepEqual(parse('{"a":1}', type), { a: 1 }));
  }

  for (const type of [
    '',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json5',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
  ]) {
    it(`is invalid_json as "${type}"`, () =>
      assertRefused(() => parse('{"a":1}', type), 'invalid_json', { message: /Content-Type/ }));
  }

  it('is invalid_json without a content type', () =>
    assertRefused(() => parseJsonBody(Buffer.from('{}'), undefined), 'invalid_json'));

  for (const [name, text] of Object.entries({
    truncated: '{"a":[1,2',
    'cut within a string': '{"a":"b',
    'cut within an escape': '{"a":"\\u12',
    'ending in a backslash': '{"a":"\\',
    'a form': 'a=1&b=2',
    'of single quotes': "{'a':1}",
    'with a trailing comma': '{"a":1,}',
    'with a comment': '{"a":1} // b',
    'two documents': '{}{}',
    'not a number': '{"a":NaN}',
    'with a raw NUL': '{"a":"\0"}',
    'with a raw line break in a string': '{"a":"\n"}',
    'blank only': '   \r\n\t ',
    'closing more than it opens': ']]]]',
    'a string that hides brackets': '"[[[[',
  })) {
    it(`is invalid_json when it is ${name}`, () => assertRefused(() => parse(text), 'invalid_json'));
  }

  for (const [name, bytes] of Object.entries({
    'a lone continuation byte': [0x22, 0x80, 0x22],
    'an overlong slash': [0x22, 0xc0, 0xaf, 0x22],
    'a surrogate': [0x22, 0xed, 0xa0, 0x80, 0x22],
    'a cut character': [0x22, 0xe2, 0x82, 0x22],
    'Latin-1': [0x22, 0xe9, 0x22],
    'UTF-16': [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00],
  })) {
    it(`is invalid_json when it is not UTF-8: ${name}`, () =>
      assertRefused(() => parse(Uint8Array.from(bytes)), 'invalid_json', { message: /UTF-8/ }));
  }

  it('may begin with a byte order mark', () => assert.deepEqual(parse('\ufeff{"a":1}'), { a: 1 }));

  describe('of some depth', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const nestedObjects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

    it(`is read down to ${JSON_DEPTH_LIMIT} levels and not further`, () => {
      for (const make of [nested, nestedObjects]) {
        parse(make(JSON_DEPTH_LIMIT));
        assertRefused(() => parse(make(JSON_DEPTH_LIMIT + 1)), 'invalid_json', { message: /64 levels/ });
      }
      assertRefused(() => parse(nested(500_000)), 'invalid_json', { message: /64 levels/ });
      assertRefused(() => parse('['.repeat(1_000_000)), 'invalid_json', { message: /64 levels/ });
    });

    it('is judged by its brackets, not by those within its strings', () => {
      const text = `${'['.repeat(1_000)}\\"{{{\\\\`;
      assert.deepEqual(parse(`{"a":"${text}","b":[]}`), { a: JSON.parse(`"${text}"`), b: [] });
    });

    it('is read in a moment when it is wide instead', () => {
      const wide = `[${'[],'.repeat(349_000)}"\\u0041"]`;
      assert.ok(Buffer.byteLength(wide) > 1_000_000);
      assert.equal((parse(wide) as unknown[]).length, 349_001);
    });
  });

  describe('with text that cannot be stored', () => {
    for (const [param, text] of [
      ['name', '{"name":"a\\u0000b"}'],
      ['name', '{"name":"\\uD800"}'],
      ['name', '{"name":"\\uDC00\\uD800"}'],
      ['lines[1].title', '{"lines":[{"title":"fine"},{"title":"a\\u0000"}]}'],
      ['[2]', '["a","b","\\u0000"]'],
      ['[0][1].a', '[["x",{"a":"\\uDFFF"}]]'],
      ['metadata.deep.er', '{"metadata":{"deep":{"er":"\\u0000"}}}'],
      ['metadata', '{"metadata":{"bad\\u0000name":1}}'],
    ] as const) {
      it(`is invalid_request and names ${param}`, () => assertRefused(() => parse(text), 'invalid_request', { param }));
    }

    it('is invalid_request without a param where the whole body is at fault', () => {
      for (const text of ['"\\u0000"', '{"\\u0000":1}']) assertRefused(() => parse(text), 'invalid_request');
    });

    it('does no harm in a field that nobody reads', () => {
      const parseOrder = (text: string) => parseJsonBody(Buffer.from(text), JSON_TYPE, OrderInput);
      for (const text of [
        '{"surprise":"\\u0000"}',
        '{"sur\\u0000prise":1}',
        '{"lines":[{"surprise":{"deep":["\\u0000"]}}]}',
        '{"customer":{"surprise":"\\uD800"}}',
        '{"surprise":1e400}',
      ]) {
        assert.deepEqual(parseOrder(text), JSON.parse(text));
      }
      for (const [param, text] of [
        ['channel_order_id', '{"channel_order_id":"\\u0000"}'],
        ['lines[1].title', '{"lines":[{"title":"fine"},{"surprise":"\\u0000","title":"\\u0000"}]}'],
        ['customer.email', '{"customer":{"email":"\\u0000"}}'],
        ['metadata.deep[0].er', '{"metadata":{"deep":[{"er":"\\u0000"}]}}'],
        ['metadata', '{"metadata":{"bad\\u0000name":1}}'],
      ] as const) {
        assertRefused(() => parseOrder(text), 'invalid_request', { param });
      }
    });

    it('is not confused with text that can', () => {
      const text = '{"pair":"\\uD83D\\uDE00","escaped":"\\\\u0000","letter":"\\u0041"}';
      assert.deepEqual(parse(text), { pair: '😀', escaped: '\\u0000', letter: 'A' });
    });
  });

  describe('with a number that is larger than numbers can be', () => {
    for (const [param, text] of [
      ['metadata.n', '{"metadata":{"n":1e400}}'],
      ['metadata.n', '{"metadata":{"n":-1E+400}}'],
      ['metadata.n[1]', `{"metadata":{"n":[1,${'9'.repeat(400)}]}}`],
      ['shipping_amount', '{"shipping_amount":1e400}'],
    ] as const) {
      it(`is invalid_request and names ${param}: it would be read back as null`, () =>
        assertRefused(() => parse(text), 'invalid_request', { param, message: /too large/ }));
    }

    it('is not confused with a text or a number that is not', () => {
      const text = '{"id":"1e400","a":1e3,"b":1E-400,"c":1.7976931348623157e308}';
      assert.deepEqual(parse(text), { id: '1e400', a: 1000, b: 0, c: Number.MAX_VALUE });
    });
  });

  it('keeps the last of two fields of one name', () => assert.deepEqual(parse('{"a":1,"a":2}'), { a: 2 }));

  it('cannot reach into the prototypes of objects', () => {
    const value = parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}');
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal((value as { isAdmin?: boolean }).isAdmin, undefined);
    assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined);
    assert.deepEqual(Object.keys(value as object), ['__proto__', 'constructor']);
  });
});
