import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { GRACE_MAX_HOURS } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { type Database, inTransaction, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import type { SecretEncryption } from './secret-encryption.ts';
import { makeSecret } from './signing-secrets.ts';

/** Each live secret adds a signature to the header of every webhook. */
const LIVE_SECRETS_LIMIT = 5;
const HOUR_SECONDS = 3_600;
export const GRACE_DEFAULT_HOURS = 24;

/**
 * Rotates the signing secret: makes a new one and returns it, or null if there is no such integration. Older ones also sign
 * during the grace period; a grace of 0 ends them at once.
 */
export async function rotateSigningSecret(
  db: Database | Transaction,
  actor: Actor,
  encryption: SecretEncryption,
  integrationId: string,
  graceHours: number,
  now: Date | null,
): Promise<string | null> {
  if (!Number.isFinite(graceHours) || graceHours < 0 || graceHours > GRACE_MAX_HOURS) {
    throw new DomainError(
      'invalid_input',
      `The grace period must be from 0 to ${GRACE_MAX_HOURS} hours.`,
      'graceHours',
    );
  }
  return await inTransaction(db, async (tx) => {
    if (!(await lockEndpoint(tx, integrationId))) return null;
    await tx.query(sql`
      update webhook_secrets
      set expires_at = least(expires_at,
        ${clockTime(now)} + make_interval(secs => ${graceHours * HOUR_SECONDS}))
      where integration_id = ${integrationId}`);
    await tx.query(sql`
      delete from webhook_secrets
      where integration_id = ${integrationId} and expires_at <= ${clockTime(now)}`);
    const older = await tx.query(sql`select id from webhook_secrets where integration_id = ${integrationId}`);
    if (older.length >= LIVE_SECRETS_LIMIT) {
      throw new DomainError(
        'too_many_secrets',
        `${older.length} secrets sign already; wait until one expires, or set the grace period to 0.`,
      );
    }
    await recordAudit(tx, actor, {
      organizationId: { ofIntegration: integrationId },
      action: 'webhooks.secret_rotated',
      object: { kind: 'integration', id: integrationId },
      new: { graceHours },
      at: now,
    });
    return await makeSecret(tx, encryption, integrationId);
  });
}

/** Locks the endpoint, so that changes of its settings come one after the other; false if there is none. */
async function lockEndpoint(tx: Transaction, integrationId: string): Promise<boolean> {
  const rows = await tx.query(sql`
    select integration_id from webhook_endpoints where integration_id = ${integrationId} for update`);
  return rows.length === 1;
}
