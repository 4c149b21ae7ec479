import {
  DELIVERY_STATUS_LABELS,
  UNSENT_REASON_LABELS,
} from '../../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { paths } from '../../../paths.ts';
import { Status } from '../../../ui/status.tsx';
import { TextLink } from '../../../ui/text-link.tsx';
import { DELIVERY_TONES } from '../../deliveries/delivery-parts.tsx';
import type { ItemChannel } from '../item-queries.ts';

type LastEventOutcomeProps = {
  event: NonNullable<ItemChannel['last_event']>;
  stopReasons: ItemChannel['stop_reasons'];
};

/** Whether the website got an event, and if not, why: a link to the delivery, or to the event that has none. */
export function LastEventOutcome({ event, stopReasons }: LastEventOutcomeProps) {
  const { delivery } = event;
  if (delivery === null) {
    return (
      <TextLink to={paths.event(event.id)}>
        <Status tone="off">{UNSENT_REASON_LABELS[event.unsent_reason ?? 'unknown']}</Status>
      </TextLink>
    );
  }
  return (
    <TextLink to={paths.delivery(delivery.id)}>
      <Status tone={DELIVERY_TONES[delivery.status]}>{outcomeText(delivery.status, stopReasons)}</Status>
    </TextLink>
  );
}

function outcomeText(status: keyof typeof DELIVERY_STATUS_LABELS, stopReasons: ItemChannel['stop_reasons']): string {
  if (status === 'dead_letter') return 'Given up';
  if (status !== 'held') return DELIVERY_STATUS_LABELS[status];
  const [reason] = stopReasons;
  if (reason === 'gone' || reason === 'webhooks_off') return 'Held: webhooks are switched off';
  if (reason === 'integration_disabled') return 'Held: the integration is disabled';
  return reason === 'no_url' ? 'Held: no webhook URL' : 'Held: nothing is sent now';
}
