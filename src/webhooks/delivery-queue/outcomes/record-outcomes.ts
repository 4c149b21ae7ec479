import type { ActivityKind } from '../../../activity/activity-counts.ts';
import type { Database } from '../../../db/database.ts';
import { type AttemptCount, recordHealthAndSwitchOff } from '../../endpoints/gone-endpoints.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';
import { type OutcomeRow, outcomeRow, recordDeliveries } from './record-deliveries.ts';

/** What an operator should know: endpoints that were switched off, and deliveries that are given up, by integration. */
export type Recorded = { disabled: string[]; deadLetters: Map<string, number> };

/**
 * Records how attempts ended, many at once. An outcome counts only while the delivery still has the lease of its attempt,
 * and recording ends the lease. So an outcome is dropped when the lease has passed to another worker, which records what
 * became of the delivery, and when it was recorded before: a worker whose commit was made but whose answer was lost
 * records the same batch again, and then returns nothing of it.
 */
export async function recordOutcomes(db: Database, outcomes: AttemptOutcome[]): Promise<Recorded> {
  const allRows = outcomes.map(outcomeRow);
  return await db.transaction(
    async (tx) => {
      const recorded = await recordDeliveries(tx, allRows);
      const rows = allRows.filter(({ id }) => recorded.has(id));
      const counted = outcomes.filter(({ delivery }) => recorded.has(delivery.id));
      const disabled = rows.length === 0 ? [] : await recordHealthAndSwitchOff(tx, counted, activityOf(rows));
      return { disabled, deadLetters: deadLettersOf(rows) };
    },
    { planning: 'by index' },
  );
}

/** How many deliveries of each integration have become dead letters. */
function deadLettersOf(rows: OutcomeRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { status, integrationId } of rows) {
    if (status === 'dead_letter') counts.set(integrationId, (counts.get(integrationId) ?? 0) + 1);
  }
  return counts;
}

/** How many attempts of each integration succeeded, failed, and were the last ones. */
function activityOf(rows: OutcomeRow[]): AttemptCount[] {
  const counts = new Map<string, AttemptCount>();
  const count = (integrationId: string, kind: ActivityKind, at: Date) => {
    const key = `${integrationId} ${kind}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { integrationId, kind, at, count: 1 });
    else known.count += 1;
  };
  for (const { integrationId, status, endedAt } of rows) {
    count(integrationId, status === 'succeeded' ? 'attempts_succeeded' : 'attempts_failed', endedAt);
    if (status === 'dead_letter') count(integrationId, 'dead_letters', endedAt);
  }
  return [...counts.values()];
}
