import type { Database } from '../../db/database.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';
import { type Recorded, recordOutcomes } from './record-outcomes.ts';
import { type ReleasedClaim, releaseClaims } from './release-claims.ts';

/** What a worker has still to write down: how attempts ended, and claims that it gives back unsent. */
export type OutcomeBuffer = {
  /** Attempts that have ended, for each receiver. */
  readonly byReceiver: ReadonlyMap<string, number>;
  size(): number;
  add(outcome: AttemptOutcome): void;
  giveBack(claim: ReleasedClaim): void;
  /** Writes some of it; what fails stays. */
  record(limit: number): Promise<Recorded & { outcomes: AttemptOutcome[] }>;
};

export function createOutcomeBuffer(db: Database): OutcomeBuffer {
  const byReceiver = new Map<string, number>();
  let outcomes: AttemptOutcome[] = [];
  let returned: ReleasedClaim[] = [];
  return {
    byReceiver,
    size: () => outcomes.length + returned.length,
    add(outcome) {
      outcomes.push(outcome);
      const { integrationId } = outcome.delivery;
      byReceiver.set(integrationId, (byReceiver.get(integrationId) ?? 0) + 1);
    },
    giveBack(claim) {
      returned.push(claim);
    },
    async record(limit) {
      const back = returned.slice(0, limit);
      if (back.length > 0) await releaseClaims(db, back);
      returned = returned.slice(back.length);
      const batch = outcomes.slice(0, limit);
      if (batch.length === 0) return { disabled: [], deadLetters: new Map(), outcomes: [] };
      const recorded = await recordOutcomes(db, batch);
      outcomes = outcomes.slice(batch.length);
      for (const { delivery } of batch) {
        const left = (byReceiver.get(delivery.integrationId) ?? 1) - 1;
        if (left === 0) byReceiver.delete(delivery.integrationId);
        else byReceiver.set(delivery.integrationId, left);
      }
      return { ...recorded, outcomes: batch };
    },
  };
}
