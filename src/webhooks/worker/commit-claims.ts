import type { Claimed } from '../delivery-queue/claim.ts';
import type { CommitClaims } from '../delivery-queue/claim-at-commit.ts';
import type { EndpointIds } from '../endpoints/endpoint-ids.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { WorkerLimits } from './worker-limits.ts';

/** What the worker lends to transactions of its process, and what it does with the deliveries that they claimed for it. */
export type CommitClaimsOptions = {
  limits: WorkerLimits;
  slots: ConcurrencyLimit;
  leaseToken: number;
  now: Date | null;
  /** How many workers share the slots of an endpoint, and how many slots a claim of this worker has asked for just now. */
  workers: number;
  asked: () => number;
  canClaim: (integrationId: string) => boolean;
  /** The transaction is committed. `askedAt` is before the time from which the lease counts. */
  onClaimed: (claimed: Claimed[], askedAt: number) => void;
  /** The transaction is not committed, and its slots are free. */
  onCancelled: () => void;
};

/** The claims of one transaction. Its slots are taken until it ends. */
export function openCommitClaims(options: CommitClaimsOptions): CommitClaims {
  const { limits, slots, leaseToken, now, workers, asked, canClaim, onClaimed, onCancelled } = options;
  const taken: { endpoint: EndpointIds; bytes: number }[] = [];
  const claimed: Claimed[] = [];
  let askedAt = 0;
  let hasQueued = false;

  function giveBack(): void {
    for (const { endpoint, bytes } of taken.splice(0)) slots.release(endpoint, bytes);
  }

  return {
    leaseToken,
    leaseMs: limits.leaseMs,
    allSlotsPerEndpoint: limits.inFlightPerEndpoint,
    now,
    takeSlots(endpoint, bodyBytes) {
      const { integrationId, organizationId } = endpoint;
      if (!canClaim(integrationId)) return 0;
      // The lease begins later, when the insert runs.
      if (taken.length === 0) askedAt = performance.now();
      const { total, perEndpoint, perDealer } = slots.available(workers, asked());
      const own = perEndpoint - (slots.inFlight.get(integrationId) ?? 0);
      const dealers = perDealer - (slots.inFlightByDealer.get(organizationId) ?? 0);
      const count = Math.max(0, Math.min(bodyBytes.length, total, own, dealers));
      for (const [index, bytes] of bodyBytes.slice(0, count).entries()) {
        if (slots.bytes() >= limits.inFlightBytes || slots.hasManyBytes(endpoint)) return index;
        slots.acquire(endpoint, bytes);
        taken.push({ endpoint, bytes });
      }
      return count;
    },
    add(more) {
      claimed.push(...more);
    },
    noteQueued() {
      hasQueued = true;
    },
    hasQueued: () => hasQueued,
    send() {
      // The attempts take them again at once.
      giveBack();
      if (claimed.length > 0) onClaimed(claimed, askedAt);
    },
    cancel() {
      if (taken.length === 0) return;
      giveBack();
      onCancelled();
    },
  };
}
