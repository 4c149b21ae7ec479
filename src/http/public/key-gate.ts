import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../contract/errors.ts';
import { keyInUse, type Settled, WAIT_LIMIT_MS, type WriteRequest } from './idempotency.ts';

/**
 * Requests with the same key queue here, in the process, so that a burst of retries holds one connection and not one
 * each. The first runs; when it succeeds the others get its answer, when it fails the next one runs.
 */
export type KeyGate = {
  pass(request: WriteRequest, run: () => Promise<Settled>): Promise<Settled>;
};

type Running = { fingerprint: Buffer; settled: Promise<Settled> };

export function createKeyGate(waitLimitMs = WAIT_LIMIT_MS): KeyGate {
  const byName = new Map<string, Running>();

  async function lead(name: string, request: WriteRequest, run: () => Promise<Settled>): Promise<Settled> {
    const running: Running = { fingerprint: request.fingerprint, settled: run() };
    byName.set(name, running);
    try {
      return await running.settled;
    } finally {
      if (byName.get(name) === running) byName.delete(name);
    }
  }

  return {
    async pass(request, run) {
      const name = `${request.integrationId} ${request.key}`;
      const deadlineMs = Date.now() + waitLimitMs;
      for (;;) {
        const first = byName.get(name);
        if (first === undefined) return await lead(name, request, run);
        const outcome = await outcomeBefore(first.settled, deadlineMs);
        if (outcome === 'late') throw keyInUse();
        if (outcome === 'failed') {
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

async function outcomeBefore(work: Promise<Settled>, deadlineMs: number): Promise<Settled | 'failed' | 'late'> {
  const timer = new AbortController();
  const late = sleep(Math.max(0, deadlineMs - Date.now()), 'late' as const, { signal: timer.signal }).catch(
    () => 'late' as const,
  );
  try {
    return await Promise.race([work.catch(() => 'failed' as const), late]);
  } finally {
    timer.abort();
  }
}
