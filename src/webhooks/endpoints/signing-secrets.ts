import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { GRACE_MAX_HOURS } from '../../contract/dashboard/integrations/integrations.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { randomBase62 } from '../../ids/new-id.ts';
import type { SecretEncryption } from './secret-encryption.ts';

const SECRET_LENGTH = 32;
/** Each one is a signature in the header of every webhook. */
const LIVE_SECRETS_LIMIT = 5;
const REENCRYPT_LIMIT = 500;
const HOUR_SECONDS = 3_600;
export const GRACE_DEFAULT_HOURS = 24;

/**
 * Makes a new signing secret and returns it, or null if there is no such integration. Older ones also sign
 * during the grace period; a grace of 0 ends them at once.
 */
export async function rotateSecret(
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

/**
 * Encrypts stored secrets with the first of the service's keys, so that an older key can be removed. A secret that no key
 * decrypts stays as it is. Returns how many were encrypted again.
 */
export async function reencryptSecrets(db: Queryable, encryption: SecretEncryption): Promise<number> {
  let [reencrypted, afterIntegration, afterId] = [0, '', 0];
  for (;;) {
    const rows = await db.query<{ integrationId: string; id: number; ciphertext: string }>(sql`
      select integration_id as "integrationId", id, ciphertext from webhook_secrets
      where (integration_id, id) > (${afterIntegration}, ${afterId}::bigint)
      order by integration_id, id limit ${REENCRYPT_LIMIT}`);
    for (const { integrationId, id, ciphertext } of rows) {
      const updatedText = reencryptedOrNull(encryption, ciphertext);
      if (updatedText === null) continue;
      // Another node may be doing the same.
      const updated = await db.query(sql`
        update webhook_secrets set ciphertext = ${updatedText}
        where integration_id = ${integrationId} and id = ${id} and ciphertext = ${ciphertext} returning id`);
      reencrypted += updated.length;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < REENCRYPT_LIMIT) return reencrypted;
    [afterIntegration, afterId] = [last.integrationId, last.id];
  }
}

function reencryptedOrNull(encryption: SecretEncryption, ciphertext: string): string | null {
  try {
    return encryption.reencrypt(ciphertext);
  } catch {
    return null;
  }
}

/** A secret without an end; the caller has locked the endpoint and given the other secrets theirs. */
export async function makeSecret(
  tx: Transaction,
  encryption: SecretEncryption,
  integrationId: string,
): Promise<string> {
  const secret = `whsec_${randomBase62(SECRET_LENGTH)}`;
  await tx.query(sql`
    insert into webhook_secrets (integration_id, ciphertext) values (${integrationId}, ${encryption.encrypt(secret)})`);
  return secret;
}

/** Locks the endpoint, so that changes of its settings come one after the other; false if there is none. */
async function lockEndpoint(tx: Transaction, integrationId: string): Promise<boolean> {
  const rows = await tx.query(sql`
    select integration_id from webhook_endpoints where integration_id = ${integrationId} for update`);
  return rows.length === 1;
}
