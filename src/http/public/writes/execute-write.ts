import type { FastifyReply } from 'fastify';
import type { ErrorCode } from '../../../contract/errors.ts';
import type { Transaction } from '../../../db/database.ts';
import { writeFault } from '../database-faults.ts';
import type { Call } from '../handler.ts';
import {
  findRecords,
  fingerprintOf,
  type Outcome,
  recordAnswers,
  replayOf,
  type Settled,
  tryLockKeys,
  type WriteRequest,
} from './idempotency-records.ts';

/** What an operation answers: a status, a body that is JSON text already, and whether it is about test data. */
export type WriteResult = { status: number; body: string; isTest: boolean };

export type Write = {
  /** The code of a fault in the work or in its commit. */
  failure: ErrorCode;
  /** Writes of the same name need the same lock, so they take turns. */
  turn: string;
};

type WriteCall = Pick<Call, 'context' | 'integration' | 'request' | 'reply'>;

/**
 * Runs a mutating operation once for its key: lock the key, look for a recorded answer, do the work, record the answer,
 * commit. A fault before the work, or a lock that was not to be had, is `lookup_failed`; one in the work or in the
 * commit is the operation's own code.
 */
export async function writeOnce(
  call: WriteCall,
  { failure, turn }: Write,
  work: (tx: Transaction) => Promise<WriteResult>,
): Promise<FastifyReply> {
  const { context } = call;
  const request = writeRequest(call);
  const attempt = async (): Promise<Outcome> => {
    const now = context.channel.now();
    let step: ErrorCode = 'lookup_failed';
    try {
      return await context.db.transaction(async (tx) => {
        step = 'lookup_failed';
        const [isLocked] = await tryLockKeys(tx, [request]);
        const record = (await findRecords(tx, [request], now)).get(request.key);
        if (record !== undefined) return replayOf(record, request);
        if (!isLocked) return 'busy';
        step = failure;
        const { status, body, isTest } = await work(tx);
        const answer = { status, body, requestId: request.requestId };
        await recordAnswers(tx, [{ request, answer, isTest }], now);
        return { answer, isReplay: false };
      });
    } catch (error) {
      return writeFault(step, error);
    }
  };
  const settled = await context.keyGate.pass(request, (deadlineMs) => context.turns(turn, { deadlineMs, attempt }));
  return await sendSettled(call.reply, settled);
}

/** The key and fingerprint of a request that has passed validation. */
export function writeRequest({ integration, request, context }: WriteCall): WriteRequest {
  const path = request.url.split('?', 1)[0] ?? '';
  return {
    integrationId: integration.integrationId,
    key: String(request.headers['idempotency-key']),
    fingerprint: fingerprintOf(request.method, path, context.rawBodies.get(request) ?? Buffer.alloc(0)),
    requestId: request.id,
  };
}

export async function sendSettled(reply: FastifyReply, { answer, isReplay }: Settled): Promise<FastifyReply> {
  if (isReplay) reply.headers({ 'Idempotent-Replay': 'true', 'Original-Request-Id': answer.requestId });
  return await reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
}
