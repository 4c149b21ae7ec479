import type { AttemptOutcome } from '../delivery-queue/attempt-outcome.ts';

/** What a batch of outcomes says about one receiver, in the order in which they ended. */
export type Health = {
  integrationId: string;
  url: string;
  successAt: Date | null;
  failureAt: Date | null;
  /** Failures since the last success among them. */
  failures: number;
  /** Runs of 410 answers: the one at the beginning goes on from the last batch, the one at the end into the next. */
  firstGone: number;
  longestGone: number;
  lastGone: number;
  isAllGone: boolean;
};

const GONE = 410;

/** In the order of the receivers' ids. */
export function healthOf(outcomes: AttemptOutcome[]): Health[] {
  const byReceiver = new Map<string, Health>();
  for (const { delivery, result, endedAt } of outcomes) {
    const { integrationId, url } = delivery;
    const key = `${integrationId} ${url}`;
    const health = byReceiver.get(key) ?? unknownHealth(integrationId, url);
    byReceiver.set(key, health);
    if (result.isSuccess) {
      health.successAt = endedAt;
      health.failures = 0;
    } else {
      health.failureAt = endedAt;
      health.failures += 1;
    }
    health.isAllGone &&= result.responseCode === GONE;
    health.lastGone = result.responseCode === GONE ? health.lastGone + 1 : 0;
    health.longestGone = Math.max(health.longestGone, health.lastGone);
    if (health.isAllGone) health.firstGone = health.lastGone;
  }
  return [...byReceiver.values()].sort((one, other) => (one.integrationId < other.integrationId ? -1 : 1));
}

function unknownHealth(integrationId: string, url: string): Health {
  return {
    integrationId,
    url,
    successAt: null,
    failureAt: null,
    failures: 0,
    firstGone: 0,
    longestGone: 0,
    lastGone: 0,
    isAllGone: true,
  };
}
