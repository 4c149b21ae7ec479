import { Status } from '../../ui/status.tsx';
import type { IntegrationEntry, WebhookCheck } from './integration-queries.ts';

export function ModeStatus({ isTestMode }: { isTestMode: boolean }) {
  return <Status tone={isTestMode ? 'warn' : 'good'}>{isTestMode ? 'Test mode' : 'Live'}</Status>;
}

type WebhookStatusProps = {
  webhook: IntegrationEntry['webhook'];
  /** The last one that was asked for on this page. */
  check?: WebhookCheck | null;
};

/** Whether webhooks are sent, and how the last ones went. */
export function WebhookStatus({ webhook, check = null }: WebhookStatusProps) {
  if (webhook.url === null) return <Status tone="off">No URL</Status>;
  if (!webhook.is_enabled) return <Status tone="bad">Switched off</Status>;
  if (!webhook.is_sending) return <Status tone="off">On hold</Status>;
  if (webhook.consecutive_failures > 0) return <Status tone="warn">Failing</Status>;
  const isNewest = check !== null && check.lastSuccessAt === webhook.last_success_at;
  if (isNewest && !check.is_success) return <Status tone="warn">Check failed</Status>;
  return <Status tone="good">{webhook.last_success_at === null ? 'Ready' : 'Arriving'}</Status>;
}
