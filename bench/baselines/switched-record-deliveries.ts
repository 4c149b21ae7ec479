import type { Transaction } from '../../src/db/database.ts';
import type { AttemptOutcome } from '../../src/webhooks/delivery-queue/outcomes/attempt-outcome.ts';
import * as real from '../../src/webhooks/delivery-queue/outcomes/record-deliveries.ts';
import * as alone from './record-deliveries-alone.ts';
import { followSide } from './side-switch.ts';

const side = followSide();

type Row = ReturnType<typeof alone.outcomeRow>;

export function outcomeRow(outcome: AttemptOutcome): Row {
  return side.isWith() ? real.outcomeRow(outcome) : alone.outcomeRow(outcome);
}

/** By what the rows hold: the side may have changed since they were made. */
export function recordDeliveries(tx: Transaction, rows: Row[]): Promise<Set<string>> {
  const withAttempts = rows.filter((row): row is real.OutcomeRow => 'durationMs' in row);
  return withAttempts.length === rows.length
    ? real.recordDeliveries(tx, withAttempts)
    : alone.recordDeliveries(tx, rows);
}
