import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ChannelContext } from '../../channel/context.ts';
import { createCursors } from '../../channel/reads/cursors.ts';
import { createDocumentReader } from '../../channel/reads/read-documents.ts';
import { ApiError } from '../../contract/errors.ts';
import { ANSWER_PIECE_LIMIT_MS } from '../../contract/limits.ts';
import type { Operation } from '../../contract/operations/operation.ts';
import { OPERATIONS, type OperationId } from '../../contract/operations.ts';
import { CURRENT_VERSION } from '../../contract/versions.ts';
import { shareOf } from '../../dealers/integrations/admission.ts';
import { createKeyUse } from '../../dealers/integrations/key-use.ts';
import type { AppOptions } from '../app-options.ts';
import { limitBodies } from '../connection/body-memory.ts';
import { clientSignal } from '../connection/client-signal.ts';
import type { Senders } from '../connection/senders.ts';
import type { FastPath } from '../fast-path.ts';
import { isJsonType, readJsonBody } from '../json/json-body.ts';
import type { Shape } from '../json/shape.ts';
import { UnknownNames } from '../json/unknown-names.ts';
import type { Logs } from '../logging/log-answer.ts';
import { pathOf } from '../request-url.ts';
import { routeNotFound } from '../route-not-found.ts';
import { type AdmittedIntegration, admitter } from './authentication.ts';
import type { Call, Handler, OpenHandler, PublicContext } from './handler.ts';
import { nameIgnoredFields } from './ignored-names/ignored-fields.ts';
import { createCachedReads, handedOver } from './reads/cached-reads.ts';
import { createReadCache } from './reads/read-cache.ts';
import { createReadLimits, overloaded } from './reads/read-limits.ts';
import { upsertCustomer, upsertCustomers } from './routes/customers.ts';
import { listEvents } from './routes/events.ts';
import { getHealth } from './routes/health.ts';
import { getItem, listItems } from './routes/items/items.ts';
import { getMe } from './routes/me.ts';
import { getOpenapi } from './routes/openapi.ts';
import { cancelOrder } from './routes/orders/cancel-order.ts';
import { createOrder } from './routes/orders/create-order.ts';
import { getOrder, listOrders } from './routes/orders/orders.ts';
import { pingWebhook } from './routes/ping.ts';
import { getReady } from './routes/ready.ts';
import { extendReservation, releaseReservation } from './routes/reservations/change-reservation.ts';
import { createReservation } from './routes/reservations/create-reservation.ts';
import { getReservation, listReservations } from './routes/reservations/reservations.ts';
import { createWriteExecutor } from './writes/execute-writes.ts';

/** Smaller bodies are not counted: 600 requests a minute of them are bounded by the rate limit. */
const COUNTED_BODY_BYTES = 128 * 1024;

/** The handler of every operation. If one is missing, the compiler says so. */
const handlers: {
  [Id in OperationId]: (typeof OPERATIONS)[Id]['isOpen'] extends true ? OpenHandler : Handler<(typeof OPERATIONS)[Id]>;
} = {
  getHealth,
  getReady,
  getOpenapi,
  getMe,
  listListings: listItems('listing'),
  getListing: getItem('listing'),
  listParts: listItems('part'),
  getPart: getItem('part'),
  listEvents,
  createOrder,
  listOrders,
  getOrder,
  cancelOrder,
  createReservation,
  listReservations,
  getReservation,
  releaseReservation,
  extendReservation,
  upsertCustomer,
  upsertCustomers,
  pingWebhook,
};

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation;
  }
  interface FastifyRequest {
    /** The integration of an admitted request; null on open operations. */
    integration: AdmittedIntegration | null;
    /** The bytes of the body, for the fingerprint of a write. */
    rawBody: Buffer | null;
  }
}

export type PublicOptions = AppOptions & Logs & { fastPath: FastPath; senders: Senders };

/** The public API. Fastify's own order of hooks is the order of checks that the API promises. */
export async function publicRoutes(app: FastifyInstance, given: PublicOptions): Promise<void> {
  const options = { ...given, channel: withSafeWakeUps(given) };
  const readLimits = createReadLimits({ poolSize: options.db.pool.options.max, ...options.readLimits });
  const pieceLimitMs = options.timeouts?.pieceMs ?? ANSWER_PIECE_LIMIT_MS;
  const context: PublicContext = {
    ...options,
    // Documents and the answers made of them share the memory: pages copy what they hold, single answers do not.
    reader: createDocumentReader(options.channel, options.readCacheBytes / 2),
    readLimits,
    readCache: createReadCache({
      maxBytes: options.readCacheBytes / 2,
      limits: readLimits,
      pieceLimitMs,
    }),
    cursors: createCursors(options.secretKeys),
    writes: createWriteExecutor(options),
  };
  const onFault = (error: unknown) => options.log.warn({ err: error }, 'the last use of keys could not be recorded');
  const keyUse = createKeyUse(context.db, { onFault });
  const admit = admitter({
    db: context.admissionDb ?? context.db,
    rateLimits: context.rateLimits,
    now: context.channel.now,
    keyUse,
    senders: options.senders,
  });
  options.fastPath.open(createCachedReads({ admit, readCache: context.readCache, pieceLimitMs, ...options }));
  app.decorateRequest('integration', null);
  app.decorateRequest('rawBody', null);
  const operations: Operation[] = Object.values(OPERATIONS);
  const bodies = limitBodies(app, {
    keyOf: ({ integration }) => (integration === null ? null : shareOf(integration)),
    countedFromBytes: COUNTED_BODY_BYTES,
    rate: options.bodyRate,
    refusal: overloaded,
  });

  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    await bodies.passRead(request, body.length);
    request.rawBody = body;
    const shape = (request.routeOptions.config.operation?.body ?? {}) as Shape;
    const key = request.integration === null ? '' : shareOf(request.integration);
    const unknown = new UnknownNames();
    const options = { key, shape, unknown, signal: clientSignal(request) };
    try {
      const value = await readJsonBody(body, request.headers['content-type'], options);
      request.unknownNames = unknown;
      return value;
    } catch (error) {
      // A body that is valid JSON but can't be stored has been parsed nevertheless.
      if (error instanceof ApiError && error.code === 'invalid_request') request.unknownNames = unknown;
      throw error;
    }
  });
  // A body that was not sent at all is the same as an empty one.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined) request.body = {};
    done();
  });

  nameIgnoredFields(app);

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-api-version', CURRENT_VERSION);
    reply.header('cache-control', 'no-store');
    // Unknown paths and methods are authenticated and counted like all others, and only then refused.
    const operation = request.routeOptions.config.operation ?? null;
    if (operation?.isOpen) return;
    const assertRoute = () => {
      if (operation === null) throw notServed(request, operations);
    };
    const {
      integrationId,
      headers: admitted,
      integration,
      fault,
    } = handedOver(request.raw)?.admission ?? (await admit(request.headers, operation, assertRoute));
    request.integrationId = integrationId;
    reply.headers(admitted);
    if (integration === null) throw fault;
    request.integration = integration;
    // Any other content type counts as none: it is refused with a body and ignored without one. Fastify would refuse an
    // unreadable content type in both cases.
    const { headers } = request.raw;
    if (headers['content-type'] !== undefined && !isJsonType(headers['content-type'])) delete headers['content-type'];
  });
  app.setNotFoundHandler((request) => {
    throw routeNotFound(request);
  });

  for (const operation of operations) {
    const handler = handlers[operation.id as OperationId] as Handler;
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation },
      bodyLimit: operation.bodyLimitBytes,
      schema: { querystring: operation.query, ...(operation.body === null ? {} : { body: operation.body }) },
      handler: async (request, reply) => {
        const { params, query, body, integration } = request;
        return await handler({ context, integration, params, query, body, request, reply } as Call);
      },
    });
  }
}

/** Workers are woken after the commit. The write has succeeded by then, so a fault is logged and never becomes its answer. */
function withSafeWakeUps({ channel, log }: Pick<AppOptions, 'channel' | 'log'>): ChannelContext {
  return {
    ...channel,
    claimAtCommit: () => channel.claimAtCommit?.() ?? null,
    onEvents(...args) {
      try {
        channel.onEvents(...args);
      } catch (error) {
        log.error({ err: error }, 'the workers were not woken for new events');
      }
    },
  };
}

function notServed(request: FastifyRequest, operations: Operation[]): ApiError {
  const path = decodeURI(pathOf(request.url)).replace(/^\/api/, '');
  const methods = operations
    .filter((operation) => pathPattern(operation.path).test(path))
    .map((operation) => operation.method);
  if (methods.length === 0) return routeNotFound(request);
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return new ApiError('method_not_allowed', {
    message: `This endpoint takes ${allowed.join(', ')}, not ${request.method}.`,
    headers: { Allow: allowed.join(', ') },
  });
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
