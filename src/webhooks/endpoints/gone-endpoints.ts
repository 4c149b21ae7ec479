import type { AttemptOutcome } from '../delivery-queue/outcomes/attempt-outcome.ts';

/** What a batch of outcomes says about one endpoint, in the order in which they ended. */
export type EndpointHealth = {
  integrationId: string;
  url: string;
  successAt: Date | null;
  failureAt: Date | null;
  /** Failures since the last success among them. */
  failures: number;
  /** Runs of 410 answers: the leading one continues that of the last batch, the trailing one goes on into the next. */
  leadingGone: number;
  longestGone: number;
  trailingGone: number;
  isAllGone: boolean;
};

const GONE = 410;

/** In the order of the integrations' ids, in which their rows are locked. */
export function endpointHealth(outcomes: AttemptOutcome[]): EndpointHealth[] {
  const byEndpoint = new Map<string, EndpointHealth>();
  for (const { delivery, result, endedAt } of outcomes) {
    const { integrationId, url } = delivery;
    const key = `${integrationId} ${url}`;
    const health = byEndpoint.get(key) ?? unknownHealth(integrationId, url);
    byEndpoint.set(key, health);
    if (result.isSuccess) {
      health.successAt = endedAt;
      health.failures = 0;
    } else {
      health.failureAt = endedAt;
      health.failures += 1;
    }
    health.isAllGone &&= result.responseCode === GONE;
    health.trailingGone = result.responseCode === GONE ? health.trailingGone + 1 : 0;
    health.longestGone = Math.max(health.longestGone, health.trailingGone);
    if (health.isAllGone) health.leadingGone = health.trailingGone;
  }
  return [...byEndpoint.values()].sort((one, other) => (one.integrationId < other.integrationId ? -1 : 1));
}

function unknownHealth(integrationId: string, url: string): EndpointHealth {
  return {
    integrationId,
    url,
    successAt: null,
    failureAt: null,
    failures: 0,
    leadingGone: 0,
    longestGone: 0,
    trailingGone: 0,
    isAllGone: true,
  };
}
