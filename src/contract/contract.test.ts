import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { PUBLIC_URL, startWorld, type World } from '../../test/harness/world.ts';
import { ApiError, ERROR_CODES, ERRORS, type ErrorCode, errorEnvelope } from './errors.ts';
import { EVENT_TYPES } from './event-types.ts';
import type { Operation } from './operations/operation.ts';
import { errorsOf, OPERATIONS } from './operations.ts';
import { WEBHOOK_HEADERS } from './webhooks.ts';

/** The codes that clients were promised, with their status and type. None of them ever changes. */
const PROMISED: Record<string, [status: number, type: string]> = {
  missing_authorization: [401, 'authentication_error'],
  malformed_authorization: [401, 'authentication_error'],
  invalid_api_key: [401, 'authentication_error'],
  auth_lookup_failed: [401, 'authentication_error'],
  integration_disabled: [403, 'permission_error'],
  integration_not_provisioned: [403, 'permission_error'],
  integration_org_missing: [403, 'permission_error'],
  subscription_required: [403, 'permission_error'],
  invalid_request: [400, 'validation_error'],
  invalid_json: [400, 'validation_error'],
  invalid_cursor: [400, 'validation_error'],
  missing_idempotency_key: [400, 'validation_error'],
  request_too_large: [413, 'validation_error'],
  key_reused_with_different_body: [409, 'idempotency_error'],
  duplicate_channel_order_id: [409, 'conflict_error'],
  order_matched: [409, 'conflict_error'],
  customer_contact_conflict: [409, 'conflict_error'],
  too_many_requests: [429, 'rate_limit_error'],
  listing_not_found: [404, 'not_found'],
  part_not_found: [404, 'not_found'],
  order_not_found: [404, 'not_found'],
  internal_error: [500, 'api_error'],
  lookup_failed: [500, 'api_error'],
  query_failed: [500, 'api_error'],
  upsert_failed: [500, 'api_error'],
  bulk_upsert_failed: [500, 'api_error'],
  insert_failed: [500, 'api_error'],
  cancel_failed: [500, 'api_error'],
};

/** The codes that came later; a client that does not know them goes by status and type. */
const ADDED: Record<string, [status: number, type: string]> = {
  route_not_found: [404, 'not_found'],
  method_not_allowed: [405, 'validation_error'],
  idempotency_key_in_use: [409, 'idempotency_error'],
  request_timeout: [408, 'validation_error'],
  headers_too_large: [431, 'validation_error'],
  ping_failed: [500, 'api_error'],
  not_ready: [503, 'api_error'],
  storage_quota_exceeded: [429, 'rate_limit_error'],
  overloaded: [503, 'api_error'],
  not_available: [409, 'conflict_error'],
  too_many_reservations: [409, 'conflict_error'],
  reservation_not_found: [404, 'not_found'],
  reservation_not_active: [409, 'conflict_error'],
  reservation_failed: [500, 'api_error'],
};

/** The codes of paths and methods that are none; no operation can have them. */
const OF_NO_OPERATION: readonly string[] = ['route_not_found', 'method_not_allowed'];

const operations: Operation[] = Object.values(OPERATIONS);

describe('the error catalogue', () => {
  it('holds every promised code and the added ones, each with its status and type', () => {
    const catalogue = Object.fromEntries(ERROR_CODES.map((code) => [code, [ERRORS[code].status, ERRORS[code].type]]));
    assert.deepEqual(catalogue, { ...PROMISED, ...ADDED });
  });

  it('says of every code what happened, why, and what to do', () => {
    for (const code of ERROR_CODES) {
      const { message, cause, recovery } = ERRORS[code];
      for (const text of [message, cause, recovery]) assert.match(text, /^[A-Z`“].*\.$/s, `${code}: ${text}`);
    }
  });

  it('is what the code throws: each entry somewhere, and nothing else', async () => {
    const thrown = await codesInSource();
    assert.deepEqual(
      [...thrown].filter((code) => !(code in ERRORS)),
      [],
    );
    assert.deepEqual(
      ERROR_CODES.filter((code) => !thrown.has(code)),
      [],
    );
  });

  it('makes the envelope, with a param where there is one', () => {
    const bare = errorEnvelope(new ApiError('order_matched', { cause: 'secret' }), 'req_1', 'https://x');
    assert.deepEqual(bare, {
      error: {
        type: 'conflict_error',
        code: 'order_matched',
        message: ERRORS.order_matched.message,
        doc_url: 'https://x/docs/api/errors#order_matched',
        request_id: 'req_1',
      },
    });
    const full = errorEnvelope(
      new ApiError('invalid_request', { param: 'limit', message: 'No.' }),
      'req_2',
      'https://x',
    );
    assert.deepEqual([full.error.param, full.error.message], ['limit', 'No.']);
  });

  /** The codes that stand as text in the code that throws; a code may also be handed on before it is thrown. */
  async function codesInSource(): Promise<Set<string>> {
    const root = new URL('../', import.meta.url).pathname;
    const files = (await readdir(root, { recursive: true })).filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.endsWith('.test.ts') &&
        !/^(contract\/(errors|operations|openapi)|http\/docs)/.test(file),
    );
    const found = new Set<string>();
    for (const file of files) {
      const text = await readFile(join(root, file), 'utf8');
      for (const [, code] of text.matchAll(/(?:new ApiError|failingAs)\(\s*'([a-z_]+)'/g)) found.add(code ?? '');
      for (const code of ERROR_CODES) if (text.includes(`'${code}'`)) found.add(code);
    }
    return found;
  }
});

type Described = {
  responses: Record<string, ResponseDescription>;
  requestBody?: { content: Record<string, Content> };
  parameters: { name: string; schema: object; example?: unknown }[];
};
type Schema = {
  const?: unknown;
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};
type ResponseDescription = { content?: Record<string, Content> };
type Content = { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> };

describe('the OpenAPI description', () => {
  let world: World;
  let text: string;
  let document: {
    openapi: string;
    paths: Record<string, Record<string, Described>>;
    webhooks: Record<string, Record<string, Described>>;
    components: {
      schemas: Record<string, { properties: { error: { properties: { code: { anyOf: { enum: string[] }[] } } } } }>;
      headers: Record<string, { schema: object; example: unknown }>;
    };
  };
  before(async () => {
    world = await startWorld();
    const response = await world.client(null).get('/v1/openapi.json');
    text = response.text;
    document = response.body;
  });
  after(() => world.stop());

  const describedAs = (operation: Operation): Described =>
    document.paths[operation.path]?.[operation.method.toLowerCase()] ?? assert.fail(`${operation.id} is not described`);

  it('passes a linter with every rule on but those that would be another API’s', async () => {
    const config = await createConfig({
      extends: ['all'],
      rules: {
        // The envelope of errors and the paths are what clients already know.
        'operation-4xx-problem-details-rfc7807': 'off',
        'path-segment-plural': 'off',
        'paths-kebab-case': 'off',
        // Tags stand in the order in which a reader needs them.
        'tags-alphabetical': 'off',
        // Examples are whole objects, and a minimum length says nothing of a text that we write.
        'scalar-property-missing-example': 'off',
        'required-string-property-missing-min-length': 'off',
      },
    });
    const problems = await lintFromString({ source: text, config, absoluteRef: `${PUBLIC_URL}/openapi.json` });
    assert.deepEqual(
      problems.map((problem) => `${problem.ruleId}: ${problem.message} ${problem.location[0]?.pointer}`),
      [],
    );
  });

  it('is noticed by the linter when it is wrong', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const broken = text.replace('"#/components/schemas/Error"', '"#/components/schemas/Nothing"');
    assert.notEqual(broken, text);
    assert.ok((await lintFromString({ source: broken, config })).length > 0);
  });

  it('describes every operation and nothing else', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = operations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(described.sort(), served.sort());
  });

  it('describes a webhook for every type of event, with the headers that it carries', () => {
    assert.deepEqual(Object.keys(document.webhooks), Object.keys(EVENT_TYPES));
    for (const { post } of Object.values(document.webhooks)) {
      assert.deepEqual(
        ['Content-Type', ...(post?.parameters ?? []).map((parameter) => parameter.name)],
        Object.keys(WEBHOOK_HEADERS),
      );
    }
  });

  it('describes nothing that the server does not serve', async () => {
    const { api } = await world.dealer();
    for (const { method, path } of operations) {
      const response = await api.send(path.replaceAll(/\{\w+\}/g, 'x'), { method });
      assert.ok(!OF_NO_OPERATION.includes(response.body?.error?.code), `${method} ${path}`);
    }
  });

  it('knows every code of the catalogue, and shows each where an operation can answer it', () => {
    assert.deepEqual(document.components.schemas.Error?.properties.error.properties.code.anyOf[0]?.enum, ERROR_CODES);
    const shown = new Set<string>();
    for (const operation of operations) {
      const { responses } = describedAs(operation);
      const declared = errorsOf(operation);
      for (const code of declared) {
        const example = responses[ERRORS[code].status]?.content?.['application/json']?.examples?.[code]?.value;
        const { error } = (example ?? assert.fail(`${operation.id} does not show ${code}`)) as ReturnType<
          typeof errorEnvelope
        >;
        assert.deepEqual([error.code, error.type], [code, ERRORS[code].type]);
        assert.equal(error.doc_url, `${PUBLIC_URL}/docs/api/errors#${code}`);
        shown.add(code);
      }
      const statuses = new Set(declared.map((code: ErrorCode) => ERRORS[code].status));
      for (const status of Object.keys(responses)) assert.ok(Number(status) < 400 || statuses.has(Number(status)));
    }
    assert.deepEqual(
      ERROR_CODES.filter((code) => !shown.has(code)),
      OF_NO_OPERATION,
    );
  });

  it('says of every field what it holds', () => {
    const silent = new Set<string>();
    function visit(schema: Schema, place: string): void {
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        const isDescribed = [property.const, property.$ref, property.description].some(Boolean);
        if (!isDescribed) silent.add(`${place}.${name}`);
        visit(property, `${place}.${name}`);
      }
      for (const inner of [schema.items, ...(schema.anyOf ?? [])]) if (inner !== undefined) visit(inner, place);
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema as Schema, name);
    for (const operation of operations) visit(operation.success.schema as Schema, operation.id);
    assert.deepEqual([...silent], []);
  });

  it('asks for a key wherever one is needed, and for an Idempotency-Key on every write', () => {
    for (const operation of operations) {
      const described = describedAs(operation) as Described & { security?: unknown[] };
      assert.deepEqual(described.security, operation.isOpen ? [] : undefined, operation.id);
      const asksForKey = described.parameters.some((parameter) => parameter.name === 'Idempotency-Key');
      assert.equal(asksForKey, operation.method === 'POST', operation.id);
    }
  });

  it('gives examples that fit their schemas, everywhere', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'openapi', components: document.components });
    let checked = 0;
    function assertFits(schema: object, example: unknown, place: string): void {
      const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'));
      const validate = ajv.compile(rooted);
      assert.ok(validate(example), `${place}: ${ajv.errorsText(validate.errors)}`);
      checked += 1;
    }
    function assertContent(content: Record<string, Content> | undefined, place: string): void {
      for (const { schema, example, examples } of Object.values(content ?? {})) {
        const all = examples === undefined ? [example] : Object.values(examples).map((one) => one.value);
        assert.ok(all.length > 0 && all.every((one) => one !== undefined), `${place} has no example`);
        for (const one of all) assertFits(schema, one, place);
      }
    }
    for (const operation of operations) {
      const described = describedAs(operation);
      assertContent(described.requestBody?.content, `${operation.id}, its body`);
      for (const [status, response] of Object.entries(described.responses)) {
        assertContent(response.content, `${operation.id}, ${status}`);
      }
      for (const { name, schema, example } of described.parameters) {
        if (example !== undefined) assertFits(schema, example, `${operation.id}, ${name}`);
      }
    }
    for (const [name, { schema, example }] of Object.entries(document.components.headers)) {
      assertFits(schema, example, name);
    }
    assert.ok(checked > 100, `${checked} examples were checked`);
  });
});
