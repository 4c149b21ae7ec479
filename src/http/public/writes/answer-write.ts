import type { FastifyReply } from 'fastify';
import { eventLoopSlices, runAtOnce } from '../../../concurrency/time-slices.ts';
import { shareOf } from '../../../dealers/integrations/admission.ts';
import { LARGE_BODY_BYTES } from '../../json/json-body.ts';
import type { Call } from '../handler.ts';
import { fingerprintSteps, type WriteRequest } from './idempotency-records.ts';
import type { WriteKind } from './write-kind.ts';
import { apiErrorOf } from './write-outcome.ts';

/** The id of what was written stands at the beginning of the answer. */
const ID_WITHIN_CHARACTERS = 200;

type WriteCall = Pick<Call, 'context' | 'integration' | 'request' | 'reply'>;

/** Runs a write whose request has passed validation and sends its answer: the edge where outcomes become HTTP. */
export async function answerWrite<Input>(call: WriteCall, kind: WriteKind<Input>, input: Input): Promise<FastifyReply> {
  const { context, integration, reply } = call;
  const outcome = await context.writes.run(kind, await writeRequest(call), { integration, input });
  if (outcome.kind !== 'answered') throw apiErrorOf(outcome, kind.failureCode);
  const { answer, isReplay } = outcome;
  call.request.written = {
    answer: answer.body.slice(0, ID_WITHIN_CHARACTERS),
    originalRequestId: isReplay ? answer.requestId : null,
  };
  if (isReplay) reply.headers({ 'Idempotent-Replay': 'true', 'Original-Request-Id': answer.requestId });
  return await reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
}

async function writeRequest({ integration, request }: WriteCall): Promise<WriteRequest> {
  const path = request.url.split('?', 1)[0] ?? '';
  const body = request.rawBody ?? Buffer.alloc(0);
  const { integrationId } = integration;
  const steps = fingerprintSteps(request.method, path, body);
  return {
    integrationId,
    key: String(request.headers['idempotency-key']),
    fingerprint:
      body.length > LARGE_BODY_BYTES ? await eventLoopSlices.run(shareOf(integration), steps) : runAtOnce(steps),
    requestId: request.id,
    bodyBytes: body.length,
  };
}
