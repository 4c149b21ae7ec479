import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyedQueue } from '../../../concurrency/keyed-queue.ts';
import { keyReused, type WriteRequest } from './idempotency-records.ts';
import { BUSY, type WriteOutcome } from './write-outcome.ts';

/**
 * Where requests wait for a key: in the process, without a connection. Of those with the same key the first runs; when
 * it succeeds the others get its answer, when it fails the next one runs. A key that is busy on another node is tried
 * again after a pause. Whatever it waits for, a request has one deadline, counted from its arrival.
 */
export type KeysInFlight = (request: WriteRequest, attempt: Attempt) => Promise<WriteOutcome>;

/** Tries a write; `busy` means that another node runs a request with its key. */
export type Attempt = (deadlineMs: number) => Promise<WriteOutcome>;

const WAIT_LIMIT_MS = 10_000;
/** A write mostly takes some milliseconds, so the other node is soon done; if it is not, asking often does not help. */
const FIRST_PAUSE_MS = 20;
const PAUSE_LIMIT_MS = 1_000;

type Pending = { request: WriteRequest; attempt: Attempt; deadlineMs: number };

export function createKeysInFlight(waitLimitMs = WAIT_LIMIT_MS): KeysInFlight {
  const queue = createKeyedQueue<Pending, WriteOutcome>({
    run: (pending) => Promise.all(pending.map(untilNotBusy)),
    batchLimit: 1,
    resultForWaiting(outcome, { request }, waiting) {
      if (outcome.kind !== 'answered') return undefined;
      if (!request.fingerprint.equals(waiting.request.fingerprint)) return keyReused();
      return { ...outcome, isReplay: true };
    },
  });
  return async (request, attempt) => {
    const deadlineMs = performance.now() + waitLimitMs;
    const key = `${request.integrationId} ${request.key}`;
    const outcome = await queue.add(key, { request, attempt, deadlineMs }, { deadlineMs });
    return outcome === 'late' ? BUSY : outcome;
  };
}

async function untilNotBusy({ attempt, deadlineMs }: Pending): Promise<WriteOutcome> {
  let outcome = await attempt(deadlineMs);
  for (let pauseMs = FIRST_PAUSE_MS; outcome.kind === 'busy'; pauseMs = Math.min(2 * pauseMs, PAUSE_LIMIT_MS)) {
    const leftMs = deadlineMs - performance.now();
    // Random each time, so that two nodes that collided once do not collide again.
    const nextMs = pauseMs * (0.5 + Math.random() / 2);
    await sleep(Math.max(0, Math.min(nextMs, leftMs)));
    if (leftMs <= nextMs) return BUSY;
    outcome = await attempt(deadlineMs);
    // The key was busy when it was last tried, and that is what the request waited for.
    if (outcome.kind === 'late') return BUSY;
  }
  return outcome;
}
