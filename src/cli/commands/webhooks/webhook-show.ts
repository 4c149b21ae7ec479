import type { Command } from 'commander';
import { DELIVERY_STATUSES } from '../../../webhooks/delivery-queue/delivery-log.ts';
import {
  type Backlog,
  COUNT_LIMIT,
  type EndpointStatus,
  readBacklog,
  readSecrets,
  type SecretState,
} from '../../../webhooks/endpoints/endpoint-status.ts';
import { createSecretEncryption } from '../../../webhooks/endpoints/secret-encryption.ts';
import { fields } from '../../plain-text.ts';
import type { Shell } from '../../shell.ts';
import { endpointOf, joinLines, notSentNote, sendingJson } from './endpoint-text.ts';

/** A worker looks for due deliveries every second. If one has been due for this long, no worker runs. */
const OVERDUE_MS = 60_000;

export function addShow(noun: Command, shell: Shell, idHelp: string): void {
  const command = noun
    .command('show')
    .description('show the URL, whether webhooks are sent (and if not, why), the secrets, and how many deliveries wait')
    .argument('<integration>', idHelp)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks show int_…');
  shell.run(command, async (integrationId: string) =>
    shell.withChannel(async ({ context: { db }, config }) => {
      const state = await endpointOf(db, integrationId);
      const secrets = await readSecrets(db, createSecretEncryption(config.secretKeys), integrationId);
      const backlog = await readBacklog(db, integrationId);
      return { json: showJson(state, secrets, backlog), text: showText(state, secrets, backlog) };
    }),
  );
}

function showJson(state: EndpointStatus, secrets: SecretState[], backlog: Backlog): Record<string, unknown> {
  return {
    object: 'webhook',
    integration_id: state.integrationId,
    url: state.url,
    is_enabled: state.isEnabled,
    ...sendingJson(state),
    subscribed_events: state.subscribedEvents,
    last_success_at: state.lastSuccessAt?.toISOString() ?? null,
    last_failure_at: state.lastFailureAt?.toISOString() ?? null,
    consecutive_failures: state.consecutiveFailures,
    secrets: secrets.map((secret) => ({
      created_at: secret.createdAt.toISOString(),
      expires_at: secret.expiresAt?.toISOString() ?? null,
      is_openable: secret.isDecryptable,
    })),
    deliveries: {
      ...backlog.counts,
      is_limited: backlog.isLimited,
      due_since: backlog.dueSince?.toISOString() ?? null,
    },
  };
}

function showText(state: EndpointStatus, secrets: SecretState[], backlog: Backlog): string {
  const counts = DELIVERY_STATUSES.map((status) => `${backlog.counts[status]} ${status}`).join(', ');
  const table = fields([
    ['integration', state.integrationId],
    ['url', state.url],
    ['sending', state.isSending],
    ['subscribed', state.subscribedEvents.join(', ')],
    ['last success', state.lastSuccessAt?.toISOString()],
    ['last failure', failureText(state)],
    ['secrets', secrets.length === 0 ? 'none' : secrets.map(secretText).join('; ')],
    ['deliveries', backlog.isLimited ? `${counts} of the newest ${COUNT_LIMIT}` : counts],
  ]);
  return joinLines(table, ...warnings(state, secrets, backlog).map((warning) => `\n${warning}`));
}

function failureText({ lastFailureAt, consecutiveFailures }: EndpointStatus): string | null {
  if (lastFailureAt === null) return null;
  return `${lastFailureAt.toISOString()}, ${consecutiveFailures} in a row since the last success`;
}

function secretText({ createdAt, expiresAt }: SecretState): string {
  const made = `made ${createdAt.toISOString()}`;
  return expiresAt === null ? made : `${made}, signs until ${expiresAt.toISOString()}`;
}

function warnings(state: EndpointStatus, secrets: SecretState[], { dueSince }: Backlog): string[] {
  const found = [notSentNote(state)];
  if (secrets.some((secret) => !secret.isDecryptable)) {
    found.push(
      `None of SECRET_KEYS decrypts ${secrets.length === 1 ? 'its secret' : 'some of its secrets'}: put the missing key back, or run "webhooks rotate-secret ${state.integrationId} --grace-hours 0 --force".`,
    );
  }
  if (state.isSending && dueSince !== null && Date.now() - dueSince.getTime() > OVERDUE_MS) {
    found.push(`Deliveries are due since ${dueSince.toISOString()}: is a service with the role worker running?`);
  }
  return found.filter(Boolean);
}
