import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { assertMuchLess } from '../../../test/parsers/cpu-time.ts';
import { ApiError } from '../../contract/errors.ts';
import { validatorCompiler } from './validation.ts';

const nullable = (schema: TSchema) => Type.Optional(Type.Union([schema, Type.Null()]));

const Address = Type.Object({ city: nullable(Type.String({ minLength: 1 })) }, { $id: 'Address' });
const Order = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 5 }),
    currency: nullable(Type.String({ pattern: '^[A-Z]{3}$' })),
    status: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['open', 'closed'] })),
    isGift: Type.Optional(Type.Boolean()),
    total: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
    shipTo: nullable(Address),
    billTo: nullable(Address),
    lines: Type.Optional(
      Type.Array(
        Type.Object({ quantity: Type.Integer({ minimum: 1 }), tags: Type.Optional(Type.Array(Type.String())) }),
        { minItems: 1, maxItems: 2 },
      ),
    ),
    pairs: Type.Optional(Type.Array(Type.Array(Type.Integer()), { minItems: 2 })),
    metadata: nullable(Type.Record(Type.String(), Type.Integer())),
  },
  { $id: 'Order' },
);

function validate(body: unknown): unknown {
  const check = validatorCompiler({ schema: Order, httpPart: 'body', method: 'POST', url: '/' }) as unknown as (
    data: unknown,
  ) => { value?: unknown; error?: unknown };
  const result = check(body);
  if (result.error !== undefined) throw result.error;
  return result.value;
}

describe('validation of a body', () => {
  for (const [body, param, message] of [
    [{}, 'id', 'id is required.'],
    [{ id: 5 }, 'id', 'id must be a string, not a number.'],
    [{ id: null }, 'id', 'id must be a string, not null.'],
    [{ id: '' }, 'id', 'id must not be empty.'],
    [{ id: '123456' }, 'id', 'id must have at most 5 characters, not 6.'],
    [{ id: 'a', status: 'ajar' }, 'status', 'status must be one of open, closed, not "ajar".'],
    [{ id: 'a', isGift: 'true' }, 'isGift', 'isGift must be a boolean, not "true".'],
    [{ id: 'a', isGift: 1 }, 'isGift', 'isGift must be a boolean, not 1.'],
    [{ id: 'a', currency: 5 }, 'currency', 'currency must be a string or null, not a number.'],
    [{ id: 'a', currency: 'usd' }, 'currency', 'currency must be in another form.'],
    [{ id: 'a', total: '5' }, 'total', 'total must be an integer or null, not "5".'],
    [{ id: 'a', total: 1.5 }, 'total', 'total must be an integer or null, not 1.5.'],
    [{ id: 'a', total: -1 }, 'total', 'total must be at least 0, not -1.'],
    [{ id: 'a', total: 101 }, 'total', 'total must be at most 100, not 101.'],
    [{ id: 'a', shipTo: 'here' }, 'shipTo', 'shipTo must be an object or null, not a string.'],
    [{ id: 'a', shipTo: [] }, 'shipTo', 'shipTo must be an object or null, not an array.'],
    [{ id: 'a', shipTo: { city: 5 } }, 'shipTo.city', 'shipTo.city must be a string or null, not a number.'],
    [{ id: 'a', billTo: { city: '' } }, 'billTo.city', 'billTo.city must not be empty.'],
    [{ id: 'a', lines: {} }, 'lines', 'lines must be an array, not an object.'],
    [{ id: 'a', lines: [] }, 'lines', 'lines must not be empty.'],
    [{ id: 'a', lines: [{ quantity: 1 }, {}] }, 'lines[1].quantity', 'lines[1].quantity is required.'],
    [{ id: 'a', lines: [{ quantity: 0 }] }, 'lines[0].quantity', 'lines[0].quantity must be at least 1, not 0.'],
    [{ id: 'a', lines: [null] }, 'lines[0]', 'lines[0] must be an object, not null.'],
    [
      { id: 'a', lines: [{ quantity: 1, tags: ['x', 5] }] },
      'lines[0].tags[1]',
      'lines[0].tags[1] must be a string, not a number.',
    ],
    [
      { id: 'a', lines: [{ quantity: 1 }, { quantity: 1 }, { quantity: 1 }] },
      'lines',
      'lines must have at most 2 items.',
    ],
    [{ id: 'a', pairs: [[1]] }, 'pairs', 'pairs must have at least 2 items, not 1.'],
    [{ id: 'a', pairs: [[1], [2, 'x']] }, 'pairs[1][1]', 'pairs[1][1] must be an integer, not "x".'],
    [{ id: 'a', metadata: { '0': 'x' } }, 'metadata.0', 'metadata.0 must be an integer, not "x".'],
    [{ id: 'a', metadata: { 'a/b~c': 'x' } }, 'metadata.a/b~c', 'metadata.a/b~c must be an integer, not "x".'],
    [[], undefined, 'The body must be an object, not an array.'],
    [null, undefined, 'The body must be an object, not null.'],
    ['text', undefined, 'The body must be an object, not a string.'],
  ] as const) {
    it(`refuses ${JSON.stringify(body)}`, () => {
      assert.throws(
        () => validate(body),
        (error) => {
          assert.ok(error instanceof ApiError);
          assert.deepEqual([error.code, error.param, error.message], ['invalid_request', param, message]);
          return true;
        },
      );
    });
  }

  it('takes what fits, adds nothing, coerces nothing and leaves unknown fields alone', () => {
    const body = { id: 'a', total: null, shipTo: { city: 'Geneva' }, unknown: { anything: [1] } };
    assert.deepEqual(validate(structuredClone(body)), body);
  });

  it('counts characters, not code units', () => {
    assert.deepEqual(validate({ id: '😀😀😀😀😀' }), { id: '😀😀😀😀😀' });
  });
});

describe('validation of a query', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
  });
  after(() => world.stop());

  for (const [query, param, message] of [
    ['limit=abc', 'limit', 'limit must be an integer, not "abc".'],
    ['limit=', 'limit', 'limit must be an integer, not "".'],
    ['limit', 'limit', 'limit must be an integer, not "".'],
    ['limit=1.5', 'limit', 'limit must be an integer, not "1.5".'],
    ['limit=1&limit=2', 'limit', 'limit must be sent once, not 2 times.'],
    ['limit=true', 'limit', 'limit must be an integer, not "true".'],
    ['limit=null', 'limit', 'limit must be an integer, not "null".'],
    ['limit=NaN', 'limit', 'limit must be an integer, not "NaN".'],
    ['limit=Infinity', 'limit', 'limit must be an integer, not "Infinity".'],
    ['limit=-Infinity', 'limit', 'limit must be an integer, not "-Infinity".'],
    ['limit=1e999', 'limit', 'limit must be an integer, not "1e999".'],
    [`limit=${'9'.repeat(400)}`, 'limit', 'limit must be an integer, not Infinity.'],
    ['limit=0x10', 'limit', 'limit must be an integer, not "0x10".'],
    ['limit=1e1', 'limit', 'limit must be an integer, not "1e1".'],
    ['limit=%205', 'limit', 'limit must be an integer, not " 5".'],
    ['limit=0', 'limit', 'limit must be at least 1, not 0.'],
    ['limit=-1', 'limit', 'limit must be at least 1, not -1.'],
    ['limit=251', 'limit', 'limit must be at most 250, not 251.'],
    ['limit=99999999999999999999', 'limit', 'limit must be at most 250, not 100000000000000000000.'],
    ['after=a&after=b', 'after', 'after must be sent once, not 2 times.'],
  ] as const) {
    it(`refuses ?${query.slice(0, 40)}`, async () => {
      const { status, body } = await dealer.api.get(`/v1/listings?${query}`);
      assert.equal(status, 400);
      assert.deepEqual(
        [body.error.code, body.error.type, body.error.param, body.error.message],
        ['invalid_request', 'validation_error', param, message],
      );
    });
  }

  it('reads numbers and ignores what it does not know', async () => {
    for (const query of ['limit=1', 'limit=250', 'unknown=1&limit=5', 'LIMIT=abc', 'limit[]=abc', '__proto__=x']) {
      assert.equal((await dealer.api.get(`/v1/listings?${query}`)).status, 200, query);
    }
  });

  it('costs a part of what it would to copy thousands of names that it does not know', () => {
    const schema = Type.Object({ limit: Type.Optional(Type.Integer()) });
    const validateQuery = validatorCompiler({ schema, method: 'GET', url: '/', httpPart: 'querystring' });
    const names = Array.from({ length: 3_900 }, (_, index) => index.toString(36));
    const query = Object.fromEntries([...names, 'limit'].map((name) => [name, '5']));
    assert.deepEqual(validateQuery(query), { value: { limit: 5 } });
    assertMuchLess(
      () => validateQuery(query),
      () => Object.fromEntries(Object.entries(query)),
    );
  });
});
