import { DomainError } from '../../contract/domain-error.ts';
import { isSubscription } from '../../contract/events.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { SsrfGuard } from '../sending/ssrf-guard.ts';
import type { SecretEncryption } from './secret-encryption.ts';
import { lockEndpoint, makeSecret } from './signing-secrets.ts';

export const SUBSCRIPTION_LIMIT = 100;

/** The URL as it is stored, and the signing secret if one was made for it. */
export type SetUrl = { url: string | null; secret: string | null };

/**
 * Sets where webhooks go; null takes the URL away, and what waits is held. Nothing is ever sent unsigned: the first URL
 * comes with a signing secret, which is returned this once. Null if there is no such integration.
 */
export async function setUrl(
  db: Database,
  { guard, encryption }: { guard: SsrfGuard; encryption: SecretEncryption },
  integrationId: string,
  text: string | null,
): Promise<SetUrl | null> {
  const problem = text === null ? null : guard.problemOf(text);
  if (problem !== null) throw new DomainError('invalid_input', `The URL ${problem}.`, 'url');
  const url = text === null ? null : new URL(text).href;
  return await db.transaction(async (tx) => {
    if (!(await lockEndpoint(tx, integrationId))) return null;
    await tx.query(sql`
      update webhook_endpoints set url = ${url}, consecutive_failures = 0, consecutive_gone = 0
      where integration_id = ${integrationId}`);
    const secrets = await tx.query(sql`
      select id from webhook_secrets where integration_id = ${integrationId} and expires_at is null`);
    const isSecretNeeded = url !== null && secrets.length === 0;
    return { url, secret: isSecretNeeded ? await makeSecret(tx, encryption, integrationId) : null };
  });
}

/** Switching on again forgets the 410 answers that switched it off. */
export async function setWebhooksEnabled(db: Queryable, integrationId: string, isEnabled: boolean): Promise<boolean> {
  const rows = await db.query(sql`
    update webhook_endpoints set is_enabled = ${isEnabled}, consecutive_gone = 0, disabled_reason = null
    where integration_id = ${integrationId} returning integration_id`);
  return rows.length === 1;
}

export async function subscribe(db: Queryable, integrationId: string, names: string[]): Promise<boolean> {
  const unknown = names.find((name) => !isSubscription(name));
  if (unknown !== undefined)
    throw new DomainError('invalid_input', `There is no event named ${JSON.stringify(unknown)}.`, 'subscribedEvents');
  if (names.length > SUBSCRIPTION_LIMIT)
    throw new DomainError(
      'invalid_input',
      `At most ${SUBSCRIPTION_LIMIT} names can be subscribed.`,
      'subscribedEvents',
    );
  const rows = await db.query(sql`
    update webhook_endpoints set subscribed_events = ${[...new Set(names)]}::text[]
    where integration_id = ${integrationId} returning integration_id`);
  return rows.length === 1;
}
