import type { WebhookHeader } from '../../contract/webhooks.ts';
import type { Claimed } from '../delivery-queue/claim.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { dispatchId } from './dispatch-id.ts';
import { type AttemptResult, failure, type Sender } from './send.ts';
import { signature } from './sign.ts';

/** A delivery whose worker dies again and again counts as failed, so that it can't kill workers for ever. */
const TAKEOVER_LIMIT = 3;

/** Nothing was sent, and the receiver is not to blame: none of the endpoint's secrets can be used here. */
export class UnsignableError extends Error {
  constructor(integrationId: string, cause: unknown) {
    super(`webhooks of ${integrationId} wait: there is no secret that they could be signed with here`, { cause });
  }
}

/**
 * Signs and sends one delivery. Any error is the outcome of the attempt, except that a delivery that can't be signed is
 * no attempt.
 */
export async function dispatch(
  sender: Sender,
  encryption: SecretEncryption,
  delivery: Claimed,
  now: Date,
): Promise<AttemptResult> {
  if (delivery.takeovers > TAKEOVER_LIMIT) return failure('its worker died every time it was sent');
  const secrets = usableSecrets(encryption, delivery);
  try {
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

/** Those that can be decrypted; one whose key is lost must not stop the others. */
function usableSecrets(encryption: SecretEncryption, { integrationId, secrets }: Claimed): string[] {
  const faults: unknown[] = [];
  const decrypted = (secrets?.split(' ') ?? []).flatMap((ciphertext) => {
    try {
      return [encryption.decrypt(ciphertext)];
    } catch (error) {
      faults.push(error);
      return [];
    }
  });
  if (decrypted.length === 0) throw new UnsignableError(integrationId, faults[0]);
  return decrypted;
}
