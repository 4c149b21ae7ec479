import type { Actor } from '../../audit/actor.ts';
import { type AuditChange, recordAudit } from '../../audit/record-audit.ts';
import type { AuditAction } from '../../contract/audit-actions.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { isSubscription } from '../../contract/event-types.ts';
import { type Database, inTransaction, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { SsrfGuard } from '../sending/ssrf-guard.ts';
import type { SecretEncryption } from './secret-encryption.ts';
import { makeSecret } from './signing-secrets.ts';

const SUBSCRIPTION_LIMIT = 100;

/** The URL as it is stored, and the signing secret if one was made for it. */
export type SetUrl = { url: string | null; secret: string | null };

/**
 * Sets where webhooks go; null removes the URL, and pending deliveries are held. Nothing is ever sent unsigned: the
 * first URL comes with a signing secret, which is returned this once. Null if there is no such integration.
 */
export async function setUrl(
  db: Database | Transaction,
  actor: Actor,
  { guard, encryption }: { guard: SsrfGuard; encryption: SecretEncryption },
  integrationId: string,
  text: string | null,
): Promise<SetUrl | null> {
  const problem = text === null ? null : guard.problemOf(text);
  if (problem !== null) throw new DomainError('invalid_input', `The URL ${problem}.`, 'url');
  const url = text === null ? null : new URL(text).href;
  return await inTransaction(db, async (tx) => {
    const old = await lockSettings(tx, integrationId);
    if (old === null) return null;
    await tx.query(sql`
      update webhook_endpoints set url = ${url}, consecutive_failures = 0, consecutive_gone = 0
      where integration_id = ${integrationId}`);
    const secrets = await tx.query(sql`
      select id from webhook_secrets where integration_id = ${integrationId} and expires_at is null`);
    const isSecretNeeded = url !== null && secrets.length === 0;
    await recordAudit(tx, actor, changeOf(integrationId, 'webhooks.url_changed', old, { url }));
    return { url, secret: isSecretNeeded ? await makeSecret(tx, encryption, integrationId) : null };
  });
}

/** Switching on again forgets the 410 answers that switched it off. */
export async function setWebhooksEnabled(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  isEnabled: boolean,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    const old = await lockSettings(tx, integrationId);
    if (old === null) return false;
    await tx.query(sql`
      update webhook_endpoints set is_enabled = ${isEnabled}, consecutive_gone = 0, disabled_reason = null
      where integration_id = ${integrationId}`);
    await recordAudit(tx, actor, changeOf(integrationId, 'webhooks.enabled_changed', old, { isEnabled }));
    return true;
  });
}

export async function subscribe(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  names: string[],
): Promise<boolean> {
  const unknown = names.find((name) => !isSubscription(name));
  if (unknown !== undefined)
    throw new DomainError('invalid_input', `There is no event named ${JSON.stringify(unknown)}.`, 'subscribedEvents');
  if (names.length > SUBSCRIPTION_LIMIT)
    throw new DomainError(
      'invalid_input',
      `At most ${SUBSCRIPTION_LIMIT} names can be subscribed.`,
      'subscribedEvents',
    );
  const subscribedEvents = [...new Set(names)];
  return await inTransaction(db, async (tx) => {
    const old = await lockSettings(tx, integrationId);
    if (old === null) return false;
    await tx.query(sql`
      update webhook_endpoints set subscribed_events = ${subscribedEvents}::text[]
      where integration_id = ${integrationId}`);
    await recordAudit(tx, actor, changeOf(integrationId, 'webhooks.subscription_changed', old, { subscribedEvents }));
    return true;
  });
}

type Settings = { url: string | null; isEnabled: boolean; subscribedEvents: string[] };

/** Orders changes of one endpoint's settings; null if there is none. */
async function lockSettings(tx: Transaction, integrationId: string): Promise<Settings | null> {
  const [row] = await tx.query<Settings>(sql`
    select url, is_enabled as "isEnabled", subscribed_events as "subscribedEvents"
    from webhook_endpoints where integration_id = ${integrationId} for update`);
  return row ?? null;
}

function changeOf(integrationId: string, action: AuditAction, old: Settings, now: Partial<Settings>): AuditChange {
  const object = { kind: 'integration', id: integrationId } as const;
  return { organizationId: { ofIntegration: integrationId }, action, object, old, new: now };
}
