import type { WebhookHeader } from '../../contract/webhooks.ts';
import { dispatchId } from './dispatch-id.ts';

type Sent = {
  eventId: string;
  type: string;
  deliveryId: string;
  /** How often the delivery was sent before. */
  dispatch: number;
  /** Which attempt it is, from 1. */
  attempt: number;
};

/** The headers of one attempt: as they are sent, and as the dashboard shows them later. */
export function webhookHeaders(sent: Sent, signature: string): Record<WebhookHeader | 'User-Agent', string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Crownwheel-Webhooks',
    'X-SVC-Signature': signature,
    'X-SVC-Event-Id': sent.eventId,
    'X-SVC-Event-Type': sent.type,
    'X-SVC-Delivery-Id': dispatchId(sent.deliveryId, sent.dispatch),
    'X-SVC-Delivery-Attempt': String(sent.attempt),
  };
}
