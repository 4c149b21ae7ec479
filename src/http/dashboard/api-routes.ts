import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LIVE_STREAM_TYPE } from '../../contract/dashboard/live.ts';
import { dashboardOpenapi } from '../../contract/dashboard/openapi.ts';
import type { DashboardOperation } from '../../contract/dashboard/operation.ts';
import { DASHBOARD_OPERATIONS, type DashboardOperationId } from '../../contract/dashboard/operations.ts';
import { networkOf } from '../../dealers/users/client-network.ts';
import { limitBodies } from '../connection/body-memory.ts';
import { clientAddress } from '../connection/client-address.ts';
import { clientSignal } from '../connection/client-signal.ts';
import { readJsonBody } from '../json/json-body.ts';
import type { Shape } from '../json/shape.ts';
import type { Call, DashboardContext, SignedIn } from './call.ts';
import { DashboardError, handleDashboardError, overloaded } from './dashboard-error.ts';
import { handlers } from './handlers.ts';
import { createAnswerLimits } from './limits/answer-limits.ts';
import { withConnectionLimit } from './limits/call-connections.ts';
import {
  createFileLimits,
  createOperationLimits,
  createWaitingLimits,
  type OperationLimits,
} from './limits/operation-limits.ts';
import { createRequestRate } from './limits/request-rate.ts';
import { assertStorableTexts } from './limits/storable-texts.ts';
import { assertDiskSpace, assertStorageQuota, countedCall, uncountedCall } from './limits/storage-quota.ts';
import { originCheck } from './origin-check.ts';
import { assertMayCall } from './permissions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; known before the body is read. */
    caller: Caller | null;
  }
}

const COUNTED_BODY_BYTES = 8 * 1024;
/**
 * The session is looked up before the body is read. The body and a turn may take a minute, a file a quarter of an hour; by then
 * the person may have been removed, or be staff. After this time it is looked up once more.
 */
const ADMITTED_MS = 1_000;

/** The dashboard's API: one route for each operation of the table. The order of checks reads downward in `onRequest`, and goes on in `handler`. */
export async function dashboardRoutes(app: FastifyInstance, context: DashboardContext): Promise<void> {
  const { sessions, senders, publicUrl } = context;
  const assertOrigin = originCheck(publicUrl);
  const openapi = Buffer.from(JSON.stringify(dashboardOpenapi(publicUrl)));
  const rate = createRequestRate(context.dashboardRate);
  const limitsOf = limitsByOperation(context.db.pool.options.max);
  const countAnswer = createAnswerLimits();

  app.setErrorHandler(handleDashboardError);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    assertOrigin(request.method, request.headers.origin);
    // Before the body is read: nobody has been asked for a session, nor counted.
    if (request.is404) throw routeNotFound();
  });
  app.setNotFoundHandler(() => {
    throw routeNotFound();
  });
  app.decorateRequest('caller', null);
  // A person may send many requests, so small bodies count, too. Uploads count their bytes themselves.
  const bodies = limitBodies(app, {
    keyOf(request) {
      const { caller } = request;
      return caller === null || request.routeOptions.config.isUpload === true ? null : dealerKey(caller);
    },
    countedFromBytes: COUNTED_BODY_BYTES,
    refusal: () => overloaded('Too much is being sent by your team at once. Try again in a moment.'),
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    await bodies.passRead(request, body.length);
    const shape = (request.routeOptions.schema?.body ?? {}) as Shape;
    const { caller } = request;
    if (caller === null) throw notAdmitted();
    return await readJsonBody(body, 'application/json', {
      key: dealerKey(caller),
      shape,
      signal: clientSignal(request),
    });
  });
  // A file is passed on as a stream. An operation that takes JSON refuses it in the validation.
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined) request.body = {};
  });

  // Of a body, `readJsonBody` has refused them in the fields that somebody reads.
  app.addHook('preHandler', async ({ params, query }) => {
    for (const given of [params, query]) assertStorableTexts(given);
  });

  app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(openapi));

  for (const [id, operation] of Object.entries(DASHBOARD_OPERATIONS) as [DashboardOperationId, DashboardOperation][]) {
    // The table's own type holds each handler to its operation; here all are one.
    const handle = handlers[id] as unknown as (call: Call) => Promise<unknown>;
    app.route({
      method: operation.method,
      // Fastify's own HEAD would run the operation, and read a file to its end in no slot, as its reply is sent at once.
      exposeHeadRoute: false,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      bodyLimit: operation.bodyLimitBytes,
      config: { isUpload: operation.isUpload },
      schema: {
        querystring: operation.query,
        ...(operation.body === null || operation.isUpload ? {} : { body: operation.body }),
      },
      // This runs before the body is read: the service reads no body of somebody without a session.
      onRequest: async (request, reply) => {
        const address = clientAddress(request, context.trustedProxies);
        rate.countSession(sessions.cookieOf(request));
        const known = operation.access === 'public' ? null : sessions.lastUserOf(request);
        if (known !== null) rate.countPerson(known.userId);
        const user = operation.access === 'public' ? null : await sessions.find(request, reply, address);
        if (user !== null) senders.note(request.headers, { group: user.organizationId, key: user.userId });
        if (user === null) rate.countNetwork(networkOf(address));
        else if (known === null) rate.countPerson(user.userId);
        if (operation.access !== 'public') assertMayCall(operation, user);
        if (user !== null) {
          assertDiskSpace(operation, context.isDiskLow?.() ?? false);
          assertStorageQuota(operation, user.storage);
        }
        request.caller = { user, address, admittedAt: performance.now() };
      },
      handler: async (request, reply) => {
        const { caller } = request;
        if (caller === null) throw notAdmitted();
        const { address, admittedAt } = caller;
        const readmitted = async () => {
          if (caller.user === null || performance.now() - admittedAt < ADMITTED_MS) return caller.user;
          const user = await sessions.find(request, reply, address);
          assertMayCall(operation, user);
          return user;
        };
        const key = dealerKey(caller);
        const answer = await limitsOf(operation)(key, reply, async () => {
          const user = await readmitted();
          const actor = user === null ? null : { kind: 'person', userId: user.userId, role: user.role, address };
          const isStoring = user !== null && operation.method !== 'GET';
          const own = withConnectionLimit(context);
          const counted = isStoring ? countedCall(user.organizationId, own) : uncountedCall(own);
          const { params, query, body } = request;
          const answer = await handle({
            ...counted,
            user,
            actor,
            address,
            params,
            query,
            body,
            request,
            reply,
            assertAdmitted: async () => void (await readmitted()),
          } as unknown as Call);
          // A file is on its way, or its client has gone; then waiting for the reply has led to nothing.
          if (answer === reply || reply.sent || typeof operation.response === 'string') return 'sent';
          if (answer === null) return null;
          const text = JSON.stringify(answer);
          countAnswer(key, reply, Buffer.byteLength(text));
          return { text };
        });
        if (answer === 'sent') return reply;
        if (answer === null) return reply.code(204).send();
        return reply.type('application/json; charset=utf-8').send(answer.text);
      },
    });
  }
}

/**
 * Sending a file takes long, and so does waiting for an endpoint, so these have slots of their own: the others stand for
 * connections to the database. Live streams and uploads count theirs themselves.
 */
function limitsByOperation(poolSize: number): (operation: DashboardOperation) => OperationLimits {
  const runRead = createOperationLimits(poolSize, 'read');
  const runWrite = createOperationLimits(poolSize, 'write');
  const runPublic = createOperationLimits(poolSize, 'public');
  const runElsewhere = createWaitingLimits();
  const sendFile = createFileLimits();
  return ({ isUpload, waitsElsewhere, response, access, method }) => {
    if (isUpload || response === LIVE_STREAM_TYPE) return (_key, _reply, task) => task();
    if (waitsElsewhere) return runElsewhere;
    if (access === 'public') return runPublic;
    if (typeof response === 'string') return sendFile;
    return method === 'GET' ? runRead : runWrite;
  };
}

function routeNotFound(): DashboardError {
  return new DashboardError('route_not_found', 'There is no such address.');
}

/** It can't happen: "onRequest" of each route sets who calls. */
function notAdmitted(): Error {
  return new Error('a call that nobody has admitted');
}

type Caller = { user: SignedIn | null; address: string; admittedAt: number };

/** Whose share of the process a call takes: the dealer's, or that of the client's network before anybody has signed in. */
function dealerKey({ user, address }: Pick<Caller, 'user' | 'address'>): string {
  return user?.organizationId ?? networkOf(address);
}
