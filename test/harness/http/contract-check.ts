import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openapiDocument } from '../../../src/contract/openapi/openapi.ts';
import type { Operation } from '../../../src/contract/operations/operation.ts';
import { errorsOf, OPERATIONS } from '../../../src/contract/operations.ts';
import { lazy } from '../../../src/http/lazy.ts';
import type { ApiResponse } from './api-client.ts';

/**
 * Holds every answer that a test receives against the OpenAPI description: its schema, its headers, and that an error
 * code is one the operation declares. So the description can't drift from what the server does.
 */
type ResponseDescription = {
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, { schema: object }>;
};

type Description = {
  paths: Record<string, Record<string, { responses: Record<string, ResponseDescription> }>>;
  components: { schemas: Record<string, object>; headers: Record<string, { required: boolean }> };
};

/** Made at the first answer: many test files load this and ask the API nothing. */
const contract = lazy(() => {
  const document = closed(openapiDocument('https://api.crownwheel.test')) as Description;
  // Whether the schemas themselves are right is contract.test.ts' matter, once.
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'openapi', components: document.components });
  return { document, ajv };
});

export function assertMatchesContract(method: string, path: string, response: ApiResponse): void {
  const operation = operationOf(method, path);
  if (operation === null) return;
  const { document } = contract();
  const place = `${method} ${path} → ${response.status}`;
  const description = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses[response.status];
  assert.ok(description, `${place}: this status is not in OpenAPI`);
  for (const [name, header] of Object.entries(description.headers ?? {})) {
    if (header.required === false || document.components.headers[name]?.required === false) continue;
    assert.ok(response.headers[name.toLowerCase()] !== undefined, `${place}: the header ${name} is missing`);
  }
  const schema = description.content?.['application/json']?.schema;
  if (schema !== undefined && method !== 'HEAD') assertSchema(schema, response.body, place);
  const code = response.body?.error?.code;
  if (code !== undefined) assert.ok(errorsOf(operation).includes(code), `${place}: ${code} is not declared for it`);
}

const validators = new Map<object, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
  const validate = contract().ajv.compile(JSON.parse(text));
  validators.set(schema, validate);
  return validate;
}

function assertSchema(schema: object, body: unknown, place: string): void {
  const validate = validatorOf(schema);
  assert.ok(validate(body), `${place}: the body is not as OpenAPI says: ${contract().ajv.errorsText(validate.errors)}`);
}

function operationOf(method: string, path: string): Operation | null {
  const plain = path.split('?', 1)[0] ?? '';
  const wanted = method === 'HEAD' ? 'GET' : method;
  const operations: Operation[] = Object.values(OPERATIONS);
  return (
    operations.find(
      (operation) =>
        operation.method === wanted &&
        new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(plain),
    ) ?? null
  );
}

/** Clients must take values that they have never seen; the server must send none that it does not declare. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const { anyOf } = inner as { anyOf?: { enum?: unknown[]; type?: string }[] };
  if (!Array.isArray(anyOf) || !anyOf.some((one) => one.enum !== undefined)) return inner;
  return { ...inner, anyOf: anyOf.filter((one) => one.enum !== undefined || one.type !== 'string') };
}
