import type { WebhookHeader } from '../contract/webhooks.ts';
import type { Claimed } from './claim.ts';
import { dispatchId } from './dispatch-id.ts';
import type { SealedBox } from './sealed-box.ts';
import { type AttemptResult, failure, type Sender } from './send.ts';
import { signature } from './sign.ts';

/** A claim that dies again and again with its worker is counted as a failure, lest it kill workers for ever. */
const TAKEOVER_LIMIT = 3;

/** Signs and sends one delivery. It never throws: whatever goes wrong is how the attempt ended. */
export async function dispatch(sender: Sender, box: SealedBox, delivery: Claimed, now: Date): Promise<AttemptResult> {
  if (delivery.takeovers > TAKEOVER_LIMIT) return failure('its worker died every time it was sent');
  try {
    if (delivery.secrets === null) return failure('there is no secret to sign it with');
    const secrets = delivery.secrets.split(' ').map((sealed) => box.open(sealed));
    return await sender.send({
      url: delivery.url,
      body: delivery.body,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Crownwheel-Webhooks',
        'X-SVC-Signature': signature(secrets, Math.floor(now.getTime() / 1000), delivery.body),
        'X-SVC-Event-Id': delivery.eventId,
        'X-SVC-Event-Type': delivery.type,
        'X-SVC-Delivery-Id': dispatchId(delivery.id, delivery.dispatches),
        'X-SVC-Delivery-Attempt': String(delivery.attempts + 1),
      } satisfies Record<WebhookHeader | 'User-Agent', string>,
    });
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}
