import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { checkAllSecrets } from '../../webhooks/endpoints/endpoint-status.ts';
import { createSecretEncryption } from '../../webhooks/endpoints/secret-encryption.ts';
import type { KeySource } from '../connect.ts';

const NAMED_LIMIT = 10;

/**
 * Warns at the start about signing secrets that none of the keys decrypts. Otherwise nobody would notice before the
 * first webhook waits, and by then the old key may be gone from the backups, too. It costs a statement for each
 * thousand secrets.
 */
export async function warnOfLostKeys(
  db: Database,
  secretKeys: readonly string[],
  { location, isNew }: KeySource,
  log: FastifyBaseLogger,
): Promise<void> {
  const { undecryptable } = await checkAllSecrets(db, createSecretEncryption(secretKeys));
  if (undecryptable.size === 0) return;
  const whose = undecryptable.size === 1 ? '1 integration' : `${undecryptable.size} integrations`;
  const made = isNew ? `${location} was missing and is made anew, but the database is older: ` : '';
  log.warn(
    { integrations: [...undecryptable].slice(0, NAMED_LIMIT) },
    `${made}none of the secret keys decrypts the signing secrets of ${whose}, and webhooks wait for them; put the old key back behind those in ${location} and start again, or, if it is lost, run "webhooks rotate-secret int_… --grace-hours 0 --force" for each ("doctor" names them)`,
  );
}
