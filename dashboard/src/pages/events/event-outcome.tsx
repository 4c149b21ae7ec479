import { UNSENT_REASON_LABELS } from '../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { Status } from '../../ui/status.tsx';
import { DeliveryStatus } from '../deliveries/delivery-parts.tsx';
import type { EventRow } from './event-queries.ts';

/** How its delivery stands, or why it has none. */
export function EventOutcome({ event }: { event: Pick<EventRow, 'delivery' | 'unsent_reason'> }) {
  if (event.delivery !== null) return <DeliveryStatus status={event.delivery.status} />;
  return <Status tone="off">{UNSENT_REASON_LABELS[event.unsent_reason ?? 'unknown']}</Status>;
}
