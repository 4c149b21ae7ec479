import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import Type, { type TSchema } from 'typebox';
import { DASHBOARD_OPERATIONS } from '../../contract/dashboard/operations.ts';
import { ApiError } from '../../contract/errors.ts';
import { EXPECTED_ANNOTATION } from '../../contract/openapi/openapi-schemas.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { BulkInput } from '../../contract/resources/customer.ts';
import { OrderInput } from '../../contract/resources/order.ts';
import { validatorCompiler } from './validation.ts';

type Check = (data: unknown) => { value?: unknown; error?: unknown };

function messageOf(schema: TSchema, body: unknown): string {
  const check = validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '/' }) as unknown as Check;
  const { error } = check(body);
  assert.ok(error instanceof ApiError, `${JSON.stringify(body)} is accepted`);
  assert.equal(error.code, 'invalid_request');
  return error.message;
}

const field = (schema: TSchema, value: unknown) => messageOf(Type.Object({ x: schema }), { x: value });

describe('the message of a fault says what was expected and what came', () => {
  const strings = Type.Array(Type.String(), { uniqueItems: true });
  for (const [schema, value, message] of [
    [Type.Integer(), 'abc', 'x must be an integer, not "abc".'],
    [Type.Integer(), 1.5, 'x must be an integer, not 1.5.'],
    [Type.Integer(), [1], 'x must be an integer, not an array.'],
    [Type.Boolean(), 'yes', 'x must be a boolean, not "yes".'],
    [Type.String(), 5, 'x must be a string, not a number.'],
    [Type.String(), true, 'x must be a string, not a boolean.'],
    [Type.Object({}), 'Rue 1', 'x must be an object, not a string.'],
    [Type.Array(Type.String()), {}, 'x must be an array, not an object.'],
    [Type.Unsafe({ type: 'string', enum: ['a', 'b'] }), 'c', 'x must be one of a, b, not "c".'],
    [Type.Literal('a'), 'c', 'x must be "a", not "c".'],
    [Type.Integer({ minimum: 1 }), 0, 'x must be at least 1, not 0.'],
    [Type.Integer({ maximum: 9 }), 10, 'x must be at most 9, not 10.'],
    [Type.Number({ exclusiveMinimum: 0 }), 0, 'x must be more than 0, not 0.'],
    [Type.Number({ exclusiveMaximum: 1 }), 1, 'x must be less than 1, not 1.'],
    [Type.Integer({ multipleOf: 5 }), 7, 'x must be a multiple of 5, not 7.'],
    [Type.String({ minLength: 1 }), '', 'x must not be empty.'],
    [Type.String({ minLength: 3 }), '😀😀', 'x must have at least 3 characters, not 2.'],
    [Type.String({ maxLength: 2 }), '😀😀😀', 'x must have at most 2 characters, not 3.'],
    [Type.Array(Type.Any(), { minItems: 1 }), [], 'x must not be empty.'],
    [Type.Array(Type.Any(), { minItems: 2 }), [1], 'x must have at least 2 items, not 1.'],
    [Type.Array(Type.Any(), { maxItems: 1 }), [1, 2], 'x must have at most 1 items.'],
    [strings, ['a', 'a'], 'x must not have the same item twice: items 0 and 1 are equal.'],
    [Type.Object({}, { minProperties: 1 }), {}, 'x must not be empty.'],
    [Type.Object({}, { minProperties: 2 }), { a: 1 }, 'x must have at least 2 fields, not 1.'],
    [Type.Object({}, { maxProperties: 1 }), { a: 1, b: 2 }, 'x must have at most 1 fields, not 2.'],
    [Type.Object({}, { additionalProperties: false }), { a: 1 }, 'x must not have the field "a".'],
    [Type.String({ format: 'date-time' }), 'soon', 'x must be an ISO 8601 time, such as 2026-05-08T09:00:00Z.'],
    [Type.String({ format: 'uri' }), 'x', 'x must be a URL, such as https://shop.example/hook.'],
    [Type.String({ pattern: '^a$', [EXPECTED_ANNOTATION]: 'the letter a' }), 'b', 'x must be the letter a.'],
    [Type.String({ pattern: '^a$' }), 'b', 'x must be in another form.'],
    [Type.Unsafe({ not: {} }), 1, 'x is not what this field takes.'],
  ] as const) {
    it(message, () => assert.equal(field(schema, value), message));
  }

  it('says of a missing field that it is required', () => {
    assert.equal(messageOf(Type.Object({ x: Type.String() }), {}), 'x is required.');
  });

  it('shortens what it shows, and shows no secret', () => {
    assert.equal(field(Type.Integer(), 'a'.repeat(100_000)), `x must be an integer, not "${'a'.repeat(40)}…".`);
    assert.equal(field(Type.Integer(), `svc_${'a'.repeat(32)}`), 'x must be an integer, not a secret.');
    assert.equal(field(Type.Integer(), `whsec_${'a'.repeat(32)}`), 'x must be an integer, not a secret.');
    assert.equal(field(Type.Integer(), 'a"\n\ud800'), 'x must be an integer, not "a\\"\\n\ufffd".');
  });

  it('never repeats what a field about a person holds, nor a pattern', () => {
    const secret = 'hunter2';
    const person = Object.fromEntries(
      ['external_id', 'email', 'phone', 'first_name', 'last_name', 'company'].map((name) => [name, name]),
    );
    for (const name of Object.keys(person)) {
      for (const value of [secret.repeat(100), [secret], { secret }, 4122]) {
        const message = messageOf(BulkInput, { customers: [{ email: 'a@b.ch', [name]: value }] });
        assert.doesNotMatch(message, /hunter2|4122|\^/, message);
      }
    }
    const email = messageOf(BulkInput, { customers: [{ email: secret }] });
    assert.equal(email, 'customers[0].email must be an email address, such as ana@example.com.');
    const country = { channel_order_id: 'x', shipping_address: { country: 'Helvetia' } };
    assert.match(messageOf(OrderInput, country), /country must be an ISO 3166-1 code of two letters, such as CH\.$/);
    const currency = { channel_order_id: 'x', currency: 'usd' };
    assert.match(messageOf(OrderInput, currency), /^currency must be an ISO 4217 code of three capital letters/);
  });
});

describe('a pattern in a request', () => {
  it('says in words what it expects', () => {
    const silent: string[] = [];
    const visit = (schema: unknown, place: string): void => {
      if (schema === null || typeof schema !== 'object') return;
      if (typeof (schema as { pattern?: unknown }).pattern === 'string' && !(EXPECTED_ANNOTATION in schema)) {
        silent.push(place);
      }
      for (const [key, inner] of Object.entries(schema)) visit(inner, `${place}.${key}`);
    };
    for (const [id, operation] of Object.entries({ ...OPERATIONS, ...DASHBOARD_OPERATIONS })) {
      for (const part of ['body', 'query', 'params'] as const) visit(operation[part], `${id} ${part}`);
    }
    assert.deepEqual(silent, []);
  });
});

describe('the schema of a request', () => {
  it('is a right schema, for every operation: nothing checks that while the service runs', () => {
    const ajv = new Ajv({ strict: false });
    let checked = 0;
    for (const [id, operation] of Object.entries({ ...OPERATIONS, ...DASHBOARD_OPERATIONS })) {
      for (const part of ['body', 'query', 'params'] as const) {
        const schema = operation[part];
        if (schema === null || schema === undefined) continue;
        assert.equal(ajv.validateSchema(schema), true, `${id} ${part}: ${ajv.errorsText()}`);
        checked += 1;
      }
    }
    assert.ok(checked > 100, `only ${checked} schemas were checked`);
    assert.equal(ajv.validateSchema({ type: 'string', minLength: '3' }), false);
  });
});
