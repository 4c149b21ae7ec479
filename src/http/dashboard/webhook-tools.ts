import { createSecretEncryption, type SecretEncryption } from '../../webhooks/endpoints/secret-encryption.ts';
import { createSender, type Sender } from '../../webhooks/sending/send.ts';
import { createSsrfGuard, type SsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';

/** What saving and checking a webhook URL needs; the same guard and sender as those of the delivery worker. */
export type WebhookTools = { guard: SsrfGuard; encryption: SecretEncryption; sender: Sender };

/** A person waits for the answer, so the deadline is that of a delivery. */
const CHECK_TIMEOUT_MS = 10_000;

export function createWebhookTools(secretKeys: readonly string[], isPrivateAllowed: boolean): WebhookTools {
  const guard = createSsrfGuard(isPrivateAllowed);
  return {
    guard,
    encryption: createSecretEncryption(secretKeys),
    sender: createSender({ guard, timeoutMs: CHECK_TIMEOUT_MS }),
  };
}
