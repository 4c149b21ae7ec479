import { DOMAIN_ERROR_STATUS } from '../domain-error.ts';
import { hoist, parametersFrom } from '../openapi/openapi.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { EDGE_ERROR_STATUS } from './errors.ts';
import type { DashboardOperation } from './operation.ts';
import { DASHBOARD_OPERATIONS } from './operations.ts';

type Json = Record<string, unknown>;

/** Describes the dashboard's own API. It changes with the dashboard and promises nothing to other programs. */
export function dashboardOpenapi(publicUrl: string): Json {
  const schemas: Json = { Error: errorSchema };
  const paths: Record<string, Json> = {};
  for (const [id, operation] of Object.entries(DASHBOARD_OPERATIONS)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(id, operation, schemas),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Crownwheel dashboard API',
      version: CURRENT_VERSION,
      description:
        'What the dashboard itself uses, with the cookie of a session. It may change with every release: programs use the public API.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${publicUrl}/api/dashboard` }],
    security: [{ session: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'crownwheel.session_token' } },
    },
  };
}

function describe(id: string, operation: DashboardOperation, schemas: Json): Json {
  return {
    operationId: id,
    summary: operation.description.split('. ')[0],
    description: `${operation.description}\n\nWho: ${CALLERS[operation.access]}.`,
    ...(operation.access === 'public' ? { security: [] } : {}),
    parameters: [
      ...parametersFrom(operation.params, 'path', schemas),
      ...parametersFrom(operation.query, 'query', schemas),
    ],
    ...requestBody(operation, schemas),
    responses: { ...success(operation, schemas), default: failure },
  };
}

const CALLERS = { public: 'everyone', staff: 'everyone who is signed in', owner: 'owners' };

function requestBody(operation: DashboardOperation, schemas: Json): Json {
  if (operation.isUpload) return { requestBody: { required: true, content: { '*/*': { schema: {} } } } };
  if (operation.body === null) return {};
  return {
    requestBody: { required: true, content: { 'application/json': { schema: hoist(operation.body, schemas) } } },
  };
}

function success({ response }: DashboardOperation, schemas: Json): Json {
  if (response === null) return { 204: { description: 'Done.' } };
  if (typeof response === 'string') return { 200: { description: 'Done.', content: { [response]: { schema: {} } } } };
  return { 200: { description: 'Done.', content: { 'application/json': { schema: hoist(response, schemas) } } } };
}

const failure = {
  description: 'What went wrong.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { type: 'string', enum: [...Object.keys(EDGE_ERROR_STATUS), ...Object.keys(DOMAIN_ERROR_STATUS)] },
        message: { type: 'string', description: 'For the person in front of the page.' },
        field: { type: 'string', description: 'JSON path of the input that is to blame.' },
        request_id: { type: 'string' },
      },
    },
  },
};
