import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { EVENT_TYPES, type EventType } from '../event-types.ts';
import { eventExample, eventExampleOf, eventSchemaName } from '../resources/event.ts';
import { openapiDocument } from './openapi.ts';

type Json = { [key: string]: unknown };
type Schema = Json & { enum?: unknown[]; anyOf?: Schema[]; pattern?: string };

const document = openapiDocument('https://api.example.com') as {
  paths: Record<string, Record<string, { responses: Json; requestBody?: Json; parameters: Json[] }>>;
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: Json; example: unknown }> } } }>;
  components: { schemas: Record<string, Schema> };
};
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', components: document.components });

function fits(name: string, value: unknown): boolean {
  return ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, value);
}

/** Every schema under a part of the document that has a keyword, with what stands around it. */
function withKeyword(keyword: string, value: unknown, parent: Json = {}): { schema: Schema; parent: Json }[] {
  if (value === null || typeof value !== 'object') return [];
  const own = keyword in value && !('example' in parent) ? [{ schema: value as Schema, parent }] : [];
  return [
    ...own,
    ...Object.values(value).flatMap((inner) =>
      withKeyword(keyword, inner, Array.isArray(value) ? parent : (value as Json)),
    ),
  ];
}

describe('the schemas of OpenAPI', () => {
  it('have no closed enumeration in answers: any other text fits too', () => {
    const { OtherEvent: _, ...schemas } = document.components.schemas;
    const enumerations = withKeyword('enum', schemas).filter(({ schema, parent }) => {
      // What a request must not be is no enumeration of what it may be.
      return Array.isArray(schema.enum) && !schema.enum.includes(null) && !('propertyName' in parent);
    });
    assert.ok(enumerations.length > 20, `${enumerations.length} enumerations`);
    for (const { schema, parent } of enumerations) {
      const choices = (parent.anyOf ?? []) as Schema[];
      assert.ok(
        choices.includes(schema) && choices.some((one) => one.type === 'string' && one.enum === undefined),
        JSON.stringify(schema),
      );
    }
    assert.ok(fits('Error', { error: { ...errorFields, code: 'a_code_of_tomorrow', type: 'a_type_of_tomorrow' } }));
  });

  const errorFields = { message: 'x', doc_url: 'https://x.example', request_id: 'req_1' };

  it('describe each type of event by itself, and any other by OtherEvent', () => {
    const types = Object.keys(EVENT_TYPES) as EventType[];
    for (const type of types) {
      const example = eventExampleOf(type);
      assert.ok(fits('Event', example), `${type}: ${ajv.errorsText()}`);
      const matching = types.filter((other) => fits(eventSchemaName(other), example));
      assert.deepEqual(matching, [type]);
      assert.ok(!fits('OtherEvent', example));
      const content = document.webhooks[type]?.post.requestBody.content['application/json'];
      assert.deepEqual(content?.schema, { $ref: `#/components/schemas/${eventSchemaName(type)}` });
      assert.deepEqual(content?.example, example);
    }
    const unseen = { ...eventExample, type: 'listing.exhibited', data: { object: { anything: 1 } } };
    assert.ok(fits('Event', unseen) && fits('OtherEvent', unseen) && !fits('KnownEvent', unseen));
    assert.ok(!fits('Event', { ...eventExampleOf('part.in_stock'), data: { object: { id: 'x', object: 'part' } } }));
  });

  it('describe maps by additionalProperties, which generators know', () => {
    assert.deepEqual(withKeyword('patternProperties', document), []);
    const { properties } = document.components.schemas.Listing as { properties: Record<string, Json> };
    assert.deepEqual(properties.labels?.additionalProperties, {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }, { type: 'null' }],
    });
  });

  it('say what the server checks in its own words, without keywords of ours', () => {
    for (const keyword of ['x-expected', 'x-format', 'x-not']) assert.deepEqual(withKeyword(keyword, document), []);
    assert.ok(fits('CustomerInput', { email: 'a@b.ch' }));
    assert.ok(fits('CustomerInput', { external_id: null, phone: '1' }));
    for (const nobody of [{}, { first_name: 'Ana' }, { email: null, phone: '' }]) {
      assert.ok(!fits('CustomerInput', nobody), JSON.stringify(nobody));
    }
    const key = document.paths['/v1/orders']?.post?.parameters.find((one) => one.name === 'Idempotency-Key');
    const { schema } = key as { schema: { pattern: string } };
    const pattern = new RegExp(schema.pattern);
    assert.ok(pattern.test('a key, ~') && !pattern.test('é') && !pattern.test('a\n'));
  });
});
