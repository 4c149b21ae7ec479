import { ATTEMPT_TIMEOUT_MS } from '../../webhooks/delivery-queue/retries/retry-schedule.ts';
import { createSecretEncryption, type SecretEncryption } from '../../webhooks/endpoints/secret-encryption.ts';
import { createSender, type Sender } from '../../webhooks/sending/send.ts';
import { createSsrfGuard, type SsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';

/** What saving and checking a webhook URL needs. The guard and the sender follow the same rules as the delivery worker's. */
export type WebhookTools = { guard: SsrfGuard; encryption: SecretEncryption; sender: Sender };

export function createWebhookTools(secretKeys: readonly string[], isPrivateAllowed: boolean): WebhookTools {
  const guard = createSsrfGuard(isPrivateAllowed);
  return {
    guard,
    encryption: createSecretEncryption(secretKeys),
    // A URL passes the check if a delivery would reach it, so both have the same time.
    sender: createSender({ guard, timeoutMs: ATTEMPT_TIMEOUT_MS }),
  };
}
