import Type, { type Static, type TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';
import { BODY_LIMIT_BYTES } from './limits.ts';
import { Health, healthExample } from './resources/health.ts';
import { Integration, integrationExample } from './resources/integration.ts';

/**
 * The table of everything the API does. Routing, validation, token costs, OpenAPI and the docs read it; a handler
 * without an operation, or an operation without a handler, stops the server at start.
 */
export type Operation<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
> = {
  id: string;
  method: 'GET' | 'POST';
  /** Served under {base_url}/api; parameters are written {like_this}. */
  path: string;
  tag: 'Service' | 'Integration';
  summary: string;
  description: string;
  /** Rate-limit tokens. An open operation needs no key and costs nothing. */
  cost: number;
  isOpen: boolean;
  /** True for every mutating POST: the `Idempotency-Key` header is required. */
  isIdempotent: boolean;
  bodyLimitBytes: number;
  params: Params;
  query: Query;
  body: Body | null;
  success: { status: number; description: string; schema: TSchema; example: unknown };
  /** What this operation can answer besides the errors that all of its kind share. */
  errors: readonly ErrorCode[];
};

export type ParamsOf<Op extends Operation> = Static<Op['params']>;
export type QueryOf<Op extends Operation> = Static<Op['query']>;
export type BodyOf<Op extends Operation> = Op['body'] extends TSchema ? Static<Op['body']> : null;

const nothing = Type.Object({});

function read<Params extends TSchema = typeof nothing, Query extends TSchema = typeof nothing>(
  operation: Pick<Operation, 'id' | 'path' | 'tag' | 'summary' | 'description' | 'success' | 'errors'> & {
    isOpen?: boolean;
    params?: Params;
    query?: Query;
  },
) {
  const isOpen = operation.isOpen ?? false;
  return {
    ...operation,
    method: 'GET' as const,
    isOpen,
    cost: isOpen ? 0 : 1,
    isIdempotent: false,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    params: (operation.params ?? nothing) as Params,
    query: (operation.query ?? nothing) as Query,
    body: null,
  } satisfies Operation<Params, Query, TSchema>;
}

export const OPERATIONS = {
  getHealth: read({
    id: 'getHealth',
    path: '/v1/health',
    tag: 'Service',
    summary: 'Probe liveness',
    description: 'Answers as long as the process serves requests. Needs no key and is never limited.',
    isOpen: true,
    success: { status: 200, description: 'The service is up.', schema: Health, example: healthExample },
    errors: [],
  }),
  getOpenapi: read({
    id: 'getOpenapi',
    path: '/v1/openapi.json',
    tag: 'Service',
    summary: 'Read this description',
    description: 'The OpenAPI 3.1 description of the API. Needs no key and is never limited.',
    isOpen: true,
    success: {
      status: 200,
      description: 'An OpenAPI 3.1 document.',
      schema: Type.Object({ openapi: Type.String() }),
      example: { openapi: '3.1.1' },
    },
    errors: [],
  }),
  getMe: read({
    id: 'getMe',
    path: '/v1/me',
    tag: 'Integration',
    summary: 'Read the integration',
    description: 'Describes the integration that the API key belongs to: its mode, version, limit and webhook state.',
    success: { status: 200, description: 'The integration.', schema: Integration, example: integrationExample },
    errors: ['query_failed'],
  }),
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** The errors that any request can meet before it reaches its operation. */
export const TRANSPORT_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
];

/** The errors of authentication and admission, which every operation with a key shares. */
export const ADMISSION_ERRORS: readonly ErrorCode[] = [
  'missing_authorization',
  'malformed_authorization',
  'invalid_api_key',
  'auth_lookup_failed',
  'integration_disabled',
  'integration_not_provisioned',
  'integration_org_missing',
  'subscription_required',
  'too_many_requests',
];

/** The errors of every mutating POST. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'missing_idempotency_key',
  'invalid_json',
  'request_too_large',
  'key_reused_with_different_body',
  'idempotency_key_in_use',
  'lookup_failed',
];

/** Every error code that an operation can answer with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  return [
    ...new Set([
      ...TRANSPORT_ERRORS,
      ...(operation.isOpen ? [] : ADMISSION_ERRORS),
      ...(operation.isIdempotent ? WRITE_ERRORS : []),
      ...operation.errors,
    ]),
  ];
}
