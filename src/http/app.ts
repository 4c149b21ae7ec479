import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { ChannelContext } from '../channel/context.ts';
import { ApiError } from '../contract/errors.ts';
import { newRequestId } from '../contract/ids.ts';
import { HEADERS_LIMIT_BYTES } from '../contract/limits.ts';
import type { Database } from '../db/database.ts';
import { docsRoutes } from './docs/routes.ts';
import { clientErrorHandler, errorHandler, rawResponse } from './errors.ts';
import { publicRoutes } from './public/public-routes.ts';
import type { RateLimitStore } from './public/rate-limit/store.ts';
import { securityHeaders } from './security-headers.ts';
import { validatorCompiler } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key names an integration; for the log. */
    integrationId: string | null;
    /** The code of the error that was answered; for the log. */
    errorCode: string | null;
  }
}

export type AppOptions = {
  db: Database;
  log: FastifyBaseLogger;
  publicUrl: string;
  /** What the operations on stock and orders are handed. */
  channel: ChannelContext;
  secretKeys: readonly string[];
  /** How much memory the answers to reads may take. */
  readCacheBytes: number;
  rateLimits: RateLimitStore;
  /** Which parts to serve. The docs are always there. */
  hasApi: boolean;
  timeouts?: Partial<Timeouts>;
};

export type Timeouts = {
  /** For a request's headers, and for the whole request, to arrive. */
  headersMs: number;
  requestMs: number;
  /** For a connection on which nothing moves, such as a client that does not read its answer. */
  idleMs: number;
  /** How often late requests are looked for. */
  checkEveryMs: number;
};

const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, idleMs: 60_000, checkEveryMs: 1_000 };

/** The one place that builds the HTTP server; the tests talk to the same thing as the clients. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { maxParamLength: HEADERS_LIMIT_BYTES },
    requestTimeout: timeouts.requestMs,
    connectionTimeout: timeouts.idleMs,
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    http: {
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkEveryMs,
      maxHeaderSize: HEADERS_LIMIT_BYTES,
    },
    rewriteUrl: (request) => escapeBadPercents(request.url ?? '/'),
    frameworkErrors: errorHandler(options.publicUrl),
    clientErrorHandler: clientErrorHandler(options.publicUrl),
  });

  app.decorateRequest('integrationId', null);
  app.decorateRequest('errorCode', null);
  app.setValidatorCompiler(validatorCompiler);
  app.setErrorHandler(errorHandler(options.publicUrl));
  app.setNotFoundHandler(() => {
    throw new ApiError('route_not_found');
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id);
    reply.headers(securityHeaders);
  });
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        integrationId: request.integrationId ?? undefined,
        route: request.routeOptions.url,
        status: reply.statusCode,
        code: request.errorCode ?? undefined,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
      },
      `${request.method} ${pathOf(request.url)} ${reply.statusCode}`,
    );
  });
  answerOddRequests(app, options.publicUrl);

  await app.register(docsRoutes, { publicUrl: options.publicUrl });
  if (options.hasApi) await app.register(publicRoutes, { ...options, prefix: '/api' });
  return app;
}

/** Node closes the connection without a word on CONNECT, and on an Expect it does not know; we answer. */
function answerOddRequests(app: FastifyInstance, publicUrl: string): void {
  const refuse = (message: string) => rawResponse(new ApiError('invalid_request', { message }), publicUrl);
  app.server.on('connect', (_request, socket) => socket.end(refuse('CONNECT is not served here.')));
  app.server.on('checkExpectation', (_request, response) => {
    response.socket?.end(refuse('The only Expect header that is served is "100-continue".'));
  });
}

/** A "%" that begins no escape stands for itself: the path then names nothing, and is answered like any other. */
function escapeBadPercents(url: string): string {
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

/** Queries stay out of the log: a cursor or a filter may say more about a dealer than a log should keep. */
function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '/';
}
