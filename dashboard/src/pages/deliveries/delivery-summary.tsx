import { formatDuration } from '../../format.ts';
import { Time } from '../../ui/time.tsx';
import { plainError } from './attempts/plain-error.ts';
import type { DeliveryRow } from './delivery-queries.ts';

type DeliverySummaryProps = {
  delivery: Pick<DeliveryRow, 'status' | 'attempts' | 'delay_ms' | 'next_attempt_at' | 'response_code' | 'error'>;
  /** Of the integration. */
  name: string;
};

/** How a delivery stands, in one sentence: what happened last, and what happens next. */
export function DeliverySummary({ delivery, name }: DeliverySummaryProps) {
  const { status, attempts, delay_ms: delayMs, next_attempt_at: next, response_code: code, error } = delivery;
  const tries = attempts === 1 ? 'once' : `${attempts} times`;
  const answer =
    code === null ? (error === null ? 'nothing answered' : plainError(error).sentence) : `${name} answered ${code}`;
  switch (status) {
    case 'succeeded':
      return `Arrived after ${formatDuration(delayMs ?? 0)}.`;
    case 'dead_letter':
      return `Tried ${tries}, then given up: ${answer}. Replay it when ${name} is ready.`;
    case 'held':
      return 'Held until webhooks are on again.';
    case 'pending':
      return 'Waits to be sent.';
    case 'failed':
      return (
        <>
          Tried {tries}: {answer}.{' '}
          {next === null ? (
            'It is tried again now.'
          ) : (
            <>
              Next try <Time at={next} isPlanned />.
            </>
          )}
        </>
      );
  }
}
