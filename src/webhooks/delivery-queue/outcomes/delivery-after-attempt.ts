import { waitMsAfter } from '../retries/retry-schedule.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';

type DeliveryAfterAttempt = {
  attempts: number;
  status: 'succeeded' | 'failed' | 'dead_letter';
  /** When it is tried again. */
  dueAt: Date | null;
};

/** What becomes of a delivery: it is delivered, waits for its next attempt, or is a dead letter after the last one. */
export function deliveryAfterAttempt({ delivery, result, endedAt }: AttemptOutcome): DeliveryAfterAttempt {
  const attempts = delivery.attempts + 1;
  if (result.isSuccess) return { attempts, status: 'succeeded', dueAt: null };
  const waitMs = waitMsAfter(attempts);
  if (waitMs === null) return { attempts, status: 'dead_letter', dueAt: null };
  return { attempts, status: 'failed', dueAt: new Date(endedAt.getTime() + waitMs) };
}
