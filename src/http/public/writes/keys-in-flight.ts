import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../contract/errors.ts';
import type { Outcome, Settled, WriteRequest } from './idempotency-records.ts';

/**
 * Where requests wait for a key: here, in the process, without a connection and without a turn. Of those with the same
 * key the first runs; when it succeeds the others get its answer, when it fails the next one runs. A key that is busy on
 * another node is tried again after a pause. Whatever it waits for, a request has one deadline, counted from its arrival.
 */
export type KeyGate = {
  pass(request: WriteRequest, attempt: Attempt): Promise<Settled>;
};

export type Attempt = (deadlineMs: number) => Promise<Outcome>;

const WAIT_LIMIT_MS = 10_000;
/** A write mostly takes some milliseconds, so the other node is soon done; if it is not, asking often does not help. */
const FIRST_PAUSE_MS = 20;
const PAUSE_LIMIT_MS = 1_000;

type Running = { fingerprint: Buffer; settled: Promise<Settled> };

export function createKeyGate(waitLimitMs = WAIT_LIMIT_MS): KeyGate {
  const byName = new Map<string, Running>();

  async function lead(name: string, request: WriteRequest, settled: Promise<Settled>): Promise<Settled> {
    byName.set(name, { fingerprint: request.fingerprint, settled });
    try {
      return await settled;
    } finally {
      byName.delete(name);
    }
  }

  return {
    async pass(request, attempt) {
      const name = `${request.integrationId} ${request.key}`;
      const deadlineMs = performance.now() + waitLimitMs;
      for (;;) {
        const first = byName.get(name);
        if (first === undefined) return await lead(name, request, untilSettled(attempt, deadlineMs));
        const outcome = await outcomeBefore(first.settled, deadlineMs);
        if (outcome === 'late') throw keyInUse();
        if (outcome === 'failed') {
          if (performance.now() >= deadlineMs) throw keyInUse();
          // The turn that cleans up after the first one comes before this one's next look.
          await Promise.resolve();
          continue;
        }
        if (!first.fingerprint.equals(request.fingerprint)) throw new ApiError('key_reused_with_different_body');
        return { answer: outcome.answer, isReplay: true };
      }
    },
  };
}

async function untilSettled(attempt: Attempt, deadlineMs: number): Promise<Settled> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_LIMIT_MS)) {
    const outcome = await attempt(deadlineMs);
    if (outcome instanceof ApiError) throw outcome;
    if (outcome !== 'busy') return outcome;
    const leftMs = deadlineMs - performance.now();
    // Drawn anew each time, so that two nodes that met once do not meet again.
    const nextMs = pauseMs * (0.5 + Math.random() / 2);
    await sleep(Math.max(0, Math.min(nextMs, leftMs)));
    if (leftMs <= nextMs) throw keyInUse();
  }
}

function keyInUse(): ApiError {
  return new ApiError('idempotency_key_in_use', { headers: { 'Retry-After': '1' } });
}

async function outcomeBefore(work: Promise<Settled>, deadlineMs: number): Promise<Settled | 'failed' | 'late'> {
  const timer = new AbortController();
  const late = sleep(Math.max(0, deadlineMs - performance.now()), 'late' as const, { signal: timer.signal }).catch(
    () => 'late' as const,
  );
  try {
    return await Promise.race([work.catch(() => 'failed' as const), late]);
  } finally {
    timer.abort();
  }
}
