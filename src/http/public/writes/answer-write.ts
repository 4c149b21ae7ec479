import type { FastifyReply } from 'fastify';
import type { Call } from '../handler.ts';
import { fingerprintOf, type WriteRequest } from './idempotency-records.ts';
import type { WriteKind } from './write-kind.ts';
import { apiErrorOf } from './write-outcome.ts';

type WriteCall = Pick<Call, 'context' | 'integration' | 'request' | 'reply'>;

/** Runs a write whose request has passed validation and sends its answer: the edge where outcomes become HTTP. */
export async function answerWrite<Input>(call: WriteCall, kind: WriteKind<Input>, input: Input): Promise<FastifyReply> {
  const { context, integration, reply } = call;
  const outcome = await context.writes.run(kind, writeRequest(call), { integration, input });
  if (outcome.kind !== 'answered') throw apiErrorOf(outcome, kind.failureCode);
  const { answer, isReplay } = outcome;
  if (isReplay) reply.headers({ 'Idempotent-Replay': 'true', 'Original-Request-Id': answer.requestId });
  return await reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
}

function writeRequest({ integration, request, context }: WriteCall): WriteRequest {
  const path = request.url.split('?', 1)[0] ?? '';
  const body = context.rawBodies.get(request) ?? Buffer.alloc(0);
  return {
    integrationId: integration.integrationId,
    key: String(request.headers['idempotency-key']),
    fingerprint: fingerprintOf(request.method, path, body),
    requestId: request.id,
    bodyBytes: body.length,
  };
}
