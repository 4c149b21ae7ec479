import {
  ApiError,
  ERROR_CODES,
  ERROR_TYPES,
  ERRORS,
  type ErrorCode,
  type ErrorFacts,
  errorEnvelope,
} from '../errors.ts';
import { IDEMPOTENCY_KEY_LENGTH_LIMIT, IDEMPOTENCY_RETENTION_HOURS, JSON_DEPTH_LIMIT } from '../limits.ts';
import { type Operation, TAGS } from '../operations/operation.ts';
import { errorsOf, OPERATIONS } from '../operations.ts';
import { orderExample } from '../resources/order.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { answerSchema, requestSchema } from './openapi-schemas.ts';
import { webhookDescriptions } from './openapi-webhooks.ts';

type Json = Record<string, unknown>;

const EXAMPLE_REQUEST_ID = 'req_0f8c1d5e2b7a4c3d9e6f1a2b3c4d5e6f';
const EXAMPLE_ETAG = 'W/"0Zk3o5p2m1nq8r7s6t5u4v3w2x1"';

/** The codes that are always about the same input. */
const PARAMS: { [Code in ErrorCode]?: string } = {
  missing_idempotency_key: 'Idempotency-Key',
  invalid_cursor: 'after',
  duplicate_channel_order_id: 'channel_order_id',
};

/** The codes that carry more than a message. */
const FACTS: { [Code in ErrorCode]?: ErrorFacts } = {
  duplicate_channel_order_id: { existing_id: orderExample.id },
  not_available: { remaining_quantity: 0 },
};

/** Builds the OpenAPI 3.1 description from the operations table; nothing in it is written twice. */
export function openapiDocument(publicUrl: string): Json {
  const operations: Operation[] = Object.values(OPERATIONS);
  const schemas: Json = { Error: errorSchema() };
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const methods = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, schemas, publicUrl),
    };
    // Within a path "get" stands before "post", whatever their order in the table.
    paths[operation.path] = Object.fromEntries(Object.entries(methods).sort(([a], [b]) => a.localeCompare(b)));
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Crownwheel API',
      version: CURRENT_VERSION,
      summary: 'Connects a custom website to a watch dealer’s inventory and orders.',
      description: `Every request but the open ones sends \`Authorization: Bearer <API key>\`. Errors share one envelope and are explained at ${publicUrl}/docs/api/errors. A path that does not exist answers 404 \`route_not_found\`; a method that an endpoint does not take answers 405 \`method_not_allowed\` with \`Allow\`.`,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this service', url: publicUrl },
    },
    servers: [{ url: `${publicUrl}/api`, description: 'This server' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    externalDocs: { url: `${publicUrl}/docs/api`, description: 'Guides and the error reference' },
    paths,
    webhooks: webhookDescriptions(),
    components: {
      schemas,
      headers: sharedHeaders(),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_ and 32 base62 characters',
          description: 'The API key of one integration, from the integration settings. Keep it on the server side.',
        },
      },
    },
  };
}

function describe(operation: Operation, schemas: Json, publicUrl: string): Json {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description}\n\nCost: ${operation.isOpen ? 'none' : `${operation.cost} token${operation.cost === 1 ? '' : 's'}`}.`,
    ...(operation.isOpen ? { security: [] } : {}),
    parameters: [
      ...parametersFrom(operation.params, 'path', schemas),
      ...parametersFrom(operation.query, 'query', schemas),
      ...(operation.isIdempotent ? [idempotencyKeyParameter(operation)] : []),
      ...(operation.hasEtag ? [ifNoneMatchParameter] : []),
    ],
    ...(operation.body === null
      ? {}
      : {
          requestBody: {
            required: operation.isBodyOptional !== true,
            description: `JSON of at most ${operation.bodyLimitBytes.toLocaleString('en-US')} bytes, nested at most ${JSON_DEPTH_LIMIT} levels deep. Fields that are not described here are ignored, and named in \`X-Ignored-Fields\`.`,
            content: {
              'application/json': {
                schema: hoist(requestSchema(operation.body), schemas),
                example: operation.bodyExample,
              },
            },
          },
        }),
    responses: {
      ...Object.fromEntries(
        [operation.success, ...(operation.alsoSuccess === undefined ? [] : [operation.alsoSuccess])].map(
          ({ status, description }) => [
            status,
            {
              description,
              headers: headersOf(operation, []),
              content: {
                'application/json': {
                  schema: hoist(answerSchema(operation.success.schema), schemas),
                  example: operation.success.example,
                },
              },
            },
          ],
        ),
      ),
      ...(operation.hasEtag
        ? { 304: { description: 'Nothing has changed since that ETag.', headers: headersOf(operation, []) } }
        : {}),
      ...errorResponses(operation, publicUrl),
    },
  };
}

/** One response per status, whose examples show every code that can come with it. */
function errorResponses(operation: Operation, publicUrl: string): Json {
  const byStatus = Map.groupBy(errorsOf(operation), (code) => ERRORS[code].status);
  const responses: Json = {};
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].cause}`).join('\n\n'),
      headers: headersOf(operation, codes),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(
            codes.map((code) => [
              code,
              {
                summary: ERRORS[code].message,
                value: errorEnvelope(exampleError(code), EXAMPLE_REQUEST_ID, publicUrl),
              },
            ]),
          ),
        },
      },
    };
  }
  return responses;
}

function exampleError(code: ErrorCode): ApiError {
  const param = PARAMS[code];
  const facts = FACTS[code];
  return new ApiError(code, { ...(param === undefined ? {} : { param }), ...(facts === undefined ? {} : { facts }) });
}

/** The codes whose answers say when to retry. */
export const RETRY_AFTER_CODES: readonly ErrorCode[] = [
  'too_many_requests',
  'idempotency_key_in_use',
  'storage_quota_exceeded',
  'overloaded',
];

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

function headersOf(operation: Operation, codes: ErrorCode[]): Json {
  const names = ['X-Request-Id', 'X-API-Version'];
  const statuses = new Set(codes.map((code) => ERRORS[code].status));
  const isBeforeAdmission = operation.isOpen || statuses.has(401) || statuses.has(431);
  // HTTP that can't be parsed and one connection too many are refused before the key is looked at, a wrong field and one read
  // too many after it.
  const isPerhapsBefore = [400, 408, 503].some((status) => statuses.has(status));
  if (!isBeforeAdmission && !isPerhapsBefore) names.push(...RATE_HEADERS);
  if (!isBeforeAdmission) names.push('X-Ignored-Fields');
  if (codes.some((code) => RETRY_AFTER_CODES.includes(code))) names.push('Retry-After');
  if (operation.isIdempotent && codes.length === 0) names.push('Idempotent-Replay', 'Original-Request-Id');
  if (operation.hasEtag && codes.length === 0) names.push('ETag');
  const headers: Json = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  if (!isBeforeAdmission && isPerhapsBefore) {
    const shared = sharedHeaders();
    for (const name of RATE_HEADERS) headers[name] = { ...shared[name], required: false };
  }
  return headers;
}

function sharedHeaders(): Record<string, Json> {
  const header = (description: string, schema: Json, example: unknown, required = true) => ({
    description,
    required,
    schema,
    example,
  });
  return {
    'X-Request-Id': header('Identifies the request; quote it to support.', { type: 'string' }, EXAMPLE_REQUEST_ID),
    'X-API-Version': header(
      'The version the integration is pinned to; the current one where no integration is known.',
      { type: 'string' },
      CURRENT_VERSION,
    ),
    'X-RateLimit-Limit': header('Tokens in any 60 seconds.', { type: 'integer', minimum: 1 }, 600),
    'X-RateLimit-Remaining': header('Tokens left in the window.', { type: 'integer', minimum: 0 }, 599),
    'X-RateLimit-Reset': header(
      'Unix time in seconds at which the window is empty again, if nothing more is sent.',
      { type: 'integer' },
      1778230860,
    ),
    'X-Ignored-Fields': header(
      'The fields of the body and the query parameters that nobody knows and that were ignored, such as typos. At most 20 names and 1,000 bytes, then `%E2%80%A6` (an ellipsis). A comma, a percent sign and what is not printable ASCII are percent-encoded.',
      { type: 'string', pattern: '^[\\x20-\\x7e]+$' },
      'line_items, lines[0].listingId, updated_afer',
      false,
    ),
    ETag: header('Changes with the answer; send it in `If-None-Match`.', { type: 'string' }, EXAMPLE_ETAG),
    'Retry-After': header(
      'Whole seconds to wait before the same request fits.',
      { type: 'integer', minimum: 1 },
      1,
      false,
    ),
    'Idempotent-Replay': header('`true` when the answer is the stored first one.', { const: 'true' }, 'true', false),
    'Original-Request-Id': header(
      'On a replay: the id of the first request.',
      { type: 'string' },
      EXAMPLE_REQUEST_ID,
      false,
    ),
  };
}

/** Each operation has an example of its own: a key that made an order can't make a customer. */
function idempotencyKeyParameter({ id }: Operation): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description: `Unique for one logical operation, such as a random UUID; the same on every retry. Printable ASCII characters only. Kept for ${IDEMPOTENCY_RETENTION_HOURS} hours.`,
    schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH_LIMIT, pattern: '^[\\x20-\\x7e]+$' },
    example: `${id}-5f0c2c1e`,
  };
}

const ifNoneMatchParameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier answer to the same request.',
  schema: { type: 'string' },
  example: EXAMPLE_ETAG,
};

export function parametersFrom(schema: unknown, location: 'path' | 'query', schemas: Json): Json[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, examples, ...rest } = property as Json & { examples?: unknown[] };
    return {
      name,
      in: location,
      required: location === 'path' || required.includes(name),
      description,
      schema: hoist(requestSchema(rest), schemas),
      ...(examples?.[0] === undefined ? {} : { example: examples[0] }),
    };
  });
}

/** Moves schemas that carry an `$id` to components and leaves a reference, so that generators name their types. */
export function hoist(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, schemas));
  if (schema === null || typeof schema !== 'object') return schema;
  const { $id, ...rest } = schema as Json;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, hoist(value, schemas)]));
  if (typeof $id !== 'string') return inner;
  schemas[$id] = inner;
  return { $ref: `#/components/schemas/${$id}` };
}

function errorSchema(): Json {
  return answerSchema({
    type: 'object',
    description: 'The envelope of every error.',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        description: 'What went wrong.',
        required: ['type', 'code', 'message', 'doc_url', 'request_id'],
        properties: {
          type: { type: 'string', enum: ERROR_TYPES, description: 'The category.' },
          code: { type: 'string', enum: ERROR_CODES, description: 'Stable; match on this. New codes may be added.' },
          message: { type: 'string', description: 'For people; its wording may change at any time.' },
          doc_url: { type: 'string', format: 'uri', description: 'Where this code is explained.' },
          request_id: { type: 'string', description: 'Equal to the X-Request-Id header.' },
          param: {
            type: 'string',
            description:
              'JSON path, query parameter or header name of the input that caused the error, if one did. Not only validation errors have it.',
          },
          existing_id: {
            type: 'string',
            description: 'On `duplicate_channel_order_id`: the id of the order that has it.',
          },
          remaining_quantity: {
            type: 'integer',
            minimum: 0,
            description: 'On `not_available`: how many units can be reserved.',
          },
        },
      },
    },
  }) as Json;
}
