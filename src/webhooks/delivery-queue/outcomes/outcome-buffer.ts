import type { Database } from '../../../db/database.ts';
import { type ReleasedClaim, releaseClaims } from '../release-claims.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';
import { type Recorded, recordOutcomes } from './record-outcomes.ts';

/**
 * What a worker still has to write to the database: how attempts ended, and claims that it releases unsent. A write that
 * fails keeps its batch, and the next one repeats it; both writes are safe to repeat.
 */
export type OutcomeBuffer = {
  /** Attempts that have ended and are not recorded yet, by integration. */
  readonly endedByEndpoint: ReadonlyMap<string, number>;
  size(): number;
  addOutcome(outcome: AttemptOutcome): void;
  addReleasedClaim(claim: ReleasedClaim): void;
  /** Writes at most so many of each kind. */
  flush(limit: number): Promise<Recorded & { outcomes: AttemptOutcome[] }>;
};

export function createOutcomeBuffer(db: Database): OutcomeBuffer {
  const endedByEndpoint = new Map<string, number>();
  let outcomes: AttemptOutcome[] = [];
  let releasedClaims: ReleasedClaim[] = [];
  return {
    endedByEndpoint,
    size: () => outcomes.length + releasedClaims.length,
    addOutcome(outcome) {
      outcomes.push(outcome);
      const { integrationId } = outcome.delivery;
      endedByEndpoint.set(integrationId, (endedByEndpoint.get(integrationId) ?? 0) + 1);
    },
    addReleasedClaim(claim) {
      releasedClaims.push(claim);
    },
    async flush(limit) {
      const claims = releasedClaims.slice(0, limit);
      if (claims.length > 0) await releaseClaims(db, claims);
      releasedClaims = releasedClaims.slice(claims.length);
      const batch = outcomes.slice(0, limit);
      if (batch.length === 0) return { disabled: [], deadLetters: new Map(), outcomes: [] };
      const recorded = await recordOutcomes(db, batch);
      outcomes = outcomes.slice(batch.length);
      for (const { delivery } of batch) {
        const left = (endedByEndpoint.get(delivery.integrationId) ?? 1) - 1;
        if (left === 0) endedByEndpoint.delete(delivery.integrationId);
        else endedByEndpoint.set(delivery.integrationId, left);
      }
      return { ...recorded, outcomes: batch };
    },
  };
}
