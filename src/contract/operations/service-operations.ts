import Type from 'typebox';
import { Health, healthExample } from '../resources/health.ts';
import { Integration, integrationExample } from '../resources/integration.ts';
import { Ready, readyExample } from '../resources/ready.ts';
import { type Operation, read } from './operation.ts';

export const serviceOperations = {
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
  getReady: read({
    id: 'getReady',
    path: '/v1/ready',
    tag: 'Service',
    summary: 'Probe readiness',
    description:
      'For load balancers: whether to send requests to this process. It answers 503 while it starts, before it stops, and while the database does not answer. Needs no key and is never limited.',
    isOpen: true,
    success: { status: 200, description: 'The process takes requests.', schema: Ready, example: readyExample },
    errors: ['not_ready'],
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
      schema: Type.Object({ openapi: Type.String({ description: 'The version of OpenAPI it is written in.' }) }),
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
