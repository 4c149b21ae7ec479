import { GONE_LIMIT } from '../../../contract/limits.ts';
import type { Database } from '../../../db/database.ts';
import { notFound } from '../../../dealers/input-rules.ts';
import {
  type EndpointStatus,
  readEndpointStatus,
  type StopReason,
} from '../../../webhooks/endpoints/endpoint-status.ts';

/** Each reason in words, and the command that removes it. */
const STOP_REASONS: Record<StopReason, (state: EndpointStatus) => [reason: string, command: string]> = {
  no_url: ({ integrationId }) => ['there is no URL', `webhooks set-url ${integrationId} https://…`],
  gone: ({ integrationId }) => [
    `the receiver answered 410 Gone ${GONE_LIMIT} times in a row, which turned them off`,
    `webhooks enable ${integrationId}`,
  ],
  webhooks_off: ({ integrationId }) => ['they are switched off', `webhooks enable ${integrationId}`],
  integration_disabled: ({ integrationId }) => ['the integration is disabled', `integration enable ${integrationId}`],
  no_organization: ({ integrationId }) => [
    'the integration has no organization',
    `integration attach ${integrationId} org_…`,
  ],
  not_provisioned: () => ['its organization is not provisioned', 'organization provision org_… on'],
  no_plan: () => ['its organization has no plan', 'organization plan org_… on'],
};

/** The status of an endpoint, or the refusal that every command gives for an unknown integration. */
export async function endpointOf(db: Database, integrationId: string): Promise<EndpointStatus> {
  const state = await readEndpointStatus(db, integrationId);
  if (state === null) throw notFound('integration', integrationId);
  return state;
}

/** Empty while webhooks are sent; otherwise the reasons, the commands that help, and what becomes of events. */
export function notSentNote(state: EndpointStatus): string {
  if (state.isSending) return '';
  const reasons = state.stopReasons.map((stopReason) => {
    const [reason, command] = STOP_REASONS[stopReason](state);
    return `${reason} ("${command}")`;
  });
  const fate = state.url === null ? 'Events are recorded without a delivery.' : 'New events are held until then.';
  return `Webhooks are not sent now: ${reasons.join('; ')}. ${fate}`;
}

/** The same for a program. */
export function sendingJson(state: EndpointStatus): Record<string, unknown> {
  return { is_sending: state.isSending, not_sending_because: state.stopReasons };
}

/** Leaves out what is empty. */
export function joinLines(...parts: string[]): string {
  return parts.filter(Boolean).join('\n');
}
