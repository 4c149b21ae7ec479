import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { randomBase62 } from '../../ids/new-id.ts';
import type { SecretEncryption } from './secret-encryption.ts';

const SECRET_LENGTH = 32;
const REENCRYPT_LIMIT = 500;

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
