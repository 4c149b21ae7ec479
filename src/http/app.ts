import type { RequestListener, Server, ServerResponse } from 'node:http';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import {
  ANSWER_PIECE_LIMIT_MS,
  CONNECTIONS_LIMIT,
  CONNECTIONS_PER_ADDRESS_DEFAULT,
  HEADERS_LIMIT,
  HEADERS_LIMIT_BYTES,
  OVERLOADED_RETRY_SECONDS,
} from '../contract/limits.ts';
import { newRequestId } from '../ids/request-id.ts';
import type { AppOptions, Timeouts } from './app-options.ts';
import { type BodyDiscard, createBodyDiscard } from './connection/body-discard.ts';
import { limitBodyTime } from './connection/body-timeout.ts';
import { type ClientFaults, clientFaults } from './connection/client-faults.ts';
import { limitConnections } from './connection/connections-per-address.ts';
import { hasTooManyHeaders } from './connection/header-count.ts';
import { createSenders, type Senders } from './connection/senders.ts';
import { limitUnanswered } from './connection/unanswered-requests.ts';
import { dashboardRoutes } from './dashboard/api-routes.ts';
import type { DashboardOptions } from './dashboard/dashboard-options.ts';
import { createOpenStreams } from './dashboard/open-streams.ts';
import { createSessions } from './dashboard/sessions.ts';
import { servePages } from './dashboard/static/page-routes.ts';
import { createWebhookTools } from './dashboard/webhook-tools.ts';
import { docsRoutes } from './docs/routes.ts';
import { errorHandler } from './errors.ts';
import { createFastPath, type FastPath } from './fast-path.ts';
import { createApiRequestLog } from './logging/api-request-log.ts';
import { createLineLimit } from './logging/line-limit.ts';
import { logAnswer, type Written } from './logging/log-answer.ts';
import { photoRoutes } from './photos/routes.ts';
import { publicRoutes } from './public/public-routes.ts';
import { handedOver } from './public/reads/cached-reads.ts';
import { readyRoute } from './public/routes/ready.ts';
import { parseQueryString } from './query-string.ts';
import { plainUrl } from './request-url.ts';
import { routeNotFound } from './route-not-found.ts';
import { securityHeaders } from './security-headers.ts';
import { validatorCompiler } from './validation/validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** A body parser does not get the reply, so the request carries it. */
    response: ServerResponse | null;
    /** Set for the log as soon as the key has named an integration. */
    integrationId: string | null;
    /** The error that was answered, kept for the log. */
    fault: ApiError | null;
    /** What a write answered, kept for the log. */
    written: Written | null;
  }
}

const TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  uploadMs: 15 * 60_000,
  idleMs: 60_000,
  pieceMs: ANSWER_PIECE_LIMIT_MS,
  checkEveryMs: 250,
};

/** Builds the HTTP server. The tests talk to the same server as the clients. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const discard = createBodyDiscard({ timeMs: timeouts.requestMs, ...options.discardLimits });
  const refusals = createLineLimit(options.log, 'refused', options.lineLimits?.refused);
  const keyless = createLineLimit(options.log, 'keyless', options.lineLimits?.keyless);
  const faults = clientFaults({ ...options, discard, refusals });
  const senders = createSenders(options.trustedProxies);
  const unanswered = limitUnanswered();
  const fastPath = createFastPath(senders, unanswered);
  const app = Fastify({
    loggerInstance: withoutChildren(options.log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { maxParamLength: HEADERS_LIMIT_BYTES, querystringParser: parseQueryString },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (framework) =>
      limitConnections(createServer(timeouts, { fastPath, discard, faults, framework }), {
        perAddress: options.connectionsPerAddress ?? CONNECTIONS_PER_ADDRESS_DEFAULT,
        total: options.connectionLimit ?? CONNECTIONS_LIMIT,
        trustedProxies: options.trustedProxies,
        unanswered,
        refuse: (socket, address) => faults.hangUp(socket, tooManyConnections(address)),
        onCut(address) {
          const { status, code, message } = tooManyConnections(address);
          if (refusals.mayWrite(status)) options.log.info({ status, code }, `cut connection: ${message}`);
        },
      }),
    rewriteUrl: (request) => plainUrl(request.url ?? '/'),
    frameworkErrors: errorHandler(options.publicUrl),
    clientErrorHandler: faults.handle,
  });

  app.decorateRequest('response', null);
  app.decorateRequest('integrationId', null);
  app.decorateRequest('fault', null);
  app.decorateRequest('written', null);
  const requestLog = createApiRequestLog(options.db, {
    senders,
    onFault: (error) => options.log.warn({ err: error }, 'requests could not be logged'),
    ...options.requestLogLimits,
  });
  const logs = { log: options.log, requestLog, refusals, keyless };
  app.addHook('onClose', async () => {
    refusals.stop();
    keyless.stop();
  });
  app.addHook('onClose', requestLog.stop);
  app.setValidatorCompiler(validatorCompiler);
  app.setErrorHandler(errorHandler(options.publicUrl));
  // The body of a request to an unknown path is neither read nor checked. Routes that take a body add a parser.
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', (request, reply, done) => {
    request.response = reply.raw;
    const startedAtMs = handedOver(request.raw)?.startedAtMs ?? performance.now();
    reply.raw.on('close', () => {
      const { id: requestId, integrationId, fault, routeOptions, written, unknownNames } = request;
      logAnswer(logs, request.raw, reply.raw, {
        requestId,
        integrationId,
        route: routeOptions.url,
        operation: routeOptions.config?.operation ?? null,
        startedAtMs,
        fault,
        written,
        unknownNames,
      });
    });
    reply.header('x-request-id', request.id);
    reply.headers(securityHeaders);
    // It is set on the raw response, as Fastify itself does when it closes.
    if (options.readiness.isDraining()) reply.raw.setHeader('connection', 'close');
    if (hasTooManyHeaders(request.raw)) return done(new ApiError('headers_too_large'));
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return done(new ApiError('invalid_request', { param: 'Host', message: 'HTTP/1.1 needs a Host header.' }));
    }
    done();
  });
  limitBodyTime(app, timeouts, faults);
  app.addHook('preClose', (done) => {
    discard.stop();
    done();
  });
  answerOddRequests(app, faults);

  await app.register(docsRoutes, { publicUrl: options.publicUrl, isHome: options.dashboard === null });
  if (options.dashboard !== null) {
    servePages(app, options.dashboard);
    await serveDashboardApi(app, { ...options, senders }, options.dashboard);
  } else {
    app.setNotFoundHandler((request) => {
      throw routeNotFound(request);
    });
  }
  const { photoReader, trustedProxies, slowReader } = options;
  if (photoReader !== null) {
    await app.register(photoRoutes, { photoReader, trustedProxies, slowReader, prefix: '/photos' });
  }
  if (options.hasApi) await app.register(publicRoutes, { ...options, ...logs, fastPath, senders, prefix: '/api' });
  else await app.register(readyRoute, { readiness: options.readiness, prefix: '/api' });
  return app;
}

type Listeners = { fastPath: FastPath; discard: BodyDiscard; faults: ClientFaults; framework: RequestListener };

function createServer(timeouts: Timeouts, { fastPath, discard, faults, framework }: Listeners): Server {
  const settings = {
    requestTimeout: timeouts.uploadMs,
    keepAliveTimeout: 72_000,
    headersTimeout: timeouts.headersMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    // Node would answer without the envelope; the first hook does it with one.
    requireHostHeader: false,
  };
  const server = fastPath.createServer(settings, framework);
  server.maxHeadersCount = HEADERS_LIMIT;
  // Before the request has to wait for its turn: until then it is one that is not answered yet, too.
  return server
    .prependListener('request', discard.follow)
    .prependListener('request', faults.follow)
    .setTimeout(timeouts.idleMs);
}

function tooManyConnections(address: string | null): ApiError {
  const from = address === null ? '' : ` from ${address}`;
  return new ApiError('overloaded', {
    message: `Too many connections are open${from}. Close some, or use them for several requests each.`,
    headers: { 'Retry-After': String(OVERLOADED_RETRY_SECONDS) },
  });
}

/** The dashboard's live streams end as soon as a stop begins; an open stream would keep the server from closing. */
async function serveDashboardApi(
  app: FastifyInstance,
  options: AppOptions & { senders: Senders },
  dashboard: DashboardOptions,
): Promise<void> {
  const webhooks = createWebhookTools(options.secretKeys, dashboard.isPrivateWebhookAllowed);
  const sessions = createSessions(options.db, { ...options, now: options.channel.now });
  const streams = createOpenStreams(sessions.findLive);
  app.addHook('onClose', () => webhooks.sender.close());
  await app.register(dashboardRoutes, { ...options, dashboard, webhooks, sessions, streams, prefix: '/api/dashboard' });
  app.addHook('preClose', (done) => {
    streams.endAll();
    done();
  });
}

/** A logger for each request would cost more than its one line, which names the request itself. */
function withoutChildren(log: FastifyBaseLogger): FastifyBaseLogger {
  const only: FastifyBaseLogger = Object.create(log);
  only.child = () => only;
  return only;
}

/** On CONNECT, Node closes the connection without an answer, and it refuses an Expect header that it does not know. */
function answerOddRequests(app: FastifyInstance, faults: ClientFaults): void {
  app.server.on('connect', (request) =>
    faults.hangUp(request.socket, new ApiError('invalid_request', { message: 'CONNECT is not served here.' })),
  );
  app.server.on('checkExpectation', (request, response) => void app.server.emit('request', request, response));
}
