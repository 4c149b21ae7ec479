import type { Claimed } from '../delivery-queue/claim.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { type AttemptResult, failure, type Sender } from './send.ts';
import { signature } from './signature.ts';
import { webhookHeaders } from './webhook-headers.ts';

/** A delivery whose worker dies again and again counts as failed, so that it can't kill workers for ever. */
const TAKEOVER_LIMIT = 3;
/** What the attempt of such a delivery is recorded with. */
export const ABANDONED_ERROR = 'its worker died every time it was sent';

/** Nothing was sent, and the receiver is not to blame: none of the endpoint's secrets can be used here. */
class UnsignableError extends Error {
  constructor(integrationId: string, cause: unknown) {
    super(`webhooks of ${integrationId} wait: there is no secret that they could be signed with here`, { cause });
  }
}

/**
 * Signs and sends one delivery. Any error is the outcome of the attempt, except that a delivery that can't be signed is
 * no attempt.
 */
export async function signAndSend(
  sender: Sender,
  encryption: SecretEncryption,
  delivery: Claimed,
  now: Date,
): Promise<AttemptResult> {
  if (delivery.takeovers > TAKEOVER_LIMIT) return failure(ABANDONED_ERROR);
  const secrets = usableSecrets(encryption, delivery);
  try {
    const signed = signature(secrets, Math.floor(now.getTime() / 1000), delivery.body);
    const { eventId, type, id: deliveryId, dispatches: dispatch } = delivery;
    const headers = webhookHeaders({ eventId, type, deliveryId, dispatch, attempt: delivery.attempts + 1 }, signed);
    const { organizationId, url, body } = delivery;
    return await sender.send({ dealer: organizationId, url, body, headers });
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
